"""From coefficients to predictions: calibration, decisions, intervals, tuning."""
