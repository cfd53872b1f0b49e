"""Reading photos from files and arrays as 8-bit RGB, and writing edge maps."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsna import DSNAError
from dsna.extend.files import explained, reading_problem, write_atomically

# Extensions of photos in a folder.
PHOTO_ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".ppm", ".pgm")
_SCALES = (255, 1023, 4095, 16383, 65535)  # level of white with 8, 10, 12, 14 and 16 bits
_MAP_TYPES = {".png": ("uint8", "uint16"), ".npy": ("float32", "uint8", "uint16")}
_ROUNDING = 1e-4
_OTHER_FILE = "give a picture that an image viewer opens, such as a JPEG or PNG file"
_AS_RGB = "save it again as an RGB picture"
_DRAWINGS = ("EPS", "WMF")  # Pillow runs other programs on these, which execute the file
_OTHER_FILE_TYPES = {
    b"<!doctype html": "a web page",
    b"<html": "a web page",
    b"%pdf": "a PDF document",
    b"<svg": "an SVG drawing",
    b"<?xml": "an XML document",
    b"pk\x03\x04": "a ZIP archive",
}
_COPY_AGAIN = "copy it again from its source, or save it again as PNG"


class PhotoError(DSNAError):
    """A photo that cannot be read or a map that cannot be written; the message names file, problem and remedy."""


def read_photo(path: str | os.PathLike[str]) -> np.ndarray:
    """Read a photo of any type as 8-bit RGB.

    Grey levels and palettes become colours; transparent pixels are blended with white; 16 and 32 bits are scaled to 8;
    the photo is rotated according to its EXIF data. Of an animation the first frame is read, with a warning.

    Parameters
    ----------
    path : str or path-like
        A file in any format that Pillow reads.

    Returns
    -------
    uint8 array of shape (height, width, 3)
        Red, green, blue.

    Raises
    ------
    PhotoError
        The file is missing, empty, damaged, too large or not a picture.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from dsna_vision.photos import read_photo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("CMYK", (4, 3), (0, 255, 255, 0)).save(Path(folder) / "red.tif")
    ...     photo = read_photo(Path(folder) / "red.tif")
    >>> photo.shape, photo[0, 0].tolist()
    ((3, 4, 3), [255, 0, 0])
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    file = Path(path)
    _check_file(file)
    try:
        # A stream, because Pillow maps files opened by name, and then gets the size of a rotated TIFF file wrong.
        with file.open("rb") as stream, Image.open(stream) as picture:
            if picture.format in _DRAWINGS:
                raise _photo_error(file, f"a drawing in {picture.format} format, not a photo", "export it as PNG")
            frames = getattr(picture, "n_frames", 1)
            if frames > 1 and picture.format != "MPO":  # MPO: a phone's JPEG with a preview
                warnings.warn(f"{file}: holds {frames} frames; the first is used.", stacklevel=2)
            picture.load()
            return _colours(ImageOps.exif_transpose(picture), file)
    except Image.DecompressionBombError as error:
        limit = f"PIL.Image.MAX_IMAGE_PIXELS = {Image.MAX_IMAGE_PIXELS}"
        remedy = f"shrink it or cut it in parts, or raise {limit} in Python if you trust the file"
        raise _photo_error(file, f"larger than is safe to open ({error})", remedy) from error
    except MemoryError as error:
        raise _photo_error(file, "does not fit into memory", "shrink it or cut it in parts") from error
    except PhotoError:
        raise
    except UnidentifiedImageError as error:
        raise _photo_error(file, _content_type(file), _OTHER_FILE) from error
    except Exception as error:  # Pillow's readers raise many types of errors on damaged files
        raise _photo_error(file, f"damaged or cut short ({error})", _COPY_AGAIN) from error


def as_photo(photo: ArrayLike) -> np.ndarray:
    """Convert an array to 8-bit RGB.

    Parameters
    ----------
    photo : array of shape (height, width), (height, width, 1), (height, width, 3) or (height, width, 4)
        Grey levels, colours, or colours with opacity, which are blended with white. Levels are uint8, uint16
        (scaled by the smallest of 8, 10, 12, 14 and 16 bits that holds them) or floats from 0 to 1.

    Returns
    -------
    uint8 array of shape (height, width, 3)
        Red, green, blue.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.photos import as_photo
    >>> as_photo(np.array([[0.0, 0.5, 1.0]]))[0].tolist()
    [[0, 0, 0], [128, 128, 128], [255, 255, 255]]
    """
    levels = np.asarray(photo)
    if levels.ndim not in (2, 3) or (levels.ndim == 3 and levels.shape[2] not in (1, 3, 4)):
        axis_hint = (
            " Its channels come first: use np.moveaxis(photo, 0, -1)." if levels.shape[:1] in ((1,), (3,)) else ""
        )
        raise PhotoError(
            f"A photo has the shape (height, width), or (height, width, channels) with 1, 3 or 4 channels, not "
            f"{levels.shape}.{axis_hint if levels.ndim == 3 else ' Give one photo at a time.'}"
        )
    if not levels.size:
        raise PhotoError(f"A photo of shape {levels.shape} has no pixels; give at least one.")
    if levels.dtype.kind == "f":
        if not np.isfinite(levels).all():
            raise PhotoError("The photo holds NaN or infinity; replace them, for example by np.nan_to_num(photo).")
        if levels.min() < -_ROUNDING or levels.max() > 1 + _ROUNDING:
            raise PhotoError(
                f"Levels of type {levels.dtype} must lie between 0 and 1; got {levels.min():g} to {levels.max():g}; "
                "scale them, or use photo.astype(np.uint8) if they go from 0 to 255."
            )
    elif levels.dtype.str[1:] not in ("u1", "u2"):
        raise PhotoError(
            f"Levels of type {levels.dtype} are unknown: use uint8 (0 to 255), uint16 (0 to 65535) or floats (0 to 1)."
        )
    levels = _eight_bits(levels)
    if levels.ndim == 2:
        levels = levels[:, :, None]
    if levels.shape[2] == 4:
        return _on_white(levels)
    return np.array(np.broadcast_to(levels, (*levels.shape[:2], 3)), order="C")


