"""Optional dependencies, imported on demand."""

from .._utils.optional import import_extra, install_command

__all__ = ["import_extra", "install_command"]
