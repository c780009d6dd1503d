#!/usr/bin/env python3
"""The figures of Carreira-Perpinan's paper on elastic embedding (ICML 2010), with the `eigenfold` program.

    python3 examples/carreira_perpinan_2010.py --eigenfold target/release/eigenfold --data DATA --out out

Draws figures 1 to 5 as five pictures (figure-1.svg to figure-5.svg) and writes the numbers behind them to tables.md. The
spiral and the swiss roll are made here; DATA holds coil20/data_32x32.npy, twenty objects of 72 views each (bytes, 32 x 32),
of which the first ten are used. Without DATA figure 5 is left out. Needs Python 3.8 and nothing else.

M. A. Carreira-Perpinan. The elastic embedding algorithm for dimensionality reduction. ICML 2010, section 5.
"""

import argparse
import json
import math
import pathlib
import shlex
import struct
import time

from lawrence_2012 import GREY, GRID, INK, ORANGE, PLAIN, Program, Sheet, centered, explained, read, viridis, write_npy

OBJECTS, VIEWS, SIDE = 10, 72, 32
HUES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22", "#5a3d9a"]


def spiral(count=200, radius=0.93):
    """One turn of r = t, at equal arc lengths."""

    def arc(t):
        return 0.5 * (t * math.sqrt(1 + t * t) + math.asinh(t))

    rows = []
    for i in range(count):
        low, high = 0.0, 2 * math.pi
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if arc(middle) < arc(2 * math.pi) * i / (count - 1) else (low, middle)
        r = radius * low / (2 * math.pi)
        rows.append([r * math.cos(low), r * math.sin(low)])
    return rows


def read_bytes(path, rows):
    """The first rows of an NPY file of bytes, as numbers from 0 to 1."""
    data = path.read_bytes()
    (size,) = struct.unpack("<H", data[8:10])
    body, width = data[10 + size :], SIDE * SIDE
    return [[byte / 255 for byte in body[i * width : (i + 1) * width]] for i in range(rows)]


def by_lambda(path):
    """The maps of a path: a list of pairs of lambda and rows."""
    maps = {}
    for row in read(path):
        maps.setdefault(row[0], []).append(row[2:])
    return list(maps.items())


def square_diameter(rows):
    """The square of the widest distance, by many directions: good to a part in a thousand."""
    if len(rows[0]) == 1:
        return (max(rows)[0] - min(rows)[0]) ** 2
    widest = 0.0
    for step in range(90):
        c, s = math.cos(math.pi * step / 90), math.sin(math.pi * step / 90)
        along = [c * x + s * y for x, y in rows]
        widest = max(widest, max(along) - min(along))
    return widest * widest


# ------------------------------------------------------------------------------------------------------------ pictures


class Axes:
    """A rectangle with a logarithmic or plain axis across and a plain one down."""

    def __init__(self, sheet, box, across, down, log=True):
        self.sheet, self.box, self.across, self.down, self.log = sheet, box, across, down, log
        x, y, width, height = box
        sheet.line([(x, y), (x, y + height), (x + width, y + height)], GREY)

    def place(self, a, b):
        x, y, width, height = self.box
        (low, high), (bottom, top) = self.across, self.down
        part = math.log(a / low) / math.log(high / low) if self.log else (a - low) / (high - low)
        return x + width * part, y + height * (1 - (b - bottom) / (top - bottom))

    def ticks(self, across, down):
        x, y, width, height = self.box
        for tick in across:
            self.sheet.text(self.place(tick, self.down[0])[0], y + height + 16, 11, f"{tick:g}", GREY, "middle")
        for tick in down:
            level = self.place(self.across[0], tick)[1]
            self.sheet.line([(x, level), (x + width, level)], GRID)
            self.sheet.text(x - 6, level + 4, 11, f"{tick:g}", GREY, "end")

    def curve(self, points, color, width=1.5):
        self.sheet.line([self.place(*point) for point in points], color, width)


