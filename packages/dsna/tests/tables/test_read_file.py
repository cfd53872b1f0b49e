"""Files are read, or refused in a sentence that names file, line, column and remedy; each guess is a note."""

import io
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.tables.hostile_tables import csv
from tests.tables.odd_files import ODD_FILES

from dsna import DSNAError
from dsna.tables import ReadOptions, TableError, read_chunks, read_file, split_target


@pytest.mark.parametrize("name", ODD_FILES)
def test_an_odd_file_is_read_or_refused(tmp_path, name):
    odd = ODD_FILES[name]
    path = tmp_path / odd.name
    path.write_bytes(odd.content)
    if odd.refused is not None:
        with pytest.raises(DSNAError) as error:
            read_file(path, odd.options)
        said = str(error.value)
        assert odd.refused in said
        assert len(said) < 500
        assert isinstance(error.value, TableError) == (odd.name in said)
        return
    table = read_file(path, odd.options)
    for note in odd.notes:
        assert any(note in line for line in table.notes), table.notes
    assert all(len(line) < 400 for line in table.notes)
    if not odd.notes and not odd.options:
        assert not [line for line in table.notes if "missing" not in line]
    assert {column: table.types[column].kind for column in odd.types} == odd.types
    assert list(table.types) == table.frame.columns


@pytest.mark.parametrize("name", [name for name, odd in ODD_FILES.items() if odd.refused is None])
def test_chunks_hold_the_same_rows(tmp_path, name):
    odd = ODD_FILES[name]
    path = tmp_path / odd.name
    path.write_bytes(odd.content)
    whole = read_file(path, odd.options)
    types = {column: kind.spec for column, kind in whole.types.items()}
    chunked = replace(odd.options or ReadOptions(), types=types)
    chunks = list(read_chunks(path, chunked, rows=7))
    assert max(chunk.frame.height for chunk in chunks) <= 7
    assert sum(chunk.frame.height for chunk in chunks) == whole.frame.height
    if whole.lines is not None:
        np.testing.assert_array_equal(np.concatenate([chunk.lines for chunk in chunks]), whole.lines)
    joined = pl.concat([chunk.frame for chunk in chunks], how="vertical_relaxed")
    for column in whole.frame.columns:
        if whole.types[column].kind != "constant":
            assert joined[column].cast(whole.frame[column].dtype).to_list() == whole.frame[column].to_list()


def test_ragged_lines_are_told_when_their_chunk_is_reached(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(csv(rows={30: "1,2"}))
    chunks = read_chunks(path, rows=10)
    assert next(chunks).frame.height == 10
    with pytest.raises(TableError, match=r"t\.csv: 3 fields are expected, as in line 1, but line 32 has 2"):
        list(chunks)


def test_bytes_that_are_no_letters_are_told_in_chunks(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},{i % 7},{i % 2}\n" for i in range(60_000))
    path.write_bytes(b"a,b,y\n" + rows.encode() + "1,größe,1\n".encode("latin-1"))
    with pytest.raises(TableError, match="the byte 0xf6, which is not UTF-8"):
        list(read_chunks(path))
    assert "Windows-1252" in read_file(path).notes[0]


def test_all_problems_are_told_at_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(csv("a,a,y", {3: "1,2", 5: "1,2,3,4"}))
    with pytest.raises(TableError) as error:
        read_file(path)
    lines = str(error.value).splitlines()
    assert len(lines) == 3
    assert "the name 'a' is used for columns 1 and 2" in lines[1]
    assert "line 5 has 2, line 7 has 4" in lines[2]


def test_many_problems_are_bounded(tmp_path):
    path = tmp_path / "t.csv"
    names = [f"n{i // 2}" for i in range(100)]
    path.write_text(",".join(names) + "\n" + ",".join("1" * 100) + "\n")
    with pytest.raises(TableError, match="and 30 more problems"):
        read_file(path)


def test_types_come_from_the_whole_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "1,1,0\n" * 30_000 + "x,2.5,1\n" * 30_000)
    table = read_file(path)
    assert table.frame.height == 60_000
    assert table.types["a"].kind == "category"
    assert table.frame["b"].to_list()[-1] == 2.5
    assert table.lines[-1] == 60_001


@pytest.mark.parametrize("packed", (False, True))
def test_standard_input(monkeypatch, packed):
    class Pipe(io.RawIOBase):
        """A stream that cannot be read twice."""

        def __init__(self, content):
            self._content = io.BytesIO(content)

        def readable(self):
            return True

        def readinto(self, buffer):
            return self._content.readinto(buffer)

    content = ODD_FILES["gzip" if packed else "semicolons"].content
    for read in (lambda: read_file("-"), lambda: next(iter(read_chunks("-")))):
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BufferedReader(Pipe(content))}))
        table = read()
        assert table.name == "standard input"
        assert table.frame.height == 40


@pytest.mark.parametrize(
    "options, said", [({"skip_lines": -1}, "skip_lines=-1 must be"), ({"decimal": "_"}, "decimal='_' must be")]
)
def test_options_that_cannot_be(options, said):
    with pytest.raises(DSNAError, match=said):
        ReadOptions(**options)


@pytest.mark.parametrize("path", ("nowhere.csv", "."))
def test_files_that_are_not_there(path):
    for read in (lambda: read_file(path), lambda: list(read_chunks(path))):
        with pytest.raises(TableError, match=r"Remedy: "):
            read()


# The target ---------------------------------------------------------------------------------------------------------


def labelled(folder, text, target="y"):
    path = folder / "t.csv"
    path.write_text(text)
    return split_target(read_file(path), target)


@pytest.mark.parametrize(
    "text, target, said",
    [
        (
            "a,Outcome\n1,2\n3,4\n",
            "outcome",
            "there is no column 'outcome' to use as the target (did you mean 'Outcome'?)",
        ),
        ("a,b\n1,2\n3,4\n", "z", "there are 'a', 'b'"),
        ("a,y\n1,2\n3,2\n", "y", "the target 'y' holds one value only ('2'): is it the right column?"),
        ("a,y\n1,\n3,NA\n", "y", "the target 'y' holds no value"),
        ("a,y\n1,2020-01-01\n3,2020-01-02\n", "y", "the target 'y' holds dates"),
    ],
)
def test_targets_that_cannot_be_used(tmp_path, text, target, said):
    with pytest.raises(TableError) as error:
        labelled(tmp_path, text, target)
    assert said in str(error.value)
    assert "t.csv" in str(error.value)
    assert "?." not in str(error.value)


def test_rows_without_a_target_are_left_out_and_counted(tmp_path):
    found = labelled(tmp_path, "a,y\n1,u\n2,\n3,v\n4,NA\n5,u\n")
    assert found.y.tolist() == ["u", "v", "u"]
    assert found.rows.tolist() == [0, 2, 4]
    assert found.table.frame["a"].to_list() == [1, 3, 5]
    assert found.table.lines.tolist() == [2, 4, 6]
    assert found.table.notes[-1] == "rows without a target ('y') are left out: 2, line 3, line 5"
