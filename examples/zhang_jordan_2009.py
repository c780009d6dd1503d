#!/usr/bin/env python3
"""The experiments of Zhang and Jordan's paper on latent variable models (AISTATS 2009), with the `eigenfold` program.

    python3 examples/zhang_jordan_2009.py --eigenfold target/release/eigenfold --data DATA --out out

Writes tables 1 to 3 (tables.md) and draws figures 1 and 2 (figure-1.svg, figure-2.svg). DATA holds the directories iris,
oil, letter, segmentation and optdigits, each with data.csv and labels.csv; docs/papers/zhang-jordan-2009.md says where they come
from. A set that is not there is left out. Needs Python 3.8 and nothing else.

Z. Zhang, M. I. Jordan. Latent variable models for dimensionality reduction. AISTATS 2009, section 5.
"""

import argparse
import math
import pathlib

from carreira_perpinan_2010 import Axes, headed, scatter
from lawrence_2012 import GREY, INK, ORANGE, PLAIN, Program, aligned, centered, read

# The letters A to J, as many rows of each as the paper has; which ones it does not say, so the first are taken.
LETTERS = [195, 199, 182, 207, 203, 210, 226, 196, 188, 172]
# beta of the kernel exp(-|x - y|^2 / beta), and table 1's n, p, c; table 2's and table 3's figures.
SETS = {
    "iris": ("Iris", 2, (150, 4, 3), (0.2799, 3.7321, 0.0029, 0.2178), (0.0469, 0.2344)),
    "oil": ("Oil", 0.2, (1000, 12, 2), (0.0437, 0.1004, 0.0009, 0.0145), (7.6250, 4.3906)),
    "letter": ("Letter", 100, (1978, 16, 10), None, (59.8438, 17.7656)),
    "segmentation": ("Segmen", 10000, (2310, 19, 7), None, (70.9375, 23.1875)),
    "optdigits": ("NIST", 1000, (3823, 256, 10), None, (419.0469, 65.6563)),
}
STEPS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 130, 160, 200, 250, 320, 400, 500, 630, 800, 1000]
HUES = ["#0072b2", "#d55e00", "#009e73"]


class Set:
    """A data set in the directory of outputs, with its kernel."""

    def __init__(self, program, directory, name):
        self.program, self.name = program, name
        self.title, self.beta, self.theirs, self.values, self.times = SETS[name]
        rows = read(directory / name / "data.csv")
        labels = [int(row[0]) for row in read(directory / name / "labels.csv")]
        if name == "iris":
            # As the UCI repository has it, with its two wrong rows; the paper's figures are of these.
            rows[34] = rows[37] = [4.9, 3.1, 1.5, 0.1]
        if name == "letter":
            left, kept = list(LETTERS), []
            for row, label in zip(rows, labels):
                if label < len(left) and left[label] > 0:
                    left[label] -= 1
                    kept.append((row, label))
            rows, labels = [row for row, _ in kept], [label for _, label in kept]
        self.rows, self.labels = rows, labels
        self.path = program.out / f"{name}.csv"
        names = [f"x{j}" for j in range(1, len(rows[0]) + 1)]
        self.path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")

    def ppco(self, name, flags):
        """A map of probabilistic principal coordinates with the paper's kernel, and its report."""
        sigma = math.sqrt(self.beta / 2)
        return self.program.embed(self.path, f"{self.name}-{name}", f"-m ppco --bandwidth {sigma!r} {flags}")

    def gamma_and_lambda(self, report):
        """In the paper's units: the kernel divided by n."""
        n = len(self.rows)
        return report["eigenvalues"][0] / n, report["noise"] / n


def off(found, truth):
    """How far apart two maps are: the root mean square distance, beside the size of the second."""
    truth = centered(truth)
    found = aligned(centered(found), truth)
    apart = sum((a - c) ** 2 + (b - d) ** 2 for (a, b), (c, d) in zip(found, truth))
    return math.sqrt(apart / sum(x * x + y * y for x, y in truth))


