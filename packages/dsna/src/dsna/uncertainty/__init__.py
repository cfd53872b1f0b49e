"""What a regression says beside its predictions: intervals and quantiles."""
