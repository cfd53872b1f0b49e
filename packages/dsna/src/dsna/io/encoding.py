"""Conversion of values to the JSON tree and arrays of a model file, and back.

In the tree numbers, strings, booleans, null and lists stand for themselves; an object is one of

- ``{"array": i}``, ``{"scalar": i}``: the array ``arrays/i.npy``, as an array or as a numpy scalar;
- ``{"packed": i, "how": ..., "dtype": ...}``: an array that ``arrays/i.npy`` holds in fewer bytes (``packing``);
- ``{"strings": i, "ends": j, "shape": [...]}``: an object array of strings. The array ``i`` holds them one after
  another in UTF-8, ``j`` where each of them ends;
- ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``, ``{"float": "nan"}``, ``{"random": {...}}``;
- ``{"object": name, "state": {...}}``: a container of this package, one of ``CONTAINERS``; for those that
  leave arrays out in compressed files see ``derived``;
- ``{"template": name, "params": {...}}``: an unfitted forest, nearest neighbours, an approximation
  or an estimator of another package.
"""

from __future__ import annotations

import itertools
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.invariants import Checked
from .._utils.optional import plugins
from .archive import ARRAY_KINDS, Archive, ModelFileError
from .packing import pack, unpack, unpacked_bytes

if TYPE_CHECKING:
    from .derived import Compression

CONTAINERS = {
    "Basis": "trend.features",
    "BooleanEncoder": "tables.encoders.numbers",
    "Calibration": "prediction.calibration",
    "CategoryEncoder": "tables.encoders.words",
    "ClassTrend": "trend.classes",
    "Continuation": "uncertainty.continuation",
    "DateEncoder": "tables.encoders.dates",
    "Filling": "tables.encoders.filling",
    "KeptColumn": "tables.kept_rows",
    "KeptRows": "tables.kept_rows",
    "LeftOut": "tables.encoders.base",
    "NeighborIndex": "neighbors.index",
    "NumberEncoder": "tables.encoders.numbers",
    "OrderedEncoder": "tables.encoders.numbers",
    "TargetDensity": "forest.density",
    "Ranks": "uncertainty.quantiles",
    "Regions": "uncertainty.intervals",
    "Rule": "prediction.rule",
    "Scaling": "forest.scaling",
    "TextEncoder": "tables.encoders.words",
    "Thresholds": "trend.thresholds",
    "Trees": "forest.trees",
    "Trend": "trend.trend",
}
_TAGS = {
    "array": 1, "packed": 3, "strings": 3, "scalar": 1, "float": 1, "tuple": 1, "dict": 1, "random": 1, "object": 2,
    "template": 2,
}  # fmt: skip
_PACKAGE = __name__.split(".")[0]
_CANNOT = "which a dsna model file cannot hold; joblib.dump and pickle can"


class Encoder:
    """Converts values to a JSON tree and collects the arrays that it refers to.

    Parameters
    ----------
    packed : whether arrays and containers are made as small as possible; they then cannot be mapped.
    """

    def __init__(self, packed: bool = False) -> None:
        self.arrays: list[np.ndarray] = []
        self.unpacked = 0  # bytes of the packed arrays before packing
        self._packed = packed
        self._packs: dict[int, dict[str, Any]] = {}
        self._numbers: dict[int, int] = {}
        self._texts: dict[int, dict[str, Any]] = {}
        self._sources: list[Any] = []

    def attributes(self, state: dict[str, Any], path: str = "") -> dict[str, Any]:
        """Convert named values; ``path`` is the prefix of their names in error messages."""
        return {name: self.tree(value, path + name) for name, value in state.items()}

    def tree(self, value: Any, path: str) -> Any:
        """Convert a value; error messages call it ``path``."""
        cls = type(value)
        if value is None or cls in (bool, int, str):
            return value
        if cls is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._number(value, np.asarray(value), path)}
        if cls in (np.ndarray, np.memmap):
            if value.dtype == object:
                return self._text(value, path)
            return self._array(value, path)
        if cls in (list, tuple):
            items = [self.tree(item, f"{path}[{i}]") for i, item in enumerate(value)]
            return items if cls is list else {"tuple": items}
        if cls is dict:
            return {"dict": [[self.tree(k, path), self.tree(v, f"{path}[{k!r}]")] for k, v in value.items()]}
        if cls is np.random.RandomState and value.get_state(legacy=False)["bit_generator"] == "MT19937":
            return {"random": self.tree(value.get_state(legacy=False), path)}
        if isinstance(value, Checked):
            state = _compression_of(cls.__name__).state(value) if self._packed else value.state
            return {"object": cls.__name__, "state": self.attributes(state, path + ".")}
        if cls is _template(cls.__name__):
            params = self.attributes(value.get_params(deep=False), path + "__")
            return {"template": cls.__name__, "params": params}
        raise TypeError(_refusal(value, path))

    def _array(self, source: np.ndarray, path: str) -> dict[str, Any]:
        """Convert an array, packed where that is shorter; attributes with the same array share it."""
        if id(source) in self._packs:
            return dict(self._packs[id(source)])
        packed = pack(source) if self._packed else None
        if packed is None:
            return {"array": self._number(source, source, path)}
        stored, how = packed
        self._packs[id(source)] = {"packed": self._number(stored, stored, path), **how}
        self._sources.append(source)
        self.unpacked += source.nbytes
        return dict(self._packs[id(source)])

    def _text(self, source: np.ndarray, path: str) -> dict[str, Any]:
        """Convert an object array of strings to bytes and ends; attributes with the same array share them."""
        if id(source) not in self._texts:
            data, ends = _as_utf8(source, path)
            numbers = {"strings": self._number(data, data, path), "ends": self._number(ends, ends, path)}
            self._texts[id(source)] = {**numbers, "shape": list(source.shape)}
            self._sources.append(source)
        return dict(self._texts[id(source)])

    def _number(self, source: Any, array: np.ndarray, path: str) -> int:
        """Return the number of the array; attributes with the same array share it."""
        if array.dtype.kind not in ARRAY_KINDS:
            raise TypeError(f"{path} has dtype {array.dtype}, {_CANNOT}.")
        if id(source) not in self._numbers:
            self._numbers[id(source)] = len(self.arrays)
            self.arrays.append(array)
            self._sources.append(source)  # an id is unique only while its object is alive
        return self._numbers[id(source)]


