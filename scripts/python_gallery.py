#!/usr/bin/env python3
"""Runs examples of scikit-learn's gallery as they stand, with scikit-learn's manifold methods and with ours in their place, and times the fits.

    OMP_NUM_THREADS=2 python3 scripts/python_gallery.py FILE.py ... [--repeat 2]

It wants an environment with eigenfold, scikit-learn and matplotlib; the files are those of `examples/manifold` of scikit-learn. Every run is a
process of its own, the two by turns. A time is the sum of all `fit_transform` of manifold methods, in seconds of the clock and of the processors.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import runpy
import subprocess
import sys
import time
import warnings

NAMES = ["Isomap", "LocallyLinearEmbedding", "SpectralEmbedding", "ClassicalMDS", "MDS", "TSNE"]


def child(entrant: str, file: str) -> None:
    import sklearn.manifold

    import eigenfold

    spent: dict[str, list[float]] = {}

    def timed(cls: type) -> type:
        def fit_transform(self, *args, **more):
            began = time.perf_counter(), time.process_time()
            try:
                return super(counted, self).fit_transform(*args, **more)
            finally:
                # One class is several methods in both packages; TSNE's `method` is another thing, and theirs has a default.
                name = f"{cls.__name__} {self.method}" if cls.__name__ == "LocallyLinearEmbedding" else cls.__name__
                now = time.perf_counter(), time.process_time()
                before = spent.get(name, [0.0, 0.0])
                spent[name] = [old + (end - start) for old, end, start in zip(before, now, began)]

        # A class of the same parameters, so that `get_params` and `clone` go on working.
        counted = type(cls.__name__, (cls,), {"fit_transform": fit_transform, "__init__": cls.__init__})
        return counted

    package = eigenfold if entrant == "eigenfold" else sklearn.manifold
    for name in NAMES:
        if hasattr(sklearn.manifold, name):
            setattr(sklearn.manifold, name, timed(getattr(package, name)))
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(file, run_name="__main__")
    print(json.dumps(spent))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--repeat", type=int, default=2)
    asked = parser.parse_args()
    print("| example | scikit-learn, s (CPU) | eigenfold, s (CPU) | by method: scikit-learn, eigenfold |\n|---|---|---|---|")
    for file in asked.files:
        best: dict[str, dict[str, list[float]]] = {}
        for _ in range(asked.repeat):
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
