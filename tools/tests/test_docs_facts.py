"""What the docs say in passing: options, parameters, names, files, defaults and versions are those of the code."""

import ast
import inspect
import re
import tomllib
from importlib import import_module

import pytest
import typer

import dsna
from dsna.cli.app import app
from dsna.forest.learned_metric import MAX_DIRECTIONS
from dsna.io.model_file import _OLDEST, FORMAT_VERSION
from dsna.prediction.rule import _MAX_ERROR_RATIOS
from dsna_studies.cli.app import app as studies

from .test_docs import PAGES, ROOT

#: Parameters of scikit-learn, numpy, numba and boosting libraries.
_OF_OTHERS = {"cv", "eval_set", "mmap_mode", "parallel", "scoring", "stratify", "warm_start"}
_FOLDERS = ("packages", "studies", "docs", "tools", "benchmarks", "examples")
_PROJECTS = [
    tomllib.loads(path.read_text("utf-8"))["project"]
    for path in (*ROOT.glob("packages/*/pyproject.toml"), ROOT / "studies/pyproject.toml")
]
_UNTRACKED = {"docs/_build", "docs/_build/html"}

pages = pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.relative_to(ROOT).as_posix()
)


def code_in_prose(text):
    """What stands between backticks outside of blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def options_of(command):
    found = {name for param in command.params for name in [*param.opts, *param.secondary_opts]}
    return found.union(*(options_of(one) for one in getattr(command, "commands", {}).values()))


@pytest.fixture(scope="module")
def options():
    """Options of all commands, and of the scripts of a clone."""
    scripts = [path for folder in ("benchmarks", "tools") for path in (ROOT / folder).glob("*.py")]
    told = [re.findall(r'"(--[a-z][\w-]*)"', path.read_text(encoding="utf-8")) for path in scripts]
    commands = (typer.main.get_command(program) for program in (app, studies))
    return {"--help", "--version"}.union(*map(options_of, commands), *told)


@pytest.fixture(scope="module")
def parameters():
    """Parameters of all functions, and fields of all classes."""
    found = set(_OF_OTHERS)
    for path in (*ROOT.glob("packages/*/src/**/*.py"), *ROOT.glob("studies/src/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return found


def wrong_options(text, options):
    return [one for code in code_in_prose(text) for one in re.findall(r"(?<![\w-])--[a-z][\w-]*", code)
            if one not in options]  # fmt: skip


def wrong_parameters(text, parameters):
    return [one for code in code_in_prose(text) for one in re.findall(r"(?<![\w.-])([a-z_]\w*)=(?!=)", code)
            if one not in parameters]  # fmt: skip


def wrong_names(text):
    """Dotted names of this package that cannot be imported."""
    names = [re.match(r"(dsna(?:_vision|_studies)?(?:\.\w+)+)(?:\(.*\))?$", code) for code in code_in_prose(text)]
    groups = {group for project in _PROJECTS for group in project.get("entry-points", {})}
    return [
        found[1] for found in names
        if found and not found[1].endswith(".dsna") and found[1] not in groups and not importable(found[1])
    ]  # fmt: skip


def importable(name):
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            value = getattr(value, part, None)
        return value is not None
    return False


def wrong_files(text):
    """Files and folders of the repository that are not there; ``*`` stands for anything."""
    paths = re.findall(rf"`((?:{'|'.join(_FOLDERS)})/[\w./*-]+)", text)
    paths += re.findall(r"`(?:python )?((?:[\w-]+/)*\w+\.py)\b", text)
    return [
        path for path in paths
        if path.rstrip("/") not in _UNTRACKED
        and not any(ROOT.glob(path.rstrip("/")))
        and not any(found for folder in _FOLDERS for found in (ROOT / folder).rglob(path.rstrip("/")))
    ]  # fmt: skip


@pages
def test_what_stands_in_backticks_is_there(page, options, parameters):
    text = page.read_text(encoding="utf-8")
    assert wrong_options(text, options) == []
    assert wrong_parameters(text, parameters) == []
    assert wrong_names(text) == []
    assert wrong_files(text) == []


def test_mistakes_in_backticks_are_found(options, parameters):
    assert wrong_options("`dsna train x.csv --targets y`, `--keep-labels-of`", options) == [
        "--targets", "--keep-labels-of"
    ]  # fmt: skip
    assert wrong_parameters('`DSNAClassifier(balanced=1.0)`, `number_of_jobs=-1`', parameters) == [
        "balanced", "number_of_jobs"
    ]  # fmt: skip
    assert wrong_names("`dsna.metrics.g_means`, `dsna.savings.of(model)`") == [
        "dsna.metrics.g_means",
        "dsna.savings.of",
    ]
    assert wrong_files("`docs/guide.md`, `python tools/results.py`, `packages/gone/`, `_kernels/none.py`") == [
        "docs/guide.md", "packages/gone/", "tools/results.py", "_kernels/none.py"
    ]  # fmt: skip


def shown(value):
    """How the docs may write a default."""
    if isinstance(value, str):
        return {f'"{value}"'}
    if isinstance(value, float):
        return {str(value), f"{value:g}", f"{value:g}".removeprefix("0"), f"{value:.0e}".replace("e-0", "e-")}
    return {str(value)}


ESTIMATORS = ("DSNAClassifier", "DSNARegressor", "CostSensitiveForestClassifier", "CostSensitiveForestRegressor")


def test_the_table_of_parameters_states_all_defaults():
    page = (ROOT / "docs" / "reference" / "parameters.md").read_text(encoding="utf-8")
    sections = re.split(r"^\| \*\*of ", page, flags=re.M)[1:]
    owners = (ESTIMATORS[:2], ESTIMATORS[2:], ("Approximation",))
    elsewhere = {"forest", "approximation", "n_jobs", "random_state", "verbose", "scaling", "balance", "oob_score"}
    for section, names in zip(sections, owners, strict=True):
        rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
        cells = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
        for owner in names:
            parameters = inspect.signature(getattr(dsna, owner).__init__).parameters
            for name, parameter in list(parameters.items())[1:]:
                if name in cells:
                    told = {word.strip(":,") for word in cells[name].split()}
                    assert shown(parameter.default) & told, (owner, name, parameter.default, cells[name])
                else:
                    assert name in elsewhere | {"target_density"}, (owner, name)


def test_lowest_versions_have_the_numbers_of_pyproject():
    wanted = [one for project in _PROJECTS for one in project["dependencies"]]
    wanted += [
        one for project in _PROJECTS for some in project.get("optional-dependencies", {}).values() for one in some
    ]
    lowest = {
        found[1]: found[2] for found in (re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", one) for one in wanted) if found
    }
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").split("## Core")[0]
    told = re.findall(r"(?:^\| |, )([a-z][\w-]*) (\d[\d.]*)", page, flags=re.M)
    assert len(told) >= 14
    assert [(name, version, lowest[name]) for name, version in told if lowest[name] != version] == []


MORE_ERROR = (100 * (_MAX_ERROR_RATIOS - 1)).tolist()  # absolute, squared: percent that the balance may cost


@pytest.mark.parametrize(
    "page, pattern, values",
    [
        ("CHANGELOG.md", r"Format (\d+) of model files; files of format (\d+) are", [FORMAT_VERSION, _OLDEST]),
        ("docs/decisions/0016-no-pickle.md", r"format (\d+) .* format (\d+), the present", [_OLDEST, FORMAT_VERSION]),
        ("docs/decisions/0007-trimmed-mean.md", r"(\d+) % of the absolute and (\d+) % of the root", MORE_ERROR),
        ("CHANGELOG.md", r"squared error by (\d+) % and the mean absolute error by (\d+) %", MORE_ERROR[::-1]),
        ("CHANGELOG.md", r"at most (\d+) directions", [MAX_DIRECTIONS]),
        ("docs/understand/method.md", r"the (\d+) longest directions", [MAX_DIRECTIONS]),
    ],
)
def test_numbers_in_prose_are_those_of_the_code(page, pattern, values):
    found = re.search(pattern, (ROOT / page).read_text(encoding="utf-8"))
    assert [float(number) for number in found.groups()] == pytest.approx(values)


def test_the_score_of_the_shipped_detector_is_that_of_its_card():
    card = (ROOT / "docs" / "edges_model.md").read_text(encoding="utf-8")
    change = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"ODS (\.\d+)", card)[1] == re.search(r"its lines \(ODS (\.\d+)", change)[1]


def test_the_page_on_when_not_to_use_it_has_the_figures_of_the_benchmark():
    page = (ROOT / "docs" / "understand" / "when_not.md").read_text(encoding="utf-8")
    tables = (ROOT / "docs" / "benchmark" / "benchmark.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:poker|car)-\w+)`", page):
        ours = re.search(rf"^\| {re.escape(name)} \| 0(\.\d+) \|", tables, flags=re.M)[1]
        assert ours in page


def test_no_two_changes_say_the_same():
    lines = re.findall(r"^- (.+(?:\n  .+)*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)
    ends = [" ".join(line.split())[-80:] for line in lines]
    assert len(set(ends)) == len(ends) > 60
