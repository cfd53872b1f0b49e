"""The page of a trained model, where a command is asked for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.train import Trained
    from ...tables import FileTable


def write_page(path: Path, trained: Trained, table: FileTable) -> None:
    """Write the page of a model, its rows and its scores."""
    raise NotImplementedError
