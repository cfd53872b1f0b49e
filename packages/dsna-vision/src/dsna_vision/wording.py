"""Wording of counts and sizes in messages."""

from __future__ import annotations


def number_of(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    Parameters
    ----------
    count : int
    singular : str
    plural : str or None, default=None
        None: the singular with an s.

    Examples
    --------
    >>> number_of(1, "photo"), number_of(3, "training patch", "training patches")
    ('1 photo', '3 training patches')
    """
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


def width_by_height(shape: tuple[int, ...]) -> str:
    """Return the size of a photo or map in words, width first.

    Examples
    --------
    >>> width_by_height((321, 481))
    '481 x 321'
    """
    return " x ".join(map(str, (*shape[1::-1], *shape[2:])))
