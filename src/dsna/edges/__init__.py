"""Edges in photos: detection and its parts."""
