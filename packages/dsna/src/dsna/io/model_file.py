"""Model files: a zip of ``header.json`` and one ``.npy`` per array, with no pickle and no code inside.

The header holds the format, the versions, the class of the estimator and its state as a JSON tree, which
``encoding`` describes; for a pipeline, those of its two steps. Arrays are stored uncompressed, so that processes can
share them by mapping the file, or compressed, with a bound on the size that a file may inflate to.

Files are not trusted: ``archive`` refuses sizes that do not fit the file, every container and estimator checks its
attributes (``_utils/invariants``, ``fitted``), and so kernels see only values that ``fit`` could have made.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from typing import IO, Any

import sklearn

from .._utils.atomic import FolderNamedError, MissingFileError, whole_file
from .._utils.invariants import InvariantError
from .archive import AGAIN, HEADER, Archive, ModelFileError, may_take, open_regular, write
from .encoding import Decoder, Encoder

__all__ = ["FORMAT", "FORMAT_VERSION", "ModelFileError", "load", "save"]

FORMAT = "dsna-model"
FORMAT_VERSION = 5
_OLDEST = 4  # oldest format that load reads

# Errors of zipfile, zlib, json and numpy on damaged files.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, LookupError, TypeError, AttributeError,
    OverflowError, RuntimeError,
)  # fmt: skip


def save(
    model: Any, path: str | os.PathLike[str], *, rows: bool = True, compress: bool = False, condense: bool = False
) -> None:
    """Write an estimator of this package, fitted or not, to a file of arrays and plain values.

    The file is written beside its destination and moved there when complete, so that a failure leaves an
    older file of that name as it was.

    Parameters
    ----------
    model : CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor, TableEncoder, \
a Pipeline of TableEncoder and one of the first four, or an estimator of dsna-vision
        A ``forest`` of scikit-learn is stored as its parameters, which is all that the model uses of it.
    path : str or path-like
        Any extension; ``.dsna`` is usual.
    rows : bool, default=True
        Whether the file also holds the training rows that a ``TableEncoder`` keeps, in the values of their owner.
        Without them explanations give numbers of rows only. DSNA models hold the rows as numbers in any case.
    compress : bool, default=False
        Whether arrays are compressed (deflate): a smaller file that takes longer to save and load, and cannot be
        mapped. The loaded model is the same.
    condense : bool, default=False
        Whether the file holds only the training rows of a DSNA model that have had weight out of bag, and rare ones:
        rows whose class or target has half its even share or less. Predictions change a little; of large tables, most
        rows go. The remaining rows are numbered anew: the loaded model has ``kept_rows_``, their numbers
        among the rows given to ``fit``.

    Raises
    ------
    TypeError
        The format cannot store a value of the model: a function as ``cost`` or ``target_density``, or an object of
        another library.  ``joblib.dump`` can.
    ValueError
        ``load`` would refuse a parameter or fitted attribute.
    FileNotFoundError
        The folder does not exist. The error is a ``DSNAError`` as well, as is that for a ``path`` that is a folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from dsna import CostSensitiveForestClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CostSensitiveForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "iris.dsna")
    ...     again = load(Path(folder) / "iris.dsna")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    from .. import __version__
    from .estimators import condensed, without_rows

    model = model if rows else without_rows(model)
    model = condensed(model) if condense else model
    versions = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "dsna": __version__,
        "scikit-learn": sklearn.__version__,
    }
    encoder = Encoder(packed=compress)
    header = _header(versions, model, encoder)
    _check_target(path)
    with whole_file(path) as stream:
        write(stream, header, encoder.arrays, compress)
        if not may_take(encoder.unpacked, stream.tell()):
            encoder = Encoder()
            header = _header(versions, model, encoder)
            stream.seek(0)
            stream.truncate()
            write(stream, header, encoder.arrays, compress)


def _header(versions: dict[str, Any], model: Any, encoder: Encoder) -> str:
    """Return the text of the header; the encoder collects the arrays."""
    from .estimators import describe

    return json.dumps({**versions, **describe(model, encoder)}, allow_nan=False, indent=1)


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Read an estimator from a file that ``save`` wrote; it predicts exactly as the saved one.

    A file from an unknown source is safe to load. No code is run from it, and only classes of this package and the
    scikit-learn estimators that ``forest`` takes are made. Everything in it is checked, in time linear in its size: a
    forged or damaged file is refused, or gives a model that predicts without crashing. How good the predictions of such
    a model are is up to the author of the file.

    Parameters
    ----------
    path : str or path-like
    mmap : bool, default=False
        Whether arrays that are not compressed stay in the file, mapped into memory and read-only: all processes that
        load the file share them. Everything is checked once, on loading, so the file must not be written to while
        the model is in use. `save` never does: it replaces the file.

    Returns
    -------
    estimator
        Of the class that was saved.

    Raises
    ------
    ModelFileError
        The file is foreign, truncated, damaged, forged, written by a newer dsna, or not a regular file.
    FileNotFoundError
        The file does not exist; the error is a ``DSNAError`` as well.

    Examples
    --------
    >>> import os
    >>> from dsna import load
    >>> load(os.__file__)
    Traceback (most recent call last):
    dsna.io.archive.ModelFileError: ...os.py: not a dsna model file. ...
    """
    with open_regular(path) as stream:
        start = stream.read(30 + len(HEADER))
        stream.seek(0)
        try:
            return _read(stream, start, mmap)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)}: {error}") from None
        except InvariantError as error:
            raise ModelFileError(f"{os.fspath(path)}: no sound model: {error}. {error.remedy or AGAIN}") from error
        except _DAMAGE as error:
            kind = "dsna model" if start.endswith(HEADER.encode()) else "zip"
            message = f"a truncated or damaged {kind} file ({type(error).__name__}: {error}). {AGAIN}"
            raise ModelFileError(f"{os.fspath(path)}: {message}") from error


def _read(stream: IO[bytes], start: bytes, mapped: bool) -> Any:
    """Read the estimator in an open model file; ``start`` holds its first bytes."""
    from .estimators import rebuild

    if not start:
        raise ModelFileError(f"the file is empty: its writing or copying was cut short. {AGAIN}")
    if not start.startswith(b"PK\x03\x04"[: len(start)]):
        raise ModelFileError(
            "not a dsna model file. Check the path; if pickle, joblib or skops wrote it, read it by these."
        )
    archive = Archive(stream, mapped)
    header = archive.header()
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"no dsna model: its {HEADER} belongs to another format. Check the path.")
    version, writer = header["version"], f"dsna {header.get('dsna')}"
    if type(version) is not int or version < 1:
        raise ValueError(f"there is no format {version!r}")
    if version < _OLDEST:
        raise ModelFileError(
            f"written by an older dsna ({writer}, format {version}; this one reads formats {_OLDEST} to "
            f"{FORMAT_VERSION}). Fit the model again and save it, or load it with the version that wrote it."
        )
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"written by a newer dsna ({writer}, format {version}; this one reads format {FORMAT_VERSION}). "
            "Upgrade: pip install -U dsna."
        )
    return rebuild(header, Decoder(archive, f"{writer} with scikit-learn {header.get('scikit-learn')}"))


def _check_target(path: str | os.PathLike[str]) -> None:
    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise MissingFileError(f"{folder} is not a folder; create it before saving {name} there.")
    if os.path.isdir(path):
        raise FolderNamedError(f"{os.fspath(path)} is a folder; give the name of a file.")
