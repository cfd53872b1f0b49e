"""Means, ranks, tests and critical differences beside scipy and brute force."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap, rankdata, wilcoxon

from dsna_studies.tabular.critical_difference import cliques, critical_difference, plot_critical_difference
from dsna_studies.tabular.report import TaskSummary, report_page
from dsna_studies.tabular.statistics import bootstrap_interval, holm, signed_rank
from dsna_studies.tabular.summary import (
    MethodComparison,
    compare,
    compare_tuning,
    gains,
    losses,
    mean_ranks,
    pairs,
    ranks,
    summary,
)

METHODS = ["RF", "ExtraTrees", "LightGBM", "CS-RF+DSNA"]


@pytest.fixture
def rows():
    """Two folds of eight tables; ours is better by a tenth on all but one, where it equals RF."""
    rng = np.random.RandomState(0)
    lines = []
    for d in range(8):
        level = rng.rand() + 0.5
        for k, method in enumerate(METHODS):
            for fold in range(2):
                score = level + 0.1 * rng.rand() - (0.3 if method == "CS-RF+DSNA" else 0.0)
                score = 1.0 if d == 7 and method in ("RF", "CS-RF+DSNA") else score
                lines.append(
                    {"task": "regression", "dataset": f"d{d}", "method": method, "fold": fold, "mae": score}
                    | {"seed": 0, "fit_seconds": 1.0 + k, "predict_seconds": 0.5, "rare_mae": 2 * score}
                )
    return pd.DataFrame(lines)


def test_means_and_seconds_by_brute_force(rows):
    compared = compare(rows, "regression", METHODS, folds=2)
    some = rows[(rows["dataset"] == "d3") & (rows["method"] == "LightGBM")]
    assert compared.means.loc[("d3", "LightGBM"), "mae"] == pytest.approx(some["mae"].mean())
    found = summary(compared)
    assert list(found.index) == METHODS
    assert found.loc["ExtraTrees", "seconds"] == pytest.approx(8 * 2 * 2.5)
    assert found.loc["RF", "mae"] == pytest.approx(rows[rows["method"] == "RF"]["mae"].mean())


@pytest.mark.parametrize("direction", [1, -1])
def test_ranks_agree_with_scipy(direction):
    scores = pd.DataFrame(np.random.RandomState(0).randint(4, size=(20, 5)) / 4.0)
    expected = [rankdata(-direction * row) for row in scores.to_numpy()]
    np.testing.assert_array_equal(ranks(scores, direction), expected)


@pytest.mark.parametrize("metric", ["g_mean", "auc"])
def test_ranks_leave_out_our_other_methods_and_count_probabilities_once(metric):
    """Six methods in order, the best first; ours are third and last, the first two and the fourth share a fit."""
    names = ["RF", "RF/priors", "CS-RF", "RF/thresholds", "WRF", "CS-RF+DSNA"]
    index = pd.MultiIndex.from_product([["a", "b"], names], names=["dataset", "method"])
    score = [0.9, 0.8, 0.75, 0.7, 0.6, 0.5] if metric == "g_mean" else [0.9, 0.9, 0.7, 0.9, 0.8, 0.5]
    compared = MethodComparison("classification", pd.DataFrame({metric: 2 * score}, index=index), (), ())
    found = mean_ranks(compared, metric)
    last = {"g_mean": [1, 2, 3, 3, 4, 5], "auc": [1, 1, 3, 1, 2, 3]}[metric]
    assert found.to_dict() == dict(zip(names, last, strict=True))


def test_wins_and_wilcoxon_agree_with_scipy(rows):
    compared = compare(rows, "regression", METHODS, folds=2)
    found = pairs(compared, METHODS[:3]).set_index(["metric", "peer"])
    scores = compared.table("mae")
    raw = [wilcoxon(scores["CS-RF+DSNA"], scores[peer]).pvalue for peer in METHODS[:3]]
    np.testing.assert_allclose(found.loc["mae"]["p"], raw)
    assert found.loc[("mae", "RF"), ["win", "tie", "loss"]].tolist() == [7, 1, 0]
    assert found.loc[("mae", "RF"), "gain"] == pytest.approx((scores["RF"] - scores["CS-RF+DSNA"]).mean())
    assert (found["p_holm"] >= found["p"]).all()


def test_equal_scores_are_ties_without_a_warning(rows):
    same = rows.assign(mae=1.0)
    found = pairs(compare(same, "regression", METHODS, folds=2), ["RF"])
    line = found[found["metric"] == "mae"].iloc[0]
    assert (line["tie"], line["p"], line["p_holm"]) == (8, 1.0, 1.0)


def test_holm_by_its_definition():
    p = np.random.RandomState(0).rand(7) ** 3
    for alpha in (0.01, 0.05, 0.2, 0.5):
        rejected = np.zeros(7, dtype=bool)
        for step, at in enumerate(np.argsort(p)):
            if p[at] > alpha / (7 - step):
                break
            rejected[at] = True
        np.testing.assert_array_equal(holm(p) <= alpha, rejected)
    assert len(holm(np.empty(0))) == 0


def test_intervals_and_probabilities_are_those_of_the_differences(rows):
    compared = compare(rows, "regression", METHODS, folds=2)
    line = pairs(compared, ["RF"]).set_index("metric").loc["mae"]
    gain = (compared.table("mae")["RF"] - compared.table("mae")["CS-RF+DSNA"]).to_numpy()
    assert (line["low"], line["high"]) == bootstrap_interval(gain)
    assert tuple(line[["worse", "same", "better"]]) == signed_rank(gain)
    assert line["low"] < line["gain"] < line["high"]


def test_bootstrap_interval_agrees_with_scipy():
    gain = np.random.RandomState(0).normal(0.1, 0.2, 24)
    found = bootstrap((gain,), np.mean, n_resamples=20000, method="percentile", rng=np.random.default_rng(1))
    np.testing.assert_allclose(bootstrap_interval(gain), found.confidence_interval, atol=0.003)


@pytest.mark.parametrize("shift", [-0.03, 0.0, 0.008, 0.02])
def test_signed_rank_by_brute_force_over_pairs_of_tables(shift):
    gain = np.random.RandomState(3).normal(shift, 0.03, 12)
    values = [0.0, *gain]
    weights = np.random.RandomState(7).dirichlet([0.5] + [1.0] * 12, 400)
    wins = np.zeros(3)
    for w in weights:
        share = np.zeros(3)
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                mean = (a + b) / 2
                share[0 if mean < -0.01 else 2 if mean > 0.01 else 1] += w[i] * w[j]
        wins[share.argmax()] += 1
    np.testing.assert_allclose(signed_rank(gain), wins / 400, atol=0.1)
    assert sum(signed_rank(gain)) == pytest.approx(1.0)
    np.testing.assert_allclose(signed_rank(-gain), signed_rank(gain)[::-1], atol=0.02)


def test_losses_name_the_best_peer_of_each_table(rows):
    compared = compare(rows, "regression", METHODS, folds=2)
    worse = compared.means.copy()
    worse.loc[("d2", "CS-RF+DSNA"), "mae"] = 9.0
    worse.loc[("d5", "CS-RF+DSNA"), "mae"] = 5.0
    found = losses(replace(compared, means=worse), "mae", METHODS[:3])
    assert list(found.index)[:2] == ["d2", "d5"]
    peers = compared.table("mae").loc["d2", METHODS[:3]]
    assert found.loc["d2", "best peer"] == peers.idxmin()
    assert found.loc["d2", "difference"] == pytest.approx(peers.min() - 9.0)
    assert found.loc["d2", "are ahead"] == "3 of 3"
    assert losses(compared, "mae", []).empty


def test_seeds_that_are_not_complete_do_not_count(rows):
    more = rows[rows["method"] != "LightGBM"].assign(seed=1, mae=rows["mae"] + 2)
    half = rows[(rows["method"] == "LightGBM") & (rows["fold"] == 0)].assign(seed=1, mae=99.0)
    compared = compare(pd.concat([rows, more, half]), "regression", METHODS, folds=2)
    first = compare(rows, "regression", METHODS, folds=2)
    assert compared.fewer_seeds == {"LightGBM": 1}
    assert first.fewer_seeds == {}
    np.testing.assert_allclose(compared.table("mae")["LightGBM"], first.table("mae")["LightGBM"])
    np.testing.assert_allclose(compared.table("mae")["RF"], first.table("mae")["RF"] + 1)
    np.testing.assert_allclose(compared.means["seconds"], first.means["seconds"])
    assert "LightGBM (1)" in " ".join(TaskSummary(compared).remarks)


def test_tuned_stands_beside_untuned_on_the_same_tables(rows):
    plain = compare(rows, "regression", METHODS, folds=2)
    tuned = compare(rows[rows["dataset"] != "d0"].assign(mae=rows["mae"] / 2), "regression", METHODS, folds=2)
    found = compare_tuning(plain, tuned)
    np.testing.assert_allclose(found["mae, searched"], found["mae"] / 2)


def test_what_is_not_finished_is_left_out_and_named(rows):
    many = pd.concat([rows, rows.assign(dataset=rows["dataset"] + "x")])  # 16 tables
    broken = many[~((many["method"] == "LightGBM") & many["dataset"].isin(["d0", "d1"]))]
    broken = broken[~((broken["method"] == "RF") & (broken["dataset"] == "d2") & (broken["fold"] == 0))]
    compared = compare(broken, "regression", METHODS, folds=2)
    assert compared.left_out == ("LightGBM",)  # 14 of 16, and RF has 15 of 16
    assert compared.unfinished == ("d2",)
    assert len(compared.datasets) == 15
    assert "LightGBM" in " ".join(TaskSummary(compared).remarks)


def test_nothing_finished_is_an_empty_comparison(rows):
    assert compare(rows, "regression", METHODS, folds=9).datasets == []
    assert compare(rows, "classification", ["RF"], folds=2).datasets == []


def test_gain_of_each_stage_over_the_one_before(rows):
    compared = compare(rows, "regression", METHODS, folds=2)
    found = gains(compared)
    means = summary(compared)["mae"]
    assert np.isnan(found["gain mae"].iloc[0])
    np.testing.assert_allclose(found["gain mae"].iloc[1:], means.to_numpy()[:-1] - means.to_numpy()[1:])


@pytest.mark.parametrize("k, q", [(2, 1.960), (5, 2.728), (10, 3.164)])  # q of the usual tables, at 5 %
def test_critical_difference_by_the_usual_tables(k, q):
    assert critical_difference(k, 24) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 24)), rel=1e-3)


def test_cliques_are_the_largest_groups_within_the_width():
    values = np.sort(np.random.RandomState(0).rand(12) * 6)
    groups = cliques(values.tolist(), 1.5)
    every = [(i, j) for i in range(12) for j in range(i + 1, 12) if values[j] - values[i] <= 1.5]
    largest = [(i, j) for i, j in every if not any((a <= i and j <= b) and (a, b) != (i, j) for a, b in every)]
    assert groups == largest


def test_plot_names_every_method():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    plot_critical_difference(pd.Series({f"m{i}": 1.0 + i for i in range(9)}), 12, ax, bold=["m4"])
    text = " ".join(label.get_text() for label in ax.texts)
    assert all(f"m{i}" in text for i in range(9))


def test_report_holds_page_pictures_and_tables_and_nothing_half_written(rows, tmp_path):
    compared = compare(rows, "regression", METHODS, folds=2)
    found = TaskSummary(compared, compared)
    page = "\n".join(report_page(tmp_path / "new", {"regression": found}, "Two folds."))
    names = {path.name for path in (tmp_path / "new").iterdir()}
    stem = "benchmark_regression"
    assert names == {
        f"{stem}.csv", f"{stem}.png", f"{stem}_pairs.csv", f"{stem}_tables.csv", f"{stem}_ablation.csv"
    }  # fmt: skip
    assert (tmp_path / "new" / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    for part in ("Two folds.", "**CS-RF+DSNA**", "7-1-0", "Ablation", "furthest behind", *names):
        assert part in page
    (tmp_path / "new" / "notes.md").write_text("What a person made of it.")
    both = {"regression": found, "regression tuned": found}
    page = "\n".join(report_page(tmp_path / "new", both, "Two folds."))
    assert page.index("What a person made of it.") < page.index("## Regression")
    assert "Untuned beside tuned" in page
    assert (tmp_path / "new" / f"{stem}_tuned_pairs.csv").exists()
    again = pd.read_csv(tmp_path / "new" / f"{stem}.csv", index_col="method")
    np.testing.assert_allclose(again["mae"], found.summary["mae"], rtol=1e-5)
