#!/usr/bin/env python3
"""Lawrence's experiments of 2012, with the `eigenfold` program.

    python3 examples/lawrence_2012.py --eigenfold target/release/eigenfold --data DATA --out out

Embeds a motion capture run (55 frames of 102 numbers, k = 6) and a robot's WiFi record (215 frames of 30 signal
strengths, k = 7) with every spectral method, scores the maps as the author did and as `eigenfold quality` does by
default, and writes tables (tables.md) and pictures (*.svg) to the output directory. A third picture is the handwritten
six, rotated 360 times, on its first two principal components.

DATA holds osu_run1/data.csv, robot_wireless/data.csv with labels.csv (time, x, y), and usps_six/data.csv (an image);
docs/papers/lawrence-2012.md says where they come from. Author's own coordinates are scored too if
osu_run1/reference_embeddings/talk_figure_NAME.csv are there. Needs Python 3.8 and nothing else.

N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights and new models.
JMLR 13, 2012, sections 1 and 4.
"""

import argparse
import base64
import csv
import json
import math
import pathlib
import shlex
import struct
import subprocess
import zlib

# The author's scores, read off the bar charts of his slides of 2015: to about 1 for motion capture, 3 for WiFi.
AUTHOR = {
    "motion-capture": {"le-author": 1812.6, "lle": 880.7, "isomap": 3812.0, "mvu": 3460.9, "meu-gamma": 3133.6},
    "wifi": {"le-author": 526.6, "lle": -4403.5, "isomap": 2198.8, "mvu": 2180.9, "meu-gamma": 2088.7},
}

# Key, title, flags without -k, and whether the author's score is of the map in its own units. A method that the program
# does not list is left out.
METHODS = [
    ("pca", "PCA", "-m pca", False),
    ("isomap", "Isomap", "-m isomap", False),
    ("mvu", "MVU, the author’s", "-m mvu --variant equality", True),
    ("mvu-equality", "MVU, equal distances", "-m mvu --variant equality", True),
    ("mvu-default", "MVU, our defaults", "-m mvu", True),
    ("meu-gamma", "MEU, γ = 1e-4", "-m meu --gamma 1e-4", False),
    ("meu", "MEU, γ = 0", "-m meu", False),
    ("alle", "acyclic LLE, the author’s", "-m alle --ordering elimination --regularization 1e-12", False),
    ("alle-default", "acyclic LLE, our defaults", "-m alle", False),
    ("drill", "DRILL", "-m drill --penalty 0 --ridge 0", False),
    ("le-author", "LE, the author’s", "-m le --bandwidth 1 --variant symmetric --mutual twice", True),
    ("le", "LE, our defaults", "-m le", False),
    ("lle", "LLE, unregularized", "-m lle --regularization 1e-12", True),
    ("lle-default", "LLE, our defaults", "-m lle", False),
    ("modified-lle", "modified LLE", "-m modified-lle", False),
    ("ltsa", "LTSA", "-m ltsa", False),
    ("hessian-lle", "Hessian LLE", "-m hessian-lle", False),
    ("diffusion-maps", "diffusion maps", "-m diffusion-maps", False),
    ("kernel-pca", "kernel PCA", "-m kernel-pca", False),
]
NO_GRAPH = {"pca", "kernel-pca"}
# He handed plain distances to a program for squared ones: the same as distances √d.
OF_ROOTS = {"mvu"}
# Not drawn: the same map as with γ = 1e-4, to the eye.
NOT_DRAWN = {"meu"}
PENALTIES = [0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]
# Neighbors of DRILL's two paths, and the penalty where the author's score is highest.
PATHS = [("drill-20", "20 neighbors", "-k 20", 0.01), ("drill-all", "all points neighbors", "--graph all", 0.002)]


# ------------------------------------------------------------------------------------------------- the program, driven


class Refused(Exception):
    """The error message of a run that failed."""


class Program:
    """The eigenfold program, and the directory of its files."""

    def __init__(self, path, out):
        self.path, self.out = path, out
        listed = json.loads(self.run("methods", "--json", "-"))
        self.methods = {name for method in listed for name in [method["name"], *method["aliases"]]}

    def run(self, *arguments):
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused(done.stderr.strip())
        return done.stdout

    def embed(self, data, name, flags):
        """The map of a method (a list of rows) and its report."""
        output = self.out / "maps" / f"{name}.csv"
        report = self.run("embed", data, *shlex.split(flags), "-o", output, "--quiet", "--json", "-")
        return read(output), json.loads(report)

    def score(self, data, embedding, *flags):
        report = json.loads(self.run("quality", data, embedding, *flags, "--quiet", "--json", "-"))
        return report["gp_likelihood"]["value"]


