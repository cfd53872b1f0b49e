"""Commands on a table of your own: train, predict, evaluate, explain, add, info, demo."""
