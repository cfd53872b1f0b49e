"""Forged model files put to the test: refused by name, or models that answer as fitted ones do.

``originals`` saves a model of every kind and ``examine`` loads a file and asks the model everything.  Run as a program,
this examines many forged files in forked children, each under an alarm that native code cannot hold up.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from tests.io.forged_models import forge
from tests.small_models import build

SECONDS = 5
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

    import dsna
    from dsna.tables import TableEncoder
    from dsna.vision.datasets import load_bsds500
    from dsna.vision.edges import EdgeDetector, TwoLevelDetector
    from tests.vision.boundary_folders import write_bsds

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
    return found


def examine(path: Path) -> str:
    """Load a file and ask the model everything; returns "refused" or "sound", and fails on anything else."""
    import dsna

    try:
        model = dsna.load(path)
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
    except dsna.DSNAError:
        return "sound"
    _is_finite(X, (9, last.n_features_in_))
    np.testing.assert_array_equal(why.predict(), prediction)
    why.report(0)
    if encoder.rows_ is not None:
        assert len(encoder.rows_.identifiers()) == len(encoder.rows_)
        encoder.rows_.extended(query)
    return "sound"


def _ask(model) -> None:
    n = len(QUERY)
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(QUERY)
        _is_finite(proba, (n, len(model.classes_)))
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        prediction = model.predict(QUERY)
        assert prediction.shape == (n,)
        assert np.isin(prediction, model.classes_).all()
    else:
        shape = (n,) if model.n_outputs_ == 1 else (n, model.n_outputs_)
        prediction = model.predict(QUERY)
        _is_finite(prediction, shape)
    if getattr(model, "_regions", None):
        _is_finite(model.predict_interval(QUERY), (*shape, 2))
        _is_finite(model.predict_quantiles(QUERY), (*shape, 3))
    if hasattr(model, "explain"):
        np.testing.assert_array_equal(model.explain(QUERY).predict(), prediction)
    if hasattr(model, "apply"):
        assert model.apply(QUERY).shape[0] == n
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


def _child(cases: list[int], files: dict[str, bytes], path: Path, report) -> None:
    """Examine cases one after another, each under an alarm that nothing can hold up."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for case in cases:
        done, data = _case(case, files)
        path.write_bytes(data)
        before = _compiled()
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            verdict = examine(path)
            assert _compiled() == before, "kernels were compiled for it"
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            verdict = f"{type(error).__name__}: {str(error)[:300]} ({Path(place.filename).name}:{place.lineno})"
        signal.setitimer(signal.ITIMER_REAL, 0)
        report.write(json.dumps([case, done, verdict]) + "\n")
        report.flush()


def _case(case: int, files: dict[str, bytes]) -> tuple[str, bytes]:
    name = sorted(files)[case % len(files)]
    done, data = forge(files[name], np.random.RandomState(case))
    return f"{name}: {done}", data


def main(first: int, last: int) -> None:
    """Examine the cases from ``first`` to ``last`` and print what became of each as JSON lines."""
    files = originals()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.dsna"
        for data in files.values():  # compiles every kernel
            path.write_bytes(data)
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
                        _child(batch, files, path, report)
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(0)  # what the parent has open is not the child's to close
            status = os.waitpid(child, 0)[1]
            lines = log.read_text(encoding="utf-8").splitlines()
            print("\n".join(lines), flush=True)
            waiting = waiting[len(lines) :]
            if len(lines) < len(batch):
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                verdict = f"hung for {SECONDS} s" if number == signal.SIGALRM else f"killed by signal {number}"
                print(json.dumps([waiting[0], _case(waiting[0], files)[0], verdict]), flush=True)
                waiting = waiting[1:]


def examined(first: int, last: int) -> list[tuple[int, str, str]]:
    """(number, what was forged, verdict) of each case, examined by a process of one thread that may fork."""
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    environment = {**os.environ, **one, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "tests.io.forged_trials", str(first), str(last)]
    root = Path(__file__).parents[2]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root)
    assert run.returncode == 0, run.stderr
    return [tuple(json.loads(line)) for line in run.stdout.splitlines()]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
