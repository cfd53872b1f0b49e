"""Words of messages."""

from __future__ import annotations


def number_of(n: int, thing: str, things: str | None = None) -> str:
    """How many of a thing there are.

    Parameters
    ----------
    n : int
    thing : str
    things : str or None, default=None
        The plural; None: with an s.

    Examples
    --------
    >>> number_of(1, "photo"), number_of(3, "training patch", "training patches")
    ('1 photo', '3 training patches')
    """
    return f"{n} {thing if n == 1 else things or thing + 's'}"


def width_by_height(shape: tuple[int, ...]) -> str:
    """The size of a photo or map, said as users say it: columns first.

    Examples
    --------
    >>> width_by_height((321, 481))
    '481 x 321'
    """
    return " x ".join(map(str, (*shape[1::-1], *shape[2:])))