class Decoder:
    """Converts a JSON tree back to values."""

    def __init__(self, archive: Archive, writer: str) -> None:
        self._archive = archive
        self._writer = writer
        self._texts: dict[tuple[int, ...], np.ndarray] = {}
        self._packs: dict[int, np.ndarray] = {}
        self._unpacked = 0

    def unknown_name_error(self, name: str) -> ModelFileError:
        """Return the error for an unknown name."""
        return ModelFileError(
            f"{name} is unknown here. Use the version that wrote the file, {self._writer}, or a newer one, with the "
            "packages that it used (detectors of edges in photos are in dsna-vision)."
        )

    def build_estimator(self, cls: Any, tree: dict[str, Any]) -> Any:
        """Return an unfitted estimator with the given parameters."""
        params = self.attributes(tree)
        for unknown_name in params.keys() - cls().get_params(deep=False).keys():
            raise self.unknown_name_error(f"the parameter {unknown_name!r} of {cls.__name__}")
        return cls(**params)

    def attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        """Convert named values."""
        return {name: self.value(tree) for name, tree in state.items()}

    def value(self, tree: Any) -> Any:
        """Convert a value."""
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if not tree:
            raise ValueError("the header holds an empty object")
        tag, content = next(iter(tree.items()))
        if tag in _TAGS and len(tree) != _TAGS[tag]:
            raise ValueError(f"the header holds an object of {', '.join(tree)}")
        if tag == "array":
            return self._archive.array(content)
        if tag == "packed":
            return self._unpack(content, tree["how"], tree["dtype"])
        if tag == "strings":
            return self._text(content, tree["ends"], tree["shape"])
        if tag == "scalar":
            array = self._archive.array(content)
            if array.ndim:
                raise ValueError("an array stands in place of a scalar")
            return array[()]
        if tag == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "tuple" and isinstance(content, list):
            return tuple(self.value(content))
        if tag == "dict":
            items = {self.value(key): self.value(value) for key, value in content}
            if len(items) < len(content):
                raise ValueError("a key of a dictionary occurs twice")
            return items
        if tag == "random":
            return _generator(self.value(content))
        if tag == "object" and _is_container(class_of(content, CONTAINERS)):
            return _compression_of(content).restored(self.attributes(tree["state"]))
        if tag == "template" and _template(content):
            template = self.build_estimator(_template(content), tree["params"])
            template._validate_params()
            return template
        raise self.unknown_name_error(f"the {tag} {content!r}")

    def _unpack(self, number: int, packing: Any, dtype: Any) -> np.ndarray:
        """Unpack an array; the same object on every call."""
        if number not in self._packs:
            stored = self._archive.array(number)
            self._unpacked += unpacked_bytes(stored, packing, dtype)
            if not self._archive.allows(self._unpacked):
                raise ValueError("arrays would take far more memory than the file")
            self._packs[number] = unpack(stored, packing, dtype)
        return self._packs[number]

    def _text(self, strings: int, ends: int, shape: Any) -> np.ndarray:
        """Convert bytes and ends to an object array of strings."""
        data, string_ends = self._archive.array(strings), self._archive.array(ends)
        if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"strings have the shape {shape}")
        key = (strings, ends, *shape)
        if key not in self._texts:
            self._texts[key] = _from_utf8(data, string_ends).reshape(shape)
        return self._texts[key]


