"""Edges for people to look at: lines without speckle, over the photo, or as vectors."""
