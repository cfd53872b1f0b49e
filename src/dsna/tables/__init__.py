"""Tables from files."""

from .read import Table, TableError, find_tables, read_table

__all__ = ["Table", "TableError", "find_tables", "read_table"]
