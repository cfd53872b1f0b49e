"""Scores of edge maps, as BSDS500 counts them."""
