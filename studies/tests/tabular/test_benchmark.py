"""`python -m dsna_studies benchmark`: resuming, failures, messages, reports."""

import sys

import numpy as np
import pandas as pd
import pytest
from tests.commands import invoke_study, run_study_without
from tests.tabular import small_tables

from dsna_studies.results_file import ResultsFile
from dsna_studies.results_file import load_results as load
from dsna_studies.tabular import methods
from dsna_studies.tabular.jobs import LAYOUT, FoldJob

KEY, COLUMNS = LAYOUT.key, LAYOUT.columns
FEW = ["--methods", "kNN,HistGB", "--folds", "2"]


@pytest.fixture
def folder(tmp_path):
    tables = tmp_path / "tables"
    tables.mkdir()
    small_tables.write(tables, "sick", "classification", rare=8)
    small_tables.write(tables, "price", "regression")
    return tables


@pytest.fixture
def benchmark(folder, tmp_path):
    """Runs the command on the folder; the result file is out/results.csv."""

    def run(*arguments, out=tmp_path / "out", where=folder):
        return invoke_study("benchmark", where, "--out", out, *arguments)

    return run


def counted(monkeypatch, stop_after=None):
    """The keys that are run; an interruption after some of them."""
    seen, real = [], FoldJob.__call__

    def call(self, *fits):
        if len(seen) == stop_after:
            raise KeyboardInterrupt
        seen.append(self.key)
        return real(self, *fits)

    monkeypatch.setattr(FoldJob, "__call__", call)
    return seen


def load_results(path):
    return load(path, LAYOUT)


def scores(path):
    times = ["fit_seconds", "predict_seconds"]
    return load_results(path).drop(columns=times).sort_values(list(KEY)).reset_index(drop=True)


def test_results_are_tidy_and_not_computed_twice(benchmark, tmp_path, monkeypatch):
    seen = counted(monkeypatch)
    first = benchmark(*FEW)
    assert first.exit_code == 0, first.output
    assert "classification: mean over 1 table\n" in first.output
    assert len(seen) == 8
    frame = pd.read_csv(tmp_path / "out" / "results.csv")
    assert tuple(frame.columns) == COLUMNS
    assert frame[frame["task"] == "regression"]["mae"].notna().all()
    assert frame[frame["task"] == "classification"]["mae"].isna().all()
    again = benchmark(*FEW)
    assert len(seen) == 8
    assert "8 of 8 results are in" in again.output
    benchmark(*FEW, "--methods", "kNN", "--redo")
    assert len(seen) == 16  # --methods adds up: both again
    assert len(load_results(tmp_path / "out" / "results.csv")) == 8


def test_interrupted_runs_go_on_and_end_as_if_nothing_had_been(benchmark, tmp_path, monkeypatch):
    benchmark(*FEW, out=tmp_path / "whole")
    with monkeypatch.context() as patch:
        counted(patch, stop_after=3)
        stopped = benchmark(*FEW)
    assert stopped.exit_code == 130
    assert "resumes from there" in stopped.output
    assert len(load_results(tmp_path / "out" / "results.csv")) == 3
    seen = counted(monkeypatch)
    assert benchmark(*FEW).exit_code == 0
    assert len(seen) == 5
    pd.testing.assert_frame_equal(scores(tmp_path / "out" / "results.csv"), scores(tmp_path / "whole" / "results.csv"))


@pytest.mark.parametrize("cut", [1, 3, 40])
def test_a_line_cut_off_is_run_again(benchmark, tmp_path, monkeypatch, cut):
    benchmark(*FEW)
    path, before = tmp_path / "out" / "results.csv", scores(tmp_path / "out" / "results.csv")
    path.write_bytes(path.read_bytes()[:-cut])
    seen = counted(monkeypatch)
    assert benchmark(*FEW).exit_code == 0
    assert len(seen) == 1
    pd.testing.assert_frame_equal(scores(path), before)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 9


