"""Workers that die once, in the middle of their work."""

from __future__ import annotations

import os
from functools import partial


def _call(function, marker, *arguments):
    if not os.path.exists(marker):
        with open(marker, "w", encoding="utf-8"):
            os._exit(1)
    return function(*arguments)


def dies_once(function, marker):
    """The function, on a worker that dies when it is called for the first time."""
    return partial(_call, function, str(marker))
