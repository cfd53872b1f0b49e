"""Rare edge structures: their classes, their recall, and the patches that approximate them."""
