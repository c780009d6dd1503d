#!/usr/bin/env python3
"""Makes pictures small enough to keep in the repository, and compares them.

    scripts/shrink_png.py FILE.png ...          replaces each file by one of at most 256 colors, or 64 if it is large
    scripts/shrink_png.py --same A.png B.png    exit status 1 unless both have the same pixels

The colors kept are the most frequent ones, and every other color is drawn as the nearest of them. Pixels are compared, not bytes, since
libraries compress the same pixels differently. Needs nothing but Python's standard library.
"""

import struct
import sys
import zlib
from collections import Counter

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Larger files get by with 64 colors.
LARGE = 150_000
CHANNELS = {0: 1, 2: 3, 3: 1, 6: 4}


def chunks(data):
    """The chunks of a PNG file, as pairs of name and contents."""
    at = len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12


def paeth(a, b, c):
    """The one of three that is nearest to a + b - c."""
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfiltered(kind, row, above, step):
    """A row of bytes as it was before its filter (PNG specification, section 9)."""
    if kind == 0:
        return row
    if kind == 2:
        return bytearray(map(lambda a, b: (a + b) & 255, row, above))
    for i in range(len(row)):
        left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
        guess = left if kind == 1 else (left + above[i]) // 2 if kind == 3 else paeth(left, above[i], corner)
        row[i] = (row[i] + guess) & 255
    return row


def pixels(data):
    """The rows of a picture of eight bits per channel, as lists of RGB triples."""
    parts = list(chunks(data))
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or color not in CHANNELS or interlaced:
        raise SystemExit("only pictures of eight bits per channel that are not interlaced are read")
    step = CHANNELS[color]
    palette = next((contents for name, contents in parts if name == b"PLTE"), b"")
    colors = list(zip(palette[::3], palette[1::3], palette[2::3]))
    raw = zlib.decompress(b"".join(contents for name, contents in parts if name == b"IDAT"))
    size, above, out = step * width, bytearray(step * width), []
    for y in range(height):
        kind, row = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1 : (y + 1) * (size + 1)])
        above = row = unfiltered(kind, row, above, step)
        if color == 3:
            out.append([colors[i] for i in row])
        elif color == 0:
            out.append(list(zip(row, row, row)))
        else:
            out.append(list(zip(row[::step], row[1::step], row[2::step])))
    return out


def paletted(picture, most):
    """At most so many colors, and the index of one of them for every pixel."""
    counts = Counter()
    for row in picture:
        counts.update(row)
    # Six bits per channel are as many as the eye needs between colors; the most frequent of those that agree in them stands for all. Greys
    # keep all bits, since shading would have steps.
    coarse = lambda color: color if color[0] == color[1] == color[2] else tuple(c >> 2 for c in color) + (0,)
    groups = {}
    for color, count in counts.items():
        group = groups.setdefault(coarse(color), [0, 0, color])
        group[0] += count
        if count > group[1] or (count == group[1] and color < group[2]):
            group[1], group[2] = count, color
    kept = sorted(groups.values(), key=lambda group: (-group[0], group[2]))[:most]
    palette = [group[2] for group in kept]
    index = {color: i for i, color in enumerate(palette)}
    nearest = {}
    for color in counts:
        if color not in index:
            key = coarse(color)
            if key not in nearest:
                r, g, b = groups[key][2]
                away = lambda i: (palette[i][0] - r) ** 2 + (palette[i][1] - g) ** 2 + (palette[i][2] - b) ** 2
                nearest[key] = min(range(len(palette)), key=away)
            index[color] = nearest[key]
    return bytes(c for color in palette for c in color), [bytes(map(index.__getitem__, row)) for row in picture]


def written(palette, picture):
    """The bytes of the file."""

    def chunk(name, contents):
        return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", zlib.crc32(name + contents))

    header = struct.pack(">IIBBBBB", len(picture[0]), len(picture), 8, 3, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in picture), 9)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"PLTE", palette) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def read(name):
    with open(name, "rb") as file:
        return file.read()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--same"]:
        one, other = map(read, sys.argv[2:4])
        sys.exit(0 if one == other or pixels(one) == pixels(other) else 1)
    for name in sys.argv[1:]:
        picture = pixels(read(name))
        small = written(*paletted(picture, 256))
        if len(small) > LARGE:
            small = written(*paletted(picture, 64))
        with open(name, "wb") as file:
            file.write(small)
