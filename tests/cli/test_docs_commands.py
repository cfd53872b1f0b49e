"""Command lines of the docs: each is one that the real commands take; those of the first page are run."""

import csv
import re
import shlex
from pathlib import Path

import pytest
import typer

from dsna.cli.app import app
from dsna.cli.main import main
from dsna.cli.tables.demo import _tables

from ..test_docs import PAGES, ROOT, shape_of

_CUT_SHORT = ("MissingParameter", "BadOptionUsage", "BadArgumentUsage")
_ASSIGNMENT = re.compile(r"\w+=\S* ")


def words_of(line):
    return shlex.split(line, comments=True)


def lines():
    """(page, line, whether it is whole): those of blocks, and those in the text."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT).as_posix()
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
            for line in block.replace("\\\n", " ").splitlines():
                line = _ASSIGNMENT.sub("", line, count=1) if _ASSIGNMENT.match(line) else line
                if line.startswith("dsna "):
                    yield pytest.param(line, True, id=f"{name}: {line.split('#')[0].strip()[:60]}")
        prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        for line in sorted(set(re.findall(r"`(dsna [a-z][^`]*)`", prose))):
            if "..." not in line:
                yield pytest.param(line, False, id=f"{name}: {line[:60]}")


def command_of(words):
    command = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("line, whole", list(lines()))
def test_the_command_takes_the_line(line, whole, monkeypatch):
    """Options are there and take the values; of a line in the text, which may be cut short, some may be missing."""
    command, words = command_of(words_of(line)[1:])
    if hasattr(command, "commands"):
        assert not words or words == ["--help"] or words == ["--version"], f"no such command: {words}"
        return
    monkeypatch.setattr(command, "callback", lambda **values: None)  # parsed, but not run
    try:
        command.main(words, prog_name="dsna", standalone_mode=False)
    except Exception as error:
        if whole or type(error).__name__ not in _CUT_SHORT:
            raise


def test_the_commands_of_the_first_page_do_what_it_says(tmp_path, monkeypatch, capsys):
    """From the tables that `dsna demo` leaves: train, predict, explain, other decisions, what the model is."""
    monkeypatch.chdir(tmp_path)
    Path("dsna-demo").mkdir()
    for name, content in zip(("patients.csv", "new_patients.csv"), _tables(), strict=True):
        Path("dsna-demo", name).write_bytes(content)
    page = (ROOT / "docs" / "start" / "table.md").read_text(encoding="utf-8")
    commands = [
        line for block in re.findall(r"^```sh\n(.*?)^```", page, re.S | re.M) for line in block.splitlines()
        if line.startswith("dsna ") and line != "dsna demo"
    ]  # fmt: skip
    assert len(commands) == 6
    printed = []
    for line in commands:
        monkeypatch.setattr("sys.argv", words_of(line))
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code in (0, None), line
        printed.append(capsys.readouterr().out)
    shown = re.findall(r"^```text\n(.*?)^```", page, re.S | re.M)
    assert len(shown) == 2
    for block in shown:
        assert shape_of(block) in shape_of(printed[0])
    assert "20 of 331 rows are yes" in printed[0]
    assert "'patient' is left out" in printed[0]
    severe = {name: answers(Path(name)).count("yes") for name in ("answers.csv", "careful.csv", "sure.csv")}
    assert severe["careful.csv"] > severe["answers.csv"] > severe["sure.csv"] > 0, severe
    assert "weight" in printed[2]
    assert {path.name for path in tmp_path.iterdir()} >= {"severe.dsna", "page.html"}


def answers(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [row["prediction"] for row in csv.DictReader(file)]
