"""Tables from files."""

from .read import TASKS, Table, TableError, find_tables, guess_task, read_table

__all__ = ["TASKS", "Table", "TableError", "find_tables", "guess_task", "read_table"]
