"""A distributed model as a folder: ``manifest.json``, the ordinary estimator, and one file for each shard."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.atomic import FileError, explained, write_atomically
from .._utils.invariants import DAMAGE, Array, check_fields, require
from ..forest.scaling import Scaling
from ..io import load as load_model
from ..io import save as save_model
from .arrays_file import (
    StoredShard,
    StoreError,
    check_file,
    check_size,
    read_arrays,
    sha256_of,
    store_shard,
    unsound,
    write_arrays,
)
from .asking.core import Core
from .asking.messages import Forest
from .engines.local import LocalEngine, opened
from .placed import PlacedRows
from .shards import ShardLimits, span

FORMAT, VERSION = "dsna-distributed-model", 3
MANIFEST, MODEL, LEAVES = "manifest.json", "model.dsna", "leaves.bin"
_KINDS = ("DistributedDSNAClassifier", "DistributedDSNARegressor")
_LARGEST_MANIFEST = 1 << 26
_LEAVES = {
    **{name: Forest.FIELDS[name] for name in ("leaf_total", "rarity")},
    **Scaling.FIELDS,
    "shard_numbers": Array("int64", "shards, 3", -1),
}


def check_place(folder: str | os.PathLike[str], overwrite: bool) -> Path:
    """Refuse a place that no model can be written to, and a folder that holds more than the model to be replaced.

    Returns
    -------
    Path
        The place without links.

    Examples
    --------
    >>> check_place(".", overwrite=True)
    Traceback (most recent call last):
    dsna.distributed.arrays_file.StoreError: ...: not a folder of a distributed model, so it is not replaced. ...
    """
    target = Path(os.path.realpath(folder))
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent}: there is no such folder. Make it first, or choose another.")
    if not target.exists():
        return target
    if not overwrite:
        raise StoreError(f"{target}: there already. Name a new folder, or overwrite it.")
    own = _own_files(target)
    if not own:
        raise StoreError(f"{target}: not a folder of a distributed model, so it is not replaced. Name another.")
    others = sorted(set(os.listdir(target)) - own)
    if others:
        raise StoreError(
            f"{target}: holds {others[0]!r}{f' and {len(others) - 1} more' * (len(others) > 1)}, no part of the model, "
            "so it is not replaced. Move that elsewhere, or name another folder."
        )
    return target


def _own_files(folder: Path) -> set[str]:
    """Names of the files of the model in a folder, whether it can be loaded or not; none where there is no model."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        if manifest["format"] != FORMAT:
            return set()
        return {MANIFEST, *(about["file"] for about in (manifest["model"], *manifest["files"]))}
    except (OSError, ValueError, LookupError, TypeError):
        return set()


@contextmanager
def whole_folder(folder: str | os.PathLike[str], overwrite: bool) -> Iterator[Path]:
    """A folder beside the one named, which takes its place when it is complete; a failure leaves nothing behind."""
    target = check_place(folder, overwrite)
    part = target.with_name(f".dsna-{secrets.token_hex(8)}.part")
    old = target.with_name(f".dsna-{secrets.token_hex(8)}.old")
    try:
        part.mkdir()
        yield part
        if target.exists():
            os.replace(target, old)
        os.replace(part, target)
    except OSError as error:
        raise FileError(explained(error)) from error
    finally:
        if old.exists() and not target.exists():
            os.replace(old, target)
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)


def save(model: Any, folder: str | os.PathLike[str], overwrite: bool = False, encoder: Any = None) -> None:
    """Write a fitted distributed model to a folder, whole or not at all; see ``load``.

    ``encoder`` is a fitted TableEncoder that turns rows of a table into those of the model.
    """
    core, placed = model._core, model._placed
    with whole_folder(folder, overwrite) as part:
        _save_estimator(core.model, encoder, part / MODEL)
        leaves = {"leaf_total": core.forest.leaf_total, "rarity": core.forest.rarity, **core.scaling.state}
        shards, spans = [], []
        for k, shard in enumerate(placed.shards):
            one = opened(placed.engine.gather([shard])[0])  # one at a time: they need not fit into memory together
            shards.append(store_shard(one, part / f"shard-{k:05d}.bin").about)
            spans.append(span(one.number))
        leaves["shard_numbers"] = np.array(spans, dtype=np.int64).reshape(-1, 3)
        files = [write_arrays(part / LEAVES, leaves), *shards]
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "dsna": _version(),
            "kind": type(model).__name__,
            "rows": model.n_rows_,
            "features": None if core.features is None else list(core.features),
            "parameters": {"sample_size": int(model.sample_size), "shard_rows": int(model.shard_rows)},
            "model": {"file": MODEL, "size": (part / MODEL).stat().st_size, "sha256": sha256_of(part / MODEL)},
            "files": files,
        }
        write_atomically(part / MANIFEST, json.dumps(manifest, indent=1).encode())


