"""Folders of distributed models: ``manifest.json``, the model of the sample, and one file for each shard."""

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
    damaged_file_refused,
    read_arrays,
    sha256_of,
    store_shard,
    write_arrays,
)
from .asking.core import Core
from .asking.messages import DistributedForest
from .engines.local import LocalEngine, open_shard
from .placed import PlacedRows
from .shards import ShardLimits, span

FORMAT, VERSION = "dsna-distributed-model", 3
MANIFEST, MODEL, LEAVES = "manifest.json", "model.dsna", "leaves.bin"
_KINDS = ("DistributedDSNAClassifier", "DistributedDSNARegressor")
_MAX_MANIFEST_SIZE = 1 << 26
_LEAVES = {
    **{name: DistributedForest.FIELDS[name] for name in ("leaf_total", "rarity")},
    **Scaling.FIELDS,
    "shard_numbers": Array("int64", "shards, 3", -1),
}


def check_place(folder: str | os.PathLike[str], overwrite: bool) -> Path:
    """Refuse a folder that cannot be written, or that holds more than the model to be replaced.

    Returns
    -------
    Path
        The resolved path.

    Examples
    --------
    >>> check_place(".", overwrite=True)
    Traceback (most recent call last):
    dsna.distributed.arrays_file.StoreError: ...: not a folder of a distributed model, so it is not replaced. ...
    """
    model_folder = Path(os.path.realpath(folder))
    if not model_folder.parent.is_dir():
        raise StoreError(f"{model_folder.parent}: there is no such folder. Create it first, or choose another.")
    if not model_folder.exists():
        return model_folder
    if not overwrite:
        raise StoreError(f"{model_folder}: there already. Choose another folder, or overwrite this one.")
    model_files = _model_files(model_folder)
    if not model_files:
        raise StoreError(f"{model_folder}: not a folder of a distributed model, so it is not replaced. Choose another.")
    other_files = sorted(set(os.listdir(model_folder)) - model_files)
    if other_files:
        ending = f" and {len(other_files) - 1} more" if len(other_files) > 1 else ""
        raise StoreError(
            f"{model_folder}: holds {other_files[0]!r}{ending}, no part of the model, "
            "so it is not replaced. Move that elsewhere, or choose another folder."
        )
    return model_folder


def _model_files(folder: Path) -> set[str]:
    """Names of the files of the model in a folder, even of a damaged one; empty without a model."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        if manifest["format"] != FORMAT:
            return set()
        return {MANIFEST, *(entry["file"] for entry in (manifest["model"], *manifest["files"]))}
    except (OSError, ValueError, LookupError, TypeError):
        return set()


@contextmanager
def whole_folder(folder: str | os.PathLike[str], overwrite: bool) -> Iterator[Path]:
    """Yield a new folder that replaces ``folder`` when it is complete; a failure leaves nothing behind."""
    model_folder = check_place(folder, overwrite)
    new_folder = model_folder.with_name(f".dsna-{secrets.token_hex(8)}.part")
    old_folder = model_folder.with_name(f".dsna-{secrets.token_hex(8)}.old")
    try:
        new_folder.mkdir()
        yield new_folder
        if model_folder.exists():
            os.replace(model_folder, old_folder)
        os.replace(new_folder, model_folder)
    except OSError as error:
        raise FileError(explained(error)) from error
    finally:
        if old_folder.exists() and not model_folder.exists():
            os.replace(old_folder, model_folder)
        for leftover in (new_folder, old_folder):
            shutil.rmtree(leftover, ignore_errors=True)


def save(model: Any, folder: str | os.PathLike[str], overwrite: bool = False, encoder: Any = None) -> None:
    """Write a fitted distributed model to a folder, completely or not at all; see ``load``.

    ``encoder`` is a fitted TableEncoder that converts rows of a table to those of the model.
    """
    core, placed = model._core, model._placed
    with whole_folder(folder, overwrite) as new_folder:
        _save_estimator(core.model, encoder, new_folder / MODEL)
        leaves = {"leaf_total": core.forest.leaf_total, "rarity": core.forest.rarity, **core.scaling.state}
        entries, spans = [], []
        for k, handle in enumerate(placed.shards):  # one at a time: they may not fit into memory together
            shard = open_shard(placed.engine.gather([handle])[0])
            entries.append(store_shard(shard, new_folder / f"shard-{k:05d}.bin").entry)
            spans.append(span(shard.number))
        leaves["shard_numbers"] = np.array(spans, dtype=np.int64).reshape(-1, 3)
        files = [write_arrays(new_folder / LEAVES, leaves), *entries]
        model_path = new_folder / MODEL
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "dsna": _version(),
            "kind": type(model).__name__,
            "rows": model.n_rows_,
            "features": None if core.features is None else list(core.features),
            "parameters": {"sample_size": int(model.sample_size), "shard_rows": int(model.shard_rows)},
            "model": {"file": MODEL, "size": model_path.stat().st_size, "sha256": sha256_of(model_path)},
            "files": files,
        }
        write_atomically(new_folder / MANIFEST, json.dumps(manifest, indent=1).encode())


def _version() -> str:
    from .. import __version__

    return __version__


def _save_estimator(model: Any, encoder: Any, path: Path) -> None:
    from sklearn.pipeline import Pipeline

    save_model(model if encoder is None else Pipeline([("columns", encoder), ("model", model)]), path)


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder of a distributed model.

    Examples
    --------
    >>> is_store(".")
    False
    """
    return (Path(path) / MANIFEST).is_file()