def read(path):
    """The rows of a file of numbers, a first line of names skipped."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    try:
        float(rows[0][0])
    except ValueError:
        del rows[0]
    return [[float(entry) for entry in row] for row in rows]


# ------------------------------------------------------------------------------------------------------ maps, compared


def standard(rows):
    """Two columns, centered, of unit variance each."""
    columns = []
    for column in list(zip(*rows))[:2]:
        mean = sum(column) / len(column)
        size = math.sqrt(sum((x - mean) ** 2 for x in column) / (len(column) - 1)) or 1.0
        columns.append([(x - mean) / size for x in column])
    return list(zip(*columns))


def centered(rows):
    """Two columns, centered."""
    columns = list(zip(*rows))[:2]
    means = [sum(column) / len(column) for column in columns]
    return [(x - means[0], y - means[1]) for x, y in zip(*columns)]


def aligned(rows, to):
    """Rotated and, if that is closer, reflected to the reference: the best orthogonal map of the plane."""

    def turned(rows):
        dot = sum(a * c + b * d for (a, b), (c, d) in zip(rows, to))
        cross = sum(a * d - b * c for (a, b), (c, d) in zip(rows, to))
        angle = math.atan2(cross, dot)
        c, s = math.cos(angle), math.sin(angle)
        return math.hypot(dot, cross), [(c * x - s * y, s * x + c * y) for x, y in rows]

    return max(turned(rows), turned([(x, -y) for x, y in rows]))[1]


def explained(truth, rows):
    """The part of the true positions' variance that is a linear function of the map."""
    (x, y), truth = zip(*standard(rows)), [list(column) for column in zip(*truth)]
    xy = sum(a * b for a, b in zip(x, y)) / (len(x) - 1)
    # The second column, with the first taken out.
    second = [b - xy * a for a, b in zip(x, y)]
    left = total = 0.0
    for column in truth:
        mean = sum(column) / len(column)
        rest = [t - mean for t in column]
        total += sum(t * t for t in rest)
        for axis in (x, second):
            slope = sum(t * a for t, a in zip(rest, axis)) / sum(a * a for a in axis)
            rest = [t - slope * a for t, a in zip(rest, axis)]
        left += sum(t * t for t in rest)
    return 1 - left / total


# ------------------------------------------------------------------------------------------------------------ pictures

INK, GREY, GRID, PLAIN, OTHER = "#262b33", "#707680", "#eaecef", "#00629b", "#b0b5bd"
ORANGE = "#d55e00"
VIRIDIS = [
    (68, 1, 84), (72, 24, 106), (71, 45, 123), (66, 64, 134), (59, 82, 139), (51, 99, 141), (44, 114, 142),
    (38, 130, 142), (33, 145, 140), (31, 160, 136), (40, 174, 128), (63, 188, 115), (94, 201, 98), (132, 212, 75),
    (173, 220, 48), (216, 226, 25), (253, 231, 37),
]  # fmt: skip


def viridis(fraction):
    """The color of a value, as on the program's own plots."""
    level = round(min(max(fraction, 0.0), 1.0) * 64)
    below, between = level // 4, level % 4 / 4
    a, b = VIRIDIS[below], VIRIDIS[min(below + 1, 16)]
    return "#" + "".join(f"{round(p + between * (q - p)):02x}" for p, q in zip(a, b))