def _generator(state: Any) -> np.random.RandomState:
    """Return a generator with the given state, which is checked here because numpy checks little of it."""
    key, position = state["state"]["key"], state["state"]["pos"]
    valid = (
        state.keys() == {"bit_generator", "state", "has_gauss", "gauss"}
        and state["bit_generator"] == "MT19937"
        and isinstance(key, np.ndarray)
        and (key.dtype, key.shape) == (np.dtype(np.uint32), (624,))
        and bool(key[0] >> 31 or key[1:].any())
        and type(position) is int
        and 0 <= position <= 624
        and state["has_gauss"] in (0, 1)
        and type(state["gauss"]) is float
        and math.isfinite(state["gauss"])
    )
    if not valid:
        raise ValueError("a random_state has an invalid state")
    generator = np.random.RandomState()
    generator.set_state(state)
    return generator


def class_of(name: Any, modules: dict[str, str]) -> Any:
    """Return a class by its name in a table of our modules or among plugins; None if the name is unknown."""
    if name in modules:
        return getattr(import_module(f"{_PACKAGE}.{modules[name]}"), name)
    plugin = plugins("dsna.containers").get(name)
    return None if plugin is None else plugin.load()


def _is_container(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Checked)


def _compression_of(name: str) -> Compression:
    """Return how to shrink a container of this name and to restore it."""
    from .derived import COMPRESSIONS, Compression

    uncompressed = Compression(
        lambda container: container.state, lambda state: class_of(name, CONTAINERS).restored(state)
    )
    return COMPRESSIONS.get(name, uncompressed)


def _template(name: Any) -> Any:
    """Return the class of an unfitted estimator that may be a parameter, by its name; None if it is unknown."""
    from ..approximation import Approximation
    from ..forest.adapters import FORESTS, NEIGHBORS, OURS

    own_class = next((cls for cls in (*OURS, *FORESTS, *NEIGHBORS, Approximation) if cls.__name__ == name), None)
    plugin_class = class_of(name, {}) if own_class is None else None
    return plugin_class if hasattr(plugin_class, "FITTED") else own_class


def _as_utf8(array: np.ndarray, path: str) -> tuple[np.ndarray, np.ndarray]:
    """Join the strings of an object array; return the bytes and the end of each string."""
    if not all(isinstance(item, str) for item in array.flat):
        type_names = ", ".join(sorted({type(item).__name__ for item in array.flat}))
        raise TypeError(f"{path} is an object array of {type_names} (only strings can be saved), {_CANNOT}.")
    encoded = [item.encode("utf-8", "surrogatepass") for item in array.flat]
    ends = np.cumsum([len(part) for part in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def _from_utf8(data: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Split bytes into a one-dimensional array of strings."""
    if (data.dtype, data.ndim, ends.dtype, ends.ndim) != (np.dtype(np.uint8), 1, np.dtype(np.int64), 1):
        raise ValueError(f"arrays of {data.dtype} and {ends.dtype} cannot be strings and their ends")
    bounds = np.concatenate([[0], ends])
    if bounds[-1] != len(data) or np.any(bounds[1:] < bounds[:-1]):
        raise ValueError(f"the ends of strings do not rise from 0 to {len(data)}")
    text, strings = data.tobytes(), np.empty(len(ends), dtype=object)
    strings[:] = [
        text[start:stop].decode("utf-8", "surrogatepass") for start, stop in itertools.pairwise(bounds.tolist())
    ]
    return strings


def _refusal(value: Any, path: str) -> str:
    from ..forest.density import DENSITIES
    from ..forest.targets import COSTS

    if not callable(value):
        return f"{path} is a {type(value).__name__}, {_CANNOT}."
    replacements = {
        "cost": f"one of {tuple(COSTS)}",
        "target_density": f"one of {DENSITIES}",
        "relevance": "'high', 'low' or (target, relevance) pairs",
    }
    replacement = replacements.get(path.split("__")[-1], "a named one")
    return (
        f"{path}={value!r} is a function, {_CANNOT} if it can be imported where the model is loaded. "
        f"Or set {path} to {replacement}."
    )
