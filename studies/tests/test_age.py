"""`python -m dsna_studies age`: protocols keep persons apart, runs resume, pages mark what was published."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.commands import invoke_study, run_study_without
from tests.face_folders import write_fgnet, write_utkface
from tests.small_models import build

from dsna import Approximation, DSNARegressor, presets
from dsna_studies.age import methods
from dsna_studies.age.approximations import FittedSplit, convergence
from dsna_studies.age.collections import find_collections
from dsna_studies.age.page import section
from dsna_studies.age.plan import experiments
from dsna_studies.age.protocols import GAPS, leave_one_person_out, three_subsets
from dsna_studies.age.published import COLUMN, PUBLISHED, beside_published
from dsna_studies.age.rows import FaceRows
from dsna_studies.models import with_trees
from dsna_studies.pictures.jobs import LAYOUT, LabelledRows, SplitJob, parse_labels
from dsna_studies.pictures.shared_fits import SharedFit
from dsna_studies.pictures.splits import Split, person_folds, with_gap
from dsna_studies.results_file import load_results
from dsna_vision.datasets import load_fgnet
from dsna_vision.features import AAM


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    write_fgnet(folder / "fgnet")
    write_utkface(folder / "utkface")
    return folder


@pytest.fixture
def age(data, tmp_path):
    """Runs the command on the drawn faces."""

    def run(*arguments, where=data, out=tmp_path / "age"):
        return invoke_study("age", "--data", where, "--out", out, *arguments)

    return run


def persons():
    return np.repeat([f"{k:03d}" for k in range(7)], [3, 5, 2, 4, 6, 3, 4])


def test_no_protocol_mixes_persons():
    groups = persons()
    splits = [*leave_one_person_out(groups), *person_folds(groups, 3), *three_subsets(len(groups), groups)]
    for split in splits:
        assert not set(groups[split.train]) & set(groups[split.test])
    for protocol in (leave_one_person_out(groups), person_folds(groups, 3)):
        asked = np.concatenate([split.test for split in protocol])
        assert np.array_equal(np.sort(asked), np.arange(len(groups)))


def test_each_person_is_left_out_once_and_few_on_request():
    groups = persons()
    assert [split.fold for split in leave_one_person_out(groups)] == sorted(set(groups))
    few = leave_one_person_out(groups, at_most=3)
    assert len(few) == 3
    assert all(len(split.train) + len(split.test) == len(groups) for split in few)


def test_three_subsets_are_disjoint_and_the_third_is_never_learned_from():
    first, second = three_subsets(100, seed=3)
    assert not set(first.train) & set(second.train)
    assert set(first.test) == set(range(100)) - set(first.train)
    assert abs(len(first.train) - 33) <= 1
    assert abs(len(second.train) - 33) <= 1


def test_a_gap_is_gone_from_training_and_alone_in_the_test():
    groups, ages = persons(), np.arange(27) * 2.5
    for gap in GAPS:
        whole = person_folds(groups, 3)
        splits = with_gap(whole, gap.name, gap.inside(ages))
        assert splits
        for split in splits:
            assert not gap.inside(ages[split.train]).any()
            assert gap.inside(ages[split.test]).all()
        asked = sum(len(split.test) for split in splits)
        assert asked == gap.inside(ages).sum()
        kept = {s.fold: set(s.train) for s in splits}
        assert all(set(s.train[~gap.inside(ages[s.train])]) == kept[s.fold] for s in whole if s.fold in kept)
    assert GAPS[0].inside(np.array([50, 51])).tolist() == [False, True]
    assert GAPS[1].inside(np.array([40, 41])).tolist() == [False, True]
    assert GAPS[2].inside(np.array([0, 4, 5])).tolist() == [True, True, False]
    assert GAPS[3].inside(np.array([29, 30, 39, 40])).tolist() == [False, True, True, False]


def test_appearance_models_see_training_persons_only(data, monkeypatch):
    seen = []
    real = AAM.fit_transform

    def fit_transform(self, X, y=None):
        seen.append([id(face) for face in X])
        return real(self, X)

    monkeypatch.setattr(AAM, "fit_transform", fit_transform)
    rows = FaceRows("FG-NET", data / "fgnet")
    split = leave_one_person_out(load_fgnet(data / "fgnet").groups)[1]
    train, test = rows.of(split)
    assert seen == [[id(rows.faces[i]) for i in split.train]]
    assert (len(train), len(test)) == (len(split.train), len(split.test))


def test_one_fit_answers_as_separate_fits_would():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = np.round(20 + 8 * X[:, 0] + rng.normal(size=90))
    (fit,) = methods.fits_of(["CS-RF"])
    model = with_trees(fit.make(0), 5).fit(X[:70], y[:70])
    answers = fit.answer(model, X[70:])
    forest = presets.faces()["forest"].set_params(n_estimators=5, scaling="global", random_state=0)
    alone = forest.fit(X[:70], y[:70])
    np.testing.assert_allclose(answers["CS-RF"], alone.predict(X[70:]))
    fixed = with_trees(DSNARegressor(**presets.faces(), balance=0.0, random_state=0), 5).fit(X[:70], y[:70])
    np.testing.assert_array_equal(answers["CS-RF+DSNA"], fixed.predict(X[70:]))
    np.testing.assert_array_equal(answers["CS-RF+DSNA (balanced)"], model.predict(X[70:]))


def test_ten_trees_are_all_that_faces_have():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    few, many = (
        DSNARegressor(**presets.faces(), random_state=0).set_params(forest__n_estimators=n).fit(X, X[:, 0])
        for n in (10, 20)
    )
    np.testing.assert_allclose(few.predict_forest(X), many.predict_forest(X))


def test_objective_of_each_iteration_is_where_a_run_of_as_many_ends():
    X = np.random.default_rng(0).normal(size=(160, 4))
    y = np.round(30 + 9 * X[:, 0])
    split = Split("folds", "0", np.arange(120), np.arange(120, 160))
    model = build(DSNARegressor, n_estimators=5, tol=1e-8, random_state=0).fit(X[:120], y[:120])
    ways = convergence(FittedSplit(split, y, None, X[:120], X[120:], model))
    hull, ours = ways["CS-RF+AH"].objective, ways["CS-RF+DSNA"].objective
    for t in (1, 2, 4):
        short = model.with_settings(approximation=Approximation(tol=1e-8, max_iter=t)).explain(X[120:])
        assert np.allclose(ours[:, t - 1], short.objective.min(axis=1))
    assert ours.std(axis=1).max() > 1e-3  # the label fed back changes the prior; nobody promises a descent
    assert hull.std(axis=1).max() < 1e-6  # without penalties labels have no say,
    assert np.all(hull <= ours + 1e-6)  # and the same rows come closer


def test_command_runs_resumes_and_writes_everything(age, tmp_path, monkeypatch):
    some = ("--quick", "--methods", "RF,kernel ridge,CS-RF,CS-RF+DSNA,CS-RF+DSNA (mean)")
    first = age(*some)
    assert first.exit_code == 0, first.output
    out = tmp_path / "age"
    frame = load_results(out / "results.csv", LAYOUT)
    assert set(frame["collection"]) == {"FG-NET", "UTKFace"}
    one = frame.iloc[0]
    assert len(parse_labels(one["truth"])) == len(parse_labels(one["predicted"])) == one["n"]
    np.testing.assert_allclose(
        np.abs(parse_labels(one["truth"]) - parse_labels(one["predicted"])).mean(), one["mae"], rtol=1e-2
    )
    page = (out / "age.md").read_text(encoding="utf-8")
    for heading in ("FG-NET, leave one person out", "UTKFace, S1, S2, S3", "no ages over 50", "MORPH has about 55,000"):
        assert heading in page
    for name in ("ages", "decades_fgnet", "embedding", "convergence", "approximations"):
        assert (out / f"{name}.png").read_bytes()[1:4] == b"PNG"
        assert f"({name}.png)" in page
    assert not list(out.glob(".*"))  # nothing half written
    assert "A quick run" in page  # whose figures do not stand beside published ones
    assert COLUMN not in page
    assert "lsRCA" not in page
    assert "One parameter at a time" not in page
    assert not (out / "sweeps.png").exists()

    # Some lines are lost, and one is cut off: only these are run again.
    lines = (out / "results.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (out / "results.csv").write_text("".join(lines[:-2]) + lines[-2][:10])
    ran = []
    real = SplitJob.__call__

    def call(self):
        ran.extend(self.methods)
        return real(self)

    monkeypatch.setattr(SplitJob, "__call__", call)
    again = age(*some)
    assert again.exit_code == 0, again.output
    assert len(ran) == 2
    after = load_results(out / "results.csv", LAYOUT)
    keys = list(LAYOUT.key)
    same = [f.sort_values(keys).reset_index(drop=True)[[*keys, "predicted"]] for f in (frame, after)]
    pd.testing.assert_frame_equal(*same)
    age(*some)
    assert len(ran) == 2  # nothing was left


def test_a_failing_method_is_reported_and_the_rest_goes_on(age, tmp_path, monkeypatch):
    def broken(seed):
        raise RuntimeError("no luck")

    bad = SharedFit(("RF",), broken, lambda model, X: {})
    monkeypatch.setitem(methods._BY_NAME, "RF", bad)
    result = age("--quick", "--methods", "RF,LightGBM")
    assert result.exit_code == 1
    assert "RF on FG-NET, leave one person out: RuntimeError: no luck (3 times)" in result.output
    assert set(load_results(tmp_path / "age" / "results.csv", LAYOUT)["method"]) == {"LightGBM"}
    assert "no luck" in (tmp_path / "age" / "age.md").read_text(encoding="utf-8")


def test_sweeps_are_left_out_of_a_quick_run(age, tmp_path):
    result = age("--quick", "--methods", "CS-RF+DSNA (n_estimators=2)")
    assert result.exit_code == 2
    assert "Sweeps are left out with --quick" in result.output
    assert not (tmp_path / "age").exists()


def test_full_tables_stand_beside_published_figures(data):
    one = experiments(find_collections(data))[0]
    table = pd.DataFrame(
        {"MAE": [5.5, 4.0], "over 40": [9.0, 8.0], "seconds": 1.0, "ms per query": 1.0}, index=["RF", "CS-RF+DSNA"]
    )
    assert "| lsRCA |" in "\n".join(section(one, table))
    assert "lsRCA" not in "\n".join(section(one, table, quick_run=True))


def test_no_name_of_a_method_holds_a_comma():
    from dsna_studies.edges.methods import METHODS as edges
    from dsna_studies.pose.methods import _BY_NAME as pose
    from dsna_studies.tabular.methods import METHODS as tabular

    for name in (*methods._BY_NAME, *pose, *edges, *tabular["classification"], *tabular["regression"]):
        assert "," not in name  # which stands between names on the command line


def test_published_figures_are_marked_and_never_mixed_with_measured_ones():
    measured = pd.DataFrame({"MAE": [5.5, 4.0]}, index=["RF", "CS-RF+DSNA"])
    table = beside_published(measured, "FG-NET")
    assert "published" in COLUMN
    assert table.loc["RF", "MAE"] == 5.5
    assert table.loc["CS-RF+DSNA", COLUMN] == "4.10 (Table 1)"
    assert table.loc["OHRank", "MAE"] != table.loc["OHRank", "MAE"]  # not run: no measured figure
    assert beside_published(measured, "UTKFace")[COLUMN].eq("").all()
    assert {one.source for one in PUBLISHED} == {"Table 1", "Table 2", "El Dib and El-Saban 2010"}


def test_input_that_cannot_be_used_ends_the_command_before_anything_is_run(age, tmp_path, data):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad" / "fgnet").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "results.csv").write_text("some,notes\n")
    cases = {
        "is not a folder. Expected is a folder that holds fgnet/": {"where": tmp_path / "missing"},
        "https://yanweifu.github.io/FG_NET_data": {"where": tmp_path / "empty"},
        "images/001A02.JPG and points/001a02.pts are expected": {"where": tmp_path / "bad"},
        "not a results file": {"out": tmp_path / "notes"},
    }
    for problem, given in cases.items():
        result = age("--quick", **given)
        assert (result.exit_code, problem in result.output) == (2, True), result.output
    result = age("--methods", "nonsense")
    assert (result.exit_code, "There is no method nonsense; there are RF," in result.output) == (2, True)
    assert (tmp_path / "notes" / "results.csv").read_text(encoding="utf-8") == "some,notes\n"


def test_an_extra_that_is_missing_names_the_remedy(data, tmp_path):
    done = run_study_without(["PIL", "PIL.Image"], "age", "--data", data, "--out", tmp_path / "age")
    assert done.returncode == 2
    assert "Remedy: pip install -e studies" in done.stderr


def test_a_folder_of_fgnet_itself_is_found(data, age):
    result = age("--quick", "--methods", "LightGBM", where=data / "fgnet")
    assert result.exit_code == 0, result.output
    assert "FG-NET, leave one person out" in result.output


def test_real_faces():
    folder = os.environ.get("DSNA_DATA")
    if not folder or not (Path(folder) / "fgnet").is_dir():
        pytest.skip("DSNA_DATA is not set, or holds no fgnet/")
    pictures = load_fgnet(Path(folder) / "fgnet")
    assert len(pictures) == 1002
    assert len(np.unique(pictures.groups)) == 82
    split = person_folds(pictures.groups)[0]
    rows = FaceRows("FG-NET", Path(folder) / "fgnet")
    key = ("FG-NET", "00", "full", split.protocol, split.fold)
    wanted = ("RF", "CS-RF", "CS-RF+DSNA")
    data = LabelledRows(rows, pictures.labels, pictures.groups)
    found = SplitJob(key, data, split, wanted, False, methods.fits_of)()
    error = {row["method"]: row["mae"] for row in found}
    assert error["CS-RF+DSNA"] < error["CS-RF"] < error["RF"]
    assert LAYOUT.values[-1] in found[0]