def scatter(sheet, x, y, size, rows, colors, title, below, radius=1.6):
    """A map in a square."""
    sheet.text(x, y - 22, 13, title)
    sheet.text(x, y - 7, 11, below, GREY)
    sheet.line([(x, y), (x + size, y), (x + size, y + size), (x, y + size), (x, y)], GRID)
    low, high = [[f(column) for column in zip(*rows)] for f in (min, max)]
    unit = 0.92 * size / max(b - a for a, b in zip(low, high))
    places = {}
    for (a, b), color in zip(rows, colors):
        place = (x + size / 2 + unit * (a - (low[0] + high[0]) / 2), y + size / 2 - unit * (b - (low[1] + high[1]) / 2))
        places.setdefault(color, []).append(place)
    # A disc is a stroke without length, whose ends are round: one path for each color.
    for color, some in places.items():
        path = "".join(f"M{a:.0f} {b:.0f}h0" if len(rows) > 1000 else f"M{a:.1f} {b:.1f}h0" for a, b in some)
        sheet.marks.append(f'<path d="{path}" stroke="{color}" stroke-width="{2 * radius}"/>')


def headed(width, height, heading, sub):
    sheet = Sheet(width, height)
    sheet.text(24, 32, 18, heading)
    sheet.text(24, 52, 12, sub, GREY)
    return sheet


# --------------------------------------------------------------------------------------------------------- experiments


def figure_1(program, roll_path):
    """Two points, and the size of the roll's map."""
    pair = program.out / "pair.csv"
    # w+ = exp(-d^2/2) and w- = d^2 are one another's equal at lambda = 1 where d^2 exp(d^2/2) = 1.
    d = math.sqrt(0.7034674224983917)
    pair.write_text(f"x\n0\n{d}\n")
    found = []
    for step in range(13):
        value = 10 ** (-1 + 0.5 * step)
        flags = f"-m elastic -k 1 --bandwidth 1 --lambda {value} -d 1"
        found.append((value, square_diameter(program.embed(pair, "pair", flags)[0])))
    sheet = headed(860, 340, "Figure 1: how a map grows with λ", "left: two points, found and log λ; right: the swiss roll")
    axes = Axes(sheet, (70, 90, 320, 200), (0.1, 1e5), (0, 12))
    axes.ticks([0.1, 1, 10, 100, 1000, 1e4, 1e5], [0, 2, 4, 6, 8, 10, 12])
    axes.curve([(10 ** (e / 20), max(0.0, math.log(10 ** (e / 20)))) for e in range(-20, 101)], PLAIN)
    for point in found:
        sheet.dot(*axes.place(*point), 3, ORANGE)
    sheet.text(80, 84, 12, "x² of two points", INK)
    sizes = [(value, square_diameter(rows)) for value, rows in roll_path]
    top = 1.1 * max(size for _, size in sizes)
    axes = Axes(sheet, (500, 90, 320, 200), (sizes[0][0], sizes[-1][0]), (0, top))
    axes.ticks([1e-6, 1e-4, 1e-2, 1, 100, 1e4], [round(top / 4 * i, -2) for i in range(4)])
    axes.curve(sizes, PLAIN)
    sheet.text(510, 84, 12, "squared diameter of the roll’s map", INK)
    sheet.save(program.out / "figure-1.svg")
    worst = max(abs(size - max(0.0, math.log(value))) for value, size in found)
    return f"Two points: x² is max(0, log λ) to {worst:.1e} at {len(found)} values of λ from 0.1 to 1e5."


def profile(weights, center, reach):
    """The learned affinity of a point to those up to `reach` before and after it."""
    values = {}
    for i, j, _, weight in weights:
        if center in (int(i), int(j)):
            values[int(j) + int(i) - 2 * center] = weight
    return [(away, values.get(away, 0.0)) for away in range(-reach, reach + 1) if away]


