"""Decisions between classes: measures against scikit-learn, searches against brute force, costs against sums."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer, matthews_corrcoef, recall_score

from dsna import DSNAError
from dsna._utils.choices import balanced_gain, best_class
from dsna.metrics import g_mean_score
from dsna.prediction.class_decision import (
    OutOfBagProba,
    _GainSearch,
    best_if_unreachable,
    cost_gain,
    gain_of_all_classes,
    learn_decision,
    threshold_of,
)
from dsna.prediction.measures import MEASURES, check_measure, find_measure

ORACLES = {
    "balanced": balanced_accuracy_score,
    "f1": lambda truth, said: f1_score(truth, said, average="binary" if truth.max() == 1 else "macro", zero_division=0),
    "f1_macro": lambda truth, said: f1_score(truth, said, average="macro", zero_division=0),
    "mcc": matthews_corrcoef,
    "gmean": g_mean_score,
}


def answers(n, n_classes=2, seed=0, share=0.15):
    """Calibrated probabilities: classes are drawn from them; the last is the rarest."""
    rng = np.random.RandomState(seed)
    odds = np.exp(1.5 * rng.normal(size=(n, n_classes))) * np.r_[np.ones(n_classes - 1), share]
    proba = odds / odds.sum(axis=1, keepdims=True)
    code = (proba.cumsum(axis=1) < rng.rand(n, 1)).sum(axis=1)
    return OutOfBagProba(proba, code, np.ones(n), np.arange(n) % 5), np.bincount(code, minlength=n_classes) / n


def counts(code, said, n):
    return np.bincount(code * n + said, minlength=n * n).reshape(n, n).astype(float)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_measures_are_those_of_scikit_learn(name, n_classes):
    rng = np.random.RandomState(0)
    for _ in range(20):
        code = np.r_[np.arange(n_classes), rng.randint(n_classes, size=50)]
        said = np.where(rng.rand(len(code)) < 0.6, code, rng.randint(n_classes, size=len(code)))
        found = MEASURES[name](counts(code, said, n_classes), n_classes - 1)
        assert found == pytest.approx(ORACLES[name](code, said), abs=1e-12)
    everything = np.zeros_like(code)
    assert np.isfinite(MEASURES[name](counts(code, everything, n_classes), n_classes - 1))


@pytest.mark.parametrize("name", ["f1", "f1_macro", "mcc", "gmean", "recall>=.8", "precision>=.6"])
def test_two_classes_are_decided_nearly_as_well_as_by_any_threshold(name):
    found, prior = answers(3000)
    measure = find_measure(name)
    gain = _GainSearch(measure, np.arange(2), prior).best_gain(found)

    def value(said):
        return measure.objective(counts(found.code, said, 2), 1)

    best = max(value((found.proba[:, 1] > cut).astype(int)) for cut in np.unique(found.proba[:, 1]))
    assert value(best_class(found.proba, gain)) > best - 0.03


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", ["f1", "f1_macro", "mcc", "gmean"])
def test_fresh_rows_are_decided_better_than_by_balance_or_population(name, n_classes):
    (known, prior), (fresh, _) = answers(3000, n_classes), answers(20_000, n_classes, seed=1)
    learned = learn_decision(name, 1.0, known, np.arange(n_classes), prior, None)
    values = [
        MEASURES[name](counts(fresh.code, best_class(fresh.proba, gain), n_classes), n_classes - 1)
        for gain in (learned.gain, balanced_gain(prior, 1.0), balanced_gain(prior, 0.0))
    ]
    assert values[0] > max(values[1:]) - 0.01
    # What is said of it out of bag is what fresh rows show.
    assert abs(learned.score - values[0]) < 4 * learned.error + 0.01
    assert 0.0 < learned.error < 0.05


def test_bounds_hold_on_fresh_rows_about_as_asked():
    fresh = answers(20_000, seed=1)[0]
    known, prior = answers(3000)
    for name, score in (("recall>=.9", recall_score), ("precision>=.5", None)):
        said = best_class(fresh.proba, learn_decision(name, 1.0, known, np.arange(2), prior, None).gain)
        held = score(fresh.code, said) if score else np.mean(fresh.code[said == 1])
        assert held == pytest.approx(0.9 if score else 0.5, abs=0.05)


def test_a_tiny_class_is_not_decided_by_its_luck():
    # With ten rare rows, thresholds that fit them alone scatter far more than those that go by probabilities too.
    def thresholds(few):
        found = []
        for seed in range(30):
            some, prior = answers(300, seed=seed, share=0.02)
            search = _GainSearch(find_measure("f1"), np.arange(2), prior)
            if not few:
                search._expected_classes = lambda a: np.eye(2)[a.code] * a.weight[:, None]
            found.append(np.log(np.diff(np.log(np.diag(search.best_gain(some))))[0] + 20.0))
        return np.std(found)

    assert thresholds(few=True) < 0.9 * thresholds(few=False)


def test_a_scorer_and_a_measure_of_the_same_name_agree():
    known, prior = answers(1500)
    named = learn_decision("f1", 1.0, known, np.arange(2), prior, None)
    scorer = learn_decision(make_scorer(f1_score), 1.0, known, np.arange(2), prior, None)
    assert scorer.score == pytest.approx(named.score, abs=0.03)
    by_name = learn_decision("f1_macro", 1.0, known, np.arange(2), prior, None)
    assert 0.0 < by_name.error < 0.05


@pytest.mark.parametrize("n_classes", [2, 3])
def test_costs_are_minimised_in_expectation(n_classes):
    known, prior = answers(500, n_classes)
    cost = np.random.RandomState(0).rand(n_classes, n_classes) * 10 * (1 - np.eye(n_classes))
    names = np.array(["a", "b", "c"])[:n_classes]
    found = learn_decision(cost, 1.0, known, names, prior, None)
    expected = [
        np.argmin([sum(p[c] * cost[c, k] for c in range(n_classes)) for k in range(n_classes)]) for p in known.proba
    ]
    np.testing.assert_array_equal(found.predicted, expected)
    assert found.score == pytest.approx(-np.mean(cost[known.code, expected]) / cost.max())
    by_function = cost_gain(lambda true, said: cost["abc".index(true), "abc".index(said)], names)
    np.testing.assert_allclose(by_function, found.gain)


@pytest.mark.parametrize("balance", [0.0, 0.3, 1.0])
def test_balance_divides_by_powers_of_the_shares(balance):
    known, prior = answers(500, 3)
    found = learn_decision("balanced", balance, known, np.arange(3), prior, None)
    np.testing.assert_array_equal(found.predicted, np.argmax(known.proba / prior**balance, axis=1))


def test_without_out_of_bag_rows_balance_decides():
    none = OutOfBagProba(np.empty((0, 2)), np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int64))
    found = learn_decision("f1", 0.0, none, np.arange(2), np.array([0.9, 0.1]), None)
    np.testing.assert_array_equal(found.gain, balanced_gain(np.array([0.9, 0.1]), 1.0))
    assert np.isnan(found.score)


def test_what_is_no_decision_is_refused():
    for wrong in ("f2", "recall>.9", "recall>=1.5", "precision>=0"):
        with pytest.raises(DSNAError, match="decision="):
            find_measure(wrong)
    for wrong in ([[0, 1]], [[0, np.inf], [1, 0]], [["a", "b"], ["c", "d"]], lambda true, said: "x"):
        with pytest.raises(DSNAError, match="2 x 2 finite costs"):
            cost_gain(wrong, np.array(["no", "yes"]))
    for wrong, why in (
        ([[0, -1], [20, 0]], "negative"),
        (lambda true, said: 0 if true == said else -5, "negative"),
        (np.zeros((2, 2)), "cannot decide"),
        ([[1, 1], [1, 1]], "cannot decide"),
        ([[3, 3], [20, 20]], "cannot decide"),
    ):
        with pytest.raises(DSNAError, match=why):
            cost_gain(wrong, np.array(["no", "yes"]))
    with pytest.raises(DSNAError, match="scores probabilities"):
        check_measure("roc_auc", np.arange(2))


@pytest.mark.parametrize(
    "decision", ["balanced", "f1", "mcc", "gmean", "recall>=.9", "precision>=.3", [[0, 1], [20, 0]], [[-3, 1], [5, -1]]]
)
@pytest.mark.parametrize("flip", [False, True])
def test_of_two_classes_a_threshold_of_the_rarer_one_says_what_is_decided(decision, flip):
    known, prior = answers(800)
    if flip:  # the rarer class comes first
        known = OutOfBagProba(known.proba[:, ::-1], 1 - known.code, known.weight, known.fold)
        prior = prior[::-1]
    classes = np.array(["a", "b"])
    gain = learn_decision(decision, 1.0, known, classes, prior, None).gain
    found = threshold_of(gain, prior, classes)
    assert found.rare_class == classes[np.argmin(prior)]
    assert str(found).startswith(f"{found.rare_class} from ")
    proba = known.proba[:, np.argmin(prior)]
    clear = np.abs(proba - found.probability) > 1e-9
    said = classes[best_class(known.proba, gain)] == found.rare_class
    np.testing.assert_array_equal(said[clear], proba[clear] > found.probability)


def test_there_is_no_threshold_of_three_classes_nor_where_nothing_is_gained():
    assert threshold_of(np.eye(3), np.full(3, 1 / 3), np.array(["a", "b", "c"])) is None
    assert threshold_of(np.zeros((2, 2)), np.full(2, 0.5), np.array(["a", "b"])) is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_wishes_that_no_threshold_reaches_are_known(n_classes):
    known, prior = answers(1500, n_classes)
    dull = known._replace(proba=np.tile(prior, (len(known.code), 1)) * np.exp(0.01 * known.proba))
    dull = dull._replace(proba=dull.proba / dull.proba.sum(axis=1, keepdims=True))
    classes = np.arange(n_classes)
    for some, wish, reached in (
        (known, "recall>=.9", True), (known, "precision>=.3", True), (dull, "recall>=.9", True),
        (dull, "precision>=.9", False), (known, "f1", True), (known, 1 - np.eye(n_classes), True),
    ):  # fmt: skip
        gain = learn_decision(wish, 1.0, some, classes, prior, None).gain
        most = best_if_unreachable(wish, gain, some, classes, prior)
        assert (most is None) == reached, wish
    assert prior[-1] / 2 < most_of(dull, classes, prior) < 0.9


def most_of(some, classes, prior):
    gain = learn_decision("precision>=.9", 1.0, some, classes, prior, None).gain
    return best_if_unreachable("precision>=.9", gain, some, classes, prior)


def test_right_answers_may_gain():
    found = cost_gain([[0, 1], [20, -40]], np.array(["no", "yes"]))
    np.testing.assert_allclose(found, [[0.0, -0.025], [-0.5, 1.0]])


def test_gains_of_added_classes():
    gain = np.diag([0.1, 1.0])
    wide = gain_of_all_classes(gain, np.array([0, 2]), np.array([0.6, 0.2, 0.2]), is_cost=False)
    assert wide[0, 0] / wide[2, 2] == pytest.approx(0.1)
    assert wide[1, 1] / wide[2, 2] == pytest.approx(np.sqrt(0.1 * 0.6 * 0.2) / 0.2)
    costs = gain_of_all_classes(-np.array([[0.0, 1.0], [0.5, 0.0]]), np.array([0, 2]), np.full(3, 1 / 3), is_cost=True)
    np.testing.assert_allclose(costs, -np.array([[0.0, 0.75, 1.0], [0.75, 0.0, 0.75], [0.5, 0.75, 0.0]]))
