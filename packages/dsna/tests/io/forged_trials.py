"""Forged and damaged models put to the test: refused by name, or models that answer as fitted ones do.

``originals`` and ``folders`` save models of every kind; ``examine`` loads one and asks it everything. Run as a program,
this examines many cases in forked children, each under an alarm that native code cannot hold up. Every sixth case is a
folder of a distributed model.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from tests.io.forged_models import forge, forge_folder
from tests.small_models import build

SECONDS = 10
_FOLDERS = 6  # one of so many cases is a folder
_BATCH = 25

RNG = np.random.RandomState(0)
X = RNG.randn(120, 4)
QUERY = RNG.randn(9, 4)
CODE = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 1.0)
LABEL = X[:, 0] + 0.1 * RNG.randn(len(X))
TABLE = pd.DataFrame(  # the threads of polars would not survive the fork
    {
        "who": [f"P{i:03d}" for i in range(len(X))],
        "town": [("Oslo", "é", "b\0", "=1")[i % 4] for i in range(len(X))],
        "pain": [("low", "medium", "high")[i % 3] for i in range(len(X))],
        "on": [dt.date(2020, 1, 1) + dt.timedelta(days=i % 50) for i in range(len(X))],
        "at": [dt.datetime(2020, 1, 1, i % 24) for i in range(len(X))],
        "says": [f"a text of some words {i} and {i % 7}" for i in range(len(X))],
        "flag": [None if i % 5 == 0 else i % 2 == 0 for i in range(len(X))],
    },
    dtype=object,
).assign(size=np.where(np.arange(len(X)) % 9 == 0, np.nan, X[:, 0]))
WORDS = np.array(["rare", "some", "most"], dtype=object)[CODE]


def originals() -> dict[str, bytes]:
    """Saved models of every kind, by name."""
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
    from sklearn.neighbors import NearestNeighbors
    from sklearn.pipeline import make_pipeline
    from tests.boundary_folders import write_bsds

    import dsna
    from dsna.tables import TableEncoder
    from dsna_vision.datasets import load_bsds500
    from dsna_vision.edges import EdgeDetector, TwoLevelDetector

    few = {"n_estimators": 5, "random_state": 0}
    both, rounded = np.c_[LABEL, X[:, 1]], np.round(LABEL)
    neighbors = NearestNeighbors(n_neighbors=8)
    models = {
        "forest of classes": dsna.CostSensitiveForestClassifier(oob_score=True, **few).fit(X, CODE),
        "forest of labels": dsna.CostSensitiveForestRegressor(oob_score=True, **few).fit(X, LABEL),
        "forest of two outputs": dsna.CostSensitiveForestRegressor(**few).fit(X, both),
        "classes": build(dsna.DSNAClassifier, **few, n_clusters=2).fit(X, WORDS),
        "classes, added": build(dsna.DSNAClassifier, **few)
        .fit(X, WORDS)
        .add_samples(QUERY[:4], ["new", "new", "some", "rare"]),
        "classes, random forest": dsna.DSNAClassifier(RandomForestClassifier(5), random_state=0).fit(X, CODE),
        "classes, neighbours": dsna.DSNAClassifier(neighbors, random_state=np.random.RandomState(3)).fit(X, CODE),
        "classes, paper": dsna.DSNAClassifier(**dsna.presets.paper("classification"), random_state=0).fit(X, CODE),
        "labels": build(dsna.DSNARegressor, **few, max_iter=3, hull_energy=0.9).fit(X, LABEL),
        "labels, added": build(dsna.DSNARegressor, **few).fit(X, rounded).add_samples(QUERY[:3], rounded[:3]),
        "labels, extra trees": dsna.DSNARegressor(ExtraTreesRegressor(5), random_state=0).fit(X, LABEL),
        "labels, neighbours": dsna.DSNARegressor(neighbors, random_state=0).fit(X, LABEL),
        "two outputs": build(dsna.DSNARegressor, **few).fit(X, both),
    }
    table = TABLE.assign(kind=WORDS)
    for name, kind, y in (
        ("table of classes", dsna.DSNAClassifier, WORDS),
        ("table of labels", dsna.DSNARegressor, LABEL),
    ):
        encoder = TableEncoder(target="kind", keep_rows=True)
        models[name] = make_pipeline(encoder, build(kind, **few)).fit(table, y)
    with tempfile.TemporaryDirectory() as folder:
        write_bsds(Path(folder), "train", 4)
        every = load_bsds500(folder, "train")
        photos = every.subset([0, 1])
        small = {"n_estimators": 2, "n_patches": 150, "n_dims": 8, "random_state": 0}
        models["detector"] = EdgeDetector(n_pool=150, **small).fit(photos)
        models["detector without patches"] = EdgeDetector(n_pool=0, **small).fit(photos)
        first = EdgeDetector(n_pool=0, **small)
        models["detector of two levels"] = TwoLevelDetector(first, n_estimators=2, random_state=0).fit(every)
        found = {}
        for name, model in models.items():
            dsna.save(model, Path(folder) / "model.dsna")
            found[name] = (Path(folder) / "model.dsna").read_bytes()
        for name in ("forest of classes", "classes, added", "labels", "two outputs", "table of labels"):
            condense = hasattr(models[name], "_index") or hasattr(models[name], "steps")
            dsna.save(models[name], Path(folder) / "model.dsna", compress=True, condense=condense)
            found[f"{name}, compressed{' and condensed' * condense}"] = (Path(folder) / "model.dsna").read_bytes()
        dsna.save(models["classes"], Path(folder) / "model.dsna", condense=True)
        found["classes, condensed"] = (Path(folder) / "model.dsna").read_bytes()
    return found


def folders() -> dict[str, dict[str, bytes]]:
    """Saved distributed models of three shards or more, by name: their files."""
    import dsna
    from dsna.distributed import DistributedDSNAClassifier, DistributedDSNARegressor
    from dsna.distributed.store import save
    from dsna.tables import TableEncoder

    encoder = TableEncoder(target="kind").fit(TABLE.assign(kind=WORDS))
    few = {"n_estimators": 5, "random_state": 0}
    settings = {"sample_size": 100, "shard_rows": 40}
    classes = DistributedDSNAClassifier(build(dsna.DSNAClassifier, **few), **settings)
    all_rows = DistributedDSNAClassifier(build(dsna.DSNAClassifier, **few, max_neighbors=None), **settings)
    labels = DistributedDSNARegressor(build(dsna.DSNARegressor, **few, trend="linear"), **settings)
    both = DistributedDSNARegressor(build(dsna.DSNARegressor, **few, trend=None), **settings)
    encoded = encoder.transform(TABLE.assign(kind=WORDS))

    def parts(X: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(X[start : start + 30], y[start : start + 30]) for start in range(0, len(X), 30)]

    fitted = {
        "classes": (classes.fit(parts(X, WORDS.astype(str)), None), None),
        "classes, all rows": (all_rows.fit(parts(X, CODE), None), None),
        "labels": (labels.fit(parts(X, LABEL), None), None),
        "two outputs": (both.fit(parts(X, np.c_[LABEL, X[:, 1]]), None), None),
        "table of classes": (clone(classes).fit(parts(encoded, WORDS.astype(str)), None), encoder),
    }
    found = {}
    with tempfile.TemporaryDirectory() as place:
        for name, (model, columns) in fitted.items():
            folder = Path(place) / name
            save(model, folder, encoder=columns)
            found[name] = {path.name: path.read_bytes() for path in folder.iterdir()}
    return found


def write(model: bytes | dict[str, bytes], path: Path) -> None:
    """Put a model, or the files of its folder, at a path, and nothing else."""
    if path.is_dir():
        shutil.rmtree(path)
    if isinstance(model, bytes):
        path.write_bytes(model)
        return
    path.unlink(missing_ok=True)
    path.mkdir()
    for name, data in model.items():
        (path / name).write_bytes(data)


def examine(path: Path, mapped: bool = False) -> str:
    """Load a model and ask it everything; returns "refused" or "sound", and fails on anything else."""
    import dsna

    if path.is_dir():
        return _examine_folder(path)
    try:
        model = dsna.load(path, mmap=mapped)
    except dsna.ModelFileError as error:
        return "refused" if str(path) in str(error) else f"refused without its name: {error}"
    if type(model).__name__ == "EdgeDetector":
        if hasattr(model, "forest_"):
            for method in ("se",) if model.pool_ is None else ("se", "dsna", "kernel"):
                _is_finite(model.detect(_photo(), method=method), (40, 44))
        return "sound"
    if type(model).__name__ == "TwoLevelDetector":
        if hasattr(model, "rounds_"):
            _is_finite(model.detect(_photo()), (40, 44))
        return "sound"
    if hasattr(model, "steps"):
        return _examine_table(model)
    if not hasattr(model, "n_features_in_"):
        return "sound"
    _ask(model)
    if hasattr(model, "add_samples"):
        n_outputs = getattr(model, "n_outputs_", 1)
        y = model.classes_[[0, 1, 0]] if hasattr(model, "classes_") else np.zeros((3, n_outputs))
        model.add_samples(QUERY[:3], y if n_outputs > 1 or y.ndim == 1 else y[:, 0])
        _ask(model)
    return "sound"


def _examine_folder(path: Path) -> str:
    """Ask a distributed model; its shards are looked at when they are asked, and may be refused then."""
    import dsna
    from dsna.distributed.store import load_with_encoder

    try:
        model, encoder = load_with_encoder(path)
        query = QUERY if encoder is None else encoder.transform(TABLE.iloc[:9])
        _ask(model, query)
        if hasattr(model, "predict_set"):
            assert model.predict_set(query).shape == (len(query), len(model.classes_))
    except dsna.DSNAError:
        return "refused"
    return "sound"


def _examine_table(model) -> str:
    """Ask a pipeline of an encoder and a model; rows that do not fit the encoder are refused by name."""
    import dsna
    from dsna.inspection import explain

    encoder, last = (step for _, step in model.steps)
    if not hasattr(encoder, "types_"):
        return "sound"
    query = TABLE.iloc[:9]
    try:
        encoder.get_feature_names_out()
        X = encoder.transform_with_notes(query)[0]
        prediction = model.predict(query)
        why = explain(model, query)
        if encoder.rows_ is not None:
            encoder.rows_.extended(query)
    except dsna.DSNAError:
        return "sound"
    _is_finite(X, (9, last.n_features_in_))
    np.testing.assert_array_equal(why.predict(), prediction)
    why.report(0)
    if encoder.rows_ is not None:
        assert len(encoder.rows_.identifiers()) == len(encoder.rows_)
    return "sound"


def _ask(model, query: np.ndarray = QUERY) -> None:
    n = len(query)
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(query)
        _is_finite(proba, (n, len(model.classes_)))
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        prediction = model.predict(query)
        assert prediction.shape == (n,)
        assert np.isin(prediction, model.classes_).all()
    else:
        n_outputs = getattr(model, "model_", model).n_outputs_
        shape = (n,) if n_outputs == 1 else (n, n_outputs)
        prediction = model.predict(query)
        _is_finite(prediction, shape)
    if getattr(getattr(model, "model_", model), "_regions", None):
        _is_finite(model.predict_interval(query), (*shape, 2))
        _is_finite(model.predict_quantiles(query), (*shape, 3))
    if hasattr(model, "explain"):
        np.testing.assert_array_equal(model.explain(query).predict(), prediction)
    if hasattr(model, "apply"):
        assert model.apply(query).shape[0] == n
        _is_finite(model.feature_importances_, (X.shape[1],))


def _is_finite(values: np.ndarray, shape: tuple[int, ...]) -> None:
    assert values.shape == shape, (values.shape, shape)
    assert np.all(np.isfinite(values))


def _photo() -> np.ndarray:
    photo = np.full((40, 44, 3), 60, dtype=np.uint8)
    photo[:, 20:] = 200
    return photo


def _compiled() -> int:
    """Signatures that kernels have been compiled for."""
    modules = [module for name, module in sys.modules.items() if name.startswith("dsna._kernels.")]
    return sum(
        len(value.signatures) for module in modules for value in vars(module).values() if hasattr(value, "signatures")
    )


def _merge_regions() -> None:
    """Compile the kernel that the original models do not need, and forged ones may."""
    from dsna_vision.edges.second_level.candidates import Candidates
    from dsna_vision.edges.second_level.planes import View
    from dsna_vision.edges.second_level.regions import merge_columns

    lines = np.zeros((40, 44), dtype=np.float32)
    lines[:, 20] = 0.7
    merge_columns(View(_photo(), (lines,), lines), Candidates(np.array([[20, 20]]), np.ones(1)))


class Originals(NamedTuple):
    """What is forged: files, and folders of distributed models."""

    files: dict[str, bytes]
    folders: dict[str, dict[str, bytes]]

    def case(self, number: int) -> tuple[str, bytes | dict[str, bytes]]:
        """What is done in a case, and the model that comes out."""
        rng, turn = np.random.RandomState(number), number // _FOLDERS
        if number % _FOLDERS == _FOLDERS - 1:
            names = sorted(self.folders)
            name, other = names[turn % len(names)], names[rng.randint(len(names))]
            done, files = forge_folder(self.folders[name], self.folders[other], rng)
            return f"folder of {name}: {done}", files
        name = sorted(self.files)[number % len(self.files)]
        done, data = forge(self.files[name], rng)
        return f"{name}: {done}", data


def _child(cases: list[int], originals: Originals, path: Path, report) -> None:
    """Examine cases one after another, each under an alarm that nothing can hold up."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for case in cases:
        done, model = originals.case(case)
        write(model, path)
        before = _compiled()
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            verdict = examine(path, mapped=case % 2 == 1)
            assert _compiled() == before, "kernels were compiled for it"
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            verdict = f"{type(error).__name__}: {str(error)[:300]} ({Path(place.filename).name}:{place.lineno})"
        signal.setitimer(signal.ITIMER_REAL, 0)
        report.write(json.dumps([case, done, verdict]) + "\n")
        report.flush()


