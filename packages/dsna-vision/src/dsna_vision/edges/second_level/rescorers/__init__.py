"""Rescorers, which predict from a candidate's description the share of people who would draw an edge there.

Boosted trees are trained by LightGBM, perceptrons by scikit-learn, both on soft labels with cross-entropy.  Both are
stored as plain arrays and predict without the library that trained them.
"""
