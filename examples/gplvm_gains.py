#!/usr/bin/env python3
"""How much does moving the places gain? The latent variable model from the map of each spectral method.

Every map is scored (`eigenfold quality --lengths raw`), then `gplvm --init MAP` moves its places, and the result is scored the same way.
The right half does it with the even columns of the data alone, and scores the odd columns, which no map has seen. Prints two
tables in Markdown, one per data set.

    python3 examples/gplvm_gains.py --eigenfold target/release/eigenfold --data DATA

DATA holds osu_run1/data.csv and robot_wireless/data.csv; docs/papers/lawrence-2012.md says where they come from. Needs Python 3.8 and
nothing else.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

STARTS = [
    ("PCA", "-m pca"),
    ("Isomap", "-m isomap -k {k}"),
    ("MVU", "-m mvu -k {k}"),
    ("MEU", "-m meu -k {k}"),
    ("acyclic LLE", "-m alle -k {k}"),
    ("DRILL", "-m drill --penalty 0 --ridge 0 -k {k}"),
    ("Laplacian eigenmaps", "-m le -k {k}"),
    ("LLE", "-m lle -k {k}"),
    ("kernel PCA", "-m kernel-pca"),
    ("diffusion maps", "-m diffusion-maps -k {k}"),
]
SETS = [("osu_run1", "Motion capture of a run", 6), ("robot_wireless", "WiFi record of a robot", 7)]


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}\n{done.stderr}")
    return json.loads(done.stdout)


def columns(source, target, first):
    """Every second column of a table."""
    with open(source, newline="") as read, open(target, "w", newline="") as write:
        csv.writer(write).writerows(row[first::2] for row in csv.reader(read))


def row(program, data, judge, flags, evaluations, folder):
    """The score of a method's map of some data, that after its places were moved, and how that ended."""
    start, moved = folder / "start.csv", folder / "moved.csv"
    run(program, "embed", data, *flags.split(), "-o", start, "--quiet", "--json", "-")
    report = run(
        program, "embed", data, "-m", "gplvm", "--init", start, "--tolerance", "1e-4", "--max-iterations", evaluations,
        "-o", moved, "--quiet", "--json", "-",
    )  # fmt: skip
    score = [run(program, "quality", judge, map, "--lengths", "raw", "--quiet", "--json", "-")["gp_likelihood"]["value"] for map in (start, moved)]
    return score, report["iterations"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--eigenfold", default="eigenfold")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--evaluations", type=int, default=1500)
    args = parser.parse_args()
    shown = lambda value: f"{value:.0f}".replace("-", "−")
    for name, title, k in SETS:
        whole = args.data / name / "data.csv"
        print(f"\n## {title}\n")
        print("| start | its score | moved | gain | evaluations | odd columns: its score | moved | gain |")
        print("|---|---|---|---|---|---|---|---|")
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            even, odd = folder / "even.csv", folder / "odd.csv"
            columns(whole, even, 0)
            columns(whole, odd, 1)
            for method, flags in STARTS:
                flags = flags.format(k=k)
                (start, moved), evaluations = row(args.eigenfold, whole, whole, flags, args.evaluations, folder)
                (left, right), _ = row(args.eigenfold, even, odd, flags, args.evaluations, folder)
                cells = [method, shown(start), shown(moved), shown(moved - start), str(evaluations)]
                cells += [shown(left), shown(right), shown(right - left)]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
