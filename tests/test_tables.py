"""Reading CSV files, and folds."""

import numpy as np
import pytest

from dsna.datasets import TableError, find_tables, read_table
from dsna.experiments.tabular.folds import split
from tests import small_tables


def written(folder, text):
    path = folder / "t.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "not a CSV file"),
        ("a,y\n", "at least one row"),
        ("1,2\n3,4\n", "header"),
        ("a,y\n1,0\n,1\n", "missing values in a"),
        ("a,y\n1,5\n2,5\n", "all labels are equal"),
        ("a,y\ninf,0\n2,1\n", "infinite"),
        ("y\n1\n2\n", "one column beside"),
        ("a,y\n1,2\n1,2,3,4\n", "not a CSV file"),
        ("a,y\n" + "".join(f"v{i},{i % 2}\n" for i in range(120)), "over 100 values"),
    ],
)
def test_files_that_cannot_be_used_are_named_with_the_reason(tmp_path, text, problem):
    with pytest.raises(TableError, match=problem) as error:
        read_table(written(tmp_path, text))
    assert "t.csv" in str(error.value)


def test_label_column_and_task_can_be_named(tmp_path):
    path = written(tmp_path, "y,a,b\n1,2,3.5\n2,3,4\n1,5,6\n")
    assert read_table(path).task == "regression"
    assert read_table(path, target="y").task == "classification"
    assert read_table(path, target="y", task="regression").y.tolist() == [1.0, 2.0, 1.0]
    with pytest.raises(TableError, match="no column 'z'; there are y, a, b"):
        read_table(path, target="z")
    with pytest.raises(TableError, match="not numeric"):
        read_table(written(tmp_path, "a,y\n1,u\n2,v\n"), task="regression")


def test_folder_is_searched_by_task(tmp_path):
    for task in ("classification", "regression"):
        (tmp_path / task).mkdir()
        small_tables.write(tmp_path / task, f"one-{task}", task)
    assert [t.task for t in find_tables(tmp_path)] == ["classification", "regression"]
    assert [t.name for t in find_tables(tmp_path, task="regression")] == ["one-regression"]
    assert [t.task for t in find_tables(tmp_path / "classification")] == ["classification"]
    with pytest.raises(TableError, match="no table nothing"):
        find_tables(tmp_path, only=["nothing"])
    with pytest.raises(TableError, match="unknown"):
        find_tables(tmp_path, task="ranking")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="No CSV file"):
        find_tables(tmp_path / "empty")


def test_checksum_follows_the_content(tmp_path):
    path = small_tables.write(tmp_path, "t", "regression")
    before = read_table(path).checksum
    assert read_table(path).checksum == before
    path.write_text(path.read_text() + "1,2,3,4.5\n")
    assert read_table(path).checksum != before


def test_thinned_tables_keep_the_rare_class_and_another_checksum():
    whole = small_tables.table("classification", n=500, rare=4)
    part = whole.head(50)
    assert np.bincount(part.y)[1] == 3
    assert 50 <= len(part.y) <= 60
    assert part.checksum != whole.checksum
    assert whole.head(500) is whole


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("seed", [0, 1])
def test_folds_never_overlap_and_are_stratified(task, seed):
    made = small_tables.table(task, n=97, rare=10)
    parts = split(made, 5, seed)
    for train, test in parts:
        assert not set(train) & set(test)
        assert len(train) + len(test) == 97
        if task == "classification":
            assert made.y[test].sum() == 2
        else:
            assert np.sum(made.y[test] > np.quantile(made.y, 0.9)) in (1, 2, 3)
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(97))


def test_folds_depend_on_the_seed_alone():
    made = small_tables.table("regression")
    first, again, other = (split(made, 3, seed)[0][1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.tolist() != other.tolist()


def test_too_few_rows_for_the_folds():
    with pytest.raises(TableError, match="fewer with --folds"):
        split(small_tables.table("classification", n=4, rare=1), 5, 0)