def figure_2(program):
    """The spiral: the map along lambda, and the affinities that it learns."""
    data, path, learned = program.out / "spiral.csv", program.out / "spiral-path.csv", program.out / "learned.csv"
    data.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in spiral()))
    common = "-m elastic --graph all --bandwidth 0.05 -d 1"
    flags = f"{common} --init random --lambda 1e-2:1e2:80 --path {shlex.quote(str(path))}"
    rows, report = program.embed(data, "spiral", flags)
    maps = by_lambda(path)
    gaps = [abs(b[0] - a[0]) for a, b in zip(rows, rows[1:])][10:-10]
    mean = sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap / mean - 1) ** 2 for gap in gaps) / len(gaps))
    sheet = headed(1000, 380, "Figure 2: a spiral of 200 points, σ = 0.05", "the spiral; its map in one dimension as λ grows; the affinities that a point in its middle learns")
    colors = [viridis(i / 199) for i in range(200)]
    scatter(sheet, 40, 110, 200, spiral(), colors, "", "")
    top = max(max(abs(y) for (y,) in rows) for _, rows in maps)
    axes = Axes(sheet, (310, 90, 300, 230), (1e-2, 1e2), (-top, top))
    axes.ticks([0.01, 0.1, 1, 10, 100], [0])
    ways = list(zip(*[rows for _, rows in maps]))
    # A map may be mirrored from one lambda to the next only if the program turned it: the last one decides for all.
    for i in range(0, 200, 5):
        axes.curve([(value, y[0]) for (value, _), y in zip(maps, ways[i])], colors[i], 1.0)
    sheet.text(460, 350, 12, "λ", GREY, "middle")
    axes = Axes(sheet, (690, 90, 280, 230), (-40, 40), (-0.4, 1.0), log=False)
    axes.ticks([-40, -20, 0, 20, 40], [-0.4, 0, 0.5, 1])
    facts = []
    for value, color in ((1e-4, GREY), (1.0, PLAIN), (100.0, ORANGE)):
        strength = f"--lambda {value}" if value < 1e-2 else f"--lambda 1e-2:{value}:40"
        program.embed(data, "spiral-learned", f"{common} {strength} --weights {shlex.quote(str(learned))}")
        shape = profile(read(learned), 100, 40)
        axes.curve(shape, color)
        facts.append(f"λ = {value:g}: from {min(w for _, w in shape):.3f} to {max(w for _, w in shape):.3f}")
    sheet.text(690, 350, 12, "points away; grey λ = 1e-4, blue 1, orange 100", GREY)
    sheet.save(program.out / "figure-2.svg")
    monotone = sum((b[0] - a[0]) * (rows[-1][0] - rows[0][0]) > 0 for a, b in zip(rows, rows[1:]))
    return (
        f"The spiral: λ₁* = {report['critical_lambda']:.4g}, between {report['critical_lambda_lower']:.3g} and "
        f"{report['critical_lambda_upper']:.3g} (paper: 4e-5 to 1e-4). At λ = 100 {monotone} of 199 steps go one way, and "
        f"the spacing of the inner points varies by {100 * spread:.2f} %. Objective {report['objective']:.4f}. Learned "
        f"affinities of point 100: {'; '.join(facts)}."
    )


def figure_3(program):
    """The swiss roll by elastic embedding at several lambda, and by other methods."""
    data, truth = program.out / "roll.csv", program.out / "truth.csv"
    path = program.out / "roll-path.csv"
    program.run("sample", "swiss-roll", "-n", 2000, "-o", data, "--truth", truth, "-q")
    true = read(truth)
    low, high = min(true)[0], max(true)[0]
    colors = [viridis((s - low) / (high - low)) for s, _ in true]
    common = "-m elastic -k 12 --bandwidth 15"
    began = time.time()
    flags = f"{common} --accuracy fast --init spectral --lambda 1e-7:1e5:60 --path {shlex.quote(str(path))}"
    _, report = program.embed(data, "roll", flags)
    seconds = time.time() - began
    maps = by_lambda(path)
    sheet = headed(1100, 640, "Figure 3: a swiss roll of 2,000 points, k = 12, σ = 15", "top: elastic embedding along λ; bottom: the truth and other methods. Colored along the roll; in brackets the part of the true positions’ variance that is a linear function of the map")
    lines, shown = [], [min(maps, key=lambda pair: abs(math.log(pair[0] / value))) for value in (1e-6, 1e-3, 0.1, 1.0, 10.0)]
    for at, (value, rows) in enumerate(shown):
        r2 = explained(true, rows)
        lines.append((f"elastic, on the path, λ = {value:.1e}", r2))
        scatter(sheet, 24 + 214 * at, 120, 190, centered(rows), colors, f"λ = {value:.1e}", f"({r2:.3f})")
    others = [
        ("isomap", "-m isomap -k 12"),
        ("Laplacian eigenmaps", "-m le -k 12 --bandwidth 15"),
        ("SNE", "-m sne --perplexity 12"),
        ("t-SNE", "-m tsne --perplexity 12"),
    ]
    scatter(sheet, 24, 400, 190, centered(true), colors, "the truth", "")
    for at, (name, flags) in enumerate(others):
        rows, _ = program.embed(data, name.replace(" ", "-"), flags)
        r2 = explained(true, rows)
        lines.append((name, r2))
        scatter(sheet, 24 + 214 * (at + 1), 400, 190, centered(rows), colors, name, f"({r2:.3f})")
    for value in (0.1, 1.0, 10.0):
        rows, _ = program.embed(data, "roll-direct", f"{common} --lambda {value}")
        lines.append((f"elastic, from isomap, λ = {value:g}", explained(true, rows)))
    sheet.save(program.out / "figure-3.svg")
    table = "| map | part of the true variance |\n|---|---|\n" + "\n".join(f"| {name} | {r2:.4f} |" for name, r2 in lines)
    bounds = (
        f"λ₁* = {report['critical_lambda']:.3g}, between {report['critical_lambda_lower']:.2g} and "
        f"{report['critical_lambda_upper']:.2g} (paper: 5e-9 to 1e-8). The path of 60 λ took {seconds:.0f} s."
    )
    return bounds + "\n\n" + table, maps, data


