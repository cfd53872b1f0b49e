"""Neighbourhoods of queries and their sparse approximation."""
