"""Prediction intervals and quantiles of a regression."""