def figure_4(program, data):
    """The affinities that a point near the middle of the roll learns, by the distance on the map."""
    learned = program.out / "roll-learned.csv"
    sheet = headed(1000, 380, "Figure 4: the affinities learned by a point in the middle of the roll", "against the distance on the map; blue: it is drawn nearer, orange: it is pushed away")
    facts = []
    for at, value in enumerate((0.1, 1.0, 10.0)):
        flags = f"-m elastic -k 12 --bandwidth 15 --lambda {value} --weights {shlex.quote(str(learned))}"
        rows, _ = program.embed(data, "roll-learned", flags)
        center = min(range(len(rows)), key=lambda i: rows[i][0] ** 2 + rows[i][1] ** 2)
        points = sorted((d, w) for i, j, d, w in read(learned) if center in (int(i), int(j)))
        low, high = min(w for _, w in points), max(w for _, w in points)
        axes = Axes(sheet, (60 + 320 * at, 100, 270, 220), (0, 4), (1.15 * min(low, -0.1), 1.1 * high), log=False)
        axes.ticks([0, 1, 2, 3, 4], [round(low, 2), 0, round(high, 2)])
        sheet.text(70 + 320 * at, 92, 12, f"λ = {value:g}", INK)
        for d, w in points:
            if d <= 4:
                sheet.dot(*axes.place(d, w), 2, PLAIN if w > 0 else ORANGE)
        facts.append(f"λ = {value:g}: from {low:.3f} to {high:.3f}, {sum(w > 0 for _, w in points)} positive, {sum(w < 0 for _, w in points)} negative")
    sheet.save(program.out / "figure-4.svg")
    return f"Learned affinities of a point near the middle: {'; '.join(facts)}."


