"""Values as a JSON tree and arrays, as model files hold them, and back.

In the tree numbers, strings, booleans, null and lists stand for themselves; an object is one of

- ``{"array": i}``, ``{"scalar": i}``: the array ``arrays/i.npy``, as it is or as a numpy scalar;
- ``{"packed": i, "how": ..., "dtype": ...}``: an array of which ``arrays/i.npy`` holds fewer bytes (``packing``);
- ``{"strings": i, "ends": j, "shape": [...]}``: an object array of strings. The array ``i`` holds them one after
  another in UTF-8, ``j`` where each of them ends;
- ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``, ``{"float": "nan"}``, ``{"random": {...}}``;
- ``{"object": name, "state": {...}}``: a container of this package, one of ``CONTAINERS``; in compressed files,
  ``derived`` says what some of them leave out;
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
    from .derived import Shorter

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
    """Turns values into a JSON tree and collects the arrays that it refers to.

    Parameters
    ----------
    packed : whether arrays and containers are made as small as they can be, at the price of not being mapped.
    """

    def __init__(self, packed: bool = False) -> None:
        self.arrays: list[np.ndarray] = []
        self.unpacked = 0  # bytes of arrays that are packed
        self._packed = packed
        self._packs: dict[int, dict[str, Any]] = {}
        self._numbers: dict[int, int] = {}
        self._texts: dict[int, dict[str, Any]] = {}
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
                return self._text(value, where)
            return self._array(value, where)
        if kind in (list, tuple):
            items = [self.tree(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            return {"dict": [[self.tree(k, where), self.tree(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if kind is np.random.RandomState and value.get_state(legacy=False)["bit_generator"] == "MT19937":
            return {"random": self.tree(value.get_state(legacy=False), where)}
        if isinstance(value, Checked):
            state = _shorter(kind.__name__).state(value) if self._packed else value.state
            return {"object": kind.__name__, "state": self.attributes(state, where + ".")}
        if kind is _template(kind.__name__):
            params = self.attributes(value.get_params(deep=False), where + "__")
            return {"template": kind.__name__, "params": params}
        raise TypeError(_refusal(value, where))

    def _array(self, source: np.ndarray, where: str) -> dict[str, Any]:
        """An array as it is, or packed; attributes that are one array share it."""
        if id(source) in self._packs:
            return dict(self._packs[id(source)])
        found = pack(source) if self._packed else None
        if found is None:
            return {"array": self._number(source, source, where)}
        stored, how = found
        self._packs[id(source)] = {"packed": self._number(stored, stored, where), **how}
        self._sources.append(source)
        self.unpacked += source.nbytes
        return dict(self._packs[id(source)])

    def _text(self, source: np.ndarray, where: str) -> dict[str, Any]:
        """An object array of strings, as bytes and ends; attributes that are one array share them."""
        if id(source) not in self._texts:
            data, ends = _as_utf8(source, where)
            numbers = {"strings": self._number(data, data, where), "ends": self._number(ends, ends, where)}
            self._texts[id(source)] = {**numbers, "shape": list(source.shape)}
            self._sources.append(source)
        return dict(self._texts[id(source)])

    def _number(self, source: Any, array: np.ndarray, where: str) -> int:
        """Number of the array; attributes that are one array share it."""
        if array.dtype.kind not in ARRAY_KINDS:
            raise TypeError(f"{where} has dtype {array.dtype}, {_CANNOT}.")
        if id(source) not in self._numbers:
            self._numbers[id(source)] = len(self.arrays)
            self.arrays.append(array)
            self._sources.append(source)  # an id names only what lives
        return self._numbers[id(source)]


class Decoder:
    """Turns a JSON tree back into values."""

    def __init__(self, archive: Archive, writer: str) -> None:
        self._archive = archive
        self._writer = writer
        self._texts: dict[tuple[int, ...], np.ndarray] = {}
        self._packs: dict[int, np.ndarray] = {}
        self._unpacked = 0

    def unknown(self, what: str) -> ModelFileError:
        """The error for an unknown name."""
        return ModelFileError(
            f"{what} is unknown here. Use what wrote the file, {self._writer}, or newer, with the packages that it "
            "used (those of edges in photos are in dsna-vision)."
        )

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
                raise ValueError("an array stands for a single value")
            return array[()]
        if tag == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "tuple" and isinstance(content, list):
            return tuple(self.value(content))
        if tag == "dict":
            found = {self.value(key): self.value(value) for key, value in content}
            if len(found) < len(content):
                raise ValueError("a key of a dictionary occurs twice")
            return found
        if tag == "random":
            return _generator(self.value(content))
        if tag == "object" and _is_container(class_of(content, CONTAINERS)):
            return _shorter(content).restored(self.attributes(tree["state"]))
        if tag == "template" and _template(content):
            template = self.built(_template(content), tree["params"])
            template._validate_params()
            return template
        raise self.unknown(f"the {tag} {content!r}")

    def _unpack(self, number: int, how: Any, dtype: Any) -> np.ndarray:
        """An array that was packed; asked for again, it is the same one."""
        if number not in self._packs:
            stored = self._archive.array(number)
            self._unpacked += unpacked_bytes(stored, how, dtype)
            if not self._archive.allows(self._unpacked):
                raise ValueError("arrays would take far more memory than the file")
            self._packs[number] = unpack(stored, how, dtype)
        return self._packs[number]

    def _text(self, strings: int, ends: int, shape: Any) -> np.ndarray:
        """An object array of strings."""
        data, last = self._archive.array(strings), self._archive.array(ends)
        if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"strings have the shape {shape}")
        key = (strings, ends, *shape)
        if key not in self._texts:
            self._texts[key] = _from_utf8(data, last).reshape(shape)
        return self._texts[key]


def _generator(state: Any) -> np.random.RandomState:
    """A generator in a state that was checked here, because numpy checks little of it."""
    key, at = state["state"]["key"], state["state"]["pos"]
    sound = (
        state.keys() == {"bit_generator", "state", "has_gauss", "gauss"}
        and state["bit_generator"] == "MT19937"
        and isinstance(key, np.ndarray)
        and (key.dtype, key.shape) == (np.dtype(np.uint32), (624,))
        and bool(key[0] >> 31 or key[1:].any())
        and type(at) is int
        and 0 <= at <= 624
        and state["has_gauss"] in (0, 1)
        and type(state["gauss"]) is float
        and math.isfinite(state["gauss"])
    )
    if not sound:
        raise ValueError("a random_state is in no state that a generator has")
    generator = np.random.RandomState()
    generator.set_state(state)
    return generator


def class_of(name: Any, modules: dict[str, str]) -> Any:
    """A class by its name in a table of our modules, or as an installed package declares it; None of another name."""
    if name in modules:
        return getattr(import_module(f"{_PACKAGE}.{modules[name]}"), name)
    added = plugins("dsna.containers").get(name)
    return None if added is None else added.load()


def _is_container(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Checked)


def _shorter(name: str) -> Shorter:
    """How a container of this name is made shorter, and again."""
    from .derived import SHORTER, Shorter

    whole = Shorter(lambda container: container.state, lambda state: class_of(name, CONTAINERS).restored(state))
    return SHORTER.get(name, whole)


def _template(name: Any) -> Any:
    """Class of the unfitted part of this name that an estimator may be given, or None."""
    from ..approximation import Approximation
    from ..forest.adapters import FORESTS, NEIGHBORS, OURS

    ours = next((cls for cls in (*OURS, *FORESTS, *NEIGHBORS, Approximation) if cls.__name__ == name), None)
    added = class_of(name, {}) if ours is None else None
    return added if hasattr(added, "FITTED") else ours


def _as_utf8(array: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray]:
    """The strings of an object array one after another, and where each of them ends."""
    if not all(isinstance(item, str) for item in array.flat):
        kinds = ", ".join(sorted({type(item).__name__ for item in array.flat}))
        raise TypeError(f"{where} is an object array of {kinds} (strings alone would do), {_CANNOT}.")
    parts = [item.encode("utf-8", "surrogatepass") for item in array.flat]
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return np.frombuffer(b"".join(parts), dtype=np.uint8), ends


def _from_utf8(data: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The strings again, in one dimension."""
    if (data.dtype, data.ndim, ends.dtype, ends.ndim) != (np.dtype(np.uint8), 1, np.dtype(np.int64), 1):
        raise ValueError(f"arrays of {data.dtype} and {ends.dtype} stand for strings and their ends")
    bounds = np.concatenate([[0], ends])
    if bounds[-1] != len(data) or np.any(bounds[1:] < bounds[:-1]):
        raise ValueError(f"the ends of strings do not rise from 0 to {len(data)}")
    text, found = data.tobytes(), np.empty(len(ends), dtype=object)
    found[:] = [
        text[first:last].decode("utf-8", "surrogatepass") for first, last in itertools.pairwise(bounds.tolist())
    ]
    return found


def _refusal(value: Any, where: str) -> str:
    from ..forest.density import DENSITIES
    from ..forest.targets import COSTS

    if not callable(value):
        return f"{where} is a {type(value).__name__}, {_CANNOT}."
    instead = {
        "cost": f"one of {tuple(COSTS)}",
        "target_density": f"one of {DENSITIES}",
        "relevance": "'high', 'low' or (target, relevance) pairs",
    }
    named = instead.get(where.split("__")[-1], "a named one")
    return (
        f"{where}={value!r} is a function, {_CANNOT} if it can be imported where the model is loaded. "
        f"Or set {where} to {named}."
    )
