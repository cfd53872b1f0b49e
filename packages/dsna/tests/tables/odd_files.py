"""Files as people have them: each with what reading it says, refused or mended, and the types that follow."""

from __future__ import annotations

import gzip
import io
from functools import partial
from typing import Any, NamedTuple

import polars as pl
import zstandard
from tests.tables.hostile_tables import column, csv, one_cell

from dsna.tables import ReadOptions


class Odd(NamedTuple):
    """A file: where ``refused`` is None it can be read, and ``notes`` are among those told."""

    content: bytes
    refused: str | None = None
    notes: tuple[str, ...] = ()
    types: dict[str, str] = {}
    name: str = "t.csv"
    options: ReadOptions | None = None


def refused(content: bytes, said: str, **more: Any) -> Odd:
    return Odd(content, said, **more)


def mended(content: bytes, *notes: str, **more: Any) -> Odd:
    return Odd(content, None, notes, **more)


def typed(content: bytes, kind: str, *notes: str, **more: Any) -> Odd:
    """A file whose first column has this type."""
    return Odd(content, None, notes, {"a": kind}, **more)


def binary(form: str, frame: pl.DataFrame | None = None) -> bytes:
    frame = frame if frame is not None else pl.DataFrame({"a": [1.5, 2.5, None], "b": ["x", "y", "x"], "y": [0, 1, 1]})
    stream = io.BytesIO()
    {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "arrow stream": frame.write_ipc_stream}[form](stream)
    return stream.getvalue()


GZIP, ZSTD = partial(gzip.compress, mtime=0), zstandard.ZstdCompressor().compress
LATIN = "größe,b,y\n" + "".join(f"Straße {i},{i},{i % 2}\n" for i in range(30))
RUSSIAN = "размер,цвет,цель\n" + "".join(f"большой,синий,{i}\n" for i in range(30))
DAYS = [f"{day:02d}" for day in range(1, 29)]