def figure_5(program, data):
    """Ten objects seen from 72 sides each: three maps, new images, and the inverse transform."""
    images = read_bytes(data / "coil20" / "data_32x32.npy", OBJECTS * VIEWS)
    everything, even, odd = (program.out / name for name in ("coil.npy", "even.npy", "odd.npy"))
    write_npy(everything, images)
    write_npy(even, images[0::2])
    write_npy(odd, images[1::2])
    colors = [HUES[i // VIEWS] for i in range(OBJECTS * VIEWS)]
    sheet = headed(1100, 560, "Figure 5: ten objects of COIL-20, 72 views each", "three maps from random starts; on the right a map of the even views with the odd ones placed on it (dark); below, odd views and what their places lead back to")
    methods = [
        ("elastic", "-m elastic --attraction entropic --perplexity 12 --lambda 1 --init random"),
        ("SNE", "-m sne --perplexity 12 --init random"),
        ("t-SNE", "-m tsne --perplexity 12 --init random"),
    ]
    lines = []
    for at, (name, flags) in enumerate(methods):
        began = time.time()
        rows, report = program.embed(everything, "coil-" + name, flags)
        seconds = time.time() - began
        lines.append(f"| {name} | {seconds:.2f} | {report['seconds']['coordinates']:.2f} | {report['iterations']} | {together(rows):.3f} | {ordered(rows):.3f} |")
        scatter(sheet, 24 + 268 * at, 120, 244, centered(rows), colors, name, f"{seconds:.1f} s")
    model, placed = program.out / "even.model", program.out / "odd.csv"
    flags = methods[0][1].replace(" --init random", "")
    rows, _ = program.embed(even, "coil-even", flags + f" --save {shlex.quote(str(model))}")
    program.run("transform", model, odd, "-o", placed, "-q")
    new = read(placed)
    middle = [sum(column) / len(column) for column in zip(*rows)]
    both = [[a - m for a, m in zip(row, middle)] for row in rows + new]
    some = {0, 2, 4, 6, 8}
    keep = [i for i in range(len(both)) if (i % 360) // 36 in some]
    scatter(sheet, 828, 120, 244, [both[i] for i in keep], [HUES[(i % 360) // 36] if i < 360 else INK for i in keep], "new images", "five objects; dark: placed", 1.8)
    errors = {}
    for by in ("auto", "energy"):
        back = program.out / f"back-{by}.csv"
        report = json.loads(program.run("reconstruct", model, placed, "-o", back, "--by", by, "--json", "-", "-q"))
        returned = read(back)
        errors[report["rule"]] = sorted(math.dist(a, b) for a, b in zip(returned, images[1::2]))
        if by == "energy":
            for at in range(12):
                i = 3 * at
                for down, image in ((400, images[1::2][i]), (476, returned[i])):
                    picture = [[1 - min(max(v, 0), 1) for v in image[r * SIDE : (r + 1) * SIDE]] for r in range(SIDE)]
                    sheet.image(24 + 86 * at, down, 70, picture)
    nearest = sorted(min(math.dist(a, b) for b in images[0::2]) for a in images[1::2])
    hits = 0
    for i, place in enumerate(new):
        far = [math.dist(place, row) for row in rows]
        after = i - 35 if i % 36 == 35 else i + 1
        hits += min(far[i], far[after]) <= sorted(far)[3]
    sheet.save(program.out / "figure-5.svg")
    table = "| method | whole process, s | descent, s | evaluations | nearest neighbor is the same object | and is at most two views away |\n|---|---|---|---|---|---|\n"
    medians = ", ".join(f"{rule} {values[180]:.2f}" for rule, values in errors.items())
    return table + "\n".join(lines) + (
        f"\n\nOf 360 odd views {hits} are placed so that the view before or after is among their four nearest. Median distance of "
        f"what their places lead back to from the view itself: {medians}; the nearest even view is {nearest[180]:.2f} away."
    )


def nearest_on(rows):
    return [min((j for j in range(len(rows)) if j != i), key=lambda j: math.dist(rows[i], rows[j])) for i in range(len(rows))]


def together(rows):
    """How often the nearest on the map is a view of the same object."""
    return sum(i // VIEWS == j // VIEWS for i, j in enumerate(nearest_on(rows))) / len(rows)


def ordered(rows):
    """How often it is at most two views away as well."""
    close = 0
    for i, j in enumerate(nearest_on(rows)):
        away = abs(i % VIEWS - j % VIEWS)
        close += i // VIEWS == j // VIEWS and min(away, VIEWS - away) <= 2
    return close / len(rows)


def main():
    parser = argparse.ArgumentParser(description="The figures of the paper on elastic embedding, with eigenfold")
    parser.add_argument("--eigenfold", default="eigenfold", help="the program")
    parser.add_argument("--data", type=pathlib.Path, help="the directory that holds coil20")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="where tables and pictures go")
    args = parser.parse_args()
    (args.out / "maps").mkdir(parents=True, exist_ok=True)
    program = Program(args.eigenfold, args.out)
    third, maps, roll = figure_3(program)
    parts = ["## Figure 1", figure_1(program, maps), "## Figure 2", figure_2(program), "## Figure 3", third]
    parts += ["## Figure 4", figure_4(program, roll)]
    if args.data:
        parts += ["## Figure 5", figure_5(program, args.data)]
    (args.out / "tables.md").write_text("\n\n".join(parts) + "\n")
    print(f"tables and pictures are in {args.out}")


if __name__ == "__main__":
    main()
