"""Predictions from coefficients: calibration, decisions, prediction sets, parameter search."""
