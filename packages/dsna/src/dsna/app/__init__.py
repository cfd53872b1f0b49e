"""The work behind the commands on tables: train, evaluate, predict, explain; usable from programs too."""