def main(first: int, last: int) -> None:
    """Examine the cases from ``first`` to ``last`` and print what became of each as JSON lines."""
    every = Originals(originals(), folders())
    _merge_regions()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.dsna"
        for model in (*every.files.values(), *every.folders.values()):  # compiles every kernel
            write(model, path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert examine(path) == "sound"
        waiting = list(range(first, last))
        while waiting:
            batch, log = waiting[:_BATCH], Path(folder) / "log"
            child = os.fork()
            if not child:
                try:
                    with open(log, "w", encoding="utf-8") as report:
                        _child(batch, every, path, report)
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(0)  # what the parent has open is not the child's to close
            status = os.waitpid(child, 0)[1]
            lines = log.read_text(encoding="utf-8").splitlines()
            if lines:
                print("\n".join(lines), flush=True)
            waiting = waiting[len(lines) :]
            if len(lines) < len(batch):
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                verdict = f"hung for {SECONDS} s" if number == signal.SIGALRM else f"killed by signal {number}"
                print(json.dumps([waiting[0], every.case(waiting[0])[0], verdict]), flush=True)
                waiting = waiting[1:]


def examined(first: int, last: int) -> Iterator[tuple[int, str, str]]:
    """(number, what was forged, verdict) of each case, examined by a process of one thread that may fork."""
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    environment = {**os.environ, **one, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "tests.io.forged_trials", str(first), str(last)]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as complaints:
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True, env=environment)
        with run:
            for line in run.stdout:
                yield tuple(json.loads(line))
        complaints.seek(0)
        assert run.returncode == 0, complaints.read()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
