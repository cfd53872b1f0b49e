"""Model files and folders of distributed models, forged one detail at a time with checksums that are right, or damaged.

A model is the bytes of a file, or those of the files of a folder by name.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import math
import warnings
import zipfile

import numpy as np

HEADER = "header.json"
_HUGE = 2**30


def unpacked(data: bytes) -> dict[str, bytes]:
    """Entries of a model file by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED, more: tuple = ()) -> bytes:
    """A model file of these entries, and of ``more``, pairs of a name and content."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", compression) as archive:
        warnings.simplefilter("ignore")  # two entries of one name
        for name, content in (*entries.items(), *more):
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def as_npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=array.dtype == object)
    return stream.getvalue()


def places(tree, path=()):
    """Paths to all nodes of a JSON tree but its root."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


_VALUES = (
    "zeros", "ones", "negative", "huge", "smallest", "largest", "nan", "inf", "tiny", "one huge", "one negative",
    "one nan", "shuffled", "reversed", "shifted", "off by one", "noise",
)  # fmt: skip
_SHAPES = ("truncated", "extended", "empty", "scalar", "flat", "transposed", "an axis more", "fortran", "doubled")
_DTYPES = ("<f4", "<f8", ">f8", "<i2", "<i4", "<i8", ">i4", "<u8", "|b1", "|u1", "<c16", "<U9", "|S9", "<M8[s]", "<f2")


def forged_values(array: np.ndarray, how: str, rng: np.random.RandomState) -> np.ndarray:
    """The array with other values of the same dtype."""
    array = array.copy()
    flat = array.reshape(-1)
    kind = array.dtype.kind
    if kind in "US":
        fill = {"zeros": "", "huge": "z" * 50, "negative": "a"}.get(how)
        if fill is not None:
            return np.full(array.shape, fill, dtype=array.dtype)
        if how in ("nan", "inf", "largest", "one huge"):
            flat.view(np.uint8)[:] = 255
        elif len(flat):
            rng.shuffle(flat)
        return array
    limits = np.iinfo(array.dtype) if kind in "iu" else np.finfo(array.dtype) if kind == "f" else None
    extremes = {
        "zeros": 0,
        "ones": 1,
        "negative": -1 if kind != "u" else 255,
        "huge": min(_HUGE, limits.max) if limits is not None else 1,
        "smallest": limits.min if limits is not None else 0,
        "largest": limits.max if limits is not None else 1,
        "nan": np.nan if kind == "f" else 0,
        "inf": np.inf if kind == "f" else 1,
        "tiny": limits.tiny if kind == "f" else 2,
    }
    if how in extremes:
        flat[:] = extremes[how]
    elif not len(flat):
        return array
    elif how.startswith("one "):
        flat[rng.randint(len(flat))] = extremes[how[4:]]
    elif how == "shuffled":
        rng.shuffle(flat)
    elif how == "reversed":
        flat[:] = flat[::-1].copy()
    elif how == "shifted":
        flat[:] = np.roll(flat, 1)
    elif how == "off by one":
        flat[rng.randint(len(flat))] += 1 if kind != "b" else True
    else:
        flat.view(np.uint8)[:] = rng.randint(256, size=flat.nbytes)
    return array


def forged_shape(array: np.ndarray, how: str) -> np.ndarray:
    """The array in another shape or order."""
    if how == "scalar":
        return array.reshape(-1)[0] if array.size else np.zeros((), dtype=array.dtype)
    if array.ndim == 0:
        return array[None]
    return {
        "truncated": array[:-1],
        "extended": np.concatenate([array, array[-1:]]),
        "empty": array[:0],
        "flat": array.reshape(-1) if array.ndim > 1 else array[:, None],
        "transposed": array.T,
        "an axis more": array[None],
        "fortran": np.asfortranarray(array),
        "doubled": np.concatenate([array, array]),
    }[how]


