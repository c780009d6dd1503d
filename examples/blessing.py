#!/usr/bin/env python3
"""More features, better maps: the blessing of dimensionality, with the `eigenfold` program.

    python3 examples/blessing.py --eigenfold target/release/eigenfold --data DATA --out out

Writes two tables (tables.md) and draws two pictures (ring.svg, animals.svg). The ring is made here; DATA holds the directory
animals_33x102 with data.csv and labels.csv. Without it the animals are left out. Needs Python 3.8 and nothing else.

N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction. JMLR 13, 2012, section 2.5.
"""

import argparse
import csv
import math
import pathlib
import random

from carreira_perpinan_2010 import HUES, Axes, headed, scatter
from lawrence_2012 import GREY, INK, ORANGE, PLAIN, Program, Refused, aligned, centered, explained, read

# The ring: its points, the weights between points one and two steps apart, and the features that are looked at.
POINTS, NEAR, NEXT = 40, 1.0, 0.5
FEATURES = [10, 30, 100, 300, 1000, 3000]
RINGS = 5
# The animals: features in each of two sets that have none in common, and how often they are drawn.
SHOWN = [8, 12, 16, 24, 34, 51]
DRAWS = 20
METHODS = [("meu", "-m meu -k 8"), ("isomap", "-m isomap -k 8"), ("laplacian-eigenmaps", "-m le -k 8"), ("pca", "-m pca")]
KINDS = {
    "mammals": "Elephant Rhino Horse Cow Camel Giraffe Chimp Gorilla Mouse Squirrel Tiger Lion Cat Dog Wolf Deer Seal Dolphin Whale",
    "birds": "Robin Eagle Chicken Finch Ostrich Penguin",
    "reptiles, fish": "Iguana Alligator Salmon Trout",
    "insects": "Bee Ant Butterfly Cockroach",
}


