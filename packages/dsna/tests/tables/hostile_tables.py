"""CSV files as people have them: each with what is said of it, or None where it works."""

from __future__ import annotations

N = 40


def csv(header="a,b,y", rows=None, between="\n", end="\n"):
    """Rows of two features and a class, some of which are changed: {row number: line}."""
    lines = [header] + [(rows or {}).get(i, f"{i},{i * i % 7}.5,{i % 2}") for i in range(N)]
    return (between.join(lines) + end).encode()


def column(values, header="a,b,y"):
    """The first feature holds these values, again and again."""
    return csv(header, {i: f"{values[i % len(values)]},{i % 7}.5,{i % 2}" for i in range(N)})


def one_cell(value):
    """The first feature holds this in line 5."""
    return csv(rows={3: f"{value},1.5,1"})


HOSTILE_TABLES = {
    # Cells
    "question mark": (one_cell("?"), "column 'a' holds numbers, but for line 5 ('?')"),
    "many question marks": (column(["?", "?", "1"]), "column 'a' holds numbers, but for line 2 ('?'), line 3 ('?')"),
    "word among numbers": (one_cell("unknown"), "but for line 5 ('unknown')"),
    "blank among numbers": (one_cell(" "), "but for line 5 (' ')"),
    "dash among numbers": (one_cell("-"), "but for line 5 ('-')"),
    "no value": (one_cell(""), "missing values in 'a', line 5: impute"),
    "NA": (one_cell("NA"), "missing values in 'a', line 5"),
    "nan": (one_cell("nan"), "missing values in 'a', line 5"),
    "null": (one_cell("null"), "missing values in 'a', line 5"),
    "#N/A": (one_cell("#N/A"), "missing values in 'a', line 5"),
    "only missing": (column([""]), "missing values in 'a', line 2, line 3, line 4 and 37 more"),
    "inf": (one_cell("inf"), "infinite values in 'a', line 5 ('inf')"),
    "-Infinity": (one_cell("-Infinity"), "infinite values in 'a', line 5 ('-inf')"),
    "1e999": (one_cell("1e999"), "infinite values in 'a', line 5"),
    "30 digits": (one_cell("123456789012345678901234567890"), "'a' holds whole numbers too long"),
    "400 digits": (one_cell("1" * 400), "infinite values in 'a', line 5"),
    "5000 digits": (one_cell("1" * 5000), "infinite values in 'a', line 5"),
    "30 digits everywhere": (
        column([f"1234567890123456789012345678{i}" for i in range(10, 30)]),
        "too long to be kept",
    ),
    "dates": (column([f"2020-01-{day:02d}" for day in range(1, 29)]), "column 'a' holds dates, such as line 2"),
    "dates with slashes": (column(["1/2/2020", "3/2/2020"]), "column 'a' holds dates"),
    "times": (column(["2020-01-05T10:00:00", "2020-01-06 11:30"]), "column 'a' holds dates"),
    "thousands": (column(['"1,234"', '"5,678.5"']), "holds numbers with commas or signs, such as line 2 ('1,234')"),
    "currency": (column(["$5", "$7.50"]), "holds numbers with commas or signs"),
    "percent": (column(["5%", "7.5%"]), "holds numbers with commas or signs"),
    "names": ("a,b,y\n{}".format("".join(f"v{i},1,{i % 2}\n" for i in range(120))).encode(), "over 100 values (120)"),
    "long cell": (one_cell("x" * 1_000_000), "a cell in line 5 has over"),
    "fairly long cell": (one_cell("x" * 1_000), "but for line 5 ('xxxxx"),
    "underscore": (one_cell("1_000"), "but for line 5 ('1_000')"),
    # Labels
    "label missing": (csv(rows={3: "1,2,"}), "missing values in 'y', line 5"),
    "label unknown": (csv(rows={3: "1,2,?"}), "the label 'y' holds numbers, but for line 5 ('?')"),
    "label infinite": (csv(rows={3: "1,2,inf"}), "infinite values in 'y'"),
    "one label": (csv(rows={i: f"{i},1,0" for i in range(N)}), "all labels are equal"),
    "label dates": (csv(rows={i: f"{i},1,2020-01-{i % 28 + 1}" for i in range(N)}), "the label 'y' holds dates"),
    "label is a name": (
        ("a,b,y\n" + "".join(f"{i},1,name{i}\n" for i in range(200))).encode(),
        "the label 'y' is text with over 100 values (200)",
    ),
    "single row of a class": (csv(rows={i: f"{i},{i % 5},{int(i == 7)}" for i in range(N)}), "has a single row"),
    "two rows": (b"a,b,y\n1,2,0\n3,4,1\n", "most common class has 1 of 2 rows, too few for 2 folds: add rows"),
    "two rows of numbers": (b"a,b,y\n1,2,0.5\n3,4,1.5\n", "2 rows are too few for 2 folds, which need at least 4"),
    # Lines
    "too many fields": (csv(rows={3: "1,2,1,9", 6: "1,2,3,4,5"}), "in line 1, but line 5 has 4, line 8 has 5"),
    "too few fields": (csv(rows={3: "1,2"}), "3 fields are expected, as in line 1, but line 5 has 2"),
    "every line too long": (csv(rows={i: f"{i},1,{i % 2}," for i in range(N)}), "line 2 has 4"),
    "quote never closes": (one_cell('"abc'), "a quote that opens in line 5 never closes"),
    "text after a quote": (one_cell('"abc"d'), "line 5 cannot be read"),
    "notes below": (csv() + b"\nmade by hand\n", "but line 43 has 1"),
    "header only": (b"a,b,y\n", "a header and no row"),
    "empty": (b"", "the file is empty"),
    "blank lines only": (b"\n\n \n"[:2], "the file is empty"),
    "only target": (b"y\n1\n0\n1\n", "there is one column only ('y')"),
    "spaces between": (b"a b y\n1 2 0\n3 4 1\n", "there is one column only ('a b y')"),
    # Header
    "semicolons": (csv().replace(b",", b";"), None),
    "semicolons and decimal commas": (
        csv().replace(b",", b";").replace(b".", b","),
        "column 'b' holds numbers with commas or signs",
    ),
    "tabs": (csv().replace(b",", b"\t"), None),
    "bars": (csv().replace(b",", b"|"), None),
    "comment": (b"# made on Monday\n" + csv(), "line 1 ('# made on Monday') is no header"),
    "comment with a comma": (b"# a, made on Monday\n" + csv(), "line 1 ('# a') is no header"),
    "title": (b"Patients\n" + csv(), "line 1 ('Patients') is no header, as line 2 has 3 fields"),
    "no header": (csv("0,0,1"), "line 1 holds data, not names"),
    "no names": (csv(",,"), "columns 1, 2 and 3 of 3 without a name"),
    "row numbers of pandas": (csv(",b,y"), "column 1 of 3 without a name in line 1"),
    "duplicate names": (csv("a,a,y"), "the name 'a' stands over columns 1 and 2"),
    # Encodings
    "Latin-1": (csv("größe,b,y").decode().encode("latin-1"), None),
    "Latin-1 below": (
        one_cell("größe").decode().encode("latin-1"),
        "but for line 5 ('größe')",
    ),
    "UTF-16": (csv().decode().encode("utf-16"), None),
    "UTF-16 without mark": (csv().decode().encode("utf-16-le"), None),
    "UTF-32": (csv().decode().encode("utf-32"), None),
    "NUL bytes": (one_cell("\0"), "line 5 holds NUL bytes"),
    "binary": (bytes(range(256)) * 20, "NUL bytes"),
    "spreadsheet": (b"PK\x03\x04\x14\x00\x06\x00" + bytes(500), "this is a ZIP archive, as spreadsheets (.xlsx) are"),
    "web page": (
        b"<!DOCTYPE html>\n<html><body>404, not found</body></html>\n",
        "line 1 ('<!DOCTYPE html>') is no header",
    ),
    # What works
    "byte order mark": (b"\xef\xbb\xbf" + csv(), None),
    "Windows lines": (csv(between="\r\n", end="\r\n"), None),
    "old Mac lines": (csv(between="\r", end="\r"), None),
    "mixed lines": (csv().replace(b"\n", b"\r\n", 7), None),
    "no end of line": (csv(end=""), None),
    "blank lines between": (csv().replace(b"\n3,", b"\n\n\n3,"), None),
    "quoted": (csv(rows={3: '"3","1.5","1"'}), None),
    "text with commas and lines": (column(['"a, b"', '"c\nd"']), None),
    "capital ending": (csv(), None),
    "true and false": (column(["True", "False"]), None),
    "kinds": (column(["main", "side", "42"]), None),
    "unknown kind": (column(["main", "side", "?"]), None),
    "names with signs": (csv("größe (cm),<b>,y"), None),
    "1e300": (one_cell("1e300"), None),
    "wide": (
        (",".join(f"c{i}" for i in range(10_000)) + ",y\n").encode()
        + "".join(",".join(str((i * j) % 11) for j in range(10_000)) + f",{i % 2}\n" for i in range(20)).encode(),
        None,
    ),
}
