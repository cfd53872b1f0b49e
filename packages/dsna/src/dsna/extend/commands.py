"""Building blocks of commands: shared options, and errors printed as one sentence."""

from ..cli.errors import exit_on_user_error, say
from ..cli.main import run
from ..cli.options import LARGEST_SEED, flag, folder, names

__all__ = [
    "LARGEST_SEED",
    "exit_on_user_error",
    "flag",
    "folder",
    "names",
    "run",
    "say",
]
