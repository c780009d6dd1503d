#!/usr/bin/env python3
"""Makes a picture of `eigenfold embed --plot` small enough to keep in the repository.

    scripts/shrink_png.py FILE.png ...

Each file is replaced: half as wide and half as high (every pixel the mean of four) and at most 256 colors, the most
frequent ones, every other color drawn as the nearest of them. Needs nothing but Python's standard library.
"""

import struct
import sys
import zlib
from collections import Counter

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks(data):
    """The chunks of a PNG file, as pairs of name and contents."""
    at = len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12


def rows(data):
    """The rows of an RGB picture of eight bits per channel."""
    parts = list(chunks(data))
    width, height, depth, color = struct.unpack(">IIBB", parts[0][1][:10])
    if (depth, color) != (8, 2):
        raise SystemExit("this is no picture of eight bits per channel and three channels; it may be shrunk already")
    raw = zlib.decompress(b"".join(contents for name, contents in parts if name == b"IDAT"))
    size, above, out = 3 * width, bytearray(3 * width), []
    for y in range(height):
        kind, row = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1 : (y + 1) * (size + 1)])
        if kind == 2:
            row = bytearray(map(lambda a, b: (a + b) & 255, row, above))
        elif kind != 0:
            raise SystemExit(f"rows of filter {kind} are not read")
        out.append(row)
        above = row
    return out


def halved(full):
    """Every second pixel of every second row, the mean of the four that it stands for, as a list of RGB triples."""
    out = []
    for top, bottom in zip(full[::2], full[1::2]):
        channels = []
        for c in range(3):
            left, right = top[c::3], bottom[c::3]
            sums = list(map(int.__add__, left, right))
            channels.append([(a + b + 2) // 4 for a, b in zip(sums[::2], sums[1::2])])
        out.append(list(zip(*channels)))
    return out


def paletted(picture):
    """At most 256 colors, and the index of one of them for every pixel."""
    # Seven bits per channel are as many as the eye needs, and leave fewer colors to choose from.
    coarse = [[(r & 254, g & 254, b & 254) for r, g, b in row] for row in picture]
    counts = Counter(color for row in coarse for color in row)
    palette = [color for color, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:256]]
    index = {color: i for i, color in enumerate(palette)}
    for r, g, b in counts:
        if (r, g, b) not in index:
            near = lambda i: (palette[i][0] - r) ** 2 + (palette[i][1] - g) ** 2 + (palette[i][2] - b) ** 2
            index[r, g, b] = min(range(256), key=near)
    white = [255 if c >= 254 else c for color in palette for c in color]
    return bytes(white), [bytes(index[color] for color in row) for row in coarse]


def written(palette, picture):
    """The bytes of the file."""

    def chunk(name, contents):
        return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", zlib.crc32(name + contents))

    header = struct.pack(">IIBBBBB", len(picture[0]), len(picture), 8, 3, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in picture), 9)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"PLTE", palette) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


for name in sys.argv[1:]:
    with open(name, "rb") as file:
        shrunk = written(*paletted(halved(rows(file.read()))))
    with open(name, "wb") as file:
        file.write(shrunk)
