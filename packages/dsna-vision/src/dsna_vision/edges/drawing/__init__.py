"""Edges for people to look at: lines without crumbs, over the photo, or as vectors."""