def write_map(edge_map: ArrayLike, path: str | os.PathLike[str], dtype: str | None = None) -> None:
    """Write an edge map to a file atomically.

    Parameters
    ----------
    edge_map : array of shape (height, width)
        From 0 (no edge) to 1.
    path : str or path-like
        With the extension ``.png``, or ``.npy`` for numpy's format.
    dtype : {"uint8", "uint16", "float32"}, optional
        Type of the values in the file: "uint8" or "uint16" in a PNG file, where 1 is written as 255 or 65535;
        any of them in an ``.npy`` file. By default "uint8" and "float32".

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from dsna_vision.photos import read_photo, write_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_map(np.array([[0.0, 0.2, 1.0]]), Path(folder) / "edges.png")
    ...     read_photo(Path(folder) / "edges.png")[0, :, 0].tolist()
    [0, 51, 255]
    """
    file = Path(path)
    dtypes = _MAP_TYPES.get(file.suffix.lower())
    if dtypes is None:
        raise _photo_error(file, f"maps are not written as {file.suffix or 'files without ending'}", "use .png or .npy")
    dtype_name = dtype or dtypes[0]
    if dtype_name not in dtypes:
        raise _photo_error(file, f"a {file.suffix} file does not hold {dtype_name}", f"use {' or '.join(dtypes)}")
    values = np.asarray(edge_map, dtype=np.float32)
    if values.ndim != 2 or not values.size:
        raise _photo_error(
            file, f"an edge map has the shape (height, width), not {values.shape}", "write one map a file"
        )
    if not (values.min() >= -_ROUNDING and values.max() <= 1 + _ROUNDING):  # also true for NaN
        raise _photo_error(file, "the map holds values outside 0 to 1, or NaN", "scale or replace them")
    values = np.clip(values, 0, 1)
    if dtype_name != "float32":
        values = np.round(values * np.iinfo(dtype_name).max).astype(dtype_name)
    content = io.BytesIO()
    if file.suffix.lower() == ".npy":
        np.save(content, values, allow_pickle=False)
    else:
        from PIL import Image

        Image.fromarray(values).save(content, format="PNG")
    try:
        write_atomically(file, content.getvalue())
    except OSError as error:
        raise PhotoError(explained(error)) from error


def _photo_error(file: Path, problem: str, remedy: str) -> PhotoError:
    return PhotoError(f"{file}: {problem}. Remedy: {remedy}.")


def _check_file(file: Path) -> None:
    """Raise a PhotoError if a file cannot be read or is empty, before it is opened as a picture."""
    problem = reading_problem(file)
    if problem:
        raise _photo_error(file, *problem)
    if file.stat().st_size == 0:
        raise _photo_error(file, "empty: it has no bytes", _COPY_AGAIN)


def _content_type(file: Path) -> str:
    """Name the type of a file that is not a picture, from its first bytes."""
    with file.open("rb") as stream:
        first_bytes = stream.read(64).lstrip().lower()
    for signature, file_type in _OTHER_FILE_TYPES.items():
        if first_bytes.startswith(signature):
            return f"{file_type}, not a picture"
    return "not a picture, or of an unknown format"


def _colours(picture: Any, file: Path) -> np.ndarray:
    """Return red, green and blue of a picture that Pillow has loaded."""
    if picture.mode.startswith(("I", "F")):
        levels = np.asarray(picture)
        if not np.isfinite(levels).all():
            raise _photo_error(file, "some levels are NaN or infinite", _AS_RGB)
        return np.repeat(_eight_bits(levels)[:, :, None], 3, axis=2)
    if picture.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in picture.info:
        if picture.mode == "La":
            picture = picture.convert("LA")
        return _on_white(np.asarray(picture.convert("RGBA")))
    if picture.mode == "LAB":
        raise _photo_error(file, "holds Lab colours, which are not read", _AS_RGB)
    return np.array(picture.convert("RGB"))


def _eight_bits(levels: np.ndarray) -> np.ndarray:
    """Scale levels of any type to uint8; 0, or the lowest level if it is negative, becomes black."""
    if levels.dtype == np.uint8:
        return levels
    low, high = min(float(levels.min()), 0.0), float(levels.max())
    if levels.dtype.kind == "f":
        low, white = (0.0, 1.0) if low >= -_ROUNDING and high <= 1 + _ROUNDING else (low, high)
    else:
        white = next((white for white in _SCALES if low == 0 and high <= white), high)
    scale = 255 / (white - low) if white > low else 0.0
    scaled = (levels.astype(np.float32) - np.float32(low)) * np.float32(scale)
    return np.clip(np.round(scaled), 0, 255).astype(np.uint8)


def _on_white(levels: np.ndarray) -> np.ndarray:
    """Blend colours with opacity, uint8 (height, width, 4), with white."""
    opacity = levels[:, :, 3:].astype(np.uint16)
    return ((levels[:, :, :3] * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8)
