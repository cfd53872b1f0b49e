"""Experiments that anyone can repeat: the benchmark on tables."""
