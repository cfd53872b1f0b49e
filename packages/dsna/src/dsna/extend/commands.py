"""Commands of the command line: options that several share, and errors that become one sentence."""

from ..cli.errors import exit_on_user_error, say
from ..cli.main import run
from ..cli.options import LARGEST_SEED, RESUMED, Names, Processes, Redo, Scales, flag, folder, names

__all__ = [
    "LARGEST_SEED",
    "RESUMED",
    "Names",
    "Processes",
    "Redo",
    "Scales",
    "exit_on_user_error",
    "flag",
    "folder",
    "names",
    "run",
    "say",
]
