"""Methods tuned alike: as many settings of a random search for each, on the same inner folds."""
