"""Candidates of a first map, described and scored anew."""
