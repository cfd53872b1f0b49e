"""Model files: a zip of ``header.json`` and one ``.npy`` per array, with no pickle and no code inside.

The header holds the format, the versions, the class of the estimator and its state as a JSON tree.  In it
numbers, strings, booleans, null and lists stand for themselves; an object is one of

- ``{"array": i}``, ``{"strings": i}``, ``{"scalar": i}``: the array ``arrays/i.npy``, as it is, as an object
  array of strings, or as a numpy scalar;
- ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``, ``{"float": "nan"}``, ``{"random": {...}}``;
- ``{"object": name, "state": {...}}``: a container of this package, one of ``_CONTAINERS``;
- ``{"template": name, "params": {...}}``: an unfitted scikit-learn source of neighbours.

Entries are stored, not compressed, so that no file can unfold to more than its own size.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import IO, Any

import numpy as np
import sklearn
from numpy.lib import format as npy

from .files import whole_file

FORMAT = "dsna-model"
FORMAT_VERSION = 1

_HEADER = "header.json"
_ESTIMATORS = {
    "CostSensitiveForestClassifier": "forest",
    "CostSensitiveForestRegressor": "forest",
    "DSNAClassifier": "classification",
    "DSNARegressor": "regression",
    "EdgeDetector": "edges.detector",
}
_CONTAINERS = {
    "Calibration": "decision",
    "Knowledge": "knowledge",
    "LabelDensity": "costs",
    "MaskBook": "edges.masks",
    "PatchEmbedding": "edges.embedding",
    "PatchPool": "edges.pool",
    "Regions": "intervals",
    "Scaling": "scaling",
    "StructuredForest": "edges.forest",
    "Trees": "trees",
}
_ROUTED = ("fit", "score")
_ARRAY_KINDS = "biufcmMUS"
_AGAIN = "Copy it again from its source, or save the model again."
_CANNOT = "which a dsna model file cannot hold; joblib.dump and pickle can"
# What zipfile, json and numpy raise on bytes that nobody meant to write.
_DAMAGE = (
    zipfile.BadZipFile, struct.error, EOFError, ValueError, LookupError, TypeError, AttributeError,
    OverflowError, RuntimeError,
)  # fmt: skip


class ModelFileError(ValueError):
    """A file that ``dsna.load`` cannot read: foreign, truncated, damaged or written by a newer dsna."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator of this package, fitted or not, to a file of arrays and plain values.

    The file is written beside its destination and moved there when complete, so that a failure leaves an
    older file of that name as it was.

    Parameters
    ----------
    model : CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor or EdgeDetector
        A ``forest`` of scikit-learn is stored as its parameters, which is all that the model uses of it.
    path : str or path-like
        Any extension; ``.dsna`` is usual.

    Raises
    ------
    TypeError
        The model holds what the format cannot: a function as ``cost`` or ``label_density``, or an object of
        another library.  ``joblib.dump`` stores these.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from dsna import CostSensitiveForestClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CostSensitiveForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "iris.dsna")
    ...     again = load(Path(folder) / "iris.dsna")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    from . import __version__

    name = type(model).__name__
    if name not in _ESTIMATORS or type(model) is not _class(name, _ESTIMATORS):
        raise TypeError(
            f"save takes one of {', '.join(_ESTIMATORS)}, not {name}. Save that step of a pipeline or "
            "search, or store the whole by skops.io.dump or joblib.dump."
        )
    encoder = _Encoder()
    params = model.get_params(deep=False)
    fitted = {k: v for k, v in vars(model).items() if k not in params and k != "_metadata_request"}
    state = {"params": params, "fitted": fitted, "requests": _requests(model)}
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "dsna": __version__,
        "scikit-learn": sklearn.__version__,
        "estimator": name,
        "state": {part: encoder.attributes(values) for part, values in state.items()},
    }
    text = json.dumps(header, allow_nan=False, indent=1)

    _check_place(path)
    # Entries carry no date, so that equal models make equal files.
    with whole_file(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER), text)
        for i, array in enumerate(encoder.arrays):
            with archive.open(zipfile.ZipInfo(f"arrays/{i}.npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator from a file that ``save`` wrote; it predicts exactly as the one saved.

    No code is run from the file, and only classes of this package and the scikit-learn estimators that
    ``forest`` takes are made.  Checksums find damage, not forgery: load files from people you trust.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor or EdgeDetector

    Raises
    ------
    ModelFileError
        The file is foreign, truncated, damaged or written by a newer dsna.

    Examples
    --------
    >>> import os
    >>> from dsna import load
    >>> load(os.__file__)
    Traceback (most recent call last):
    dsna.persistence.ModelFileError: ...os.py: not a dsna model file. ...
    """
    with open(path, "rb") as stream:
        start = stream.read(30 + len(_HEADER))
        try:
            return _read(stream, start)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)}: {error}") from None
        except _DAMAGE as error:
            what = "dsna model" if start.endswith(_HEADER.encode()) else "zip"
            message = f"a truncated or damaged {what} file ({type(error).__name__}: {error}). {_AGAIN}"
            raise ModelFileError(f"{os.fspath(path)}: {message}") from error


def _read(stream: IO[bytes], start: bytes) -> Any:
    """The estimator in an open model file; ``start`` are its first bytes."""
    if not start:
        raise ModelFileError(f"the file is empty: its writing or copying was cut short. {_AGAIN}")
    if not start.startswith(b"PK\x03\x04"[: len(start)]):
        raise ModelFileError("not a dsna model file. If pickle, joblib or skops wrote it, read it by these.")
    archive = zipfile.ZipFile(stream)
    entries = archive.infolist()
    if _HEADER not in archive.namelist():
        raise ModelFileError(f"a zip file but no dsna model: it has no {_HEADER}. Check the path.")
    if any(e.compress_type != zipfile.ZIP_STORED for e in entries):
        raise ModelFileError("repacked with compression. Use the file as saved, or repack it by zip -0.")
    size = os.fstat(stream.fileno()).st_size
    declared = sum(max(e.file_size, e.compress_size) for e in entries)
    if declared > size or min(e.header_offset for e in entries) < 0:
        raise ModelFileError(f"{declared} bytes of content in a file of {size}: damaged. {_AGAIN}")
    header = json.loads(archive.read(_HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"no dsna model: its {_HEADER} belongs to another format. Check the path.")
    version, writer = header["version"], f"dsna {header.get('dsna')}"
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"written by a newer dsna ({writer}, format {version}; this one reads format {FORMAT_VERSION}). "
            "Upgrade: pip install -U dsna."
        )
    name, state = header["estimator"], header["state"]
    decoder = _Decoder(archive, f"{writer} with scikit-learn {header.get('scikit-learn')}")
    if name not in _ESTIMATORS:
        raise decoder.unknown(f"the estimator {name!r}")
    model = decoder.built(_class(name, _ESTIMATORS), state["params"])
    vars(model).update(decoder.attributes(state["fitted"]))
    _set_requests(model, decoder.attributes(state["requests"]))
    return model


class _Encoder:
    """Turns values into a JSON tree and collects the arrays that it refers to."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}
        self._sources: list[Any] = []

    def attributes(self, state: dict[str, Any], where: str = "") -> dict[str, Any]:
        """Named values; ``where`` begins the names in error messages."""
        return {name: self.tree(value, where + name) for name, value in state.items()}

    def tree(self, value: Any, where: str) -> Any:
        """One value, which error messages call ``where``."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._number(value, np.asarray(value), where)}
        if kind in (np.ndarray, np.memmap):
            if value.dtype == object:
                return {"strings": self._number(value, _as_text(value, where), where)}
            return {"array": self._number(value, value, where)}
        if kind in (list, tuple):
            items = [self.tree(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            return {"dict": [[self.tree(k, where), self.tree(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if kind is np.random.RandomState and value.get_state(legacy=False)["bit_generator"] == "MT19937":
            return {"random": self.tree(value.get_state(legacy=False), where)}
        if kind.__name__ in _CONTAINERS and kind is _class(kind.__name__, _CONTAINERS):
            return {"object": kind.__name__, "state": self.attributes(_state(value), where + ".")}
        if kind is _templates().get(kind.__name__):
            params = self.attributes(value.get_params(deep=False), where + "__")
            return {"template": kind.__name__, "params": params}
        raise TypeError(_refusal(value, where))

    def _number(self, source: Any, array: np.ndarray, where: str) -> int:
        """Number of the array; attributes that are one array share it."""
        if array.dtype.kind not in _ARRAY_KINDS:
            raise TypeError(f"{where} has dtype {array.dtype}, {_CANNOT}.")
        if id(source) not in self._numbers:
            self._numbers[id(source)] = len(self.arrays)
            self.arrays.append(array)
            self._sources.append(source)  # an id names only what lives
        return self._numbers[id(source)]


class _Decoder:
    """Turns a JSON tree back into values."""

    def __init__(self, archive: zipfile.ZipFile, writer: str) -> None:
        self._archive = archive
        self._writer = writer
        self._arrays: dict[int, np.ndarray] = {}

    def unknown(self, what: str) -> ModelFileError:
        """The error for a name that is on no list."""
        return ModelFileError(f"{what} is unknown here. Use what wrote the file, {self._writer}, or newer.")

    def built(self, cls: Any, tree: dict[str, Any]) -> Any:
        """An estimator of given parameters."""
        params = self.attributes(tree)
        for stranger in params.keys() - cls().get_params(deep=False).keys():
            raise self.unknown(f"the parameter {stranger!r} of {cls.__name__}")
        return cls(**params)

    def attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        """Named values."""
        return {name: self.value(tree) for name, tree in state.items()}

    def value(self, tree: Any) -> Any:
        """One value."""
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        tag, content = next(iter(tree.items()))
        if tag == "array":
            return self._array(content)
        if tag == "strings":
            return self._array(content).astype(object)
        if tag == "scalar":
            return self._array(content)[()]
        if tag == "float":
            return float(content)
        if tag == "tuple":
            return tuple(self.value(content))
        if tag == "dict":
            return {self.value(key): self.value(value) for key, value in content}
        if tag == "random":
            generator = np.random.RandomState()
            generator.set_state(self.value(content))
            return generator
        if tag == "object" and content in _CONTAINERS:
            cls = _class(content, _CONTAINERS)
            container = cls.__new__(cls)
            vars(container).update(self.attributes(tree["state"]))
            return container
        if tag == "template" and content in _templates():
            return self.built(_templates()[content], tree["params"])
        raise self.unknown(f"the {tag} {content!r}")

    def _array(self, number: int) -> np.ndarray:
        if number not in self._arrays:
            entry = self._archive.getinfo(f"arrays/{number}.npy")
            with self._archive.open(entry) as stream:
                old = npy.read_magic(stream) == (1, 0)
                shape, _, dtype = (npy.read_array_header_1_0 if old else npy.read_array_header_2_0)(stream)
                expected = stream.tell() + math.prod(shape) * dtype.itemsize
            if dtype.kind not in _ARRAY_KINDS or not dtype.itemsize or expected != entry.file_size:
                raise ValueError(f"{entry.filename} is not as large as its shape {shape} of {dtype} asks")
            with self._archive.open(entry) as stream:
                self._arrays[number] = npy.read_array(stream, allow_pickle=False)
                stream.read(1)  # the checksum is compared at the end only
        return self._arrays[number]


def _state(container: Any) -> dict[str, Any]:
    """Attributes of a container; of a dataclass its fields, without what it has worked out from them."""
    if is_dataclass(container):
        return {one.name: getattr(container, one.name) for one in fields(container)}
    return vars(container)


def _class(name: str, modules: dict[str, str]) -> Any:
    """A class of this package by its name in ``_ESTIMATORS`` or ``_CONTAINERS``."""
    return getattr(import_module("." + modules[name], __package__), name)


def _templates() -> dict[str, Any]:
    """The scikit-learn estimators that ``forest`` may be, by name."""
    from .adapters import FORESTS, NEIGHBORS

    return {cls.__name__: cls for cls in (*FORESTS, *NEIGHBORS)}


def _as_text(array: np.ndarray, where: str) -> np.ndarray:
    """An object array of strings as unicode, which would drop trailing NULs."""
    if all(isinstance(item, str) and not item.endswith("\0") for item in array.flat):
        return array.astype(np.str_)
    kinds = ", ".join(sorted({type(item).__name__ for item in array.flat}))
    raise TypeError(f"{where} is an object array of {kinds} (strings alone, without NUL, would do), {_CANNOT}.")


def _refusal(value: Any, where: str) -> str:
    from .costs import COSTS, DENSITIES

    if not callable(value):
        return f"{where} is a {type(value).__name__}, {_CANNOT}."
    named = {"cost": f"one of {COSTS}", "label_density": f"one of {DENSITIES}"}.get(where, "a named one")
    return (
        f"{where}={value!r} is a function, {_CANNOT} if it can be imported where the model is loaded. "
        f"Or set {where} to {named}."
    )


def _requests(model: Any) -> dict[str, Any]:
    """What ``set_fit_request`` and its kin were told, by method."""
    if "_metadata_request" not in vars(model):
        return {}
    routing = model.get_metadata_routing()
    return {method: dict(getattr(routing, method).requests) for method in _ROUTED}


def _set_requests(model: Any, requests: dict[str, Any]) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        for method in requests.keys() & set(_ROUTED):
            getattr(model, f"set_{method}_request")(**requests[method])


def _check_place(path: str | os.PathLike[str]) -> None:
    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{folder} is not a folder; create it before saving {name} there.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file.")
