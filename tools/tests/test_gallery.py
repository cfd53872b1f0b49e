"""The examples of the gallery run, in a smaller size and without drawing; `make docs` runs them as they are."""

import ast
import re
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("plot_*.py"))
_SMALL = {"N_ROWS": 400, "N_TREES": 10, "N_PIXELS": 128}


def test_there_is_a_gallery():
    assert len(FILES) >= 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_example_runs(path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    code = path.read_text(encoding="utf-8")
    if path.stem == "plot_edges":
        pytest.importorskip("PIL")
    made = {"__name__": "example"}
    with matplotlib.rc_context():
        exec(compile(smaller(code), str(path), "exec"), made)
    assert plt.get_fignums(), "an example has a plot"
    plt.close("all")
    assert re.match(r'"""\n.+\n=+\n\n', code), "an example begins with a title and what it is about"


def smaller(code):
    """The same script with sizes that a test can afford: N_ROWS, N_TREES and N_PIXELS are assigned at the top."""
    tree = ast.parse(code)
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets, values = node.targets[0], node.value
            names = targets.elts if isinstance(targets, ast.Tuple) else [targets]
            numbers = values.elts if isinstance(values, ast.Tuple) else [values]
            for name, number in zip(names, numbers, strict=False):
                if isinstance(name, ast.Name) and name.id in _SMALL and isinstance(number, ast.Constant):
                    number.value = min(number.value, _SMALL[name.id])
    return ast.fix_missing_locations(tree)
