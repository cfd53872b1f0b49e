"""Reading CSV files, and folds."""

import numpy as np
import pytest
from tests.tabular import small_tables

from dsna.tables import TableError
from dsna_studies.tables import NumericTable, find_tables, read_table
from dsna_studies.tabular.folds import split


def written(folder, text):
    path = folder / "t.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "the file is empty"),
        ("a,y\n", "no row below it"),
        ("1,2\n3,4\n", "header"),
        ("a,y\n1,0\n,1\n", "missing values in 'a', line 3: impute"),
        ("a,y\n1,5\n2,5\n", "holds one value only"),
        ("a,y\ninf,0\n" + "2,1\n" * 30, "missing values in 'a', line 2"),
        ("y\n1\n2\n", "one column only"),
        ("a,y\n1,2\n1,2,3,4\n", "2 fields are expected, as in line 1, but line 3 has 4"),
        ("a,y\n" + "".join(f"v{i},{i % 2}\n" for i in range(120)), "text with 120 values"),
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
    with pytest.raises(TableError, match="no column 'z' to use as the target; there are 'y', 'a', 'b'"):
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
    path.write_text(path.read_text(encoding="utf-8") + "1,2,3,4.5\n")
    assert read_table(path).checksum != before


@pytest.mark.parametrize("rare, kept", [(1, 1), (30, 30), (60, 60), (120, 100)])
def test_thinned_tables_keep_the_rare_class_and_another_checksum(rare, kept):
    whole = small_tables.table("classification", n=5000, rare=rare)
    part = whole.thinned(200)
    assert np.bincount(part.y).tolist() == [200 - kept, kept]
    assert part.n_rare == kept
    assert part.checksum != whole.checksum
    assert whole.thinned(5000) is whole


def test_thinned_tables_keep_extreme_labels():
    whole = small_tables.table("regression", n=5000)
    part = whole.thinned(1000)
    assert len(part.y) == 1000
    np.testing.assert_array_equal(np.sort(part.y)[-50:], np.sort(whole.y)[-50:])
    assert len(whole.rare) == 500
    assert np.isin(whole.y[whole.rare], part.y).all()
    few = whole.thinned(100)
    assert len(few.y) == 100
    np.testing.assert_array_equal(np.sort(few.y)[-20:], np.sort(whole.y)[-20:])
    assert np.median(few.y) < np.quantile(whole.y, 0.99)  # the others are common


def test_labels_that_are_equally_rare_keep_the_extremes():
    part = NumericTable("even", "regression", np.zeros((1000, 1)), np.arange(1000.0), "0").thinned(100)
    assert len(part.y) == 100
    assert {0.0, 999.0} <= set(part.y)


def test_common_classes_are_thinned_alike():
    y = np.repeat([0, 1, 2], [5000, 4000, 40])
    part = NumericTable("three", "classification", np.zeros((len(y), 1)), y, "0").thinned(490)
    assert np.bincount(part.y).tolist() == [250, 200, 40]


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
    with pytest.raises(TableError, match="use fewer folds with --folds"):
        split(small_tables.table("classification", n=4, rare=1), 5, 0)


def test_a_file_is_taken_for_a_folder_of_one(tmp_path):
    path = small_tables.write(tmp_path, "one", "classification")
    (table,) = find_tables(path)
    assert table.name == "one"
    np.testing.assert_array_equal(table.X, find_tables(tmp_path)[0].X)
