"""``python -m dsna_studies age``: the paper's first task, ages from faces."""
