"""Every word that a decision, a scorer or a type could be either works or is refused in one sentence."""

import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.pipeline import make_pipeline

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, model_file, refused, table, write

from dsna import (
    CostSensitiveForestClassifier,
    CostSensitiveForestRegressor,
    DSNAClassifier,
    DSNAError,
    DSNARegressor,
)
from dsna._utils.errors import on_command_line
from dsna.app.predict import decide_anew
from dsna.app.train import TrainOptions, choose_rows
from dsna.prediction.decision import DECISIONS
from dsna.prediction.measures import MEASURES, check_measure
from dsna.tables import ColumnType, ReadOptions, TableEncoder, read_file
from dsna.tables.column_types import KINDS

OF_NUMBERS = ("auto", *DECISIONS, "paper")
ODD = (
    "", " ", "F1", "Balanced", "f2", "none", "None", "recall>=", "recall>=0", "recall>=2", "recall>=.9.9", "recall>.9",
    "precision>=nan", "precision>=-1", "accuracy ", "20:1", "[[0, 1], [20, 0]]", "absolute_error", "é" * 300,
)  # fmt: skip
BOUNDS = ("recall>=.9", "recall >= 1", "precision>=.5")
TYPES = ("date:dmy", "date:mdy", "date:ymd", "date:", "date:dym", "Number", "numeric", "int", "float", "ordered", "str")
WORDS = tuple(dict.fromkeys([*OF_NUMBERS, "balanced", *MEASURES, *BOUNDS, *get_scorer_names(), *ODD, *KINDS, *TYPES]))
CLASSES = {
    "two words": np.array(["no", "yes"]),
    "three words": np.array(["a", "b", "c"]),
    "numbers": np.array([0, 1]),
    "truth": np.array([False, True]),
}


def tried(call, *arguments):
    """Whether a call works; where it is refused, by one sentence without the words of programs."""
    sentence = ""
    with warnings.catch_warnings(), on_command_line():
        warnings.simplefilter("ignore")
        try:
            call(*arguments)
        except DSNAError as error:
            sentence = str(error)
    assert len(sentence) < 900
    assert "\n" not in sentence.strip()
    return not sentence


@pytest.fixture(scope="module")
def pipelines():
    """A model of each kind of classes, and one of numbers; each is fitted once."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=90)
    frame = pl.DataFrame({"size": size + 0.5 * rng.normal(size=90), "noise": rng.normal(size=90)})
    found = {}
    for name, classes in CLASSES.items():
        y = classes[np.digitize(size, np.linspace(0.5, 1.2, len(classes) - 1))]
        model = DSNAClassifier(CostSensitiveForestClassifier(4), random_state=0)
        found[name] = make_pipeline(TableEncoder(), model).fit(frame, y)
    model = DSNARegressor(CostSensitiveForestRegressor(4), random_state=0)
    found["targets"] = make_pipeline(TableEncoder(), model).fit(frame, size)
    return found


@pytest.mark.parametrize("kind", CLASSES)
def test_every_word_as_a_decision_between_classes(pipelines, kind, monkeypatch):
    if kind != "two words":  # of one kind the decisions are learned, too
        monkeypatch.setattr(DSNAClassifier, "_learn_decision", lambda _: None)
    works = {word for word in WORDS if tried(decide_anew, pipelines[kind], word)}
    assert {*MEASURES, *BOUNDS, "balanced", "paper", "accuracy", "precision_macro", "jaccard_weighted"} <= works
    assert works <= {"paper", "balanced", *MEASURES, *BOUNDS, *get_scorer_names()}
    assert not works & {"mean", "median", "roc_auc", "neg_log_loss", "rand_score", "f1_samples", "top_k_accuracy"}
    of_numbers = {"r2", "neg_mean_absolute_error", "neg_root_mean_squared_error", "explained_variance"}
    if kind != "truth":  # which is a number to some of them
        assert works & of_numbers == (of_numbers if kind == "numbers" else set())


def test_every_word_as_a_decision_of_numbers(pipelines):
    works = {word for word in WORDS if tried(decide_anew, pipelines["targets"], word)}
    assert works == {*OF_NUMBERS} - {"open"}  # which is learned by fit alone


@pytest.mark.parametrize("kind", CLASSES)
def test_scorers_are_judged_alike_by_name_and_as_objects(kind):
    for name in set(get_scorer_names()) - set(MEASURES):
        found = [tried(check_measure, scorer, CLASSES[kind]) for scorer in (name, get_scorer(name))]
        assert found[0] == found[1], name


@pytest.mark.parametrize("word", ["r2", "roc_auc", "rand_score", "recall_samples", "neg_max_error", "jaccard"])
def test_scorers_of_other_tasks_are_refused_before_the_forest_grows(monkeypatch, word):
    monkeypatch.setattr(DSNAClassifier, "_find_neighbors", lambda *_: pytest.fail("work was begun"))
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(
        DSNAError, match=f"decision='{word}' cannot decide between these classes: .*Remedy: use balanced"
    ):
        DSNAClassifier(decision=word).fit(X, np.array(["a", "b"])[(X[:, 0] > 30).astype(int)])


@pytest.mark.parametrize(
    "decision",
    [5, True, b"f1", {}, [], [[0, 1]], {"f1": 1}, float("nan"), object()],
    ids=["5", "True", "bytes", "{}", "[]", "one row", "dict", "nan", "object"],
)
def test_what_is_no_word_is_refused(pipelines, decision):
    with pytest.raises(ValueError, match="decision"):
        pipelines["two words"].steps[-1][1].with_decision(decision)


@pytest.mark.parametrize("target", ["rare", "cost"])
def test_every_word_as_the_type_of_a_target_or_of_another_column(tmp_path, target):
    def chosen(column, word):
        return choose_rows(read_file(data, ReadOptions(types={column: word})), TrainOptions(target=target))

    data = write(tmp_path)
    types = {*KINDS, "date:", "date:dmy", "date:mdy", "date:ymd"} - {"ordered"}
    assert {word for word in WORDS if tried(ColumnType.of, word, "x")} == types
    for word in WORDS:
        for column in (target, "size") if word in types else (target,):
            assert tried(chosen, column, word) <= (word in types)


@pytest.mark.parametrize("target, word", [("rare", "r2"), ("rare", "median"), ("cost", "r2"), ("cost", "open")])
def test_words_of_the_other_task_are_refused_by_commands(tmp_path, target, word):
    model, new = model_file(tmp_path, target), write(tmp_path, "new.csv", table(9, 1))
    refused(ask("predict", model, new, "-o", tmp_path / "a.csv", "--decision", word), word, "Remedy: ")
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize("target, word", [("rare", "r2"), ("rare", "median"), ("rare", "roc_auc"), ("cost", "r2")])
def test_words_of_the_other_task_are_refused_by_training(tmp_path, target, word):
    words = ("--target", target, "-o", tmp_path / "m.dsna", "--decision", word)
    refused(ask("train", write(tmp_path), *words), word, "Remedy: ")
    assert not (tmp_path / "m.dsna").exists()
