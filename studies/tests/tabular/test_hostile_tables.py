"""Tables as people have them: the benchmark works, or says in a sentence what is wrong, where, and what to do."""

import pytest

pytest.importorskip("typer")

from tests.cli.commands import without_bugs
from tests.commands import invoke_study
from tests.tables.hostile_tables import csv
from tests.tabular.hostile_tables import HOSTILE_TABLES

BAD = {name: said for name, (_, said) in HOSTILE_TABLES.items() if said is not None}


def ask(folder, *options):
    few = ("--methods", "kNN", "--folds", "2")
    return without_bugs(invoke_study("benchmark", folder, "--out", folder.parent / "out", *few, *options))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tables").mkdir()
    return tmp_path / "tables"


@pytest.mark.parametrize("name", HOSTILE_TABLES)
def test_a_table_works_or_the_reason_is_reported(folder, name):
    content, said = HOSTILE_TABLES[name]
    path = folder / ("t.CSV" if name == "capital ending" else "t.csv")
    path.write_bytes(content)
    run = ask(folder)
    if said is None:
        assert run.exit_code == 0, run.output
        return
    assert run.exit_code == 2, run.output
    assert said in run.stderr
    assert run.stderr.startswith("python -m dsna_studies benchmark: ")
    assert path.stem in run.stderr
    assert len(run.stderr) < 700
    assert not (folder.parent / "out").exists()


def test_all_problems_of_all_files_are_reported_at_once(folder):
    readable = {name: said for name, said in BAD.items() if "folds" not in said and "single row" not in said}
    for k, name in enumerate(readable):
        (folder / f"t{k}.csv").write_bytes(HOSTILE_TABLES[name][0])
    (folder / "good.csv").write_bytes(csv())
    (folder / "folder.csv").mkdir()
    run = ask(folder)
    assert run.exit_code == 2
    for k, said in enumerate(readable.values()):
        assert f"t{k}.csv:" in run.stderr
        assert said in run.stderr
    assert "folder.csv: a folder, not a file" in run.stderr
    assert "good.csv" not in run.stderr


def test_all_problems_of_a_file_are_reported_at_once(folder):
    lines = csv("a,b,c,y", {i: f"{i},{i % 5},x{i % 3},{i % 2}" for i in range(40)}).decode().splitlines()
    lines[4], lines[6] = "?,inf,x,1", "5,,2020-01-02,"
    (folder / "t.csv").write_text("\n".join(lines))
    said = ask(folder).stderr
    for part in (
        "missing values in 'a', line 5: impute them",
        "missing values in 'b', line 5, line 7",
        "missing values in 'y', line 7",
        "'?' in column 'a': taken for missing values",
        "column 'b' holds numbers, except in line 5 ('inf')",
    ):
        assert part in said
    assert said.count("\n  - ") == 5


def test_tables_too_small_for_folds_are_reported_at_once(folder):
    for k, name in enumerate(("two rows", "two rows of numbers", "single row of a class")):
        (folder / f"t{k}.csv").write_bytes(HOSTILE_TABLES[name][0])
    run = ask(folder)
    assert run.exit_code == 2
    assert [line.split(":")[-3 if k == 0 else 0].strip() for k, line in enumerate(run.stderr.splitlines())][1:] == [
        "t1",
        "t2",
    ]
    assert "t0: its most common class" in run.stderr


@pytest.mark.parametrize("seed, code", [(-1, 2), (2**32, 2), ("x", 2), (0, 0), (2**32 - 1, 0)])
def test_seeds_are_those_that_numpy_takes(folder, seed, code):
    (folder / "t.csv").write_bytes(csv())
    run = ask(folder, "--seed", seed)
    assert run.exit_code == code, run.output
    if code:
        assert "--seed" in run.stderr


def test_largest_seeds_reach_seeded_methods(folder):
    (folder / "t.csv").write_bytes(csv())
    run = ask(folder, "--seed", 2**32 - 1, "--methods", "HistGB")
    assert run.exit_code == 0, run.output


def test_many_names_are_not_all_listed(folder):
    (folder / "t.csv").write_bytes(HOSTILE_TABLES["wide"][0])
    said = ask(folder, "--target", "z").stderr
    assert "there is no column 'z' to use as the target" in said
    assert len(said) < 400


def test_a_quick_look_keeps_rare_rows_and_says_so(folder):
    rows = "".join(f"{i % 97},{i % 31},{int(i % 66 == 0)}\n" for i in range(20_000))
    (folder / "fraud.csv").write_text("a,b,y\n" + rows)
    run = ask(folder, "--quick")
    assert run.exit_code == 0, run.output
    line = next(line for line in run.stdout.splitlines() if line.startswith("fraud"))
    assert line.split() == ["fraud", "20000", "1000", "304", "304"]
    assert "Too few" not in run.stdout


@pytest.mark.parametrize("positives, few", [(29, True), (30, False)])
def test_no_winner_on_few_rare_rows(folder, tmp_path, positives, few):
    rows = "".join(f"{i % 13},{i % 7},{'rare' if i < positives else 'common'}\n" for i in range(400))
    (folder / "t.csv").write_text("a,b,y\n" + rows)
    run = ask(folder, "--methods", "CS-RF+DSNA", "--report", tmp_path / "report")
    assert run.exit_code == 0, run.output
    page = (tmp_path / "report" / "benchmark.md").read_text()
    for text in (run.stdout, page):
        assert ("Too few rows to compare methods: 29 rows of the rarest class" in text) == few
        assert ("against each peer" in text) != few
        assert ("rank" in text.split("Rows used")[0].split("## Classification")[-1]) != few
    assert ("**0." in page or "**1." in page) != few
