"""Rare edge structures: which they are, how much of them is found, which patches they are approximated by."""
