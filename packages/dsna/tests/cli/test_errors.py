"""Which exceptions a command turns into one sentence and an exit code, and which show as the bugs they are."""

import errno
import os

import pytest

pytest.importorskip("typer")

import typer

from dsna import DSNAError
from dsna.cli.errors import exit_on_user_error


def ended(error, capsys):
    """Exit code and message of a command in which an error is raised."""
    with pytest.raises(typer.Exit) as end, exit_on_user_error("train", "pip install it", "Nothing was lost."):
        raise error
    return end.value.exit_code, capsys.readouterr().err.strip()


@pytest.mark.parametrize(
    "error, code, message",
    [
        (DSNAError("the table has no rows"), 2, "dsna train: the table has no rows"),
        (
            ModuleNotFoundError("no", name="lightgbm"),
            2,
            "needs lightgbm, which is not installed. Remedy: pip install it",
        ),
        (ImportError("This needs tqdm."), 2, "This needs tqdm. Remedy: pip install it"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.csv"), 2, "a.csv: the disk is full. Remedy: make room"),
        (MemoryError(), 2, "not enough memory. Remedy: fewer --jobs"),
        (KeyboardInterrupt(), 130, "Stopped. Nothing was lost."),
    ],
)
def test_what_a_user_can_mend_is_one_sentence_and_an_exit_code(error, code, message, capsys):
    found, said = ended(error, capsys)
    assert found == code
    assert message in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "error",
    [
        ValueError("a plain one, even if ours"),
        TypeError("no"),
        KeyError("fold"),
        ModuleNotFoundError("No module named 'dsna.gone'", name="dsna.gone"),
        ImportError("cannot import name 'gone' from 'dsna.tables'", name="dsna.tables"),
    ],
)
def test_anything_else_is_a_bug_and_shows_as_one(error, capsys):
    with pytest.raises(type(error)) as caught, exit_on_user_error("train", "", ""):
        raise error
    assert caught.value is error
    assert capsys.readouterr().err == ""


def test_where_an_error_class_is_defined_does_not_matter(capsys):
    class Foreign(DSNAError):
        __module__ = "somewhere.else"

    class Lookalike(ValueError):
        __module__ = "dsna.tables"

    assert ended(Foreign("no rows"), capsys) == (2, "dsna train: no rows")
    with pytest.raises(Lookalike), exit_on_user_error("train", "", ""):
        raise Lookalike("no rows")
