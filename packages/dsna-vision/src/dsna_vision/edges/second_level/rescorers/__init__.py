"""Rescorers: from the description of a candidate to the share of people who would draw an edge there.

Boosted trees are trained by LightGBM, perceptrons and logistic regression by scikit-learn, all on soft labels by
cross-entropy; a forest and a sparse neighbour approximation of our own learn shares as targets.  All are kept as plain
arrays, and asked without the library that trained them.
"""
