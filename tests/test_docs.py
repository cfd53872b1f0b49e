"""Every Python block of the README and the docs runs as printed."""

import ast
import re
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import NearestNeighbors

import dsna
from dsna.studies.tabular.methods import METHODS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks():
    for page in PAGES:
        for number, code in enumerate(
            re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        ):
            yield pytest.param(code, id=f"{page.name}-{number}")


@pytest.mark.parametrize("code", list(blocks()))
def test_block_runs(code, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    exec(compile(code, "block", "exec"), {"__name__": "block"})  # a block that fails raises


@each_page
def test_no_python_stands_outside_python_blocks(page):
    """Indented blocks, and fenced ones of other languages, would never run."""
    text = page.read_text(encoding="utf-8")
    languages = set(re.findall(r"^```(\w*)\n.*?^```", text, flags=re.DOTALL | re.MULTILINE))
    assert languages <= {"python", "sh", "text", "diff"}
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^\s+(?:from \S+ )?import .*", prose, flags=re.MULTILINE) == []


def test_constructors_in_the_table_of_the_readme_work():
    known = {name: getattr(dsna, name) for name in dsna.__all__}
    known |= {kind.__name__: kind for kind in (RandomForestClassifier, NearestNeighbors)}
    rows = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    tried = 0
    for code in re.findall(r"`([^`]+\))`", "\n".join(rows)):
        names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        if names <= known.keys():
            made = eval(code, dict(known))
            made._validate_params()
            tried += 1
    assert tried >= 12


@pytest.mark.parametrize("task", list(METHODS))
def test_results_in_the_readme_are_under_the_names_that_the_benchmark_prints(task):
    table = (ROOT / "README.md").read_text(encoding="utf-8").split(f"\n| {task}")[1].split("\n\n")[0]
    names = [line.strip("| ").split(" |")[0].split(":")[0].strip("*") for line in table.splitlines()[2:]]
    assert len(names) >= 9
    assert [name for name in names if name not in METHODS[task]] == []


def test_examples_of_changes_fit_the_code():
    """Lines that a diff in the docs keeps or removes stand in the file that it names."""
    diffs = re.findall(
        r"^```diff\n(.*?)^```", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), re.S | re.M
    )
    assert len(diffs) >= 9
    lines: list[str] = []
    for line in "".join(diffs).splitlines():
        if line.startswith("--- "):
            lines = (ROOT / line.removeprefix("--- ")).read_text(encoding="utf-8").splitlines()
        elif not line.startswith("+"):
            assert line[1:] in lines, line


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
