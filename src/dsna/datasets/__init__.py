"""Readers of data as its owners store it."""

from .tables import Table, TableError, find_tables, read_table

__all__ = ["Table", "TableError", "find_tables", "read_table"]