ODD_FILES = {
    # Refused: what is no table
    "empty": refused(b"", "t.csv: the file is empty: write a header with column names, and rows."),
    "blank lines": refused(b"\n\n   \n", "the file is empty"),
    "byte-order mark only": refused(b"\xef\xbb\xbf", "the file is empty"),
    "header only": refused(b"a,b,y\n", "there is a header and no row below it: add rows"),
    "one column": refused(b"y\n1\n2\n", "there is one column only ('y')"),
    "one column, spaces": refused(b"a b y\n1 2 0\n", "name the separator with --separator"),
    "duplicate names": refused(csv("a,a,y"), "the name 'a' is used for columns 1 and 2 in line 1: give each column"),
    "duplicate names thrice": refused(csv("y,y,y"), "the name 'y' is used for columns 1, 2 and 3"),
    "duplicate names but for blanks": refused(csv("a, a,y"), "the name 'a' is used for columns 1 and 2"),
    "too many fields": refused(
        csv(rows={3: "1,2,1,9", 6: "1,2,3,4,5"}), "as in line 1, but line 5 has 4, line 8 has 5"
    ),
    "too few fields": refused(csv(rows={3: "1,2"}), "3 fields are expected, as in line 1, but line 5 has 2"),
    "many ragged lines": refused(csv(rows=dict.fromkeys(range(9), "1,2")), "line 4 has 2 and 6 more: fill in"),
    "trailing separator": refused(csv(rows={i: f"{i},1,{i % 2}," for i in range(40)}), "line 2 has 4"),
    "notes below": refused(csv() + b"\nmade by hand\n", "but line 43 has 1"),
    "title": refused(b"Patients\n" + csv(), "line 1 ('Patients') is not a header, as line 2 has 3 fields: remove"),
    "comment": refused(b"# a, made on Monday\n" + csv(), "line 1 ('# a') is not a header"),
    "title over all columns": refused(
        b"Patients,,\n" + csv(), "line 2 looks like the names ('a', 'b', 'y'): leave out"
    ),
    "titles and an empty line": refused(b"Patients,,\nWard 3,,\n,,\n" + csv(), "with skip_lines=3, or say that"),
    "title above row numbers": refused(b"Patients,,\n" + csv(",b,y"), "line 2 looks like the names ('b', 'y')"),
    "title of two cells": refused(b"Patients, Ward 3\n" + csv(), "(line 2 looks like these), or leave them out with"),
    "too few lines": refused(csv(), "there are fewer than 99 lines", options=ReadOptions(skip_lines=99)),
    "lines of Parquet": refused(
        binary("parquet"), "has no lines above its columns", name="t.parquet", options=ReadOptions(skip_lines=1)
    ),
    "thousands or decimals": refused(
        column(["1.234", "5"]).replace(b".5", b"").replace(b",", b";"), "column 'a' can be read in two ways: '1.234'"
    ),
    "unknown sign in a type": refused(
        csv(), "'number:dot' of column 'a'", options=ReadOptions(types={"a": "number:dot"})
    ),
    "no header": refused(csv("0,0,1"), "line 1 holds data, not names ('0', '0', '1'): write a header"),
    "no header, remedy": refused(csv("0,0,1"), "that there is none with header=False"),
    "no header, dates": refused(b"2020-01-01,3\n2020-01-02,4\n", "line 1 holds data"),
    "open quote": refused(one_cell('"abc'), "a quote that opens in line 5 never closes: close or remove it"),
    "text after a quote": refused(one_cell('"abc"d'), "line 5 cannot be read"),
    "huge cell": refused(one_cell("x" * 200_000), "a cell in line 5 has over 131072 characters"),
    "web page": refused(b"<!DOCTYPE html>\n<html><body>404, not found</body></html>\n", "is not a header"),
    # Refused: what is no text
    "NUL": refused(one_cell("\0"), "line 5 holds NUL bytes, so this is not a text file"),
    "binary": refused(bytes(range(1, 256)) * 20 + b"\0", "line 21 holds NUL bytes"),
    "Cyrillic": refused(
        RUSSIAN.encode("cp1251"), "which is not UTF-8, and the encoding cannot be guessed: save it as UTF-8"
    ),
    "Cyrillic remedy": refused(RUSSIAN.encode("cp1251"), "(--encoding)"),
    "wrong encoding named": refused(
        LATIN.encode("latin-1"), "line 1 holds the byte 0xf6, which is not UTF-8", options=ReadOptions(encoding="utf-8")
    ),
    "unknown encoding named": refused(csv(), "encoding='klingon' is unknown", options=ReadOptions(encoding="klingon")),
    "spreadsheet": refused(b"PK\x03\x04\x14\x00", "a ZIP archive, as spreadsheets (.xlsx) are: save it as CSV"),
    "old spreadsheet": refused(b"\xd0\xcf\x11\xe0\xa1", "an old spreadsheet (.xls): save it as CSV"),
    "bzip2": refused(b"BZh91AY", "packed with bzip2: unpack it"),
    "xz": refused(b"\xfd7zXZ\x00\x00", "packed with xz: unpack it"),
    "PDF": refused(b"%PDF-1.7", "this is a PDF"),
    "database": refused(b"SQLite format 3\0", "an SQLite database"),
    "pickle": refused(b"\x80\x04\x95\x10", "a Python pickle, which is never opened"),
    "numpy": refused(b"\x93NUMPY\x01", "a numpy array"),
    # Refused: packed and binary files that are cut off or damaged
    "gzip cut off": refused(GZIP(csv())[:-20], "the gzip file ends too early: it was cut off", name="t.csv.gz"),
    "gzip damaged": refused(GZIP(csv())[:-8] + bytes(8), "the gzip file is damaged", name="t.csv.gz"),
    "zstd cut off": refused(ZSTD(csv())[:-20], "the zstd file ends too early", name="t.csv.zst"),
    "zstd damaged": refused(ZSTD(csv())[:8] + bytes(40), "the zstd file is damaged", name="t.csv.zst"),
    "gzip of nothing": refused(GZIP(b""), "the file is empty", name="t.csv.gz"),
    "not packed": refused(csv(), "this file is not compressed, as its ending says", name="t.csv.gz"),
    "Parquet cut off": refused(binary("parquet")[:-30], "the parquet file is damaged or truncated", name="t.parquet"),
    "Arrow cut off": refused(binary("arrow")[:-60], "the arrow file is damaged or truncated", name="t.arrow"),
    "Parquet, one column": refused(
        binary("parquet", pl.DataFrame({"a": [1]})), "there is one column only", name="t.pq"
    ),
    "Parquet, no row": refused(
        binary("parquet", pl.DataFrame({"a": [], "b": []})), "there are columns and no rows", name="t.parquet"
    ),
    # Refused: what the user says
    "unknown type": refused(
        csv(), "The type 'colour' of column 'a' is unknown", options=ReadOptions(types={"a": "colour"})
    ),
    "type of no column": refused(csv(), "types names 'z', which is not", options=ReadOptions(types={"z": "number"})),
    "long separator": refused(csv(), "separator='::' must be one character", options=ReadOptions(separator="::")),
    # Mended, with a note
    "no header, said": mended(
        csv("0,0,1"), "there is no header: columns are called", options=ReadOptions(header=False)
    ),
    "semicolons": mended(csv().replace(b",", b";"), "cells are separated by semicolons (separator=';')"),
    "tabs": mended(csv().replace(b",", b"\t"), "cells are separated by tabs"),
    "tabs, by name": mended(b"a\tb,c\ty\n1\t2\t0\n3\t4\t1\n", "separated by tabs", name="t.tsv"),
    "bars": mended(csv().replace(b",", b"|"), "cells are separated by bars"),
    "title left out": typed(b'Pa"tients\n' + csv(), "number", "line 1 is left out", options=ReadOptions(skip_lines=1)),
    "title taken for names": mended(b"Patients,,\n" + csv(), "2 and 3 without", options=ReadOptions(skip_lines=0)),
    "sep line below a title": typed(
        b"Patients\nsep=;\n" + csv().replace(b",", b";"), "number", "line 2 names", options=ReadOptions(skip_lines=1)
    ),
    "sep line": mended(b"sep=;\n" + csv().replace(b",", b";"), "line 1 names the separator, ';'"),
    "decimal comma": typed(
        column(["1;5", "2;5"]).replace(b",", b"|").replace(b";", b",").replace(b"|", b";"),
        "number",
        "numbers have a decimal comma in column 'a' (decimal=',')",
    ),
    "Latin-1": mended(LATIN.encode("latin-1"), "read as Windows-1252, the encoding of Western Europe"),
    "Latin-1 told": mended(LATIN.encode("latin-1"), options=ReadOptions(encoding="latin-1")),
    "Cyrillic told": mended(RUSSIAN.encode("cp1251"), options=ReadOptions(encoding="cp1251")),
    "UTF-8 mark": mended(b"\xef\xbb\xbf" + csv(), "begins with a byte-order mark: UTF-8", types={"a": "number"}),
    "UTF-16": mended(csv().decode().encode("utf-16"), "byte-order mark: UTF-16", types={"a": "number"}),
    "UTF-16 without mark": mended(
        csv().decode().encode("utf-16-le"), "every second byte is zero", types={"a": "number"}
    ),
    "UTF-32": mended(csv().decode().encode("utf-32"), "byte-order mark: UTF-32", types={"a": "number"}),
    "row numbers of pandas": mended(csv(",b,y"), "column 1 without a name in line 1: called 'column 1'"),
    "all missing": typed(column([""]), "constant", "column 'a' holds no value"),
    "all NA": typed(column(["NA", "?"]), "constant", "'?', 'NA' in column 'a': taken for missing values"),
    "question mark": typed(one_cell("?"), "number", "'?' in column 'a': taken for missing values"),
    "NA": typed(one_cell("N/A"), "number", "'N/A' in column 'a'"),
    "word among numbers": typed(
        one_cell("unknown"),
        "number",
        "column 'a' holds numbers, except in line 5 ('unknown'): taken for missing values",
    ),
    "infinite": typed(one_cell("inf"), "number", "except in line 5 ('inf')"),
    "1e999": typed(one_cell("1e999"), "number", "except in line 5 ('1e999')"),
    "word among dates": typed(column([*(f"2020-01-{d}" for d in DAYS), "soon"]), "date", "except in line 30 ('soon')"),
    "ambiguous dates": typed(column(["1.2.2020", "3.4.2021"]), "date", "are read day first (the other way: types={'a'"),
    "months first": typed(column(["1/2/2020", "3/4/2021"]), "date", "are read month first"),
    "codes": typed(column(["0012", "0345"]), "category", "which begin with 0 or are too long to be kept"),
    "30 digits": typed(column([f"1234567890123456789012345678{d}" for d in DAYS]), "category", "too long to be kept"),
    # Fine as they are
    "gzip": typed(GZIP(csv()), "number", name="t.csv.gz"),
    "gzip in two parts": typed(GZIP(csv()[:50]) + GZIP(csv()[50:]), "number", name="t.csv.gz"),
    "zstd": typed(ZSTD(csv()), "number", name="t.csv.zst"),
    "zstd in two parts": typed(ZSTD(csv()[:50]) + ZSTD(csv()[50:]), "number", name="t.csv.zst"),
    "gzip without its ending": typed(GZIP(csv()), "number"),
    "Parquet": typed(binary("parquet"), "number", name="t.parquet"),
    "Parquet, packed": typed(ZSTD(binary("parquet")), "number", name="t.parquet.zst"),
    "Arrow": typed(binary("arrow"), "number", name="t.arrow"),
    "Feather": typed(binary("arrow"), "number", name="t.feather"),
    "Arrow stream": typed(binary("arrow stream"), "number", name="t.arrows"),
    "Windows lines": typed(csv(between="\r\n", end="\r\n"), "number"),
    "old Mac lines": typed(csv(between="\r", end="\r"), "number"),
    "no end of line": typed(csv(end=""), "number"),
    "blank lines between": typed(csv().replace(b"\n3,", b"\n\n  \n3,"), "number"),
    "quoted": typed(csv(rows={3: '"3","1.5","1"'}), "number"),
    "lines in cells": typed(column(['"a, b"', '"c\nd"']), "category"),
    "thousands": typed(column(['"1,234"', '"5,678.5"']), "number"),
    "currency": typed(column(["$5", "$7.50"]), "number"),
    "percent": typed(column(["5%", "7.5 %"]), "number"),
    "true and false": typed(column(["True", "FALSE"]), "boolean"),
    "yes and no": typed(column(["yes", "No"]), "boolean"),
    "dates": typed(column([f"2020-01-{d}" for d in DAYS]), "date"),
    "dates with points": typed(column([f"{d}.01.2020" for d in DAYS]), "date"),
    "times": typed(column(["2020-01-05T10:00:00Z", "2020-01-06 11:30"]), "date"),
    "sizes": typed(column(["S", "M", "L"]), "ordered"),
    "names": typed(column([f"n{i}" for i in range(40)]), "identifier"),
    "sentences": typed(column([f"this is the long story number {i}" for i in range(40)]), "text"),
    "constant": typed(column(["same"]), "constant"),
    "kinds": typed(column(["main", "side", "42"]), "category"),
    "number told to be a category": typed(csv(), "category", options=ReadOptions(types={"a": "category"})),
    "emoji and signs": mended(csv("größe (cm),<script>alert(1)</script>,🎈").replace(b"1.5", "שלום".encode())),
    "10 kB name": mended(csv("a" * 10_000 + ",b,y")),
    "10 kB cell": mended(one_cell("x" * 10_000), "except in line 5 ('xxxxx"),
}