_TREES = (
    None, True, False, 0, 1, -1, 2, 7, _HUGE, 2**70, 10**300, -(2**63), 0.5, -0.5, 1e308, 1e-308, 1e-12, "", "x",
    "auto", "paper", "grid", "median", "callable", [], {}, [1, 2], {"array": 0}, {"array": -1}, {"array": 10**9},
    {"array": True},
    {"array": "0"}, {"array": 0.0}, {"scalar": 0}, {"strings": 0},
    {"strings": 0, "ends": 1, "shape": [2]}, {"float": "nan"}, {"float": "inf"}, {"float": "1e5"},
    {"tuple": [1]}, {"tuple": 3}, {"dict": [[1, 2], [1, 3]]}, {"dict": [[[], 1]]}, {"dict": 5}, {"random": {}},
    {"random": {"dict": []}}, {"object": "Trees", "state": {}}, {"object": "Popen", "state": {}},
    {"object": "Scaling", "state": {"offset": {"array": 0}, "scale": {"array": 0}}}, {"object": ["Trees"], "state": 1},
    {"template": "NearestNeighbors", "params": {}}, {"template": "NearestNeighbors", "params": {"n_neighbors": -3}},
    {"template": "NearestNeighbors", "params": {"metric": [1]}}, {"template": "RandomForestClassifier", "params": {}},
    {"template": "SVC", "params": {}}, {"array": 0, "scalar": 0},
)  # fmt: skip


def forged_header(header, rng):
    """Change one node of the header; returns what was done."""
    every = list(places(header))
    path = every[rng.randint(len(every))]
    parent, key = at(header, path[:-1]), path[-1]
    how = ("replaced", "missing", "extra", "swapped", "repeated")[rng.choice(5, p=[0.5, 0.15, 0.1, 0.2, 0.05])]
    if how == "replaced":
        parent[key] = copy.deepcopy(_TREES[rng.randint(len(_TREES))])
        how = f"replaced by {parent[key]!r}"
    elif how == "missing":
        del parent[key]
    elif how == "extra" and isinstance(parent, dict):
        parent[("stranger", "predict", "__class__", "_metadata_request", "C", "_regions")[rng.randint(6)]] = 1
    elif how == "repeated" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        other = every[rng.randint(len(every))]
        value = copy.deepcopy(at(header, other))
        parent[key] = value
        how = f"taken from {other}"
    return f"header {path} {how}"


_NUMPY_HEADERS = (
    b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999999999999), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"9" * 5000 + b",), }",
    b"{'descr': '<U2000000000', 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': '<U99999999999', 'fortran_order': False, 'shape': (0,), }",
    b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': '<M8[xyz]', 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': '<f8', 'fortran_order': 7, 'shape': (1,), }",
    b"(" * 9000,
    b"-" * 9000 + b"1",
)


def _entry_of(header: bytes, content: bytes = bytes(8)) -> bytes:
    header = header.ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def forged_archive(entries: dict[str, bytes], rng: np.random.RandomState) -> tuple[str, bytes]:
    """A file whose archive is not as it should be."""
    names = sorted(name for name in entries if name != HEADER)
    name = names[rng.randint(len(names))]
    text = entries[HEADER]
    how = rng.randint(13)
    if how == 0:
        header = _NUMPY_HEADERS[rng.randint(len(_NUMPY_HEADERS))]
        return f"{name} begins {header[:80]!r}", packed({**entries, name: _entry_of(header)})
    if how == 1:
        return f"{name} twice", packed(entries, more=((name, entries[name]),))
    if how == 2:
        return "header twice", packed(entries, more=((HEADER, text),))
    if how == 3:
        return "compressed", packed(entries, zipfile.ZIP_DEFLATED)
    if how == 4:
        return "a bomb beside", packed({**entries, "bomb": bytes(10**6)}, zipfile.ZIP_DEFLATED)
    if how == 5:
        deep = b"[" * 10 ** rng.randint(2, 6)
        return "deep nesting", packed({**entries, HEADER: deep + deep.replace(b"[", b"]")})
    if how == 6:
        odd = (b"NaN", b"Infinity", b"1e999", b"9" * 5000, b"9" * 400, b'"\\ud800"')[rng.randint(6)]
        return f"a number as {odd[:9]!r}", packed({**entries, HEADER: text.replace(b": 0.1,", b": " + odd + b",")})
    if how == 7:
        again = text.replace(b'"params": {', b'"params": {"C": 1.0, ', 1)
        return "a key twice", packed({**entries, HEADER: again})
    if how == 8:
        other = names[rng.randint(len(names))]
        return f"{name} is {other}", packed({**entries, name: entries[other]})
    if how == 9:
        return f"{name} is missing", packed({key: value for key, value in entries.items() if key != name})
    if how == 10:
        cut = rng.randint(len(entries[name]))
        return f"{name} ends at {cut}", packed({**entries, name: entries[name][:cut]})
    if how == 11:
        data = bytearray(packed(entries))
        for place in rng.randint(data.index(b"PK\x01\x02"), len(data), size=rng.randint(1, 5)):
            data[place] = rng.randint(256)
        return "noise in the directory", bytes(data)
    depth = rng.randint(50, 2000)
    header = json.loads(text)
    described = header["steps"][-1][1] if "steps" in header else header
    described["state"]["params"]["max_features"] = "deep"
    deep = '{"tuple": [' * depth + "1" + "]}" * depth
    return f"values {depth} deep", packed({**entries, HEADER: json.dumps(header).replace('"deep"', deep).encode()})