def test_a_header_cut_off_is_written_again(benchmark, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.csv").write_text(",".join(COLUMNS)[:20])
    assert benchmark(*FEW).exit_code == 0
    assert len(load_results(tmp_path / "out" / "results.csv")) == 8


def test_lines_of_two_writers_do_not_mix(tmp_path):
    path = tmp_path / "out.csv"
    row = {"task": "regression", "dataset": "a", "checksum": "0", "folds": 2, "seed": 0}
    with ResultsFile(path, LAYOUT) as one, ResultsFile(path, LAYOUT) as two:
        for fold in range(20):
            (one if fold % 2 else two).add(row | {"fold": fold, "settings": 0, "method": "RF", "predict_seconds": 0.1})
    assert load_results(path)["fold"].tolist() == list(range(20))


def test_a_changed_table_is_run_again(benchmark, folder, monkeypatch):
    benchmark(*FEW)
    small_tables.write(folder, "price", "regression", seed=1)
    seen = counted(monkeypatch)
    assert benchmark(*FEW).exit_code == 0
    assert {key[1] for key in seen} == {"price"}
    assert len(seen) == 4


def test_several_seeds_are_averaged(benchmark, tmp_path):
    result = benchmark("--methods", "kNN", "--folds", "2", "--seed", "0", "--seed", "5", "--only", "price")
    assert result.exit_code == 0, result.output
    rows = load_results(tmp_path / "out" / "results.csv")
    assert rows.groupby("seed").size().to_dict() == {0: 2, 5: 2}
    assert f"{rows['mae'].mean():.3f}" in result.output


def test_processes_make_no_difference(benchmark, tmp_path):
    benchmark(*FEW)
    benchmark(*FEW, "--jobs", "2", out=tmp_path / "two")
    pd.testing.assert_frame_equal(scores(tmp_path / "out" / "results.csv"), scores(tmp_path / "two" / "results.csv"))


def test_a_failing_method_does_not_stop_the_others(benchmark, tmp_path, monkeypatch):
    def broken(seed):
        raise RuntimeError("no luck")

    monkeypatch.setitem(methods.METHODS["regression"], "kNN", broken)
    result = benchmark(*FEW, "--report", tmp_path / "report")
    assert result.exit_code == 1
    assert "kNN on price: RuntimeError: no luck (2 times)" in result.output
    assert len(load_results(tmp_path / "out" / "results.csv")) == 6
    assert "no luck" in (tmp_path / "report" / "benchmark.md").read_text(encoding="utf-8")


def test_a_peer_that_is_not_installed_names_the_remedy(benchmark, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    result = benchmark("--methods", "LightGBM,kNN", "--folds", "2", "--only", "price")
    assert result.exit_code == 1
    assert "pip install -e studies" in result.output


def test_a_missing_package_names_the_remedy(tmp_path):
    done = run_study_without(["pandas"], "benchmark", tmp_path)
    assert done.returncode == 2
    assert "needs pandas, which is not installed. Remedy: pip install -e studies" in done.stderr


def test_input_that_cannot_be_used_ends_the_command_before_anything_is_run(benchmark, folder, tmp_path, monkeypatch):
    seen = counted(monkeypatch)
    notes = tmp_path / "notes" / "results.csv"
    notes.parent.mkdir()
    notes.write_text("some,notes\n")
    cases = {
        "is not a folder": {"where": tmp_path / "missing"},
        "not a results file": {"out": notes.parent},
        "a file stands where": {"out": notes},
    }
    for problem, where in cases.items():
        result = benchmark(*FEW, **where)
        assert (result.exit_code, problem in result.output) == (2, True), result.output
    options = {
        "no method nonsense": ["--methods", "nonsense"],
        "no table x": ["--only", "x"],
        "no column": ["--target", "z"],
    }
    options["selected methods is for"] = ["--methods", "SVR", "--only", "sick"]
    for problem, given in options.items():
        result = benchmark(*given)
        assert (result.exit_code, problem in result.output) == (2, True), result.output
    for text, problem in (
        ("", "the file is empty"),
        ("a,y\n1,\n2,3\n", "missing values"),
        ("a,y\n1,1\n2,1\n", "holds one value only"),
    ):
        (folder / "bad.csv").write_text(text)
        result = benchmark(*FEW)
        assert (result.exit_code, problem in result.output, "bad.csv" in result.output) == (2, True, True)
    assert not seen
    assert notes.read_text(encoding="utf-8") == "some,notes\n"


def test_quick_takes_few_small_tables(benchmark, folder, tmp_path):
    for k in range(4):
        small_tables.write(folder, f"more{k}", "regression", n=1200, seed=k)
    result = benchmark("--quick", "--methods", "kNN")
    assert result.exit_code == 0, result.output
    rows = load_results(tmp_path / "out" / "results.csv")
    assert set(rows["folds"]) == {2}
    assert rows.groupby("task")["dataset"].nunique().to_dict() == {"classification": 1, "regression": 3}
    assert rows[rows["dataset"].str.startswith("more")]["checksum"].str.endswith("-thin1000").all()


def test_ablation_is_run_and_reported_stage_by_stage(benchmark, tmp_path):
    small = ["--max-rows", "40", "--only", "price", "--methods", "RF", "--folds", "2"]
    result = benchmark("--ablation", *small, "--report", tmp_path / "report")
    assert result.exit_code == 0, result.output
    table = pd.read_csv(tmp_path / "report" / "benchmark_regression_ablation.csv", index_col="method")
    assert list(table.index) == methods.ablation_rows("regression")
    assert np.isfinite(table["gain mae"].iloc[1:]).all()


def test_tuned_methods_stand_beside_untuned_ones(benchmark, tmp_path, monkeypatch):
    small = ["--quick", "--methods", "kNN,RF/priors,RF/thresholds", "--max-rows", "50"]
    plain = benchmark(*small)
    assert plain.exit_code == 0, plain.output
    seen = counted(monkeypatch)
    result = benchmark(*small, "--tuned", "--report", tmp_path / "report")
    assert result.exit_code == 0, result.output
    assert len(seen) == 8  # what is untuned was there
    rows = load_results(tmp_path / "out" / "results.csv")
    assert set(rows["settings"]) == {0, 3}
    page = (tmp_path / "report" / "benchmark.md").read_text(encoding="utf-8")
    for part in ("3 settings of random search", "## Classification tuned", "Untuned beside tuned"):
        assert part in page
    refused = benchmark("--tuned", "--ablation")
    assert (refused.exit_code, "separately" in refused.output) == (2, True)


def test_what_is_there_is_summarised_without_running_the_rest(benchmark, tmp_path, monkeypatch):
    some = ["--methods", "kNN,RF", "--folds", "2", "--only", "price"]
    benchmark(*some)
    benchmark("--methods", "kNN", "--folds", "2", "--only", "price", "--seed", "1")
    seen = counted(monkeypatch)
    result = benchmark(*some, "--seed", "0", "--seed", "1", "--summary-only", "--report", tmp_path / "report")
    assert result.exit_code == 0, result.output
    assert not seen
    page = (tmp_path / "report" / "benchmark.md").read_text(encoding="utf-8")
    assert "Run with fewer seeds than the others: RF (1)." in page


def test_result_file_in_the_folder_is_no_table(benchmark, folder):
    for _ in range(2):
        result = benchmark(*FEW, "--only", "price", out=folder)
        assert result.exit_code == 0, result.output


def test_help():
    text = invoke_study("benchmark", "--help").output
    assert "--quick" in text
    assert "For example" in text


def test_relevance_reaches_scores_and_our_methods(benchmark, tmp_path):
    methods_ = ["--methods", "kNN,CS-RF+DSNA", "--folds", "2", "--task", "regression", "--only", "price"]
    for relevance in ("auto", "high", "low"):
        assert benchmark(*methods_, "--relevance", relevance).exit_code == 0
    found = load_results(tmp_path / "out" / "results.csv")
    sera = found.assign(kind=found["checksum"].str.partition("-")[2]).pivot_table("sera", "method", "kind")
    np.testing.assert_allclose(sera.loc["kNN", "high"] + sera.loc["kNN", "low"], sera.loc["kNN", ""], rtol=1e-4)
    mae = found.pivot_table("mae", "method", "checksum")
    assert mae.loc["kNN"].nunique() == 1  # is not told
    assert mae.loc["CS-RF+DSNA"].nunique() == 3
    assert "--relevance" in benchmark(*methods_, "--relevance", "odd").output
