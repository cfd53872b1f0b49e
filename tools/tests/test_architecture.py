"""The house as docs/architecture.md draws it: arrows point one way, rooms stay small."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "dsna"
#: Stages in the order in which data passes them; a stage knows itself and those before it.
STAGES = (
    "_kernels", "_utils", "approximation", "forest", "neighbors", "trend", "prediction", "metrics", "tables",
    "model_selection", "inspection", "training", "base", "classification", "classifier", "regression", "uncertainty",
    "regressor", "presets", "report", "io", "distributed", "app", "serve", "vision", "studies", "cli", "__main__",
)  # fmt: skip
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
_MOST_LINES, _MOST_FILES, _MOST_PARAMETERS = 400, 12, 7


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path) for path in MODULES}


def imports_of(path: Path) -> list[tuple[str, str]]:
    """Modules of the package that a module imports, each with the name taken from it ("" for the module itself)."""
    found = []
    here = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    here = [part for part in here if part]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                module = ".".join([*base, alias.name])
                found.append((module, "") if module in NAMES else (".".join(base), alias.name))
    return [(module, name) for module, name in found if module]


def stage_of(module: str) -> str:
    return module.split(".")[0]


def test_every_module_belongs_to_a_stage():
    assert {stage_of(name) for name in NAMES if name} == set(STAGES)


def test_stages_know_only_those_before_them():
    back = [
        f"{name_of(path)} imports {module}"
        for path in MODULES
        if name_of(path)
        for module, _ in imports_of(path)
        if STAGES.index(stage_of(module)) > STAGES.index(stage_of(name_of(path)))
    ]
    assert back == []


def test_only_the_command_line_imports_studies():
    users = {
        stage_of(name_of(path)) for path in MODULES for module, _ in imports_of(path) if stage_of(module) == "studies"
    }
    assert users <= {"studies", "cli"}


def test_no_private_name_crosses_a_stage():
    crossing = [
        f"{name_of(path)} takes {name} of {module}"
        for path in MODULES
        for module, name in imports_of(path)
        if name.startswith("_") and not name.startswith("__") and stage_of(module) != stage_of(name_of(path))
    ]
    assert crossing == []


def test_there_is_no_cycle():
    graph = {name_of(path): {module for module, _ in top_level_imports(path)} for path in MODULES}
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join((*way[way.index(module) :], module))
        if module not in done:
            for other in sorted(graph.get(module, ())):
                visit(other, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def top_level_imports(path: Path) -> list[tuple[str, str]]:
    """Imports that run when the module is imported; a package's own submodules are the package's business."""
    tree = ast.parse(path.read_text("utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    shallow = ast.unparse(tree)
    name = name_of(path)
    copy = [(module, taken) for module, taken in imports_of(path) if any(taken in line for line in [shallow])]
    return [(module, taken) for module, taken in copy if module != name]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_stay_small(path):
    assert len(path.read_text("utf-8").splitlines()) <= _MOST_LINES


def test_folders_stay_small():
    sizes = {str(folder): len(list(folder.glob("*.py"))) for folder in {path.parent for path in MODULES}}
    assert {folder: size for folder, size in sizes.items() if size > _MOST_FILES} == {}


def test_functions_take_few_parameters():
    """Kernels, constructors and commands excepted."""
    many = []
    for path in MODULES:
        if stage_of(name_of(path)) in ("_kernels", "cli"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                number = len([one for one in taken if one.arg not in ("self", "cls")])
                if number > _MOST_PARAMETERS:
                    many.append(f"{name_of(path)}.{node.name}: {number}")
    assert many == []


def test_the_docs_show_the_layout():
    """Of studies only the folders are listed."""
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text("utf-8")
    listed, folders = set(), []
    for line in page.split("packages/dsna/src/dsna/\n")[1].split("```")[0].splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2 - 1, line.split()[0]
        folders = [*folders[:depth], name]
        listed.add("".join(folders))
    files = {path.relative_to(PACKAGE).as_posix() for path in MODULES if path.name != "__init__.py"}
    there = {f"{folder}/" for file in files for folder in [file.rsplit("/", 1)[0]] if "/" in file}
    there |= {"vision/", "studies/", "__init__.py", *(file for file in files if not file.startswith("studies/"))}
    assert listed - there == set(), "listed, but not there"
    assert there - listed == set(), "there, but not listed"
