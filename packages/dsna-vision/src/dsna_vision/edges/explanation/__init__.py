"""Explanations of edges by training patches: their outlines, shares and origins."""
