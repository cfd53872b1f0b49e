"""Drawings of edges: cleaned lines, overlays on the photo, or vectors."""
