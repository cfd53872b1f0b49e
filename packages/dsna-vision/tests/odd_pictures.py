"""Picture files of every kind that people have, good and bad."""

import io
import struct
import zlib

import numpy as np
from PIL import Image


def scene(height=24, width=32):
    """Dark to the left, light to the right, red below."""
    photo = np.full((height, width, 3), 40, dtype=np.uint8)
    photo[:, width // 2 :] = 220
    photo[height // 2 :, :, 1:] = 10
    return photo


def encoded(picture, kind, **options):
    content = io.BytesIO()
    picture.save(content, format=kind, **options)
    return content.getvalue()


def png_header(width, height):
    """A PNG file that says how large it is and holds nothing."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def good_pictures():
    """Names and bytes of files that are read."""
    colours = Image.fromarray(scene())
    grey = colours.convert("L")
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    exact = Image.fromarray(np.asarray(grey, dtype=np.float32) / 255)
    return {
        "colour.jpg": encoded(colours, "JPEG", quality=95),
        "colour.png": encoded(colours, "PNG"),
        "grey.jpg": encoded(grey, "JPEG", quality=95),
        "palette.png": encoded(colours.quantize(8), "PNG"),
        "alpha.png": encoded(colours.convert("RGBA"), "PNG"),
        "grey_alpha.png": encoded(grey.convert("LA"), "PNG"),
        "bits.png": encoded(grey.convert("1"), "PNG"),
        "cmyk.jpg": encoded(colours.convert("CMYK"), "JPEG", quality=95),
        "cmyk.tif": encoded(colours.convert("CMYK"), "TIFF"),
        "deep.png": encoded(deep, "PNG"),
        "deep.tif": encoded(deep, "TIFF"),
        "float.tif": encoded(exact, "TIFF"),
        "pixel.png": encoded(colours.crop((0, 0, 1, 1)), "PNG"),
        "animated.gif": animated(),
    }


def animated():
    frames = [Image.fromarray(np.full((9, 9), level, dtype=np.uint8)) for level in (60, 120, 240)]
    return encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])


def bad_pictures():
    """Names, bytes and a part of the message of files that are not."""
    whole = encoded(Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)), "PNG")
    return {
        "empty.jpg": (b"", "no bytes"),
        "text.png": (b"this is a letter, not a picture", "not a picture"),
        "cut.png": (whole[: len(whole) // 2], "damaged or cut short"),
        "cut.jpg": (encoded(Image.fromarray(scene(200, 200)), "JPEG")[:700], "damaged or cut short"),
        "broken.png": (whole[:2000] + bytes(200) + whole[2200:], "damaged or cut short"),
        "vast.png": (png_header(60_000, 60_000), "shrink it"),
    }