def damaged(data: bytes, rng: np.random.RandomState) -> tuple[str, bytes]:
    """A file that was damaged: nobody has mended its checksums."""
    how, at = rng.randint(6), rng.randint(len(data))
    size = 1 + rng.randint(64)
    if how == 0:
        return f"ends at {at}", data[:at]
    if how == 1:
        return f"{size} zeros at {at}", data[:at] + bytes(size) + data[at + size :]
    if how == 2:
        return f"{size} bytes missing at {at}", data[:at] + data[at + size :]
    if how == 3:
        return f"{size} bytes twice at {at}", data[:at] + data[at : at + size] + data[at:]
    flipped = bytearray(data)
    places = rng.randint(8 * len(data), size=1 if how == 4 else size)
    for place in places:
        flipped[place // 8] ^= 1 << place % 8
    return f"{len(places)} bits flipped, the first at {places[0]}", bytes(flipped)


def forge(data: bytes, rng: np.random.RandomState) -> tuple[str, bytes]:
    """What was done, and the forged or damaged file."""
    kind = rng.rand()
    if kind >= 0.9:
        return damaged(data, rng)
    entries = unpacked(data)
    if kind < 0.55:
        names = sorted(name for name in entries if name != HEADER)
        done = []
        for name in rng.choice(names, rng.choice([1, 1, 1, 2]), replace=False):
            how, array = forged_array(np.load(io.BytesIO(entries[name])), rng)
            done.append(f"{_named(entries, name)} {how}")
            entries[name] = as_npy(np.asarray(array))
        return ", ".join(done), packed(entries)
    if kind < 0.82:
        header = json.loads(entries[HEADER])
        done = forged_header(header, rng)
        return done, packed({**entries, HEADER: json.dumps(header).encode()})
    return forged_archive(entries, rng)


def forged_array(array: np.ndarray, rng: np.random.RandomState) -> tuple[str, np.ndarray]:
    """What was done to the values, the shape or the dtype of an array, and the array."""
    kind = rng.rand()
    if kind < 0.7:
        how = _VALUES[rng.randint(len(_VALUES))]
        return how, forged_values(array, how, rng)
    if kind < 0.87:
        how = _SHAPES[rng.randint(len(_SHAPES))]
        return how, forged_shape(array, how)
    how = _DTYPES[rng.randint(len(_DTYPES))]
    convertible = array.dtype.kind not in "US" and how != "<M8[s]"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return how, array.astype(how) if convertible else np.zeros(array.shape, how)


def _named(entries: dict[str, bytes], name: str) -> str:
    """Where in the header an array is referred to."""
    header, number = json.loads(entries[HEADER]), int(name[7:-4])
    references = [
        path
        for path in places(header)
        if path[-1] in ("array", "strings", "ends", "scalar", "packed") and at(header, path) == number
    ]
    return ".".join(str(key) for key in references[0][2:-1] if key != "state")


MANIFEST, MODEL = "manifest.json", "model.dsna"
_ABOUT = (0, 1, 2, -1, 7, 64, 2**20, 2**31, 2**40, 2**62, 2**63, 2**64, True, 0.5, "1", None)


def forge_folder(files: dict[str, bytes], others: dict[str, bytes], rng: np.random.RandomState) -> tuple[str, dict]:
    """What was done, and the forged or damaged files of a distributed model; ``others`` are those of another one."""
    files, kind = dict(files), rng.rand()
    if kind < 0.1:
        name = sorted(files)[rng.randint(len(files))]
        if rng.rand() < 0.2:
            del files[name]
            return f"{name} is missing", files
        done, files[name] = damaged(files[name], rng)
        return f"{name} {done}", files
    manifest = json.loads(files[MANIFEST])
    about = manifest["files"][rng.randint(len(manifest["files"]))]
    if kind < 0.55:
        done = _forged_arrays(files, about, rng)
    elif kind < 0.65:
        done = forged_header(manifest, rng)
    elif kind < 0.75:
        done = _forged_description(about, rng)
    elif kind < 0.88:
        done, files[MODEL] = forge(files[MODEL], rng)
        _describe(files, manifest["model"])
        done = f"{MODEL} {done}"
    else:
        done = _swapped(files, manifest, others, rng)
    files[MANIFEST] = json.dumps(manifest).encode()
    return done, files


def _describe(files: dict[str, bytes], about: dict) -> None:
    """Put size and digest of a file into its entry."""
    data = files[about["file"]]
    about.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())