def rows_of(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def table_1(sets):
    cell = lambda mine, theirs: f"{mine}" if mine == theirs else f"{mine} ({theirs})"
    rows = []
    for one in sets:
        mine = (len(one.rows), len(one.rows[0]), len(set(one.labels)))
        rows.append([one.title, *map(cell, mine, one.theirs), one.beta])
    return rows_of(["set", "n", "p", "classes", "β"], rows)


def table_2(sets):
    rows = []
    for one in (one for one in sets if one.values):
        gamma, noise = one.gamma_and_lambda(one.ppco("q1", "-d 1")[1])
        theirs = one.values
        rows.append([one.title, f"{gamma:.10f}", theirs[0], f"{noise:.10f}", theirs[2]])
    return rows_of(["set", "γ₁", "theirs", "λ", "theirs"], rows)


def table_3(sets):
    rows = []
    for one in sets:
        closed, report = one.ppco("eigen", "--landmarks %d" % len(one.rows))
        times = [report["seconds"]["field"]]
        printed, report = one.ppco("plain", "--solver em-plain --max-iterations 100 --start pca")
        times.append(report["seconds"]["field"])
        snapped, report = one.ppco("em", "--solver em --start pca")
        times.append(report["seconds"]["field"])
        steps = report["iterations"]
        sampled, _ = one.ppco("sampled", "--solver em-plain --max-iterations 100 --start sample")
        shown = [f"{time:.3f}" for time in times]
        rows.append(
            [one.title, one.times[0], shown[0], one.times[1], shown[1], f"{off(printed, closed):.1e}",
             f"{off(sampled, closed):.1e}", f"{shown[2]} ({steps} steps)", f"{off(snapped, closed):.1e}"]
        )  # fmt: skip
    header = ["set", "ML, theirs", "here", "EM, 100 steps, theirs", "here", "off by", "from a sample, off by", "EM, last step by ML", "off by"]
    return rows_of(header, rows)


def figure_1(sets, path):
    """The maps of PCA, of the closed form and of EM."""
    size, wide = 250, 280
    sheet = headed(3 * wide + 30, len(sets) * (size + 60) + 70, "Figure 1: two coordinates of two data sets",
                   "colors: the classes; EM starts from principal components and takes 100 steps, as printed")  # fmt: skip
    for line, one in enumerate(sets):
        colors = [HUES[label] for label in one.labels]
        plain, _ = one.program.embed(one.path, f"{one.name}-pca", "-m pca")
        closed, report = one.ppco("figure", "")
        printed, _ = one.ppco("figure-em", "--solver em-plain --max-iterations 100 --start pca")
        panels = [
            (plain, f"{one.title}: (a) PCA", ""),
            (closed, "(b) PPCO, ML", f"λ = {report['noise'] / len(one.rows):.6f}"),
            (aligned(centered(printed), centered(closed)), "(c) PPCO, EM, turned to (b)", f"off by {off(printed, closed):.1e}"),
        ]
        for column, (rows, title, below) in enumerate(panels):
            scatter(sheet, 24 + column * wide, 110 + line * (size + 60), size, centered(rows), colors, title, below, 1.8)
    sheet.save(path)


def figure_2(sets, path):
    """The largest eigenvalue and the noise against the steps of EM."""
    sheet = headed(860, 330, "Figure 2: γ₁ and λ against the steps of EM, q = 1",
                   "relative errors, from principal components; the paper takes 100 steps at most")  # fmt: skip
    text = []
    for column, one in enumerate(sets):
        exact = one.gamma_and_lambda(one.ppco("q1", "-d 1")[1])
        axes = Axes(sheet, (80 + 420 * column, 100, 300, 180), (1, 1000), (-8, 2))
        sheet.text(80 + 420 * column, 84, 13, one.title)
        axes.ticks([1, 10, 100, 1000], [])
        for power in range(-8, 3, 2):
            level = axes.place(1, power)[1]
            sheet.text(74 + 420 * column, level + 4, 11, f"1e{power}", GREY, "end")
        curves = [[], []]
        for steps in STEPS:
            flags = f"-d 1 --solver em-plain --start pca --tolerance 1e-14 --max-iterations {steps}"
            found = one.gamma_and_lambda(one.ppco("step", flags)[1])
            for curve, value, truth in zip(curves, found, exact):
                curve.append((steps, max(-8, math.log10(abs(value / truth - 1) + 1e-16))))
        for curve, color, label in zip(curves, [PLAIN, ORANGE], ["γ₁", "λ"]):
            axes.curve(curve, color)
            x, y = axes.place(*curve[STEPS.index(20)])
            sheet.text(x, y - 8, 12, label, INK)
        for label, curve in zip(["γ₁", "λ"], curves):
            errors = {steps: 10**power for steps, power in curve}
            text.append([one.title, label, *(f"{errors[steps]:.1e}" for steps in (1, 5, 10, 20, 50, 100, 400, 1000))])
    sheet.text(430, 318, 12, "steps", GREY, "middle")
    sheet.save(path)
    return rows_of(["set", "", "1 step", "5", "10", "20", "50", "100", "400", "1000"], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eigenfold", default="eigenfold", help="the program")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the directory of the data sets")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="the directory of the outputs")
    arguments = parser.parse_args()
    (arguments.out / "maps").mkdir(parents=True, exist_ok=True)
    program = Program(arguments.eigenfold, arguments.out)
    there = [name for name in SETS if (arguments.data / name / "data.csv").exists()]
    sets = [Set(program, arguments.data, name) for name in there]
    both = [one for one in sets if one.values]
    figure_1(both, arguments.out / "figure-1.svg")
    parts = [table_1(sets), table_2(sets), figure_2(both, arguments.out / "figure-2.svg"), table_3(sets)]
    (arguments.out / "tables.md").write_text("\n\n".join(parts) + "\n")
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
