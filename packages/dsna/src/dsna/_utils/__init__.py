"""Helpers that know nothing of the method: validation, parallel work, atomic files, optional imports."""
