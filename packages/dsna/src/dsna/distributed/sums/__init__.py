"""Sums over the rows of all partitions, added up one partition after another."""
