"""The command line, ``dsna ...``: one file per group of commands."""

from .main import main

__all__ = ["main"]