def _arrays_of(data: bytes, about: dict) -> dict[str, np.ndarray]:
    return {
        name: np.frombuffer(data, dtype, math.prod(shape), offset).reshape(shape)
        for name, (dtype, shape, offset) in about["arrays"].items()
    }


def _forged_arrays(files: dict[str, bytes], about: dict, rng: np.random.RandomState) -> str:
    """Change one array of a file, or two, and describe the file as it is then."""
    arrays = _arrays_of(files[about["file"]], about)
    done, data = [], b""
    for name in rng.choice(sorted(arrays), rng.choice([1, 1, 1, 2]), replace=False):
        how, arrays[name] = forged_array(arrays[name], rng)
        done.append(f"{name} {how}")
    about["arrays"] = {}
    for name, array in arrays.items():
        data += bytes(-len(data) % 64)
        plain = np.asarray(array)
        about["arrays"][str(name)] = [str(plain.dtype), list(plain.shape), len(data)]
        data += plain.tobytes()
    files[about["file"]] = data
    _describe(files, about)
    return f"{about['file']} {', '.join(done)}"


def _forged_description(about: dict, rng: np.random.RandomState) -> str:
    """Change dtype, shape or place of an array in a file that is as it was."""
    name = sorted(about["arrays"])[rng.randint(len(about["arrays"]))]
    described = about["arrays"][name]
    how = rng.randint(4)
    if how == 0:
        described[0] = ("float64", "int64", "int32", "object", "<U1000000000", "O", "", None, [], "float32")[
            rng.randint(10)
        ]
    elif how == 1 and described[1]:
        described[1][rng.randint(len(described[1]))] = _ABOUT[rng.randint(len(_ABOUT))]
    elif how == 2:
        described[1] = [[], [0], [2**40, 2**40], [0, 2**62], [1] * 70, 5, None, described[1][::-1]][rng.randint(8)]
    else:
        described[2] = _ABOUT[rng.randint(len(_ABOUT))]
    return f"{about['file']} has {name} as {str(described)[:80]}"


def _swapped(files: dict[str, bytes], manifest: dict, others: dict[str, bytes], rng: np.random.RandomState) -> str:
    """Put sound files into the places of others."""
    shards = manifest["files"][1:]
    one, two = rng.choice(len(shards), 2, replace=False)
    how = rng.randint(4)
    if how == 0:
        manifest["files"][1 + one], manifest["files"][1 + two] = shards[two], shards[one]
        return f"the entries of shards {one} and {two} swapped"
    names = shards[one]["file"], shards[two]["file"]
    if how == 1:
        files[names[0]], files[names[1]] = files[names[1]], files[names[0]]
        return f"the files of shards {one} and {two} swapped"
    if how == 2:
        shards[one]["file"], shards[two]["file"] = names[::-1]
        files[names[0]], files[names[1]] = files[names[1]], files[names[0]]
        return f"shards {one} and {two} swapped with their entries"
    theirs = json.loads(others[MANIFEST])
    place = rng.randint(-1, len(manifest["files"]))
    mine, its = (m["model"] if place < 0 else m["files"][min(place, len(m["files"]) - 1)] for m in (manifest, theirs))
    files[mine["file"]] = others[its["file"]]
    mine.update({**its, "file": mine["file"]})
    return f"{mine['file']} of another model"
