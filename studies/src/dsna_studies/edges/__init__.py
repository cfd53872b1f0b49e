"""Boundaries in photos, learned on BSDS500, scored on its held-out photos and on NYUD."""
