"""`python -m dsna_studies edges` on drawn scenes; on the real photos where DSNA_DATA names them."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")
pytest.importorskip("skimage")

from tests.boundary_folders import write_bsds, write_gupta
from tests.commands import invoke_study

from dsna import Approximation
from dsna_studies.edges import second_level
from dsna_studies.edges.collections import find_collections
from dsna_studies.edges.comparison import compare
from dsna_studies.edges.methods import METHODS, QUICK_METHODS, detector_of
from dsna_studies.edges.page import rare_section
from dsna_studies.edges.rare.classes import edge_classes
from dsna_studies.edges.rare.comparison import rare_pairs
from dsna_studies.edges.rare.patches import rare_patches
from dsna_studies.edges.runs import planned
from dsna_studies.edges.store import Store
from dsna_vision.edges import BoundaryScores, EdgeDetector, load_detector
from dsna_vision.photos import read_photo

FIGURES = ("pr.png", "power_law.png", "pictures.png", "rare.png", "neighbours.png")


def ask(*options):
    return invoke_study("edges", *options)


def write_both(folder, n=4):
    write_bsds(folder, "train", n, (96, 112))
    write_bsds(folder, "val", 3, (80, 96))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    write_both(folder / "bsds500")
    write_gupta(folder / "nyud")
    return folder


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("edges")
    return out, ask("--data", data, "--out", out, "--quick", "--patches", 400)


@pytest.fixture
def detections(monkeypatch):
    """Sizes of the photos that were looked at, and methods asked for."""
    asked = []
    plain = EdgeDetector.detect

    def detect(self, photo, *rest, **named):
        asked.append((photo.shape, named["method"]))
        return plain(self, photo, *rest, **named)

    monkeypatch.setattr(EdgeDetector, "detect", detect)
    return asked


def no_training(self, photos, y=None):
    raise RuntimeError("trained again")


def test_page_and_figures_are_written(finished):
    out, run = finished
    assert run.exit_code == 0, run.output
    page = (out / "edges.md").read_text(encoding="utf-8")
    assert "`python -m dsna_studies edges --data DIR --quick --patches 400`: 2 trees, each of 400 patches of 4 " in page
    for method in QUICK_METHODS:
        assert f"| {method} |" in page or f"| **{method}** |" in page
    for title in ("BSDS500 val (Table 1)", "Pairs on the same photos", "Rare structures", "(Table 5)"):
        assert title in page
    assert "A quick run" in page
    assert "published (not run here)" not in page
    assert page.count("SE+DSNA against SE |") == 2
    for name in ("pairs.csv", "rare.csv"):
        assert "SE+DSNA,SE,1,3," in (out / name).read_text(encoding="utf-8")
    for trained in ("NYUD/NYUD", "BSDS500/NYUD"):
        assert f"SE+DSNA ({trained}), ours" in page
    for name in FIGURES:
        assert (out / name).read_bytes().startswith(b"\x89PNG")
        assert f"({name})" in page
    assert not list(out.rglob(".*"))


def test_results_hold_all_scores(finished):
    filed = pd.read_csv(finished[0] / "results.csv")
    assert list(filed["method"].value_counts()[list(QUICK_METHODS)]) == [3, 3]
    assert filed[["ods", "ois", "ap", "r50"]].apply(lambda column: column.between(0, 1)).all(axis=None)
    assert (filed["seconds_a_photo"] > 0).all()
    assert set(filed.loc[filed["test"] == "BSDS500 val", "photos"]) == {3}


def test_a_finished_run_is_not_run_again(finished, data, detections, monkeypatch):
    monkeypatch.setattr(EdgeDetector, "fit", no_training)
    out, _ = finished
    before = (out / "results.csv").read_bytes()
    again = ask("--data", data, "--out", out, "--quick", "--patches", 400)
    assert again.exit_code == 0, again.output
    done, wanted = re.search(r"(\d+) of (\d+) results", again.output).groups()
    assert done == wanted == "6"
    assert not detections
    assert (out / "results.csv").read_bytes() == before


@pytest.fixture
def copied(finished, tmp_path):
    """What a finished run has left."""
    return shutil.copytree(finished[0], tmp_path / "copied")


def ask_bsds(data, out, methods, *options):
    return ask("--data", data / "bsds500", "--out", out, "--quick", "--patches", 400, "--methods", methods, *options)


def test_an_interrupted_run_detects_only_what_is_missing_or_damaged(data, copied, detections, monkeypatch):
    (first,) = copied.glob("maps/BSDS500-BSDS500-val/SE+DSNA-*/000.png")
    second = first.with_name("100.png")
    good = first.read_bytes()
    first.unlink()
    second.write_bytes(good[:50])
    (copied / "results.csv").unlink()
    monkeypatch.setattr(EdgeDetector, "fit", no_training)
    assert ask_bsds(data, copied, "SE+DSNA").exit_code == 0
    assert [shape for shape, _ in detections if shape[0] == 80] == [(80, 96, 3)] * 2
    assert first.read_bytes() == good
    page = (copied / "edges.md").read_text(encoding="utf-8")
    assert "NYUD was not in the data folder" in page
    assert "Pairs on the same photos" not in page


def test_redo_does_all_again(data, copied, detections):
    (model,) = copied.glob("models/BSDS500-SE-[0-9]*.dsna")
    good = model.read_bytes()
    model.write_bytes(b"PK damaged")
    lines = len(pd.read_csv(copied / "results.csv"))
    assert ask_bsds(data, copied, "SE", "--redo").exit_code == 0
    assert model.read_bytes() == good
    assert len([shape for shape, _ in detections if shape[0] == 80]) == 3
    assert len(pd.read_csv(copied / "results.csv")) == lines + 1


def test_second_levels_share_forests_and_maps_and_resume(data, tmp_path, monkeypatch):
    pytest.importorskip("lightgbm")
    methods = "SE,SE@2,SE@2+perceptrons,SE@2+boosted"
    run = ask_bsds(data, tmp_path, methods, "--levels", 2)
    assert run.exit_code == 0, run.output
    page = (tmp_path / "edges.md").read_text(encoding="utf-8")
    for part in (
        "Even- and odd-numbered photos",
        "odd: ODS over SE@2",
        "SE@2+boosted against SE@2 |",
        "SE@2+perceptrons |",
    ):
        assert part in page
    models = {path.name: path for path in tmp_path.glob("models/*.dsna")}
    assert sum("without" in name for name in models) == 2
    assert len(models) == 5  # the first level, two for blocks, and two of both levels
    assert len(list(tmp_path.glob("views/*/train-2-blocks/*.npz"))) == 4
    views = sorted(tmp_path.glob("views/*/BSDS500-val/*.npz"))
    assert len(views) == 3
    (both,) = (path for name, path in models.items() if "SE@2+boosted" in name)
    photo = find_collections(data)[0].test.image(0)
    (filed,) = tmp_path.glob("maps/BSDS500-BSDS500-val/SE@2+boosted-*/000.png")
    np.testing.assert_allclose(read_photo(filed)[..., 0] / 255, load_detector(both).detect(photo), atol=0.003)
    good = filed.read_bytes()
    filed.unlink()
    views[0].write_bytes(b"PK damaged")
    (tmp_path / "results.csv").unlink()
    monkeypatch.setattr(EdgeDetector, "fit", no_training)
    monkeypatch.setattr(second_level, "learn_rounds", no_training)
    assert ask_bsds(data, tmp_path, methods, "--levels", 2).exit_code == 0
    assert filed.read_bytes() == good
    assert len(pd.read_csv(tmp_path / "results.csv")) == 4


def test_a_photo_that_fails_is_named_and_tried_again(data, copied, tmp_path, monkeypatch):
    shutil.copytree(copied / "models", tmp_path / "new" / "models")
    plain = EdgeDetector.detect

    def detect(self, photo, *rest, **named):
        if photo.shape[:2] == (80, 96) and not detect.failed:
            detect.failed = True
            raise RuntimeError("no luck")
        return plain(self, photo, *rest, **named)

    detect.failed = False
    monkeypatch.setattr(EdgeDetector, "detect", detect)
    run = ask_bsds(data, tmp_path / "new", "SE")
    assert run.exit_code == 1
    assert "SE, seed 0, BSDS500/BSDS500: 000: RuntimeError: no luck" in run.stderr
    assert "no luck" in (tmp_path / "new" / "edges.md").read_text(encoding="utf-8")
    assert pd.read_csv(tmp_path / "new" / "results.csv")["photos"].tolist() == [2]
    assert ask_bsds(data, tmp_path / "new", "SE").exit_code == 0
    assert pd.read_csv(tmp_path / "new" / "results.csv")["photos"].tolist() == [2, 3]


def test_a_forest_that_fails_leaves_the_others_running(data, copied, tmp_path, monkeypatch):
    (tmp_path / "new" / "models").mkdir(parents=True)
    (model,) = copied.glob("models/BSDS500-SE-pool-*.dsna")
    shutil.copy(model, tmp_path / "new" / "models")
    monkeypatch.setattr(EdgeDetector, "fit", no_training)
    run = ask_bsds(data, tmp_path / "new", "SE,SE+DSNA")
    assert run.exit_code == 1
    assert "SE, seed 0, BSDS500/BSDS500: RuntimeError: trained again" in run.stderr
    assert pd.read_csv(tmp_path / "new" / "results.csv")["method"].tolist() == ["SE+DSNA"]


def without_truth(folder):
    write_both(folder)
    for path in folder.glob("groundTruth/val/*.mat"):
        path.unlink()


@pytest.mark.parametrize(
    "write, options, said",
    [
        (None, (), "is not a folder"),
        (lambda folder: folder.mkdir(), (), "images/train/*.jpg and groundTruth/train/*.mat are expected"),
        (without_truth, (), "No photos with ground truth of the split 'val'"),
        (write_both, ("--split", "test"), "No photos with ground truth of the split 'test'"),
        (write_both, ("--methods", "SE,XYZ"), "There is no method XYZ; there are SE, SE+AH, SE+kernel,"),
        (write_both, ("--seeds", "0,one"), "whole numbers"),
        (write_both, ("--out", __file__), "a file stands where a folder is needed"),
    ],
)
def test_unusable_input_is_reported(write, options, said, tmp_path):
    if write:
        write(tmp_path / "photos")
    run = ask("--data", tmp_path / "photos", "--out", tmp_path / "out", *options)
    assert run.exit_code == 2
    assert said in " ".join(re.sub("[│╭╮╰╯─]", " ", run.output).split())
    assert "Traceback" not in run.output
    assert not (tmp_path / "out").exists()


def test_help_teaches():
    run = ask("--help")
    assert run.exit_code == 0
    for part in ("For example", "--quick", "--scales", "results.csv"):
        assert part in run.output


def test_settings_that_matter_change_names_and_others_do_not(data):
    collections = find_collections(data)
    runs = {run.method: run for run in planned(collections[:1], METHODS, [0])}
    assert len({run.name for run in runs.values()}) == len(METHODS)
    assert len({run.model for run in runs.values()}) == 2
    assert runs["SE+DSNA"].model != runs["SE"].model
    assert runs["SE+AH"].model == runs["SE+DSNA"].model == runs["SE+kernel"].model
    full = runs["SE+DSNA"]
    assert full.of_seed(1).settings == full.settings
    assert full.of_seed(1).name != full.name
    assert full.of_seed(1).model != full.model
    before = {name: (run.name, run.model) for name, run in runs.items()}
    for run in runs.values():
        run.detector.set_params(approximation=Approximation(gamma=7.0), n_jobs=3, verbose=True)
        run.__dict__.pop("settings")
    assert full.model == before["SE+DSNA"][1]
    assert full.name != before["SE+DSNA"][0]
    assert (runs["SE"].name, runs["SE"].model) == before["SE"]
    (multi,) = planned(collections[:1], ["SE"], [0], scales="multi")
    (more,) = planned(collections[:1], ["SE"], [0], patches=77)
    assert len({multi.name, more.name, runs["SE"].name}) == 3


def test_forests_are_as_the_detector_has_them_but_for_the_pool():
    defaults = EdgeDetector().get_params()
    for method in METHODS:
        mine = detector_of(method, seed=0).get_params()
        assert mine.pop("random_state") == 0
        assert {name for name in mine if mine[name] != defaults[name]} <= {"n_pool"}


def test_a_better_method_is_ahead_on_every_photo_and_an_equal_one_on_half():
    rng = np.random.default_rng(0)
    counts = rng.integers(20, 60, (12, 9, 4))
    counts[..., 1] = counts[..., 3] = 100
    more = counts + np.array([20, 0, 20, 0])
    levels = np.arange(1, 10) / 10
    names = [str(k) for k in range(12)]
    scored = {
        "ours": {0: BoundaryScores(names, levels, more), 1: BoundaryScores(names[::-1], levels, more[::-1])},
        "other": {k: BoundaryScores(names, levels, counts) for k in (0, 1, 2)},
    }
    found = compare(scored, "ours", "other")
    assert (found.seeds, found.photos, found.best) == (2, 12, 1)
    assert 0 < found.low <= found.gain <= found.high
    assert found.each[0] == pytest.approx(found.each[1])
    same = compare(scored, "other", "other")
    assert (same.gain, same.low, same.high, same.best, same.fixed) == (0, 0, 0, 0.5, 0.5)
    assert compare(scored, "ours", "third") is None


def test_rare_patches_lie_where_rare_outlines_are(data):
    photos = find_collections(data)[0].train
    classes = edge_classes(photos, n_patches=2000)
    assert classes.sizes.sum() + classes.plain == pytest.approx(2000, abs=50)
    assert classes.is_rare.sum() == max(1, round(0.2 * len(classes.sizes)))
    assert classes.of(np.zeros((2, 256), dtype=np.uint8)).tolist() == [-1, -1]
    for row in range(len(photos)):
        found = rare_patches(photos, row, classes)
        assert classes.is_rare[found.kinds].all()
        for (y, x), k in zip(found.centres, found.annotator, strict=True):
            assert found.areas[k, y - 8 : y + 8, x - 8 : x + 8].all()
        assert found.areas.sum() <= 256 * len(found.centres)


def test_who_finds_more_of_the_rare_at_equal_precision_gains():
    recalled = np.array([[[90, 100, 60, 100], [50, 100, 45, 50]]] * 6)
    more = recalled + np.array([[10, 0, 0, 0], [20, 0, 0, 0]])
    levels, names = np.array([0.3, 0.6]), [str(k) for k in range(6)]
    rare = {
        "SE+DSNA": {seed: BoundaryScores(names, levels, more) for seed in (0, 1)},
        "SE": {seed: BoundaryScores(names, levels, recalled) for seed in (1, 2)},
    }
    found = rare_pairs(rare, rare)
    assert found[["method", "against", "seeds", "photos"]].to_numpy().tolist() == [["SE+DSNA", "SE", 1, 6]]
    (pair,) = found.itertuples()
    assert 0 < pair.low == pytest.approx(pair.high)
    assert pair.ours - pair.other == pytest.approx(pair.low)
    assert f"{pair.ours - pair.other:+.3f}" in rare_section(found)[-1]
    assert rare_pairs({"SE": rare["SE"]}, rare).empty


def test_what_is_damaged_is_not_taken(copied, data):
    store = Store(copied)
    run = planned(find_collections(data, quick_run=True)[:1], ["SE"], [0], patches=400, quick_run=True)[0]
    assert store.stored_detector(run).n_jobs == 1
    (copied / "models" / run.model).write_bytes(b"PK damaged")
    assert store.stored_detector(run) is None
    scores = store.scores(run)
    assert scores.names == ["000", "100", "200"]
    path = store.counts(run).with_name(f"{store.counts(run).name}.npz")
    path.write_bytes(b"PK damaged")
    assert store.scores(run) is None
    assert not [row for row in store.score(run) if "error" in row]
    np.testing.assert_array_equal(store.scores(run).counts, scores.counts)


def test_real_photos_are_met_better_than_by_chance(tmp_path):
    folder = Path(os.environ.get("DSNA_DATA", "")) / "bsds500"
    if not os.environ.get("DSNA_DATA") or not folder.is_dir():
        pytest.skip("DSNA_DATA is not set, or its folder holds no bsds500/")
    run = ask("--data", folder, "--out", tmp_path, "--quick", "--methods", "SE,SE+DSNA")
    assert run.exit_code == 0, run.output
    ods = pd.read_csv(tmp_path / "results.csv").set_index("method")["ods"]
    assert ods["SE"] > 0.55
    assert ods["SE+DSNA"] > 0.55
