"""How much of a classification came from whom: the opinions that probabilities are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.choices import most_probable
from .._utils.optional import import_extra


def log_odds(logits: np.ndarray, proba: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(n, n_voices) parts of the log odds of the chosen class against the most probable other one.

    Parameters
    ----------
    logits : (n, n_voices, n_classes) what each voice adds to the logarithms of the probabilities.
    proba : (n, n_classes)
    chosen : (n,) class numbers.

    Examples
    --------
    >>> import numpy as np
    >>> log_odds(np.array([[[1.0, 0.0], [-0.5, 0.5]]]), np.array([[0.5, 0.5]]), np.array([0])).tolist()
    [[1.0, -1.0]]
    """
    first = chosen[:, None]
    others = proba.copy()
    np.put_along_axis(others, first, -1.0, axis=1)
    second = most_probable(others)[:, None]
    mine, other = (np.take_along_axis(logits, c[:, None], axis=2)[:, :, 0] for c in (first, second))
    return np.asarray(mine - other)


def opinion_line(voices: Sequence[str], odds: np.ndarray, logits: np.ndarray | None) -> str:
    """What each opinion adds to the log odds of one query, in a line; those without any say in the model are named so.

    Examples
    --------
    >>> import numpy as np
    >>> opinion_line(["coefficients", "forest"], np.array([0.0, 1.25]), np.array([[[0.0, 0.0], [1.25, 0.0]]]))
    'log odds against the next class: coefficients (not used), forest +1.25'
    """
    used = np.ones(len(voices)) if logits is None else np.any(logits[0] != 0.0, axis=1)
    parts = [
        f"{name} {one:+.2f}" if has else f"{name} (not used)" for name, one, has in zip(voices, odds, used, strict=True)
    ]
    return "log odds against the next class: " + ", ".join(parts)


def class_sums(weight: np.ndarray, label: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(n, n_classes) sums of the weights (n, M) of the rows of each class, which ``label`` (n, M) holds.

    With ``rest = proba - class_sums(...)`` an explanation gives the probabilities ``proba`` to the last bit,
    wherever the weights of a class sum to about its probability or to zero: ties are then broken alike.

    Examples
    --------
    >>> import numpy as np
    >>> class_sums(np.array([[0.5, 0.2, 0.3]]), np.array([["b", "a", "b"]]), np.array(["a", "b", "c"]))
    array([[0.2, 0.8, 0. ]])
    """
    shape = len(weight), len(classes)
    at = np.searchsorted(classes, label) + np.arange(shape[0])[:, None] * shape[1]
    return np.bincount(at.ravel(), weights=weight.ravel(), minlength=shape[0] * shape[1]).reshape(shape)


def opinion_frame(voices: Sequence[str], odds: np.ndarray) -> Any:
    """Data frame with columns query, opinion, log_odds and share (of the sizes), of odds (n, n_voices)."""
    share = np.abs(odds) / np.maximum(np.abs(odds).sum(axis=1, keepdims=True), 1e-300)
    return import_extra("pandas", "report").DataFrame(
        {
            "query": np.repeat(np.arange(len(odds)), len(voices)),
            "opinion": list(voices) * len(odds),
            "log_odds": odds.ravel(),
            "share": share.ravel(),
        }
    )
