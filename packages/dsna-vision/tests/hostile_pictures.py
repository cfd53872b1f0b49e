"""Picture files that nobody wants to meet: each with what is said of it, or None where it works."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image
from tests.odd_pictures import bad_pictures, encoded, good_pictures, png_header, scene

_COLOURS = Image.fromarray(scene())
_NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8))
_PNG, _JPEG, _GIF, _TIFF, _WEBP = (encoded(_NOISE, kind) for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP"))
_DAMAGED = "damaged or cut short"
_NO_PICTURE = "not a picture"


def _turned(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(_COLOURS, "JPEG", exif=exif)


def _bomb(width, height):
    """A small PNG file of one colour that fills this many pixels when it is opened."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(bytes((width // 8 + 1) * height), 9)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _transparent_palette():
    picture = _COLOURS.quantize(8)
    return encoded(picture, "PNG", transparency=bytes([0, 128, 255]))


def _eps():
    content = io.BytesIO()
    _COLOURS.save(content, format="EPS")
    return content.getvalue()


def _lab():
    content = io.BytesIO()
    Image.new("LAB", (9, 9)).save(content, format="TIFF")
    return content.getvalue()


HOSTILE_PICTURES = {
    **bad_pictures(),
    **{name: (content, None) for name, content in good_pictures().items()},
    # Cut short, one kind after the other
    "cut_header.png": (_PNG[:20], "Remedy"),
    "cut_early.png": (_PNG[:60], _DAMAGED),
    "cut_late.png": (_PNG[: len(_PNG) - 60], _DAMAGED),
    "cut_late.jpg": (_JPEG[: len(_JPEG) // 2], _DAMAGED),
    "cut.gif": (_GIF[: len(_GIF) // 2], _DAMAGED),
    "cut.tif": (_TIFF[: len(_TIFF) // 2], ""),
    "cut.webp": (_WEBP[: len(_WEBP) // 2], ""),
    # Damaged
    "wrong_checksum.png": (_PNG[:30] + b"\xff\xff\xff\xff" + _PNG[34:], ""),
    "noise.jpg": (np.random.default_rng(1).bytes(5000), _NO_PICTURE),
    "zeros.png": (bytes(5000), _NO_PICTURE),
    "one_byte.jpg": (b"\xff", _NO_PICTURE),
    # Larger than they look
    "vast_side.png": (png_header(2_000_000_000, 1), "Remedy"),
    "no_width.png": (png_header(0, 10), "Remedy"),
    "bomb.png": (_bomb(30_000, 30_000), "larger than is safe to open"),
    # Other files under the name of a picture
    "eps.jpg": (_eps(), "a drawing in EPS format, not a photo"),
    "page.jpg": (b"<!DOCTYPE html><html><body>404</body></html>", "a web page, not a picture"),
    "page_small.jpg": (b"\n  <html>404</html>", "a web page, not a picture"),
    "document.jpg": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document, not a picture"),
    "drawing.png": (b"<svg xmlns='http://www.w3.org/2000/svg'></svg>", "an SVG drawing, not a picture"),
    "archive.png": (b"PK\x03\x04" + bytes(100), "a ZIP archive, not a picture"),
    "table.png": (b"a,b,y\n1,2,3\n", _NO_PICTURE),
    "lab.tif": (_lab(), "Lab colours"),
    # Odd, and fit for use
    "column.png": (encoded(_NOISE.crop((0, 0, 1, 64)), "PNG"), None),
    "row.png": (encoded(_NOISE.crop((0, 0, 64, 1)), "PNG"), None),
    "two.png": (encoded(_NOISE.crop((0, 0, 2, 2)), "PNG"), None),
    "transparent_palette.png": (_transparent_palette(), None),
    "png_named.jpg": (_PNG, None),
    "gif_named.png": (_GIF, None),
    "webp.webp": (_WEBP, None),
    "bitmap.bmp": (encoded(_COLOURS, "BMP"), None),
    "pixmap.ppm": (encoded(_COLOURS, "PPM"), None),
    "progressive.jpg": (encoded(_COLOURS, "JPEG", progressive=True), None),
    **{f"turned{turn}.jpg": (_turned(turn), None) for turn in (3, 6, 9)},
}
