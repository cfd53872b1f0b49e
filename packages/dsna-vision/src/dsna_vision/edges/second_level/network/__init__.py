"""A small network as another opinion on candidates: trained with torch, kept as plain arrays, asked without it."""