class Sheet:
    """A picture in the making, in units of 1/96 inch."""

    def __init__(self, width, height):
        self.width, self.height, self.marks = width, height, []

    def text(self, x, y, size, text, color=INK, anchor="start", bold=False):
        text = str(text).replace("&", "&amp;").replace("<", "&lt;")
        style = (f' text-anchor="{anchor}"' if anchor != "start" else "") + (' font-weight="bold"' if bold else "")
        self.marks.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}"{style}>{text}</text>')

    def line(self, points, color, width=1.0):
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.marks.append(f'<path d="{path}" stroke="{color}" stroke-width="{width}"/>')

    def trail(self, places, colors, width, radius):
        """Places joined in their order, with a disc at each: a stroke without length, whose ends are round."""
        ends = [i for i in range(1, len(places)) if colors[i] != colors[i - 1]] + [len(places)]
        runs = list(zip([0] + ends, ends))
        for start, end in runs:
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places[start : end + 1])
            self.marks.append(f'<path d="{path}" stroke="{colors[start]}"/>')
        self.marks[-len(runs)] = f'<g stroke-width="{width}">' + self.marks[-len(runs)]
        self.marks.append(f'</g><g stroke-width="{2 * radius}">')
        for start, end in runs:
            path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places[start:end])
            self.marks.append(f'<path d="{path}" stroke="{colors[start]}"/>')
        self.marks.append("</g>")

    def rect(self, x, y, width, height, color):
        self.marks.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def dot(self, x, y, radius, color, edge="none"):
        self.marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}" stroke="{edge}"/>')

    def image(self, x, y, size, rows):
        """A square image of ink (0 to 1)."""
        packed = b"".join(b"\0" + bytes(round(255 * (1 - ink)) for ink in row) for row in rows)

        def chunk(kind, body):
            return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

        header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
        chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b"")
        data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode()
        self.marks.append(
            f'<image x="{x:.1f}" y="{y:.1f}" width="{size}" height="{size}" href="data:image/png;base64,{data}"/>'
        )

    def save(self, path):
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        strokes = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
        font = "font-family=\"'Liberation Sans', Arial, Helvetica, sans-serif\""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} {strokes}>\n'
        head += '<rect width="100%" height="100%" fill="#ffffff"/>\n'
        path.write_text(head + "\n".join(self.marks) + "\n</svg>\n")


def draw_map(sheet, x, y, size, rows, title, below):
    """A panel: the points joined in the order of the rows, colored from the first to the last."""
    sheet.text(x, y - 22, 13, title)
    sheet.text(x, y - 7, 11, below, GREY)
    sheet.line([(x, y), (x + size, y), (x + size, y + size), (x, y + size), (x, y)], GRID)
    low = [min(column) for column in zip(*rows)]
    high = [max(column) for column in zip(*rows)]
    unit = 0.9 * size / max(b - a for a, b in zip(low, high))
    middle = [(a + b) / 2 for a, b in zip(low, high)]
    places = [(x + size / 2 + unit * (a - middle[0]), y + size / 2 - unit * (b - middle[1])) for a, b in rows]
    last = len(places) - 1
    colors = [viridis(i / last) for i in range(last + 1)]
    sheet.trail(places, colors, 1.1, 2.1 if last < 100 else 1.5)
    sheet.dot(*places[0], 4, "#ffffff", INK)


