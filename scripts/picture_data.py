#!/usr/bin/env python3
"""Writes the data sets that `scripts/pictures.sh` makes from others: the same bytes every time.

    scripts/picture_data.py DIRECTORY

DIRECTORY holds digits.csv and iris.csv, as `eigenfold sample` writes them. Names of files become titles of pictures.
"""

import csv
import math
import random
import sys
from pathlib import Path

directory = Path(sys.argv[1])
cities = Path(__file__).parent.parent / "docs/images/plots/cities.csv"


def read(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def write(name, rows):
    with open(directory / name, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def rings():
    """Two concentric rings in the plane."""
    draw = random.Random(1)
    rows = [["x", "y", "ring"]]
    for radius, name, count in ((0.3, "inner", 300), (1.0, "outer", 500)):
        for _ in range(count):
            angle, far = 2 * math.pi * draw.random(), radius + draw.gauss(0, 0.05)
            rows.append([f"{far * math.cos(angle):.4f}", f"{far * math.sin(angle):.4f}", name])
    return rows


def with_holes(rows, share):
    """The digits without a share of their cells."""
    draw = random.Random(2)
    hole = lambda cell: "" if draw.random() < share else cell
    label = rows[0].index("label")
    rows[0][label] = "digit"
    return [rows[0]] + [[cell if j == label else hole(cell) for j, cell in enumerate(row)] for row in rows[1:]]


def with_noise(rows):
    """Iris with two more columns, which are noise alone and vary more than any measured one."""
    draw = random.Random(3)
    rows[0][rows[0].index("label")] = "species"
    return [["noise 1", "noise 2"] + rows[0]] + [[f"{draw.gauss(0, 3):.3f}", f"{draw.gauss(0, 3):.3f}"] + row for row in rows[1:]]


def distances(rows):
    """The distances between cities, each up to about a tenth wrong."""
    draw = random.Random(4)
    places = [tuple(map(float, row[1:])) for row in rows[1:]]
    table = [["0"] * len(places) for _ in places]
    for i, one in enumerate(places):
        for j in range(i):
            table[i][j] = table[j][i] = f"{math.dist(one, places[j]) * (1 + draw.gauss(0, 0.1)):.0f}"
    return table


write("concentric-rings.csv", rings())
write("digits-with-30-%-of-cells-missing.csv", with_holes(read(directory / "digits.csv"), 0.3))
write("iris-with-two-columns-of-noise.csv", with_noise(read(directory / "iris.csv")))
write("noisy-distances-of-cities.csv", distances(read(cities)))
