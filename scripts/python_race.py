#!/usr/bin/env python3
"""Times the Python package against scikit-learn, openTSNE and umap-learn, in one run, every fit in a process of its own.

    python3 scripts/python_race.py [--timeout 300] [--repeat 2]

It wants an environment with eigenfold, scikit-learn, openTSNE and umap-learn. A time is that of `fit_transform` alone: imports and data
are excluded, and umap-learn has compiled itself in a fit before. `trust` is the trustworthiness of 2,000 points (12 neighbors).
The digits of MNIST are looked for in the directory that EIGENFOLD_SHARED names, or in ../shared, under data/mnist.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

METHODS = ["Isomap", "LocallyLinearEmbedding", "LaplacianEigenmaps", "TSNE", "UMAP"]
DATA = ["digits", "mnist-10000", "swiss-20000"]
FITS = {
    ("Isomap", "eigenfold"): "eigenfold.Isomap(n_neighbors=10)",
    ("Isomap", "scikit-learn"): "sklearn.manifold.Isomap(n_neighbors=10, n_jobs=-1)",
    ("LocallyLinearEmbedding", "eigenfold"): "eigenfold.LocallyLinearEmbedding(n_neighbors=10)",
    ("LocallyLinearEmbedding", "scikit-learn"): "sklearn.manifold.LocallyLinearEmbedding(n_neighbors=10, random_state=0, n_jobs=-1)",
    ("LaplacianEigenmaps", "eigenfold"): "eigenfold.LaplacianEigenmaps(n_neighbors=10)",
    ("LaplacianEigenmaps", "scikit-learn"): "sklearn.manifold.SpectralEmbedding(affinity='nearest_neighbors', n_neighbors=11, random_state=0, n_jobs=-1)",
    ("TSNE", "eigenfold"): "eigenfold.TSNE()",
    ("TSNE", "scikit-learn"): "sklearn.manifold.TSNE(random_state=0, n_jobs=-1)",
    ("TSNE", "openTSNE"): "openTSNE.TSNE(random_state=0, n_jobs=os.cpu_count())",
    ("UMAP", "eigenfold"): "eigenfold.UMAP(n_neighbors=14)",
    ("UMAP", "umap-learn"): "umap.UMAP(n_neighbors=15, n_jobs=-1)",
}
MODULES = {"eigenfold": "eigenfold", "scikit-learn": "sklearn.manifold", "openTSNE": "openTSNE", "umap-learn": "umap"}


def shared() -> pathlib.Path:
    return pathlib.Path(os.environ.get("EIGENFOLD_SHARED", pathlib.Path(__file__).resolve().parents[1] / "../shared"))


def load(name: str):
    import numpy as np

    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits().data
    kind, n = name.split("-")
    if kind == "mnist":
        return np.load(shared() / "data/mnist/data.npz")["arr_0"][: int(n)].astype(float) / 255.0
    random = np.random.default_rng(0)
    t, h = 1.5 * np.pi * (1 + 2 * random.random(int(n))), 21 * random.random(int(n))
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)])


def child(method: str, entrant: str, data: str) -> None:
    import importlib
    import warnings

    import numpy as np
    from sklearn.manifold import trustworthiness

    warnings.simplefilter("ignore")
    X = load(data)
    names = {"os": os, MODULES[entrant].split(".")[0]: importlib.import_module(MODULES[entrant].split(".")[0])}
    importlib.import_module(MODULES[entrant])
    make = lambda: eval(FITS[method, entrant], names)
    if entrant in ("umap-learn", "openTSNE"):
        fit(make(), X[:500], entrant)
    began = time.perf_counter()
    map_ = fit(make(), X, entrant)
    took = time.perf_counter() - began
    some = np.random.default_rng(7).permutation(len(X))[:2000]
    print(json.dumps({"seconds": took, "trust": trustworthiness(X[some], np.asarray(map_)[some], n_neighbors=12)}))


def fit(estimator, X, entrant: str):
    return estimator.fit(X) if entrant == "openTSNE" else estimator.fit_transform(X)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--data", default=",".join(DATA))
    asked = parser.parse_args()
    for data in asked.data.split(","):
        for method, entrant in FITS:
            best, trust = None, None
            for _ in range(asked.repeat):
                try:
                    command = [sys.executable, __file__, "child", method, entrant, data]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=asked.timeout)
                except subprocess.TimeoutExpired:
                    break
                if done.returncode:
                    trust = done.stderr.strip().splitlines()[-1][:90]
                    break
                found = json.loads(done.stdout.splitlines()[-1])
                best, trust = min(best or found["seconds"], found["seconds"]), round(found["trust"], 4)
                if best > 30:
                    break
            seconds = f"over {asked.timeout:.0f}" if best is None else f"{best:.2f}"
            print(f"| {data} | {method} | {entrant} | {seconds} | {trust} |", flush=True)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["child"] else main()