def draw_figure(path, heading, sub, panels, columns=5, size=176):
    """Maps on a grid."""
    wide, high = size + 22, size + 56
    lines = math.ceil(len(panels) / columns)
    sheet = Sheet(columns * wide + 26, lines * high + 78)
    sheet.text(24, 32, 18, heading)
    sheet.text(24, 52, 12, sub, GREY)
    for at, (title, below, rows) in enumerate(panels):
        draw_map(sheet, 24 + at % columns * wide, 106 + at // columns * high, size, rows, title, below)
    sheet.save(path)


def draw_bars(path, charts):
    """Scores, best first, and the author's as a mark beside ours; scores below zero by their number alone."""
    count = max(len(rows) for _, rows in charts)
    sheet = Sheet(1000, 112 + 22 * count)
    sheet.text(24, 32, 18, "Scores of the maps")
    sheet.text(24, 52, 12, "log likelihood of the data under a Gaussian process over the map, one start", GREY)
    sheet.rect(560, 42, 22, 10, PLAIN)
    sheet.text(588, 52, 12, "eigenfold", GREY)
    sheet.line([(668, 40), (668, 54)], ORANGE, 3)
    sheet.text(676, 52, 12, "the author’s own score, by his slides of 2015", GREY)
    for at, (title, rows) in enumerate(charts):
        left = 24 + 488 * at
        zero, full = left + 168, 250
        sheet.text(left, 82, 13, title, bold=True)
        most = max(max(ours, author or 0) for _, ours, author in rows)
        for i, (name, ours, author) in enumerate(sorted(rows, key=lambda row: -row[1])):
            y = 94 + 22 * i
            sheet.text(zero - 8, y + 12, 12, name, INK, "end")
            if ours > 0:
                sheet.rect(zero, y + 1, full * ours / most, 15, PLAIN)
            end = zero + full * max(ours, author or 0, 0) / most
            sheet.text(end + 8, y + 13, 11, f"{ours:.0f}".replace("-", "−"), GREY)
            if author is not None and author > 0:
                sheet.line([(zero + full * author / most, y - 1), (zero + full * author / most, y + 18)], ORANGE, 3)
            elif author is not None:
                sheet.text(zero + 56, y + 13, 11, f"author {author:.0f}".replace("-", "−"), ORANGE)
        sheet.line([(zero, 92), (zero, 94 + 22 * len(rows))], GREY)
    sheet.save(path)


def draw_path(path, heading, points, best, author):
    """The score against the penalty, and the maps below it."""
    maps = [points[0], best, points[-1]] if best not in (points[0], points[-1]) else [points[0], points[4], points[-1]]
    sheet = Sheet(680, 590)
    sheet.text(24, 32, 18, heading)
    sheet.text(24, 52, 12, "score against the L1 penalty, motion capture", GREY)
    low, high = min(p[1] for p in points), max(p[1] for p in points)
    room = 0.1 * (high - low)
    low, high = low - room, high + room
    across = {p[0]: 90 + 560 * i / (len(points) - 1) for i, p in enumerate(points)}

    def down(score):
        return 290 - 220 * (score - low) / (high - low)

    step = 10 ** math.floor(math.log10(high - low))
    step = step if (high - low) / step > 3 else step / 2
    for tick in range(math.ceil(low / step), math.floor(high / step) + 1):
        sheet.line([(90, down(tick * step)), (650, down(tick * step))], GRID)
        sheet.text(82, down(tick * step) + 4, 11, f"{tick * step:.0f}", GREY, "end")
    for penalty, place in across.items():
        sheet.text(place, 308, 11, f"{penalty:g}", ORANGE if penalty == author else GREY, "middle")
    sheet.text(650, 328, 11, "orange: where the author’s score is highest", ORANGE, "end")
    sheet.line([(across[p[0]], down(p[1])) for p in points], PLAIN, 1.5)
    for penalty, score, _ in points:
        sheet.dot(across[penalty], down(score), 4 if penalty == best[0] else 2.5, PLAIN)
    for at, (penalty, score, rows) in enumerate(maps):
        draw_map(sheet, 24 + 212 * at, 388, 180, rows, f"penalty {penalty:g}", f"score {score:.0f}")
    sheet.save(path)


# --------------------------------------------------------------------------------------------------------- experiments


# How lengths on the map are measured: one per coordinate, one of unit columns, one of the map as it is.
LENGTHS = ("ard", "unit", "raw")


def root_distances(data, file):
    """Writes the roots of the distances between the rows of a file; returns the written file."""
    rows = read(data)
    with open(file, "w", newline="") as out:
        csv.writer(out).writerows([math.sqrt(math.dist(a, b)) for b in rows] for a in rows)
    return file


def experiment(program, data, name, k, reference):
    """Every method on one data set: a list of rows of the table, and the maps."""
    file, results = data / "data.csv", []
    for key, title, flags, raw in METHODS:
        method = flags.split()[1]
        if method not in program.methods:
            continue
        flags += "" if method in NO_GRAPH else f" -k {k}"
        source = file
        if key in OF_ROOTS:
            source, flags = root_distances(file, program.out / "maps" / f"{name}-roots.csv"), flags + " --input-kind distances"
        rows, report = program.embed(source, f"{name}-{key}", flags)
        embedding = program.out / "maps" / f"{name}-{key}.csv"
        result = {
            "key": key,
            "title": title,
            "flags": flags,
            "his_raw": raw,
            "map": centered(rows) if raw else standard(rows),
            "his": program.score(file, embedding, "--starts", "one", "--lengths", "raw" if raw else "unit"),
            **{way: program.score(file, embedding, "--lengths", way) for way in LENGTHS},
            "author": AUTHOR[name].get(key),
            "likelihood": report.get("log_likelihood"),
            "explained": explained(reference, rows) if reference else None,
        }
        results.append(result)
        print(f"{name:15} {title:26} {result['his']:9.1f}", *(f"{result[way]:9.1f}" for way in LENGTHS))
    to = centered(reference) if reference else next(r["map"] for r in results if r["key"] == "isomap")
    for result in results:
        result["map"] = aligned(result["map"], to)
    return results


def number(value, digits=1):
    return "" if value is None else f"{value:.{digits}f}".replace("-", "−")


def table(results, truth):
    lines = [
        "| method | flags | author | here | difference | ard | unit | raw |" + (" truth |" if truth else ""),
        "|---|---|---|---|---|---|---|---|" + ("---|" if truth else ""),
    ]
    for r in results:
        difference = None if r["author"] is None else r["his"] - r["author"]
        units = " (raw)" if r["his_raw"] else ""
        cells = [r["title"], f"`{r['flags']}`", number(r["author"]), number(r["his"]) + units]
        cells += [number(difference), *(number(r[way]) for way in LENGTHS)]
        cells += [number(r["explained"], 3)] if truth else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def likelihoods(results, n, p):
    """The log likelihoods of MEU without their 2π, as the author's program writes them."""
    constant = 0.5 * n * p * math.log(2 * math.pi)
    lines = ["| field | log likelihood | without the 2π |", "|---|---|---|"]
    for r in results:
        if r["likelihood"] is not None:
            lines.append(f"| {r['title']} | {number(r['likelihood'], 2)} | {number(r['likelihood'] + constant, 2)} |")
    return "\n".join(lines)


def author_maps(program, data):
    """The scores of the coordinates in the author's own figures."""
    lines = ["| the author's coordinates | his score | here, unit | here, raw |", "|---|---|---|---|"]
    keys = [("Isomap", "isomap"), ("MEU", "meu-gamma"), ("MVU", "mvu"), ("LE", "le-author")]
    for name, key in keys:
        file = data / "reference_embeddings" / f"talk_figure_{name}.csv"
        if file.exists():
            scores = [program.score(data / "data.csv", file, "--starts", "one", "--lengths", way) for way in ("unit", "raw")]
            cells = [name, *map(number, [AUTHOR["motion-capture"][key], *scores])]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) if len(lines) > 2 else None


