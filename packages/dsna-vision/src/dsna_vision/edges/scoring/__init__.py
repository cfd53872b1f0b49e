"""Scores of edge maps by the counting rules of BSDS500."""
