"""The base class of all errors that a user can cause and correct."""


class DSNAError(ValueError):
    """Input, a parameter or a file that cannot be used; the message says what, where and what to do.

    What this package checks itself raises these. Values of parameters and shapes of arrays are checked by scikit-learn,
    which raises ``ValueError``; as a ``DSNAError`` is one too, ``except ValueError`` catches both.

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