def drill_paths(program, data, reference):
    """DRILL's score along its penalties."""
    lines = ["| penalty | " + " | ".join(title for _, title, _, _ in PATHS) + " |", "|---|" + "---|" * len(PATHS)]
    columns = []
    for name, title, flags, author in PATHS:
        points = []
        for penalty in PENALTIES:
            key = f"{name}-{penalty:g}"
            try:
                rows, _ = program.embed(data / "data.csv", key, f"-m drill {flags} --penalty {penalty:g} --ridge 0 --penalize-diagonal true")
            except Refused as refused:
                print(f"DRILL, {title}, penalty {penalty:g}: {refused}")
                continue
            score = program.score(data / "data.csv", program.out / "maps" / f"{key}.csv", "--starts", "one", "--lengths", "unit")
            points.append((penalty, score, aligned(standard(rows), reference)))
            print(f"DRILL, {title}, penalty {penalty:g}: {score:.1f}")
        best = max(points, key=lambda point: point[1])
        draw_path(program.out / f"{name}.svg", f"DRILL, {title}", points, best, author)
        columns.append({penalty: score for penalty, score, _ in points})
    for penalty in PENALTIES:
        scores = [number(column.get(penalty)) or "refused" for column in columns]
        lines.append(f"| {penalty:g} | " + " | ".join(scores) + " |")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------ the six


def rotated(image, degrees, size):
    """The image (rows of ink) turned about its middle onto a square, by bilinear interpolation; no ink outside."""
    rows, cols = len(image), len(image[0])
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turned = []
    for i in range(size):
        down = i - (size - 1) / 2
        line = []
        for j in range(size):
            across = j - (size - 1) / 2
            y, x = c * down - s * across + (rows - 1) / 2, s * down + c * across + (cols - 1) / 2
            y0, x0 = math.floor(y), math.floor(x)
            ink = 0.0
            if -1 <= y0 < rows and -1 <= x0 < cols:
                for a in (y0, y0 + 1):
                    for b in (x0, x0 + 1):
                        if 0 <= a < rows and 0 <= b < cols:
                            ink += image[a][b] * (1 - abs(y - a)) * (1 - abs(x - b))
            line.append(ink)
        turned.append(line)
    return turned


def write_npy(path, rows):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    body = b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body)


