"""Which rows made a prediction, and plots of how good predictions are."""
