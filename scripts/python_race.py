#!/usr/bin/env python3
"""Times the Python package against scikit-learn, openTSNE and umap-learn, in one run, every fit in a process of its own.

    python3 scripts/python_race.py [--timeout 300] [--repeat 2] [--threads 2] [--data digits,mnist-10000] [--methods Isomap,TSNE]

It wants an environment with eigenfold, scikit-learn, openTSNE and umap-learn. A time is that of `fit_transform` alone: imports and data
are excluded, and umap-learn has compiled itself in a fit before. The entrants of a method run by turns, and the fit with the least
CPU time counts; the clock depends on what else the machine does, and so `--timeout` is in CPU seconds of the fit. On a busy machine use one
thread: those of others wait by spinning. `trust` is the trustworthiness of 2,000 points (12 neighbors).
The digits of MNIST are looked for in the directory that EIGENFOLD_SHARED names, or in ../shared, under data/mnist.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

METHODS = ["Isomap", "LocallyLinearEmbedding", "LaplacianEigenmaps", "TSNE", "UMAP"]
DATA = ["digits", "mnist-10000", "swiss-20000"]
FITS = {
    ("Isomap", "eigenfold"): "eigenfold.Isomap(n_neighbors=10, n_jobs=JOBS)",
    ("Isomap", "scikit-learn"): "sklearn.manifold.Isomap(n_neighbors=10, n_jobs=JOBS)",
    ("LocallyLinearEmbedding", "eigenfold"): "eigenfold.LocallyLinearEmbedding(n_neighbors=10, n_jobs=JOBS)",
    ("LocallyLinearEmbedding", "scikit-learn"): "sklearn.manifold.LocallyLinearEmbedding(n_neighbors=10, random_state=0, n_jobs=JOBS)",
    ("LaplacianEigenmaps", "eigenfold"): "eigenfold.LaplacianEigenmaps(n_neighbors=10, n_jobs=JOBS)",
    ("LaplacianEigenmaps", "scikit-learn"): "sklearn.manifold.SpectralEmbedding(affinity='nearest_neighbors', n_neighbors=11, random_state=0, n_jobs=JOBS)",
    ("TSNE", "eigenfold"): "eigenfold.TSNE(n_jobs=JOBS)",
    ("TSNE", "scikit-learn"): "sklearn.manifold.TSNE(random_state=0, n_jobs=JOBS)",
    ("TSNE", "openTSNE"): "openTSNE.TSNE(random_state=0, n_jobs=JOBS)",
    ("UMAP", "eigenfold"): "eigenfold.UMAP(n_neighbors=14, n_jobs=JOBS)",
    ("UMAP", "umap-learn"): "umap.UMAP(n_neighbors=15, n_jobs=JOBS)",
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


def child(method: str, entrant: str, data: str, timeout: str) -> None:
    import importlib
    import warnings

    import numpy as np
    from sklearn.manifold import trustworthiness

    warnings.simplefilter("ignore")
    X = load(data)
    names = {"JOBS": int(os.environ["OMP_NUM_THREADS"]), MODULES[entrant].split(".")[0]: importlib.import_module(MODULES[entrant].split(".")[0])}
    importlib.import_module(MODULES[entrant])
    make = lambda: eval(FITS[method, entrant], names)
    if entrant in ("umap-learn", "openTSNE"):
        fit(make(), X[:500], entrant)
    # The process is ended by a signal where the fit takes longer.
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu() + float(timeout)), hard))
    began, spent = time.perf_counter(), cpu()
    map_ = fit(make(), X, entrant)
    took, spent = time.perf_counter() - began, cpu() - spent
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    some = np.random.default_rng(7).permutation(len(X))[:2000]
    print(json.dumps({"seconds": took, "cpu": spent, "trust": trustworthiness(X[some], np.asarray(map_)[some], n_neighbors=12)}))


def cpu() -> float:
    """The CPU seconds of this process and on those it started and waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def fit(estimator, X, entrant: str):
    return estimator.fit(X) if entrant == "openTSNE" else estimator.fit_transform(X)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--methods", default=",".join(METHODS))
    args = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
        os.environ[name] = str(args.threads)
    print("| data | method | package | seconds | CPU seconds | trust |\n|---|---|---|---|---|---|")
    for data in args.data.split(","):
        for method in args.methods.split(","):
            race(data, method, args.timeout, args.repeat)


def race(data: str, method: str, timeout: float, repeat: int) -> None:
    """The entrants of a method by turns, and a line for each."""
    best: dict[str, dict] = {}
    out: dict[str, str] = {}
    for _ in range(repeat):
        for entrant in (entrant for one, entrant in FITS if one == method and entrant not in out):
            command = [sys.executable, __file__, "child", method, entrant, data, str(timeout)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == -signal.SIGXCPU:
                out[entrant] = f"not done after {timeout:.0f} of CPU"
                continue
            if done.returncode:
                out[entrant] = done.stderr.strip().splitlines()[-1][:90]
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            if entrant not in best or found["cpu"] < best[entrant]["cpu"]:
                best[entrant] = found
    for entrant in (entrant for one, entrant in FITS if one == method):
        found = best.get(entrant)
        figures = f"{found['seconds']:.2f} | {found['cpu']:.2f} | {found['trust']:.4f}" if found else f"{out[entrant]} | | "
        print(f"| {data} | {method} | {entrant} | {figures} |", flush=True)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["child"] else main()
