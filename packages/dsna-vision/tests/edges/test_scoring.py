"""Scores of boundaries: what they must be where that is known, and what is filed of them."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PIL")
from PIL import Image
from tests.boundary_folders import between, scene, write_bsds

from dsna.extend.files import FileError
from dsna_vision._kernels.matching import count_matches
from dsna_vision.datasets import load_bsds500
from dsna_vision.edges import BoundaryScores, evaluate, human_consistency
from dsna_vision.edges.scoring import evaluation as module

SHAPE = (60, 80)
DRAWN = [[between(scene(SHAPE, seed)[1]) > 0] for seed in range(4)]
# What was drawn, and dots besides.
SOFT = [0.4 * drawn[0] + 0.4 * (np.random.default_rng(0).random(SHAPE) < 0.1) for drawn in DRAWN]


def test_perfect_prediction():
    found = evaluate([drawn[0] for drawn in DRAWN], DRAWN, thin=False)
    assert found.ods == found.ois == found.ap == found.r50 == 1.0
    assert np.all(found.f == 1.0)
    assert found.counts.shape == (4, 99, 4)
    assert [row["f_at_ods"] for row in found.table] == [1.0] * 4


def test_nothing_predicted():
    found = evaluate([np.zeros(SHAPE)] * 4, DRAWN)
    assert found.ods == found.ois == found.ap == found.r50 == 0.0
    assert str(found).startswith("4 photos   ODS 0.000")
    assert found.counts[..., 3].sum() == 0
    some = evaluate([np.zeros(SHAPE)], [[np.zeros(SHAPE)]])
    assert some.ods == 0.0


def test_zero_is_never_boundary():
    counts = evaluate([SOFT[0]], [DRAWN[0]], thresholds=[0.0, 0.1], thin=False).counts
    assert np.array_equal(counts[0, 0], counts[0, 1])


def test_recall_sums_and_precision_takes_any():
    one, two, nothing = np.zeros((3, *SHAPE), bool)
    one[20, 10:30] = two[40, 10:30] = True
    found = evaluate([(one | two).astype(float)], [[one, two, nothing]], thresholds=[0.5])
    assert found.counts[0, 0].tolist() == [40, 40, 40, 40]
    found = evaluate([one.astype(float)], [[one, two, one]], thresholds=[0.5])
    assert found.counts[0, 0].tolist() == [40, 60, 20, 20]
    assert found.ods == pytest.approx(0.8)


def test_distance_is_a_share_of_the_diagonal():
    one, two = np.zeros((2, 30, 40), bool)  # diagonal 50
    one[10, 5:35], two[13, 5:35] = True, True
    assert evaluate([one], [[two]], max_distance=0.061).ods == 1.0
    assert evaluate([one], [[two]], max_distance=0.059).ods == 0.0


def test_thresholds():
    found = evaluate(SOFT, DRAWN, thresholds=9)
    assert found.thresholds == pytest.approx(np.arange(1, 10) / 10)
    assert np.array_equal(found.counts[:, 0], found.counts[:, 3])  # 0.4 counts at 0.4
    assert np.array_equal(evaluate(SOFT, DRAWN, thresholds=[0.4, 0.8]).counts, found.counts[:, [3, 7]])
    for wrong in (0, 2.5, [0.5, 0.4], [], [[0.5]], [0.5, 1.5]):
        with pytest.raises(ValueError, match="thresholds"):
            evaluate(SOFT, DRAWN, thresholds=wrong)
    with pytest.raises(ValueError, match="share of the diagonal"):
        evaluate(SOFT, DRAWN, max_distance=4)


def test_every_kind_of_prediction(tmp_path):
    write_bsds(tmp_path, n=4, shape=SHAPE)
    truth = load_bsds500(tmp_path, "val")
    (tmp_path / "maps").mkdir()
    maps = [np.round(255 * each).astype(np.uint8) for each in SOFT]
    for name, each in zip(truth.names, maps, strict=True):
        Image.fromarray(each).save(tmp_path / "maps" / f"{name}.png")
    want = evaluate([each / 255 for each in maps], truth)
    for given in (
        tmp_path / "maps",
        str(tmp_path / "maps"),
        lambda row: maps[row] / 255,
        (each / 255 for each in maps),
    ):
        found = evaluate(given, truth, n_jobs=2)
        assert found.names == truth.names
        assert np.array_equal(found.counts, want.counts)
    deep = [np.round(65535 * (each / 255.0)).astype(np.uint16) for each in maps]
    for name, each in zip(truth.names, deep, strict=True):
        Image.fromarray(each).save(tmp_path / "maps" / f"{name}.png")
    assert np.array_equal(evaluate(tmp_path / "maps", truth).counts, want.counts)


def test_what_cannot_be_scored_is_named(tmp_path):
    given = [SOFT[0].T, SOFT[1], 255 * SOFT[2], np.full(SHAPE, np.nan)]
    found = evaluate(given, DRAWN)
    assert found.names == ["00001"]
    assert found.problems[0] == "00000: the map has 60 x 80 pixels, the ground truth 80 x 60"
    assert "divide grey levels by 255" in found.problems[1]
    assert "NaN" in found.problems[2]
    assert str(found).endswith("3 left out")
    with pytest.raises(ValueError, match=r"No photo could be scored. 00000: the map has"):
        evaluate(given[:1], DRAWN[:1])
    with pytest.raises(ValueError, match="There are 2 predictions for 4 photos"):
        evaluate(SOFT[:2], DRAWN)
    with pytest.raises(ValueError, match="more predictions than photos"):
        evaluate(SOFT, DRAWN[:2])
    with pytest.raises(ValueError, match="truth is empty"):
        evaluate([], [])
    assert "shapes" in evaluate(SOFT[:2], [DRAWN[0], [DRAWN[1][0], DRAWN[1][0].T]]).problems[0]
    with pytest.raises(FileNotFoundError, match="not a folder"):
        evaluate(tmp_path / "none", DRAWN)
    (tmp_path / "00001.png").write_bytes(b"broken")
    Image.fromarray(np.zeros(SHAPE, np.uint8)).save(tmp_path / "00002.png")
    found = evaluate(tmp_path, DRAWN[:3])
    assert found.names == ["00002"]
    assert "00000.png is missing" in found.problems[0]
    assert "00001.png is damaged" in found.problems[1]


def test_resumes(tmp_path, monkeypatch):
    counted = []
    real = module._count
    monkeypatch.setattr(module, "_count", lambda *given: counted.append(1) or real(*given))
    out = tmp_path / "new" / "counts"
    want = evaluate(SOFT, DRAWN, out=out)
    assert sorted(path.name for path in out.iterdir()) == [f"0000{k}.json" for k in range(4)]
    assert len(counted) == 4
    assert np.array_equal(evaluate(SOFT, DRAWN, out=out).counts, want.counts)
    assert len(counted) == 4
    # Another map, another truth, another setting, a damaged file: each is counted anew.
    evaluate([SOFT[0] / 2, *SOFT[1:]], DRAWN, out=out)
    assert len(counted) == 5
    evaluate([SOFT[0] / 2, *SOFT[1:]], [DRAWN[0], [DRAWN[0][0]], *DRAWN[2:]], out=out)
    assert len(counted) == 6
    evaluate(SOFT, DRAWN, out=out, max_distance=0.011)
    assert len(counted) == 10
    evaluate(SOFT, DRAWN, out=out, max_distance=0.011)
    assert len(counted) == 10
    (out / "00000.json").write_text("{")
    (out / "00001.json").write_text(json.dumps({"key": "old", "counts": []}))
    (out / "00002.json").write_text("[]")
    evaluate(SOFT, DRAWN, out=out, max_distance=0.011)
    assert len(counted) == 13
    with pytest.raises(FileError, match=r"00000.json: a file stands where a folder is needed\. Remedy: "):
        evaluate(SOFT, DRAWN, out=out / "00000.json")


def test_interrupted_run_keeps_what_it_has(tmp_path):
    def failing(row):
        if row == 2:
            raise KeyboardInterrupt
        return SOFT[row]

    with pytest.raises(KeyboardInterrupt):
        evaluate(failing, DRAWN, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"00000.json", "00001.json"}
    assert np.array_equal(evaluate(SOFT, DRAWN, out=tmp_path).counts, evaluate(SOFT, DRAWN).counts)


def test_scores_by_hand():
    # Two photos: recall 0.8, 0.4 and 0.6, 0.2; precision 0.4, 0.8 and 0.5, 1.
    counts = np.array([[[80, 100, 40, 100], [40, 100, 40, 50]], [[60, 100, 60, 120], [20, 100, 30, 30]]])
    found = BoundaryScores(["a", "b"], np.array([0.25, 0.75]), counts)
    assert found.recall == pytest.approx([0.7, 0.3])
    assert found.precision == pytest.approx([100 / 220, 70 / 80])
    steps = np.linspace(0, 1, 100)
    recall, precision = 0.7 - 0.4 * steps, 100 / 220 + (70 / 80 - 100 / 220) * steps
    f = 2 * recall * precision / (recall + precision)
    assert found.ods == pytest.approx(f.max())
    assert found.ods_threshold == pytest.approx(0.25 + 0.5 * steps[f.argmax()])
    # Both photos are best at the first threshold, without steps between: .533 = .533 goes to the first, .545.
    assert found.ois == pytest.approx(2 * 0.7 * (100 / 220) / (0.7 + 100 / 220))
    at = np.arange(30, 71) / 100
    assert found.ap == pytest.approx(np.interp(at, [0.3, 0.7], [70 / 80, 100 / 220]).sum() / 100, abs=0.006)
    share = (0.5 - 100 / 220) / (70 / 80 - 100 / 220)
    assert found.r50 == pytest.approx(0.7 - 0.4 * share)
    assert found.table[0]["name"] == "a"
    assert found.table[0]["f"] >= found.table[0]["f_at_ods"]


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = evaluate(SOFT, DRAWN)
    axes = found.plot(label="one", color="C1")
    assert found.plot(label="two", ax=axes) is axes
    assert len(axes.get_legend().get_texts()) == 2


def test_kernels_are_compiled_once():
    truth = [[np.asfortranarray(DRAWN[0][0]).astype(np.int32), DRAWN[0][0]]]
    for kind in (np.float32, bool, np.float16):
        evaluate([np.asfortranarray(SOFT[0] > 0).astype(kind)], truth, thin=kind is bool, n_jobs=1)
    assert len(count_matches.signatures) == 1


def test_one_annotator_against_others():
    found = human_consistency([[DRAWN[0][0]] * 3, DRAWN[1]])
    assert found.ods == 1.0
    assert found.problems == ["00001: a single annotator"]


def test_people_agree_on_real_photos():
    folder = Path(os.environ.get("DSNA_DATA", "")) / "bsds500"
    if "DSNA_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("DSNA_DATA names no folder that holds bsds500/")
    found = human_consistency(load_bsds500(folder, "val").subset(np.arange(0, 100, 4)), n_jobs=2)
    assert found.ods == pytest.approx(0.80, abs=0.03)
    assert found.ods_precision == pytest.approx(0.90, abs=0.03)
    assert found.ods_recall == pytest.approx(0.72, abs=0.04)
