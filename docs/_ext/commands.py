"""Writes reference/commands.md from the commands themselves: every option, with the help that the terminal shows."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from dsna.cli.app import app as program

_HEAD = """# Commands

`dsna COMMAND --help` shows the same on a terminal. Commands on tables need `pip install 'dsna[app]'`,
`serve` needs `dsna[serve]`, and `edges` needs `dsna-vision`.
"""


def commands(group: Any, name: str = "dsna") -> Iterator[tuple[str, Any]]:
    """Every command below a group, with its full name."""
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


def _section(name: str, command: Any) -> str:
    text = inspect.cleandoc(command.help or "").replace("\f", "")
    text = re.sub(r"^- (`[^`]+`) : ", r"- \1: ", text, flags=re.M)
    lines = [f"## {name}", "", text, "", "| option | what it does | default |", "|---|---|---|"]
    for param in command.params:
        if param.name == "help":
            continue
        argument = not param.opts[0].startswith("-")
        shown = (
            (param.metavar or param.name.upper()).strip("{}")
            if argument
            else ", ".join([*param.opts, *param.secondary_opts])
        )
        lines.append(f"| `{shown}` | {_cell(getattr(param, 'help', '') or '')} | {_default(param)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def _default(param: Any) -> str:
    value = param.default
    if param.required:
        return "required"
    if value is None or value is False or callable(value) or value in ([], ()) or "UNSET" in str(value).upper():
        return ""
    return f"`{value}`"


def write(app: Any, config: Any) -> None:
    """Write the page where its content has changed."""
    text = _HEAD + "\n" + "\n".join(_section(*one) for one in commands(typer.main.get_command(program)))
    path = Path(app.srcdir) / "reference" / "commands.md"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
