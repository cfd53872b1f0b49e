"""Smooth models of the targets or classes; neighbours' targets are carried along them to a query."""
