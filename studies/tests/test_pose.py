"""`python -m dsna_studies pose` on drawn heads; on the real collection where DSNA_DATA names it."""

import io
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.commands import invoke_study
from tests.head_folders import write_pointing04

from dsna_studies.pages import png
from dsna_studies.pictures.crops import CropRows
from dsna_studies.pictures.experiments import Experiment
from dsna_studies.pictures.jobs import LAYOUT
from dsna_studies.pictures.shared_fits import FULL
from dsna_studies.pictures.splits import Split
from dsna_studies.pose.heads import COMPONENTS, gradients, read_heads
from dsna_studies.pose.methods import PAPERS_FORM, TABLE_METHODS, fits_of
from dsna_studies.pose.page import sections
from dsna_studies.pose.plan import experiments
from dsna_studies.pose.protocols import GAPS, pose_folds, remove_pictures
from dsna_studies.pose.scores import pose_table
from dsna_studies.results_file import load_results

pytest.importorskip("typer")
pytest.importorskip("PIL")
pytest.importorskip("skimage")


def ask(*options):
    return invoke_study("pose", *options)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heads")
    write_pointing04(folder)
    return folder


_FIRST = ("RED-SVM", PAPERS_FORM, "CS-RF+DSNA (mean)")


@pytest.fixture(scope="module")
def started(data, tmp_path_factory):
    """A folder with some methods, what the command said, and the files as they were then."""
    out = tmp_path_factory.mktemp("pose")
    run = ask("--data", data, "--out", out, "--quick", "--methods", ",".join(_FIRST[:2]), "--methods", _FIRST[2])
    return out, run, {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.fixture(scope="module")
def finished(data, started):
    out = started[0]
    return out, ask("--data", data, "--out", out, "--quick")


def test_chosen_methods_alone_are_run_and_shown(started):
    _, run, files = started
    assert run.exit_code == 0, run.output
    filed = pd.read_csv(io.BytesIO(files["results.csv"]), dtype={"fold": str})
    run_where = {method: set(mine["protocol"]) for method, mine in filed.groupby("method")}
    tables = {"2 folds", "2 person folds"}
    assert run_where == {"RED-SVM": tables, PAPERS_FORM: tables, "CS-RF+DSNA (mean)": {gap.name for gap in GAPS}}
    assert f"0 of {len(filed)} results" in run.output
    page = files["pose.md"].decode()
    assert "| RED-SVM |" in page
    assert f"**{PAPERS_FORM}** |" in page
    assert "| RF |" not in page
    assert "Fig. 9b" not in page
    # Of the methods in the other plots none has been run.
    assert [name for name in files if name.endswith(".png")] == ["neighbours.png"]


def test_the_rest_is_run_later_and_what_was_there_stays(started, finished):
    files, (out, run) = started[2], finished
    before = files["results.csv"]
    after = (out / "results.csv").read_bytes()
    held, planned = (len(file.splitlines()) - 1 for file in (before, after))
    assert after.startswith(before)
    assert f"{held} of {planned} results" in run.output
    assert not load_results(out / "results.csv", LAYOUT).duplicated(list(LAYOUT.key)).any()


def test_an_unknown_method_is_reported_before_anything_is_run(data, tmp_path):
    run = ask("--data", data, "--out", tmp_path / "out", "--quick", "--methods", "RF,nonsense")
    assert run.exit_code == 2
    assert f"There is no method nonsense; there are {', '.join(TABLE_METHODS)}." in run.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "there, plots",
    [
        ((), []),
        (("RED-SVM",), []),
        (("RF",), ["pitch.png", "removal.png"]),
        ((PAPERS_FORM, "CS-RF (mean)"), []),
    ],
)
def test_page_and_plots_show_what_has_been_answered(there, plots, finished, data):
    filed = load_results(finished[0] / "results.csv", LAYOUT)
    everything = experiments(read_heads(data, quick_run=True), quick_run=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page, drawn = sections(everything, filed[filed["method"].isin(there)])
        assert all(png(plot) for plot in drawn.values())
    assert list(drawn) == plots
    assert not there or page != sections(everything, filed.iloc[:0])[0]


def test_full_runs_show_sweeps_and_published_figures():
    def planned(kind, protocol, methods):
        split = Split(protocol, "0", np.arange(0), np.arange(2))
        return Experiment(kind, [split], methods, ("Pointing'04", "00", "full", protocol))

    swept = tuple(f"{FULL} (max_depth={depth})" for depth in (2, 4))
    parts = planned("table", "5 folds", ("RF",)), planned("persons", "5 person folds", ("RF",))
    parts = *parts, planned("sweep", "5 folds", swept)
    said = {"truth": "90 0 0 15", "predicted": "84 6 0 15", "fit_seconds": 1.0, "predict_seconds": 0.5}
    lines = [dict(zip(LAYOUT.key, one.key(one.splits[0], m), strict=True)) | said for one in parts for m in one.methods]
    page, plots = sections(parts, pd.DataFrame(lines))
    assert "KRF, as published" in page[1]
    assert "| MLD-wJ, as published | 4.24 | 2.69 |" in page[1]
    assert "| max_depth=2 |" in page[-1]
    assert "sweeps.png" in plots
    assert "published" not in "".join(sections(parts, pd.DataFrame(lines), quick_run=True)[0])


def test_shares_removed_stay_in_order_where_a_method_lacks_one(finished, data):
    filed = load_results(finished[0] / "results.csv", LAYOUT)
    everything = experiments(read_heads(data, quick_run=True), quick_run=True)
    lacking = filed[~((filed["protocol"] == "10 % removed") & (filed["method"] == "RF"))]
    page, _ = sections(everything, lacking[lacking["method"].isin(["RF", "CS-RF"])])
    table = next(part for part in page if part.startswith("|  | 0.0 |"))
    assert table.splitlines()[0] == "|  | 0.0 | 0.1 | 0.5 |"


def test_page_and_plots_are_written(finished):
    out, run = finished
    assert run.exit_code == 0, run.output
    page = (out / "pose.md").read_text(encoding="utf-8")
    for method in TABLE_METHODS:
        assert f"{method} |" in page or f"{method}** |" in page
    assert "A quick run" in page
    assert "as published |" not in page
    assert "Fig. 6" not in page
    for title in ("Table 1, Table 3", "share no person", "Fig. 9a", "Fig. 9b", "training lacks"):
        assert title in page
    assert not (out / "sweeps.png").exists()
    for name in ("pitch.png", "removal.png", "neighbours.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
        assert f"({name})" in page
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_a_finished_run_is_not_run_again(finished, data):
    out, _ = finished
    before = (out / "results.csv").read_bytes()
    again = ask("--data", data, "--out", out, "--quick")
    done, planned = re.search(r"(\d+) of (\d+) results", again.output).groups()
    assert done == planned
    assert (out / "results.csv").read_bytes() == before


def test_every_picture_is_asked_about_once_under_both_protocols(finished, data):
    filed = pd.read_csv(finished[0] / "results.csv", dtype={"fold": str})
    for protocol in ("2 folds", "2 person folds"):
        mine = filed[(filed["protocol"] == protocol) & (filed["method"] == FULL)]
        assert mine["n"].sum() == len(read_heads(data))


@pytest.mark.parametrize(
    "write, said",
    [
        (None, "is not a folder"),
        (lambda folder: folder.mkdir(), "Person01/person01100-90+0.jpg and .txt are expected"),
        (lambda folder: write_pointing04(folder, persons=1), "at least two are needed"),
        (lambda folder: write_pointing04(folder, persons=2), "too few for 5 folds; add persons"),
    ],
)
def test_unusable_folders_are_reported(write, said, tmp_path):
    if write:
        write(tmp_path / "heads")
    run = ask("--data", tmp_path / "heads", "--out", tmp_path / "out")
    assert run.exit_code == 2
    assert said in " ".join(run.output.split())


def test_a_file_in_the_place_of_the_output_folder_is_reported(data, tmp_path):
    (tmp_path / "out").write_text("mine")
    run = ask("--data", data, "--out", tmp_path / "out", "--quick")
    assert run.exit_code == 2
    assert "a file stands where a folder is needed" in run.output
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


def test_gradients_are_kept_and_damaged_ones_are_made_again(data, tmp_path):
    heads = read_heads(data).subset(np.arange(6))
    kept = tmp_path / "gradients.npz"
    rows = gradients(heads, kept)
    stamp = kept.stat().st_mtime_ns
    np.testing.assert_array_equal(gradients(heads, kept), rows)
    assert kept.stat().st_mtime_ns == stamp
    kept.write_bytes(b"PK damaged")
    np.testing.assert_array_equal(gradients(heads, kept), rows)
    assert len(gradients(heads.subset(np.arange(3)), kept)) == 3


def test_folds_hold_the_same_poses_and_person_folds_no_person_twice(data):
    heads = read_heads(data)
    planned = {one.kind: one for one in experiments(heads, quick_run=True)}
    for split in planned["table"].splits:
        counts = np.unique(heads.labels[split.test], axis=0, return_counts=True)[1]
        assert set(counts) == {2}
    for split in planned["persons"].splits:
        assert not set(heads.groups[split.train]) & set(heads.groups[split.test])


@pytest.mark.parametrize("share", [0.1, 0.4, 0.6])
def test_removal_meets_the_share_and_thins_out_extreme_angles(share):
    angles = np.array([-90, -60, -30, -15, 0, 15, 30, 60, 90])
    pitch = np.repeat(angles, [24, *[312] * 7, 24]).astype(float)
    everyone = Split("5 folds", "0", np.arange(len(pitch)), np.arange(0))
    few = remove_pictures(everyone, pitch, share, seed=1)
    assert len(few.train) == pytest.approx((1 - share) * len(pitch), abs=5)
    left = np.array([(pitch[few.train] == angle).mean() for angle in angles])
    counts = np.array([(pitch[few.train] == angle).sum() for angle in angles])
    assert counts.min() >= 5
    assert (np.diff(left[:5]) >= 0).all()
    assert (np.diff(left[4:]) <= 0).all()
    np.testing.assert_array_equal(few.train, remove_pictures(everyone, pitch, share, seed=1).train)
    assert len(np.setdiff1d(few.train, remove_pictures(everyone, pitch, share, seed=2).train))


def test_gaps_are_gone_from_training_and_alone_in_the_test():
    labels = np.array([(pitch, yaw) for pitch in (-90, 0, 90) for yaw in (-90, -45, 0, 45)] * 5, dtype=float)
    for gap in GAPS:
        for split in gap.cut(pose_folds(labels), labels):
            assert not gap.inside(labels[split.train]).any()
            assert gap.inside(labels[split.test]).all()
            assert len(split.test)


def test_stages_of_one_fit_differ_and_single_angles_are_balanced():
    rng = np.random.default_rng(0)
    y = np.stack([rng.choice([-30.0, 0.0, 30.0], 90), rng.choice([-15.0, 0.0, 15.0], 90)], axis=1)
    X = np.hstack([y + rng.normal(0, 8, y.shape), rng.normal(size=(90, 2))])
    for fit in fits_of(TABLE_METHODS):
        answers = fit.answer(fit.make(0).fit(X, y), X[:20])
        assert set(answers) == set(fit.names)
        assert all(found.shape == (20, 2) for found in answers.values())
        if FULL in answers:
            assert not np.allclose(answers["CS-RF"], answers["CS-RF+AH"])
            assert np.isin(answers[FULL], y).all()


def test_real_heads_are_met_better_than_by_forest_and_kernel_ridge(tmp_path):
    folder = Path(os.environ.get("DSNA_DATA", "")) / "pointing04"
    if not os.environ.get("DSNA_DATA") or not folder.is_dir():
        pytest.skip("DSNA_DATA is not set, or its folder holds no pointing04/")
    heads = read_heads(folder)
    some = heads.subset(np.isin(heads.groups, ["01", "02", "03", "04"]))
    split = pose_folds(some.labels, 4)[0]
    train, test = CropRows(gradients(some, tmp_path / "gradients.npz"), COMPONENTS).of(split)
    rows = []
    for fit in fits_of(["RF", "kernel ridge", FULL]):
        answers = fit.answer(fit.make(0).fit(train, some.labels[split.train]), test)
        for method, found in answers.items():
            said = {"truth": some.labels[split.test], "predicted": found}
            texts = {name: " ".join(map(str, values.ravel())) for name, values in said.items()}
            rows.append({"method": method, "fold": "0", "fit_seconds": 0.0, "predict_seconds": 0.0, **texts})
    average = pose_table(pd.DataFrame(rows), TABLE_METHODS, ["0"])["average"]
    assert average[FULL] < min(average["RF"], average["kernel ridge"], average["CS-RF"])