def _version() -> str:
    from .. import __version__

    return __version__


def _save_estimator(model: Any, encoder: Any, path: Path) -> None:
    from sklearn.pipeline import Pipeline

    save_model(model if encoder is None else Pipeline([("columns", encoder), ("model", model)]), path)


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder that ``DistributedDSNAClassifier.save`` or that of the regressor wrote.

    Examples
    --------
    >>> is_store(".")
    False
    """
    return (Path(path) / MANIFEST).is_file()


def load(folder: str | os.PathLike[str]) -> Any:
    """Read a distributed model from the folder that its ``save`` wrote.

    Shards are mapped, not read: each is to be there, in its size, and is verified when it is first asked; the system
    keeps in memory what is used.

    Parameters
    ----------
    folder : path

    Returns
    -------
    DistributedDSNAClassifier or DistributedDSNARegressor

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.distributed import DistributedDSNAClassifier, load
    >>> X, y = load_iris(return_X_y=True)
    >>> ordinary = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0)
    >>> model = DistributedDSNAClassifier(ordinary).fit([(X[:80], y[:80]), (X[80:], y[80:])], None)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     model.save(Path(place) / "iris")
    ...     bool((load(Path(place) / "iris").predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    return load_with_encoder(folder)[0]


def load_with_encoder(folder: str | os.PathLike[str]) -> tuple[Any, Any]:
    """A distributed model, and the TableEncoder that was saved with it, or None."""
    from . import estimators

    folder = Path(folder)
    manifest = _manifest(folder)
    saved = _load_estimator(folder, manifest["model"])
    encoder, ordinary = (saved.steps[0][1], saved.steps[1][1]) if hasattr(saved, "steps") else (None, saved)
    kind = getattr(estimators, manifest["kind"])
    index: Any = getattr(ordinary, "_index", None)
    if type(ordinary) is not kind._ordinary or getattr(index, "trees", None) is None:
        raise StoreError(f"{folder / MODEL}: not the fitted model of a {manifest['kind']}. Train again.")
    leaves, *shards = manifest["files"]
    check_file(folder / leaves["file"], leaves)
    features = None if manifest["features"] is None else tuple(manifest["features"])
    n_classes = len(getattr(ordinary, "classes_", ()))
    with unsound(folder / leaves["file"]):
        arrays = {name: np.array(values) for name, values in read_arrays(folder / leaves["file"], leaves).items()}
        require(arrays.keys() == _LEAVES.keys(), f"holds {', '.join(arrays)}")
        check_fields("leaves", arrays, _LEAVES)
        of_leaves = (arrays["leaf_total"], arrays["rarity"])
        forest = Forest(index.trees, index.leaf_value, *of_leaves, index.max_neighbors, n_classes)
        scaling = Scaling.restored({name: arrays[name] for name in Scaling.FIELDS})
        core = Core(scaling, ordinary, forest, features, manifest["rows"])
        if encoder is not None:
            require(len(encoder.source_columns_) == len(scaling.offset), "the encoder makes other columns")
        numbers = _numbers_of_shards(arrays["shard_numbers"], manifest["rows"])
    if len(shards) != len(numbers):
        raise StoreError(
            f"{folder / MANIFEST}: names {len(shards)} shards, and the model that was saved has {len(numbers)}. "
            "Copy the folder again, or train again."
        )
    stored = [_stored(folder, about, core, of_shard) for about, of_shard in zip(shards, numbers, strict=True)]
    model = kind(**manifest["parameters"])
    model._take(core, PlacedRows(LocalEngine(), stored, forest))
    return model, encoder


def _load_estimator(folder: Path, about: dict[str, Any]) -> Any:
    check_file(folder / about["file"], about)
    return load_model(folder / about["file"])


def _numbers_of_shards(spans: np.ndarray, n_rows: int) -> list[tuple[int, int, int]]:
    """What each shard is to hold: how many rows, the number of the first and that of the last."""
    n, first, last = spans[spans[:, 0] > 0].T
    follow = np.all(n <= last - first + 1) and np.all(first[1:] > last[:-1])
    require(follow, "leaves.shard_numbers: shards do not follow each other")
    require(last.max(initial=-1) < n_rows, f"leaves.shard_numbers names rows past the last of {n_rows}")
    return [(int(n), int(first), int(last)) for n, first, last in spans]


def _stored(folder: Path, about: dict[str, Any], core: Core, numbers: tuple[int, int, int]) -> StoredShard:
    """A shard that is there in its size, and whose first and last rows are those that were saved in its place."""
    path = folder / about["file"]
    check_size(path, about)
    with unsound(path):
        number = read_arrays(path, about, ["number"])["number"]
        require(number.ndim == 1, f"Shard.number has shape {number.shape}")
    if span(number) != numbers:
        raise StoreError(
            f"{path}: holds other rows than this shard of the model that was saved; files were swapped, or their "
            f"entries in {MANIFEST}. Copy the folder again, or train again."
        )
    model, forest = core.model, core.forest
    outputs = 1 if forest.n_classes else model.n_outputs_
    trends = 0 if forest.n_classes or model._trend is None else outputs
    sizes = {"dimensions": model._index.Z.shape[1], "outputs": outputs, "trends": trends}
    limits = ShardLimits({"leaves": forest.trees.n_leaves, **sizes}, len(forest.rarity), forest.n_classes, numbers)
    return StoredShard(path, about, limits)


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder, checked."""
    path = folder / MANIFEST
    try:
        if stat.S_ISREG(path.stat().st_mode) == 0 or path.stat().st_size > _LARGEST_MANIFEST:
            raise ValueError("too large, or not a regular file")
        manifest = json.loads(path.read_text("utf-8"))
        if manifest["format"] != FORMAT:
            raise ValueError("another format")
    except FileNotFoundError:
        raise StoreError(
            f"{folder}: no folder of a distributed model: {MANIFEST} is missing. Check the path."
        ) from None
    except (OSError, *DAMAGE) as error:
        raise StoreError(f"{path}: not the manifest of a distributed model ({error}). Check the path.") from error
    if manifest.get("version") != VERSION:
        raise StoreError(
            f"{path}: of format {manifest.get('version')!r}, by dsna {manifest.get('dsna')}; this dsna reads format "
            f"{VERSION}. Train again, or use the version that wrote it."
        )
    with unsound(path):
        _check_manifest(path, manifest)
    return manifest  # type: ignore[no-any-return]


def _check_manifest(path: Path, manifest: dict[str, Any]) -> None:
    """Refuse a manifest whose entries are not of their kinds, or that names files outside its folder."""
    seen: set[str] = set()
    for about in (manifest["model"], *manifest["files"]):
        name = about["file"]
        if type(name) is not str or name != os.path.basename(name) or name.startswith(".") or "\\" in name:
            raise StoreError(f"{path}: names {name!r}, which is no file of its own folder. Do not use this model.")
        if name in seen:
            raise StoreError(f"{path}: names {name} twice. Copy the folder again, or train again.")
        seen.add(name)
        if os.path.islink(path.parent / name):
            raise StoreError(f"{path}: {name} is a link to somewhere else. Copy the files themselves.")
        if type(about["size"]) is not int or type(about["sha256"]) is not str:
            raise TypeError(f"{name} has no size or digest")
    for about in manifest["files"]:
        about["arrays"].items()
    right = manifest["kind"] in _KINDS and len(manifest["files"]) >= 2 and type(manifest["rows"]) is int
    features, given = manifest["features"], manifest["parameters"]
    right = right and (features is None or all(type(one) is str for one in features))
    right = right and set(given) == {"sample_size", "shard_rows"} and all(type(one) is int for one in given.values())
    if not right:
        raise ValueError("entries of other kinds")