def six(program, file):
    """The rotated six on its first two principal components, and how round that is."""
    image = [[1 - value / 255 for value in row] for row in read(file)]
    size = math.ceil(math.hypot(len(image), len(image[0])))
    images = [rotated(image, degrees, size) for degrees in range(360)]
    data = program.out / "rotated-six.npy"
    write_npy(data, [[ink for line in turned for ink in line] for turned in images])
    rows, report = program.embed(data, "rotated-six", "-m pca -d 4")
    radii = [math.hypot(a, b) for a, b, *_ in rows]
    mean = sum(radii) / len(radii)
    angles = [math.atan2(b, a) for a, b, *_ in rows]
    steps = [(b - a + math.pi) % (2 * math.pi) - math.pi for a, b in zip(angles, angles[1:] + angles[:1])]
    forward = sum(steps) > 0
    facts = [
        f"- radius: {mean:.3f} on average, from {min(radii) / mean:.4f} to {max(radii) / mean:.4f} of that",
        f"- turns of the map over the 360 degrees: {abs(sum(steps)) / (2 * math.pi):.3f}",
        f"- steps that go the other way: {sum((step > 0) != forward for step in steps)} of 360",
        f"- one step: {math.degrees(min(map(abs, steps))):.3f} to {math.degrees(max(map(abs, steps))):.3f} degrees",
        "- eigenvalues: " + ", ".join(f"{value:.2f}" for value in report["eigenvalues"][:6]),
    ]
    sheet = Sheet(640, 680)
    sheet.text(24, 32, 18, "A handwritten six, rotated 360 times")
    sheet.text(24, 52, 12, "its first two principal components; some of the images beside their points", GREY)
    middle, unit = (320, 366), 196 / max(radii)
    for i, (a, b, *_) in enumerate(rows):
        place = (middle[0] + unit * a, middle[1] - unit * b)
        if i % 30 == 0:
            out = (middle[0] + 1.32 * unit * a, middle[1] - 1.32 * unit * b)
            sheet.line([place, (middle[0] + 1.12 * unit * a, middle[1] - 1.12 * unit * b)], OTHER)
            sheet.image(out[0] - 36, out[1] - 36, 72, images[i])
        sheet.dot(*place, 2.2, viridis(i / 359))
    off = max(max(radii) / mean - 1, 1 - min(radii) / mean)
    sheet.text(middle[0], middle[1] - 6, 12, f"the radius is constant to {off:.1%}", GREY, "middle")
    sheet.text(middle[0], middle[1] + 12, 12, "colored by the angle of rotation", GREY, "middle")
    sheet.save(program.out / "rotated-six.svg")
    return "\n".join(facts)


def main():
    parser = argparse.ArgumentParser(description="Lawrence's experiments of 2012, with the eigenfold program")
    parser.add_argument("--eigenfold", default="eigenfold", help="the program")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the directory of the data sets")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="where tables and pictures go")
    args = parser.parse_args()
    (args.out / "maps").mkdir(parents=True, exist_ok=True)
    program = Program(args.eigenfold, args.out)

    motion, wifi = args.data / "osu_run1", args.data / "robot_wireless"
    truth = [row[1:3] for row in read(wifi / "labels.csv")]
    runs = experiment(program, motion, "motion-capture", 6, None)
    robots = experiment(program, wifi, "wifi", 7, truth)
    parts = ["## Motion capture, k = 6", table(runs, False), author_maps(program, motion), likelihoods(runs, 55, 102)]
    parts += ["## Robot WiFi, k = 7", table(robots, True), likelihoods(robots, 215, 30)]

    def panels(results):
        return [(r["title"], f"score {number(r['his'], 0)}", r["map"]) for r in results if r["key"] not in NOT_DRAWN]

    note = "every map turned to {}; a circle marks the start, later is lighter; scores from one start"
    drawn, figure = panels(runs), motion / "reference_embeddings" / "talk_figure_MVU.csv"
    if figure.exists():
        score = program.score(motion / "data.csv", figure, "--starts", "one", "--lengths", "raw")
        his = aligned(centered(read(figure)), next(r["map"] for r in runs if r["key"] == "isomap"))
        drawn.append(("MVU, the author’s map", f"score {score:.0f}", his))
    heading = "Motion capture of a run, 55 frames, k = 6"
    draw_figure(args.out / "motion-capture.svg", heading, note.format("Isomap’s"), drawn)
    path = [("the true path", "as it was measured", centered(truth))]
    heading = "WiFi record of a robot, 215 frames, k = 7"
    draw_figure(args.out / "wifi.svg", heading, note.format("the true path"), path + panels(robots))
    bars = [[(r["title"], r["his"], r["author"]) for r in results] for results in (runs, robots)]
    draw_bars(args.out / "scores.svg", [("motion capture", bars[0]), ("robot WiFi", bars[1])])
    if "drill" in program.methods:
        isomap = next(r["map"] for r in runs if r["key"] == "isomap")
        parts += ["## DRILL along its penalty, motion capture", drill_paths(program, motion, isomap)]
    parts += ["## The rotated six", six(program, args.data / "usps_six" / "data.csv")]
    (args.out / "tables.md").write_text("\n\n".join(part for part in parts if part) + "\n")
    print(f"tables and pictures are in {args.out}")


if __name__ == "__main__":
    main()
