"""Examples in the order in which a newcomer would look at them."""

from __future__ import annotations

_NAMES = (
    "rare_digits", "costs", "explain_table", "probabilities", "prediction_sets", "rare_targets", "intervals",
    "groups", "grid_search", "add_rows", "edges", "when_not",
)  # fmt: skip


class Order:
    """Key by which the gallery sorts the files of a folder; new examples come last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        name = file.removeprefix("plot_").removesuffix(".py")
        return (_NAMES.index(name) if name in _NAMES else len(_NAMES), file)
