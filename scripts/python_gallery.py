#!/usr/bin/env python3
"""Runs examples of scikit-learn's gallery as they stand, and again with nothing but the import of the manifold methods replaced by ours, and times the fits.

    OMP_NUM_THREADS=2 python3 scripts/python_gallery.py FILE.py ... [--repeat 2]

It wants an environment with eigenfold, scikit-learn and matplotlib; the files are those of `examples/manifold` of scikit-learn's source. Every run
is a process of its own, the two by turns. A time is the sum of all fits of manifold methods, in wall and CPU seconds.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import warnings

NAMES = ["Isomap", "LocallyLinearEmbedding", "SpectralEmbedding", "ClassicalMDS", "MDS", "TSNE", "locally_linear_embedding"]
# What the examples import, and what a user would write instead.
IMPORTS = [
    (r"from sklearn import manifold\b", "import eigenfold as manifold"),
    (r"from sklearn import datasets, manifold\b", "import eigenfold as manifold\nfrom sklearn import datasets"),
    (r"from sklearn\.manifold import", "from eigenfold import"),
]


def child(entrant: str, file: str) -> None:
    import importlib

    package = importlib.import_module("eigenfold" if entrant == "eigenfold" else "sklearn.manifold")
    text, replaced = pathlib.Path(file).read_text(), 0
    for theirs, ours in IMPORTS if entrant == "eigenfold" else []:
        text, found = re.subn(theirs, ours, text)
        replaced += found
    if entrant == "eigenfold" and replaced != 1:
        sys.exit(f"{file} has {replaced} imports that could be replaced; one was expected")
    spent: dict[str, list[float]] = {}
    for name in NAMES:
        setattr(package, name, timed(name, getattr(package, name), spent))
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, file, "exec"), {"__name__": "__main__", "__file__": file, "__doc__": ""})
    print(json.dumps(spent))


def timed(name: str, thing, spent: dict[str, list[float]]):
    """A class or function that adds what its fits take to `spent`, under this name."""

    def counted(method: str, call, *args, **more):
        began = time.perf_counter(), time.process_time()
        answer = call(*args, **more)
        now = time.perf_counter(), time.process_time()
        before = spent.get(method, [0.0, 0.0])
        spent[method] = [old + (end - start) for old, end, start in zip(before, now, began)]
        return answer

    if not isinstance(thing, type):
        return lambda *args, **more: counted(name, thing, *args, **more)

    class Timed(thing):
        # The same parameters, so that `get_params` and `clone` go on working.
        __init__ = thing.__init__

        def fit_transform(self, *args, **more):
            # One class is several methods in both packages; TSNE's `method` is another thing, and theirs has a default.
            method = f"{name} {self.method}" if name == "LocallyLinearEmbedding" else name
            return counted(method, super().fit_transform, *args, **more)

    Timed.__name__ = thing.__name__
    return Timed


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--repeat", type=int, default=2)
    args = parser.parse_args()
    print("| example | scikit-learn, s (CPU) | eigenfold, s (CPU) | by method: scikit-learn, eigenfold |\n|---|---|---|---|")
    for file in args.files:
        best: dict[str, dict[str, list[float]]] = {}
        for _ in range(args.repeat):
            for entrant in ("scikit-learn", "eigenfold"):
                command = [sys.executable, __file__, "child", entrant, file]
                done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"})
                if done.returncode:
                    sys.exit(f"{file} with {entrant}: {done.stderr[-500:]}")
                found = json.loads(done.stdout.splitlines()[-1])
                if entrant not in best or sum(one[1] for one in found.values()) < sum(one[1] for one in best[entrant].values()):
                    best[entrant] = found
        total = {entrant: [sum(one[at] for one in spent.values()) for at in (0, 1)] for entrant, spent in best.items()}
        shown = [f"{wall:.2f} ({cpu:.2f})" for wall, cpu in (total["scikit-learn"], total["eigenfold"])]
        parts = [f"{name} {best['scikit-learn'][name][1]:.2f}, {best['eigenfold'][name][1]:.2f}" for name in best["eigenfold"]]
        print(f"| {pathlib.Path(file).stem} | {shown[0]} | {shown[1]} | {'; '.join(parts)} |", flush=True)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["child"] else main()
