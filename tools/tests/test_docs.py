"""Docs that cannot rot: Python blocks run, commands exist, links lead somewhere, tables of results are fresh."""

import ast
import csv
import re
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import NearestNeighbors

import dsna
import dsna_vision
from dsna_studies.tabular.methods import METHODS
from tools import results_blocks, site_check

ROOT = Path(__file__).resolve().parents[2]
_MADE = ("_build", "gallery", "api", "commands.md")  # by `make docs`
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not set(_MADE) & set(page.parts)),
]
FORESTS = ["CostSensitiveForestClassifier", "CostSensitiveForestRegressor"]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def blocks():
    for page in PAGES:
        for number, code in enumerate(
            re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        ):
            yield pytest.param(code, id=f"{page.relative_to(ROOT).as_posix()}-{number}")


@pytest.mark.parametrize("code", list(blocks()))
def test_block_runs(code, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    exec(compile(code, "block", "exec"), {"__name__": "block"})  # a block that fails raises


def shape_of(text):
    """A printed text without its numbers, and the spaces and lines that their widths make."""
    return " ".join(re.sub(r"-{3,}", "---", re.sub(r"[+-]?\d[\d.]*", "#", text)).split())


PRINTED = re.compile(
    r"```python\n((?:(?!```).)*?)```(?:(?!```).)*?<!-- printed by the block above -->\n```text\n(.*?)```", re.S
)


@pytest.mark.parametrize("page", [page for page in PAGES if "<!-- printed by" in page.read_text(encoding="utf-8")])
def test_what_a_block_is_said_to_print_is_what_it_prints(page, capsys):
    """But for the numbers, whose last digits differ between machines."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = PRINTED.findall(page.read_text(encoding="utf-8"))
    assert len(found) == page.read_text(encoding="utf-8").count("<!-- printed by")
    for code, shown in found:
        exec(compile(code, "block", "exec"), {"__name__": "block"})
        assert shape_of(capsys.readouterr().out) == shape_of(shown)


def test_what_is_shown_as_printed_is_compared():
    """On the first page by the test of its commands; in the others it is a drawing, or needs a cluster."""
    others = {"docs/architecture.md", "docs/large_tables_distributed.md", "docs/start/table.md"}
    texts = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
    shown = {name for name, text in texts.items() if text.count("```text\n") > text.count("<!-- printed by")}
    assert shown == others


@each_page
def test_no_python_stands_outside_python_blocks(page):
    """Indented blocks, and fenced ones of other languages, would never run; directives in braces are the site's."""
    text = page.read_text(encoding="utf-8")
    languages = {
        one
        for one in re.findall(r"^```(\S*).*?^```", text, flags=re.DOTALL | re.MULTILINE)
        if not re.fullmatch(r"\{[\w-]+\}", one)
    }
    assert languages <= {"python", "sh", "text", "diff"}
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^\s+(?:from \S+ )?import .*", prose, flags=re.MULTILINE) == []


def test_constructors_in_the_table_of_what_one_can_do_work():
    known = {name: getattr(dsna, name) for name in dsna.__all__}
    known |= {kind.__name__: kind for kind in (RandomForestClassifier, NearestNeighbors)}
    page = (ROOT / "docs" / "start" / "python.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    tried = 0
    for code in re.findall(r"`([^`]+\))`", "\n".join(rows)):
        names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        if names <= known.keys():
            made = eval(code, dict(known))
            made._validate_params()
            tried += 1
    assert tried >= 12


@pytest.mark.parametrize("page", results_blocks.PAGES, ids=lambda page: page.name)
def test_tables_of_results_are_fresh(page):
    """`python tools/results_blocks.py` writes them."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"(<!-- results: .+? -->\n)(.*?)<!-- end of results -->", text, flags=re.DOTALL)
    assert len(blocks) == text.count("<!-- results: ") > 0
    for start, content in blocks:
        assert results_blocks.fresh(text.replace(start + content, f"{start}| stale |\n")) == text, start
    assert results_blocks.fresh(text) == text


@pytest.mark.parametrize("page", results_blocks.BENCHMARK_PAGES, ids=lambda page: page.name)
def test_tables_are_counted(page):
    text = page.read_text(encoding="utf-8")
    said = re.search(r"Means over (\d+) imbalanced classification (?:tables )?and (\d+)", text)
    rows = [results_blocks.rows_of(f"{task}_tables") for task in ("classification", "regression")]
    assert [int(number) for number in said.groups()] == [len({row["dataset"] for row in some}) for some in rows]


@pytest.mark.parametrize("task", list(METHODS))
def test_results_are_under_the_names_that_the_benchmark_prints(task):
    assert [name for name in results_blocks.METHODS[task] if name not in METHODS[task]] == []


@pytest.mark.parametrize("folder", ["benchmark", "ablation"])
@pytest.mark.parametrize("task", list(METHODS))
def test_the_page_of_the_benchmark_holds_the_figures_of_its_files(task, folder):
    """Both are written by `python -m dsna_studies benchmark DIR --report docs/benchmark`, or with `--ablation`."""
    folder = ROOT / "docs" / folder
    section = (folder / "benchmark.md").read_text(encoding="utf-8").split(f"\n## {task.capitalize()}\n")[1]
    table = section.split("Means over")[1].split("\n\n")[1].splitlines()
    shown = {
        cells[0].strip("*"): [cell.strip("*") for cell in cells[1:]]
        for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in table[2:])
    }
    with open(folder / f"benchmark_{task}.csv", encoding="utf-8", newline="") as file:
        rows = {row.pop("method"): list(row.values()) for row in csv.DictReader(file)}
    assert shown.keys() == rows.keys()
    for name, values in rows.items():
        for cell, value in zip(shown[name], values, strict=True):
            assert (cell == "") == (value == "")
            assert cell == "" or abs(float(cell) - float(value)) <= 0.00051, (name, cell, value)


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


def anchors_of(page):
    """Anchors that GitHub and the site give to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@each_page
def test_links_lead_somewhere(page):
    text = re.sub(r"^```\w+\n.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            path = page.parent / name if name else page
            assert path.exists(), target
            assert not anchor or path.suffix != ".md" or anchor in anchors_of(path), target


def test_every_page_is_in_the_site():
    """A page that no list names would be found by search alone; Sphinx warns of it, and warnings are errors."""
    listed = set()
    for page in PAGES:
        for lines in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M):
            for line in lines.splitlines():
                name = line.split("<")[-1].strip("> ")
                if name and not name.startswith(":"):
                    listed |= (
                        {path.resolve() for path in page.parent.glob(f"{name}.md")}
                        if "*" in name
                        else {(page.parent / f"{name}.md").resolve()}
                    )
    inside = {page.resolve() for page in PAGES if page.parent != ROOT}
    assert inside - listed == {ROOT.resolve() / "docs" / name for name in ("index.md", "benchmark/notes.md")}


@pytest.mark.parametrize(
    "module",
    ["", "presets", "inspection", "metrics", "model_selection", "tables", "report", "distributed", "dsna_vision.edges",
     "dsna_vision.features", "dsna_vision.datasets"],
)  # fmt: skip
def test_the_reference_lists_every_public_name(module):
    page = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    name = module if module.startswith("dsna_") else f"dsna.{module}".rstrip(".")
    section = page.split(f".. currentmodule:: {name}\n")[1].split("```")[0]
    public = import_module(name)
    names = getattr(public, "__all__", None) or [
        one for one, value in vars(public).items() if getattr(value, "__module__", "") == name and one[0] != "_"
    ]
    shared = {"presets"} if not module else set()
    assert set(names) - shared == set(re.findall(r"^   (\w+)$", section, flags=re.MULTILINE))


@pytest.mark.parametrize("estimator", ["DSNAClassifier", "DSNARegressor", *FORESTS])
def test_scores_are_described_one_by_one(estimator):
    entries = re.findall(r"^ *((?:\w+_, )*\w+_) : ", getattr(dsna, estimator).__doc__, flags=re.M)
    scores = [entry for entry in entries if re.search("score|accuracy", entry)]
    assert "oob_score_" in scores
    assert [entry for entry in scores if "," in entry] == []


def site_of(folder, text):
    """A site of one page, which documents the attribute ``Table.shape`` after a text."""
    page = f'{text}<dl class="py property"><dt class="sig" id="Table.shape">shape</dt><dd></dd></dl>'
    (folder / "index.html").write_text(page, encoding="utf-8")
    return folder


ENTRY = "<li><p><strong>{name}</strong> ({type}): {text}</p></li>"
TYPE = 'array of <a href="{target}"><em>shape</em></a>'


@pytest.mark.parametrize(
    "entries, wrong",
    [
        ([("a_", "float", "Accuracy."), ("b_", "float", "Accuracy.")], "say the same: (float): Accuracy."),
        ([("X", TYPE.format(target="#Table.shape"), "Rows.")], "links to the attribute Table.shape"),
        ([("X", TYPE.format(target="index.html#Table.shape"), "Rows.")], "links to the attribute Table.shape"),
        ([("X", TYPE.format(target="#Table.size"), "Rows.")], "which has no such place"),
        ([("X", TYPE.format(target="table.html"), "Rows.")], "which is not there"),
        ([("X", "array", '<img src="rows.png">')], "without alt text"),
        ([("X", "array", '<img src="http://example.org/rows.png" alt="Rows">')], "asks the network"),
        (
            [("X", "array", "Rows."), ("y", "array", "Targets, see <a href='#Table.shape'><code>shape</code></a>.")],
            None,
        ),
        ([("a</strong>, <strong>b", "float", "Low and high."), ("c", "float", "Middle.")], None),
    ],
)
def test_the_check_of_the_site_finds(entries, wrong, tmp_path):
    items = "".join(ENTRY.format(name=name, type=kind, text=text) for name, kind, text in entries)
    site = site_of(tmp_path, f'<dl class="field-list simple"><dt>Parameters</dt><dd><ul>{items}</ul></dd></dl>')
    found = site_check.problems(site)
    assert len(found) == (wrong is not None), found
    assert wrong is None or wrong in found[0]


def test_the_version_is_stated_once():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", citation, flags=re.MULTILINE)[1] == dsna.__version__
    assert dsna_vision.__version__ == dsna.__version__
    for package in ("dsna", "dsna-vision"):
        assert 'dynamic = ["version"]' in (ROOT / "packages" / package / "pyproject.toml").read_text(encoding="utf-8")
