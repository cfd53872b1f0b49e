"""``dsna reproduce age``: the paper's first task, ages from faces."""
