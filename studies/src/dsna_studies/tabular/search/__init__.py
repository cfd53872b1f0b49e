"""Equal tuning of all methods: a random search over the same number of settings, on the same inner folds."""