def load(folder: str | os.PathLike[str]) -> Any:
    """Read a distributed model from the folder that its ``save`` wrote.

    Shards are memory-mapped: ``load`` checks that their files exist and have the right sizes, and each shard is
    verified on its first query. The operating system keeps the parts in use in memory.

    Parameters
    ----------
    folder : path of the folder.

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
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "iris")
    ...     bool((load(Path(folder) / "iris").predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    return load_with_encoder(folder)[0]


def load_with_encoder(folder: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Read a distributed model, and the TableEncoder that was saved with it or None."""
    from . import estimators

    folder = Path(folder)
    manifest = _manifest(folder)
    saved_model = _load_estimator(folder, manifest["model"])
    encoder, ordinary_model = (
        (saved_model.steps[0][1], saved_model.steps[1][1]) if hasattr(saved_model, "steps") else (None, saved_model)
    )
    model_class = getattr(estimators, manifest["kind"])
    index: Any = getattr(ordinary_model, "_index", None)
    if type(ordinary_model) is not model_class._ordinary or getattr(index, "trees", None) is None:
        raise StoreError(f"{folder / MODEL}: not the fitted model of a {manifest['kind']}. Train again.")
    leaves, *shards = manifest["files"]
    check_file(folder / leaves["file"], leaves)
    features = None if manifest["features"] is None else tuple(manifest["features"])
    n_classes = len(getattr(ordinary_model, "classes_", ()))
    with damaged_file_refused(folder / leaves["file"]):
        arrays = {name: np.array(values) for name, values in read_arrays(folder / leaves["file"], leaves).items()}
        require(arrays.keys() == _LEAVES.keys(), f"holds {', '.join(arrays)}")
        check_fields("leaves", arrays, _LEAVES)
        forest = DistributedForest(
            index.trees, index.leaf_value, arrays["leaf_total"], arrays["rarity"], index.max_neighbors, n_classes
        )
        scaling = Scaling.restored({name: arrays[name] for name in Scaling.FIELDS})
        core = Core(scaling, ordinary_model, forest, features, manifest["rows"])
        if encoder is not None:
            require(len(encoder.source_columns_) == len(scaling.offset), "the encoder makes other columns")
        spans = _shard_spans(arrays["shard_numbers"], manifest["rows"])
    if len(shards) != len(spans):
        raise StoreError(
            f"{folder / MANIFEST}: names {len(shards)} shards, and the model that was saved has {len(spans)}. "
            "Copy the folder again, or train again."
        )
    stored_shards = [_stored(folder, entry, core, row_span) for entry, row_span in zip(shards, spans, strict=True)]
    model = model_class(**manifest["parameters"])
    model._set_fitted(core, PlacedRows(LocalEngine(), stored_shards, forest))
    return model, encoder


def _load_estimator(folder: Path, entry: dict[str, Any]) -> Any:
    check_file(folder / entry["file"], entry)
    return load_model(folder / entry["file"])


