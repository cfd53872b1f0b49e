"""Packages that only some users need, imported when they are needed."""

from .._utils.optional import import_extra, install_command

__all__ = ["import_extra", "install_command"]
