"""CSV files as people have them."""

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
