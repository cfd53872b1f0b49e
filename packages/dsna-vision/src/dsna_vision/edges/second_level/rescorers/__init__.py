"""Rescorers: from the description of a candidate to the share of people who would draw an edge there.

Boosted trees are trained by LightGBM, perceptrons by scikit-learn, both on soft labels by cross-entropy.  Both are kept
as plain arrays, and asked without the library that trained them.
"""
