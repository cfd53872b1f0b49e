"""Files -> typed columns -> a matrix of numbers, and back to the user's words."""

from .._utils.validation import TASKS, guess_task
from .column_types import ColumnType
from .encoder import TableEncoder, TableWarning
from .files.chunks import read_chunks
from .files.source import TableError
from .files.table import FileTable, ReadOptions, read_file
from .files.write import CsvWriter, table_format, table_writer
from .leaks import Leak, find_leaks
from .target import LabelledTable, split_target

__all__ = [
    "TASKS",
    "ColumnType",
    "CsvWriter",
    "FileTable",
    "LabelledTable",
    "Leak",
    "ReadOptions",
    "TableEncoder",
    "TableError",
    "TableWarning",
    "find_leaks",
    "guess_task",
    "read_chunks",
    "read_file",
    "split_target",
    "table_format",
    "table_writer",
]
