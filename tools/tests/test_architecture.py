"""The house as docs/architecture.md draws it: arrows point one way, rooms stay small."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Packages in the order in which one may import another.
PACKAGES = {
    "dsna": ROOT / "packages/dsna/src/dsna",
    "dsna_vision": ROOT / "packages/dsna-vision/src/dsna_vision",
    "dsna_studies": ROOT / "studies/src/dsna_studies",
}
#: Stages of dsna in the order in which data passes them; a stage knows itself and those before it.
STAGES = (
    "_kernels", "_utils", "approximation", "forest", "neighbors", "trend", "prediction", "metrics", "tables",
    "model_selection", "inspection", "training", "base", "classification", "classifier", "regression", "uncertainty",
    "regressor", "presets", "report", "io", "distributed", "app", "serve", "cli", "extend", "__main__",
)  # fmt: skip
#: What other packages may use of dsna: the modules that the reference lists, and dsna.extend.
PUBLIC = ("distributed", "extend", "inspection", "io", "metrics", "model_selection", "presets", "report", "tables")
FILES = [path for package in PACKAGES.values() for path in sorted(package.rglob("*.py"))]
_MOST_LINES, _MOST_FILES, _MOST_PARAMETERS = 400, 12, 7
#: Names that do not say what a variable holds, and the share of all names that they may have.
VAGUE = {
    "one", "ones", "found", "at", "part", "parts", "known", "place", "places", "some", "said", "asked", "kept", "own",
    "how", "shown", "why", "given", "chosen", "drawn", "what", "few", "both", "there", "met", "told", "rest",
    "others", "most", "least", "inside", "near", "far", "held", "taken", "made", "it", "this", "that", "good", "bad",
    "best_of",
}  # fmt: skip
_MOST_VAGUE = 0.005


def name_of(path: Path) -> str:
    """Dotted name of a module, with its package."""
    package = next(folder for folder in PACKAGES.values() if folder in path.parents)
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = [path for path in FILES if PACKAGES["dsna"] in path.parents]
NAMES = {name_of(path) for path in FILES}


def imports_of(path: Path) -> list[tuple[str, str]]:
    """Modules of our packages that a module imports, each with the name taken from it ("" for the module itself)."""
    found = []
    here = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            base = here[: len(here) - node.level + 1] + module if node.level else module
            if base[0] not in PACKAGES:
                continue
            for alias in node.names:
                module = ".".join([*base, alias.name])
                found.append((module, "") if module in NAMES else (".".join(base), alias.name))
    return found


def stage_of(module: str) -> str:
    """Second part of a dotted name: the stage of a module of dsna."""
    return module.split(".")[1] if "." in module else ""


def test_every_module_belongs_to_a_stage():
    assert {stage_of(name_of(path)) for path in MODULES} == {"", *STAGES}


def test_stages_know_only_those_before_them():
    back = [
        f"{name_of(path)} imports {module}"
        for path in MODULES
        if path.parent != PACKAGES["dsna"] or path.name != "__init__.py"
        for module, _ in imports_of(path)
        if stage_of(module) and STAGES.index(stage_of(module)) > STAGES.index(stage_of(name_of(path)))
    ]
    assert back == []


def test_packages_know_only_those_before_them():
    order = list(PACKAGES)
    back = [
        f"{name_of(path)} imports {module}"
        for path in FILES
        for module, _ in imports_of(path)
        if order.index(module.split(".")[0]) > order.index(name_of(path).split(".")[0])
    ]
    assert back == []


def test_other_packages_use_what_is_public():
    """The top of a package, modules that the reference lists, and dsna.extend; studies may see all of dsna_vision."""
    inside = [
        f"{name_of(path)} takes {name} of {module}"
        for path in FILES
        for module, name in imports_of(path)
        if module.split(".")[0] == "dsna" and name_of(path).split(".")[0] != "dsna"
        if stage_of(module) not in ("", *PUBLIC) or (stage_of(module) != "extend" and module.count(".") > 1)
    ]
    assert inside == []


def test_no_private_name_crosses_a_stage():
    crossing = [
        f"{name_of(path)} takes {name} of {module}"
        for path in FILES
        for module, name in imports_of(path)
        if name.startswith("_") and not name.startswith("__")
        if name_of(path).split(".")[:2] != module.split(".")[:2]
    ]
    assert crossing == []


def test_there_is_no_cycle():
    graph = {name_of(path): {module for module, _ in top_level_imports(path)} for path in FILES}
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


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_modules_stay_small(path):
    assert len(path.read_text("utf-8").splitlines()) <= _MOST_LINES


def test_folders_stay_small():
    sizes = {str(folder): len(list(folder.glob("*.py"))) for folder in {path.parent for path in FILES}}
    assert {folder: size for folder, size in sizes.items() if size > _MOST_FILES} == {}


def test_functions_take_few_parameters():
    """Kernels, constructors and commands excepted."""
    many = []
    for path in FILES:
        if {"_kernels", "cli", "commands"} & set(name_of(path).split(".")):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                number = len([one for one in taken if one.arg not in ("self", "cls")])
                if number > _MOST_PARAMETERS:
                    many.append(f"{name_of(path)}.{node.name}: {number}")
    assert many == []


def test_names_say_what_they_hold():
    names = [
        (name_of(path), node.id if isinstance(node, ast.Name) else node.arg)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    vague = [f"{module}: {name}" for module, name in names if name.strip("_") in VAGUE]
    assert len(vague) <= _MOST_VAGUE * len(names), vague


def test_the_docs_show_the_layout():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for folder in PACKAGES.values():
        layout = page.split(f"\n{folder.relative_to(ROOT).as_posix()}/\n")[1]
        listed = {line.split()[0] for line in layout[: re.search(r"^\S", layout, re.M).start()].splitlines()}
        modules = {path.name for path in folder.glob("*.py") if path.name != "__init__.py"}
        assert listed == modules | {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
