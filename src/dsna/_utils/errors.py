"""The base class of all errors that a user can cause and correct."""


class DSNAError(ValueError):
    """Input, a parameter or a file that cannot be used; the message says what, where and what to do.

    Every error of this package that its user can correct is one of these, so that one ``except`` catches them all.
    It is a ``ValueError``, as scikit-learn's tools expect.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import DSNAClassifier, DSNAError
    >>> try:
    ...     DSNAClassifier().fit(np.zeros((4, 1)), ["a"] * 4)
    ... except DSNAError as error:
    ...     print(str(error)[:22])
    y holds one class only
    """
