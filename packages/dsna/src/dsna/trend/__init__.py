"""A smooth model of the targets, along which neighbours' targets are carried over to a query."""
