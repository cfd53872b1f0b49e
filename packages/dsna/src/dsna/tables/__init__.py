"""Files -> typed columns -> a matrix of numbers, and back to the user's words."""

from .column_types import ColumnType
from .encoder import TableEncoder, TableWarning
from .files.chunks import read_chunks
from .files.source import TableError
from .files.table import FileTable, ReadOptions, read_file
from .files.write import CsvWriter, table_format, table_writer
from .leaks import Leak, find_leaks
from .read import TASKS, Table, find_tables, guess_task, read_table
from .target import LabelledTable, split_target

__all__ = [
    "TASKS",
    "ColumnType",
    "CsvWriter",
    "FileTable",
    "LabelledTable",
    "Leak",
    "ReadOptions",
    "Table",
    "TableEncoder",
    "TableError",
    "TableWarning",
    "find_leaks",
    "find_tables",
    "guess_task",
    "read_chunks",
    "read_file",
    "read_table",
    "split_target",
    "table_format",
    "table_writer",
]