def ring(count, seed):
    """Features drawn from the Gaussian field whose precision is the ring's Laplacian: sums of waves around it."""
    draw = random.Random(seed)
    columns = []
    for _ in range(count):
        column = [0.0] * POINTS
        for wave in range(1, POINTS // 2 + 1):
            angle = 2 * math.pi * wave / POINTS
            value = 2 * NEAR * (1 - math.cos(angle)) + 2 * NEXT * (1 - math.cos(2 * angle))
            size = math.sqrt((1 if 2 * wave == POINTS else 2) / (POINTS * value))
            a, b = size * draw.gauss(0, 1), size * draw.gauss(0, 1)
            if 2 * wave == POINTS:
                b = 0.0
            for i in range(POINTS):
                column[i] += a * math.cos(angle * i) + b * math.sin(angle * i)
        columns.append(column)
    return list(zip(*columns))


def write(path, rows):
    path.write_text("\n".join(",".join(map(repr, row)) for row in rows) + "\n")


def off(weights):
    """How far the fitted weights are from the true ones, as a part of these; and the part that is on true edges."""
    found = {(int(i), int(j)): weight for i, j, _, weight in weights}
    error = size = 0.0
    for i in range(POINTS):
        for j in range(i + 1, POINTS):
            step = min(j - i, POINTS - j + i)
            true = {1: NEAR, 2: NEXT}.get(step, 0.0)
            error += (found.get((i, j), 0.0) - true) ** 2
            size += true * true
    return math.sqrt(error / size)


def of_rings(program):
    """For each number of features: the error of the weights, the fit of the map to the circle, the held-out likelihood."""
    circle = [(math.cos(2 * math.pi * i / POINTS), math.sin(2 * math.pi * i / POINTS)) for i in range(POINTS)]
    lines, maps = [], []
    for count in FEATURES:
        found = []
        for seed in range(RINGS):
            data, weights = program.out / "ring.csv", program.out / "weights.csv"
            write(data, ring(count, 1000 * seed + count))
            held = "--held-out features" if count <= 300 else ""
            rows, report = program.embed(data, f"ring-{count}-{seed}", f"-m meu --graph all --weights {weights} {held} --header no")
            value = report["held_out"]["log_likelihood"] / count if held else None
            found.append((off(read(weights)), 1 - explained(circle, rows), value))
            if seed == 0:
                maps.append((count, rows))
        mean = lambda values: sum(values) / len(values)
        known = [value for _, _, value in found if value is not None]
        lines.append((count, mean([a for a, _, _ in found]), mean([b for _, b, _ in found]), mean(known) if known else None))
    return lines, maps


def draw_ring(lines, maps, path):
    sheet = headed(1010, 400, "A ring of 40 points, known by more and more features",
                   "left: the error of the fitted weights; right: maps by maximum entropy unfolding over all pairs")  # fmt: skip
    axes = Axes(sheet, (80, 100, 300, 230), (10, 3000), (-1.5, 0.5))
    axes.ticks([10, 100, 1000], [])
    for power, text in [(-1, "10 %"), (0, "100 %")]:
        level = axes.place(10, power)[1]
        sheet.line([(80, level), (380, level)], "#e4e4e4")
        sheet.text(74, level + 4, 11, text, GREY, "end")
    curve = [(count, math.log10(error)) for count, error, _, _ in lines]
    axes.curve(curve, PLAIN)
    slope = [(count, curve[-1][1] - 0.5 * math.log10(count / curve[-1][0])) for count, _ in curve]
    axes.curve(slope, ORANGE, 1.0)
    sheet.text(90, 320, 11, "one over the root of the number", ORANGE)
    sheet.text(230, 368, 12, "features", GREY, "middle")
    shown = [one for one in maps if one[0] in (10, 100, 3000)]
    colors = [f"#{round(40 + 180 * i / POINTS):02x}70{round(220 - 180 * i / POINTS):02x}" for i in range(POINTS)]
    for at, (count, rows) in enumerate(shown):
        scatter(sheet, 430 + 195 * at, 130, 175, centered(rows), colors, f"{count} features", "", 3)
    sheet.save(path)


def disparity(a, b):
    """The part of the second map that the first, turned, moved and scaled, does not explain."""
    b = centered(b)
    a = aligned(centered(a), b)
    dot = sum(x * u + y * v for (x, y), (u, v) in zip(a, b))
    size = sum(x * x + y * y for x, y in a) * sum(u * u + v * v for u, v in b)
    return 1 - dot * dot / size


def of_animals(program, directory):
    """For each number of features: how little two maps of different features of the animals have in common."""
    with open(directory / "data.csv", newline="") as file:
        names, *rows = list(csv.reader(file))
    columns = list(zip(*rows))
    draw = random.Random(1)
    lines = []
    for count in SHOWN:
        found = {name: [] for name, _ in METHODS}
        for _ in range(DRAWS):
            order = draw.sample(range(len(names)), 2 * count)
            halves = []
            for half in (order[:count], order[count:]):
                write(program.out / "half.csv", [[float(columns[j][i]) for j in half] for i in range(len(rows))])
                maps = {}
                for name, flags in METHODS:
                    try:
                        maps[name], _ = program.embed(program.out / "half.csv", "half", f"{flags} --header no")
                    except Refused:
                        maps[name] = None
                halves.append(maps)
            for name in found:
                one, other = halves[0][name], halves[1][name]
                if one and other:
                    found[name].append(disparity(one, other))
        lines.append([count, *(sum(found[name]) / len(found[name]) if found[name] else None for name, _ in METHODS)])
    return lines


def draw_animals(program, directory, lines, path):
    names = (directory / "labels.csv").read_text().split("\n")
    rows, _ = program.embed(directory / "data.csv", "animals", "-m meu -k 8")
    kinds = {animal: at for at, animals in enumerate(KINDS.values()) for animal in animals.split()}
    sheet = headed(1060, 520, "33 animals and their features",
                   "left: meu's map of all 102; right: how little the maps of two sets of features have in common")  # fmt: skip
    size, x, y = 400, 24, 80
    places = centered(rows)
    low, high = [[f(column) for column in zip(*places)] for f in (min, max)]
    unit = 0.86 * size / max(b - a for a, b in zip(low, high))
    sheet.line([(x, y), (x + size + 60, y), (x + size + 60, y + size), (x, y + size), (x, y)], "#e4e4e4")
    taken = []
    for name, (a, b) in sorted(zip(names, places), key=lambda one: -one[1][1]):
        color = HUES[kinds.get(name, 7)]
        px, py = x + 60 + unit * (a - low[0]), y + size / 2 - unit * (b - (low[1] + high[1]) / 2)
        sheet.dot(px, py, 3, color)
        # The label goes beside its dot, or as near to it as the labels before leave room.
        wide, steps = 5.5 * len(name), sorted(range(-14, 15), key=abs)
        spots = [(px + side + (0 if side > 0 else -wide), py + 4 + 11 * step) for step in steps for side in (7, -7)]
        free = lambda spot: all(
            spot[0] + wide < left or right < spot[0] or abs(spot[1] - level) > 10 for left, right, level in taken
        )
        lx, ly = next(filter(free, spots), spots[0])
        taken.append((lx, lx + wide, ly))
        if abs(ly - 4 - py) > 1:
            sheet.line([(px, py), (lx if lx > px else lx + wide, ly - 4)], "#c8c8c8", 0.7)
        sheet.text(lx, ly, 10, name, color)
    for at, kind in enumerate(KINDS):
        sheet.text(x + 110 * at, y + size + 18, 11, kind, HUES[at])
    axes = Axes(sheet, (570, 110, 330, 340), (SHOWN[0], SHOWN[-1]), (0, 1))
    axes.ticks(SHOWN, [0, 0.25, 0.5, 0.75, 1])
    for at, (name, _) in enumerate(METHODS):
        curve = [(line[0], line[1 + at]) for line in lines if line[1 + at] is not None]
        axes.curve(curve, HUES[at], 2)
        sheet.text(906, axes.place(*curve[-1])[1] + 4, 12, name, HUES[at])
    sheet.text(735, 490, 12, "features in each set", GREY, "middle")
    sheet.save(path)


def rows_of(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eigenfold", default="eigenfold", help="the program")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("."), help="the directory of the data sets")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="the directory of the outputs")
    arguments = parser.parse_args()
    (arguments.out / "maps").mkdir(parents=True, exist_ok=True)
    program = Program(arguments.eigenfold, arguments.out)
    lines, maps = of_rings(program)
    draw_ring(lines, maps, arguments.out / "ring.svg")
    shown = [[str(n), f"{a:.3f}", f"{b:.4f}", "" if c is None else f"{c:.2f}"] for n, a, b, c in lines]
    parts = [rows_of(["features", "error of the weights", "map, not explained by the circle", "evidence per feature"], shown)]
    animals = arguments.data / "animals_33x102"
    if (animals / "data.csv").exists():
        lines = of_animals(program, animals)
        draw_animals(program, animals, lines, arguments.out / "animals.svg")
        shown = [[str(line[0]), *("" if value is None else f"{value:.3f}" for value in line[1:])] for line in lines]
        parts.append(rows_of(["features in each set", *(name for name, _ in METHODS)], shown))
    (arguments.out / "tables.md").write_text("\n\n".join(parts) + "\n")
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