def _shard_spans(spans: np.ndarray, n_rows: int) -> list[tuple[int, int, int]]:
    """Check the number of rows of each shard and the numbers of its first and last rows."""
    n, first, last = spans[spans[:, 0] > 0].T
    consecutive = np.all(n <= last - first + 1) and np.all(first[1:] > last[:-1])
    require(consecutive, "leaves.shard_numbers: shards do not follow each other")
    require(last.max(initial=-1) < n_rows, f"leaves.shard_numbers names rows past the last of {n_rows}")
    return [(int(n_shard), int(start), int(stop)) for n_shard, start, stop in spans]


def _stored(folder: Path, entry: dict[str, Any], core: Core, row_span: tuple[int, int, int]) -> StoredShard:
    """Return a stored shard, checked for its size and for its first and last rows."""
    path = folder / entry["file"]
    check_size(path, entry)
    with damaged_file_refused(path):
        number = read_arrays(path, entry, ["number"])["number"]
        require(number.ndim == 1, f"Shard.number has shape {number.shape}")
    if span(number) != row_span:
        raise StoreError(
            f"{path}: does not hold the rows of this shard; files or their entries in {MANIFEST} were swapped. "
            "Copy the folder again, or train again."
        )
    model, forest = core.model, core.forest
    n_outputs = 1 if forest.n_classes else model.n_outputs_
    n_trends = 0 if forest.n_classes or model._trend is None else n_outputs
    sizes = {"dimensions": model._index.Z.shape[1], "outputs": n_outputs, "trends": n_trends}
    limits = ShardLimits({"leaves": forest.trees.n_leaves, **sizes}, len(forest.rarity), forest.n_classes, row_span)
    return StoredShard(path, entry, limits)


def _manifest(folder: Path) -> dict[str, Any]:
    """Read and check the manifest of a folder."""
    path = folder / MANIFEST
    try:
        if stat.S_ISREG(path.stat().st_mode) == 0 or path.stat().st_size > _MAX_MANIFEST_SIZE:
            raise ValueError("too large, or not a regular file")
        manifest = json.loads(path.read_text("utf-8"))
        if manifest["format"] != FORMAT:
            raise ValueError("another format")
    except FileNotFoundError:
        raise StoreError(
            f"{folder}: not a folder of a distributed model: {MANIFEST} is missing. Check the path."
        ) from None
    except (OSError, *DAMAGE) as error:
        raise StoreError(f"{path}: not the manifest of a distributed model ({error}). Check the path.") from error
    if manifest.get("version") != VERSION:
        raise StoreError(
            f"{path}: written in format {manifest.get('version')!r} by dsna {manifest.get('dsna')}; this version reads "
            f"format {VERSION}. Train again, or use the version that wrote it."
        )
    with damaged_file_refused(path):
        _check_manifest(path, manifest)
    return manifest  # type: ignore[no-any-return]


def _check_manifest(path: Path, manifest: dict[str, Any]) -> None:
    """Refuse a manifest with entries of wrong types, or with files outside its folder."""
    file_names: set[str] = set()
    for entry in (manifest["model"], *manifest["files"]):
        file_name = entry["file"]
        if (
            type(file_name) is not str
            or file_name != os.path.basename(file_name)
            or file_name.startswith(".")
            or "\\" in file_name
        ):
            raise StoreError(
                f"{path}: names {file_name!r}, which is not a file in its own folder. Do not use this model."
            )
        if file_name in file_names:
            raise StoreError(f"{path}: names {file_name} twice. Copy the folder again, or train again.")
        file_names.add(file_name)
        if os.path.islink(path.parent / file_name):
            raise StoreError(f"{path}: {file_name} is a link to somewhere else. Copy the files themselves.")
        if type(entry["size"]) is not int or type(entry["sha256"]) is not str:
            raise TypeError(f"{file_name} has no size or digest")
    for entry in manifest["files"]:
        entry["arrays"].items()
    features, parameters = manifest["features"], manifest["parameters"]
    is_valid = (
        manifest["kind"] in _KINDS
        and len(manifest["files"]) >= 2
        and type(manifest["rows"]) is int
        and (features is None or all(type(name) is str for name in features))
        and set(parameters) == {"sample_size", "shard_rows"}
        and all(type(value) is int for value in parameters.values())
    )
    if not is_valid:
        raise ValueError("entries of wrong types")
