#!/usr/bin/env python3
"""Cuts the panels out of a contact sheet of `eigenfold compare --sweep` and puts them in the order of the parameter's values.

    scripts/arrange_sheet.py SHEET.png REPORT.json OUTPUT.png VALUE ...

SHEET.png comes from --contact-sheet and REPORT.json from --json of the same run. A contact sheet has its panels in the order of
the ranking, and the seconds of every fit below its title. The output has the panels in one row, in the order of the values, each
with its title, and the legend; the seconds are left out, so that the same sweep gives the same bytes. At most 128 colors, at full
size. Needs nothing but Python's standard library.
"""

import json
import struct
import sys
import zlib
from collections import Counter

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLORS = 128
TITLE = (72, 36)  # the title of a panel, in pixels above its frame
SIDE = 20  # free pixels around and between panels
LONG = 300  # pixels of one color: the border of a panel


def picture(data):
    """The rows of an RGB picture of eight bits per channel, each as a list of 24-bit numbers."""
    parts, at = [], len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        parts.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += length + 12
    width, height, depth, color = struct.unpack(">IIBB", parts[0][1][:10])
    if (depth, color) != (8, 2):
        raise SystemExit("not an RGB picture of eight bits per channel")
    raw = zlib.decompress(b"".join(contents for name, contents in parts if name == b"IDAT"))
    size, above, rows = 3 * width, bytearray(3 * width), []
    for y in range(height):
        kind, row = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1 : (y + 1) * (size + 1)])
        if kind == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, above))
        elif kind != 0:
            raise SystemExit(f"rows of filter {kind} are not read")
        rows.append([r << 16 | g << 8 | b for r, g, b in zip(row[::3], row[1::3], row[2::3])])
        above = row
    return rows


def runs(row, paper):
    """Where a row has one color other than the paper's for a long way: pairs of first and last pixel."""
    start = 0
    for x in range(1, len(row) + 1):
        if x == len(row) or row[x] != row[start]:
            if row[start] != paper and x - start >= LONG:
                yield start, x - 1
            start = x


def frames(rows):
    """The borders of the panels in reading order: left, right, top, bottom."""
    paper, lines = rows[0][0], {}
    for y, row in enumerate(rows):
        for run in runs(row, paper):
            lines.setdefault(run, []).append(y)
    found = []
    for (left, right), ys in lines.items():
        groups = [y for y in ys if y - 1 not in ys]  # a border may be more than one pixel thick
        found += [(left, right, top, bottom) for top, bottom in zip(groups[::2], groups[1::2])]
    return sorted(found, key=lambda frame: (frame[2], frame[0]))


def arranged(rows, order):
    """The panels of these positions side by side, and the legend."""
    found = frames(rows)
    if len(found) != len(order):
        raise SystemExit(f"{len(found)} panels on the sheet, {len(order)} in the report")
    paper, first = rows[0][0], found[0]
    height, right = first[3] - first[2] + 3, max(frame[1] for frame in found)
    legend_rows = rows[first[2] : first[2] + height]
    inked = [x for row in legend_rows for x in range(right + SIDE, len(row)) if row[x] != paper]
    legend = (right + SIDE, max(inked) + 1) if inked else None
    gap = [paper] * SIDE
    strips = [(f[0] - 1, f[1] + 2, f[2]) for f in (found[at] for at in order)]
    out = []
    for dy in (*range(-TITLE[0], -TITLE[1]), *range(-8, height)):
        line = list(gap)
        for left, end, top in strips:
            line += (rows[top + dy][left:end] if dy >= -1 or dy < -TITLE[1] else [paper] * (end - left)) + gap
        if legend:
            line += (rows[first[2] + dy][legend[0] : legend[1]] if dy >= 0 else [paper] * (legend[1] - legend[0])) + gap
        out.append(line)
    empty = [paper] * len(out[0])
    return [empty] * (SIDE // 2) + out + [empty] * (SIDE // 2)


def near(color, palette):
    """The position of the color of the palette that is nearest."""

    def distance(other):
        return sum(((color >> shift & 255) - (other >> shift & 255)) ** 2 for shift in (0, 8, 16))

    return min(range(len(palette)), key=lambda at: distance(palette[at]))


def paletted(rows):
    """The bytes of a PNG file with the most frequent colors; every other color is drawn as the nearest of them."""
    counts = Counter(color for row in rows for color in row)
    coarse = Counter()
    for color, count in counts.items():
        coarse[color & 0xFCFCFC] += count
    share = {}
    for color, count in counts.items():  # the most frequent color stands for all that agree with it in six bits
        key = color & 0xFCFCFC
        if key not in share or (count, color) > (counts[share[key]], share[key]):
            share[key] = color
    kept = sorted(coarse.items(), key=lambda item: (-item[1], item[0]))[:COLORS]
    palette = [share[key] for key, _ in kept]
    index = {key: near(share[key], palette) for key in coarse}
    body = b"".join(b"\0" + bytes(index[color & 0xFCFCFC] for color in row) for row in rows)

    def chunk(name, contents):
        return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", zlib.crc32(name + contents))

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    colors = b"".join(color.to_bytes(3, "big") for color in palette)
    return (
        SIGNATURE
        + chunk(b"IHDR", header)
        + chunk(b"PLTE", colors)
        + chunk(b"IDAT", zlib.compress(body, 9))
        + chunk(b"IEND", b"")
    )


def main(sheet, report, output, *values):
    with open(report, encoding="utf-8") as file:
        found = json.load(file)
    ranked = [found["methods"][name]["sweep"]["value"] for name in found["ranking"]]
    order = [ranked.index(value) for value in values]
    with open(sheet, "rb") as file:
        rows = picture(file.read())
    with open(output, "wb") as file:
        file.write(paletted(arranged(rows, order)))


if __name__ == "__main__":
    main(*sys.argv[1:])
