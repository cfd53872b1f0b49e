"""Opinions: the terms of coefficients, forest and trend in predicted probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.choices import most_probable
from .._utils.optional import import_extra


def log_odds(logits: np.ndarray, proba: np.ndarray, predicted_code: np.ndarray) -> np.ndarray:
    """(n, n_voices) terms of the log odds of the predicted class against the most probable other class.

    Parameters
    ----------
    logits : (n, n_voices, n_classes) terms of each opinion in the logarithms of the probabilities.
    proba : (n, n_classes)
    predicted_code : (n,) class numbers.

    Examples
    --------
    >>> import numpy as np
    >>> log_odds(np.array([[[1.0, 0.0], [-0.5, 0.5]]]), np.array([[0.5, 0.5]]), np.array([0])).tolist()
    [[1.0, -1.0]]
    """
    predicted = predicted_code[:, None]
    remaining = proba.copy()
    np.put_along_axis(remaining, predicted, -1.0, axis=1)
    runner_up = most_probable(remaining)[:, None]
    own_terms, other_terms = (
        np.take_along_axis(logits, code[:, None], axis=2)[:, :, 0] for code in (predicted, runner_up)
    )
    return np.asarray(own_terms - other_terms)


def opinion_line(voices: Sequence[str], odds: np.ndarray, logits: np.ndarray | None) -> str:
    """Format the terms of the log odds of one query in a line; opinions that the model ignores are marked.

    Examples
    --------
    >>> import numpy as np
    >>> opinion_line(["coefficients", "forest"], np.array([0.0, 1.25]), np.array([[[0.0, 0.0], [1.25, 0.0]]]))
    'log odds against the next class: coefficients (not used), forest +1.25'
    """
    used = np.ones(len(voices)) if logits is None else np.any(logits[0] != 0.0, axis=1)
    terms = [
        f"{name} {value:+.2f}" if is_used else f"{name} (not used)"
        for name, value, is_used in zip(voices, odds, used, strict=True)
    ]
    return "log odds against the next class: " + ", ".join(terms)


def class_sums(weight: np.ndarray, label: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(n, n_classes) sums of the weights (n, M) by class of the rows, given by ``label`` (n, M).

    With ``rest = proba - class_sums(...)`` an explanation reproduces the probabilities ``proba`` to the last bit if the
    weights of a class sum to about its probability or to zero, so that ties are broken in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> class_sums(np.array([[0.5, 0.2, 0.3]]), np.array([["b", "a", "b"]]), np.array(["a", "b", "c"]))
    array([[0.2, 0.8, 0. ]])
    """
    shape = len(weight), len(classes)
    cells = np.searchsorted(classes, label) + np.arange(shape[0])[:, None] * shape[1]
    return np.bincount(cells.ravel(), weights=weight.ravel(), minlength=shape[0] * shape[1]).reshape(shape)


def opinion_frame(voices: Sequence[str], odds: np.ndarray) -> Any:
    """Data frame of odds (n, n_voices), with columns query, opinion, log_odds and share of the absolute sum."""
    share = np.abs(odds) / np.maximum(np.abs(odds).sum(axis=1, keepdims=True), 1e-300)
    return import_extra("pandas", "report").DataFrame(
        {
            "query": np.repeat(np.arange(len(odds)), len(voices)),
            "opinion": list(voices) * len(odds),
            "log_odds": odds.ravel(),
            "share": share.ravel(),
        }
    )
