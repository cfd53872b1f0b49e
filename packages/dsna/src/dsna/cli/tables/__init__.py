"""Commands on tables: train, predict, evaluate, explain, add, info, serve, demo."""
