#!/usr/bin/env python3
"""Measures eigenfold beside other packages and writes the tables and charts of docs/reference/benchmarks.md.

    python3 scripts/benchmarks.py run [--program PATH] [--only tsne,umap] [--data digits] [--repeat 2] [--threads 1] [--timeout 300]
    python3 scripts/benchmarks.py page

`run` makes a virtual environment in target/ with the packages of scripts/benchmarks.txt, runs every pair of method and data set, and adds the
figures to docs/reference/benchmarks.json. `page` writes the tables and charts from that file. Every entrant runs in a process of its own, by turns,
and the run with the least CPU time counts. The figure of another package is the CPU time of its fit alone. The figure of eigenfold is the CPU time of the
whole process, from reading the file to writing the embedding. One thread by default: on a busy machine CPU seconds of one thread are comparable.

MNIST and the text vectors are looked for in the directory that EIGENFOLD_DATA names; without them their rows are left out.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/reference/benchmarks.json"
PAGE = ROOT / "docs/reference/benchmarks.md"
CHARTS = ROOT / "docs/images/benchmarks"
DATA = pathlib.Path(os.environ.get("EIGENFOLD_DATA", ROOT / "data"))

# Method, data, other packages. k = 10 (knn: 15; umap: 14, which is 15 in umap-learn, where a point counts itself), two dimensions.
EMBEDDINGS = [
    ("tsne", "digits", ["openTSNE", "scikit-learn"]),
    ("tsne", "text", ["openTSNE", "scikit-learn"]),
    ("tsne", "mnist-10000", ["openTSNE", "scikit-learn"]),
    ("tsne", "swiss-10000", ["openTSNE", "scikit-learn"]),
    ("tsne", "mnist-70000", ["openTSNE"]),
    ("umap", "digits", ["umap-learn"]),
    ("umap", "text", ["umap-learn"]),
    ("umap", "mnist-10000", ["umap-learn"]),
    ("umap", "swiss-10000", ["umap-learn"]),
    ("umap", "mnist-70000", ["umap-learn"]),
]
SPECTRAL = [
    ("isomap", "digits", ["scikit-learn", "tapkee"]),
    ("isomap", "swiss-5000", ["scikit-learn", "tapkee"]),
    ("isomap", "swiss-10000", ["scikit-learn"]),
    ("isomap", "mnist-10000", ["scikit-learn"]),
    ("laplacian-eigenmaps", "swiss-100000", ["scikit-learn", "tapkee"]),
    ("laplacian-eigenmaps", "mnist-10000", ["scikit-learn"]),
    ("lle", "swiss-20000", ["scikit-learn", "tapkee"]),
    ("ltsa", "swiss-20000", ["scikit-learn", "tapkee"]),
    ("ltsa", "digits", ["scikit-learn", "tapkee"]),
    ("hessian-lle", "swiss-20000", ["tapkee"]),
    ("modified-lle", "swiss-5000", ["scikit-learn"]),
    ("diffusion-maps", "swiss-2000", ["tapkee"]),
    ("kernel-pca", "digits", ["scikit-learn"]),
    ("mds", "swiss-5000", ["scikit-learn", "tapkee"]),
    ("smacof", "digits", ["scikit-learn"]),
    ("pca", "mnist-10000", ["scikit-learn"]),
]
SEARCH = [("knn", "digits", ["pynndescent"]), ("knn", "mnist-10000", ["pynndescent"]), ("knn", "mnist-70000", ["pynndescent"])]
GROWTH = [
    (method, f"swiss-{n}", [])
    for method, sizes in {
        "pca": (50000, 100000, 200000),
        "laplacian-eigenmaps": (25000, 50000, 100000, 200000),
        "ltsa": (25000, 50000, 100000, 200000),
        "isomap": (2500, 5000, 10000, 20000),
        "tsne": (12500, 25000, 50000, 100000),
        "umap": (12500, 25000, 50000, 100000),
    }.items()
    for n in sizes
]

SKLEARN = {
    "pca": "decomposition.PCA(n_components=d)",
    "mds": "manifold.ClassicalMDS(n_components=d)",
    "kernel-pca": "decomposition.KernelPCA(n_components=d, kernel='rbf', gamma=1 / X.shape[1] / X.var(), eigen_solver='arpack')",
    "isomap": "manifold.Isomap(n_neighbors=k, n_components=d, n_jobs=threads)",
    "lle": "manifold.LocallyLinearEmbedding(n_neighbors=k, n_components=d, random_state=0, n_jobs=threads)",
    "ltsa": "manifold.LocallyLinearEmbedding(n_neighbors=k, n_components=d, method='ltsa', random_state=0, n_jobs=threads)",
    "modified-lle": "manifold.LocallyLinearEmbedding(n_neighbors=k, n_components=d, method='modified', random_state=0, n_jobs=threads)",
    "laplacian-eigenmaps": "manifold.SpectralEmbedding(n_components=d, n_neighbors=k, affinity='nearest_neighbors', eigen_solver='arpack', random_state=0, n_jobs=threads)",
    "smacof": "manifold.MDS(n_components=d, n_init=1, init='classical_mds', random_state=0, n_jobs=threads)",
    "tsne": "manifold.TSNE(n_components=d, random_state=0, n_jobs=threads, metric=metric)",
}
TAPKEE = {"isomap": "isomap", "lle": "lle", "ltsa": "ltsa", "hessian-lle": "hlle", "mds": "mds", "laplacian-eigenmaps": "la", "diffusion-maps": "dm"}


# --- in the virtual environment


def make(name):
    """A data set: rows, true coordinates or None, labels or None."""
    import numpy as np

    kind, _, size = name.partition("-")
    n = int(size or 0)
    if kind == "swiss":  # uniform on its sheet, without noise
        random = np.random.default_rng([1, n])
        arc = lambda t: 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
        grid = np.linspace(1.5 * np.pi, 4.5 * np.pi, 200_001)
        length = arc(grid[0]) + random.random(n) * (arc(grid[-1]) - arc(grid[0]))
        height, t = 21 * random.random(n), np.interp(length, arc(grid), grid)
        return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), np.column_stack([length, height]), None
    if kind == "digits":
        from sklearn.datasets import load_digits

        loaded = load_digits()
        return loaded.data, None, loaded.target
    if kind == "mnist":
        X = np.load(DATA / "mnist/data.npz")["arr_0"].reshape(-1, 784)[:n].astype(float) / 255
        return X, None, np.loadtxt(DATA / "mnist/labels.csv", dtype=int)[:n]
    if kind == "text":
        X = np.load(DATA / "text_minilm/data.npz")["arr_0"].astype(np.float32)
        names = (DATA / "text_minilm/labels.csv").read_text().split("\n")[: len(X)]
        return X / np.linalg.norm(X, axis=1, keepdims=True), None, np.unique(names, return_inverse=True)[1]
    raise SystemExit(f"no such data set: {name}")


def judge(X, truth, labels, Y, method):
    """How good an embedding is, or a neighbor list: the same measures for all entrants."""
    import numpy as np
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    random = np.random.default_rng(7)
    if method == "knn":  # rows i, j, length
        asked = random.choice(len(X), 300, replace=False)
        true = NearestNeighbors(n_neighbors=16, algorithm="brute").fit(X).kneighbors(X[asked], return_distance=False)[:, 1:]
        listed = {int(i): set() for i in asked}
        for i, j in Y[np.isin(Y[:, 0].astype(int), asked)][:, :2].astype(int):
            listed[i].add(j)
        return {"recall": round(float(np.mean([len(set(map(int, row)) & listed[int(i)]) / 15 for i, row in zip(asked, true)])), 4)}
    if Y.shape[0] != len(X) or not np.isfinite(Y).all():
        return {"error": "not one finite row per point"}
    some = random.permutation(len(X))[:2000]
    measures = {"trust": round(float(trustworthiness(X[some], Y[some], n_neighbors=12)), 3)}
    if truth is not None:
        centered, design = truth - truth.mean(0), Y - Y.mean(0)
        left = centered - design @ np.linalg.lstsq(design, centered, rcond=None)[0]
        measures["affine"] = float(f"{(left**2).sum() / (centered**2).sum():.2g}")
    if labels is not None:
        some = random.permutation(len(X))[:10000]
        near = NearestNeighbors(n_neighbors=11).fit(Y).kneighbors(Y[some], return_distance=False)[:, 1:]
        measures["knn"] = round(float((np.array([np.bincount(labels[row]).argmax() for row in near]) == labels[some]).mean()), 3)
    return measures


def fit(package, method, data, threads):
    """One fit of another package: the embedding, CPU seconds of the fit, and of the first fit of a process where that compiles."""
    import warnings

    import numpy as np

    warnings.simplefilter("ignore")
    X = np.load(data)["X"]
    k, d, metric = 10, 2, "cosine" if "text" in data else "euclidean"
    cold = None
    if package == "scikit-learn":
        from sklearn import decomposition, manifold  # noqa: F401, for eval

        estimator = eval(SKLEARN[method])
        began = time.process_time()
        Y = estimator.fit_transform(X)
    elif package == "tapkee":
        import tapkee

        width = float(np.median(((X[:200, None] - X[None, :200]) ** 2).sum(-1)))
        extra = {"gaussian_kernel_width": width} if method in ("laplacian-eigenmaps", "diffusion-maps") else {}
        transposed = np.asfortranarray(X.T)
        began = time.process_time()
        Y = tapkee.embed(transposed, method=TAPKEE[method], neighbors_method="vptree", num_neighbors=k, target_dimension=d, **extra)
    elif package == "openTSNE":
        from openTSNE import TSNE

        began = time.process_time()
        Y = np.asarray(TSNE(n_components=d, n_jobs=threads, random_state=0, metric=metric).fit(X))
    elif package == "umap-learn":
        import umap

        # Large data take another path than small ones, so that the warm-up has as many rows as compile it.
        warm = X if len(X) < 5000 else X[:5000]
        began = time.process_time()
        umap.UMAP(n_neighbors=15, n_jobs=threads, metric=metric).fit(warm)
        cold = time.process_time() - began
        began = time.process_time()
        Y = umap.UMAP(n_neighbors=15, n_jobs=threads, metric=metric).fit_transform(X)
    else:
        import pynndescent

        began = time.process_time()
        pynndescent.NNDescent(X[:5000], n_neighbors=16, metric=metric, random_state=0, n_jobs=threads)
        cold = time.process_time() - began
        began = time.process_time()
        rows, lengths = pynndescent.NNDescent(X, n_neighbors=16, metric=metric, random_state=0, n_jobs=threads).neighbor_graph
        Y = np.column_stack([np.repeat(np.arange(len(X)), 16), rows.ravel(), lengths.ravel()])
        Y = Y[Y[:, 0] != Y[:, 1]]
    return np.asarray(Y, float), time.process_time() - began, cold


def inside(arguments):
    """The part that needs the packages; `main` calls it in the virtual environment."""
    import numpy as np

    task, *rest = arguments
    if task == "make":
        name, archive, array = rest
        X, truth, labels = make(name)
        optional = {"truth": truth, "labels": labels}
        np.savez(archive, X=X, **{key: value for key, value in optional.items() if value is not None})
        np.save(array, X)
        print(json.dumps({"n": len(X), "features": X.shape[1]}))
    elif task == "fit":
        package, method, archive, out, threads = rest
        Y, cpu, cold = fit(package, method, archive, int(threads))
        np.save(out, Y)
        print(json.dumps({"cpu": cpu, "cold": cold}))
    elif task == "judge":
        archive, out, method = rest
        stored = np.load(archive)
        print(json.dumps(judge(stored["X"], stored.get("truth"), stored.get("labels"), np.load(out), method)))
    else:
        charts(json.loads(RESULTS.read_text()))


def charts(results):
    """Two charts, each for a light and a dark page: the ratios, and the growth of time with the number of points."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "eigenfold"
    import matplotlib.pyplot as plt

    CHARTS.mkdir(parents=True, exist_ok=True)
    for theme, suffix in (("default", ""), ("dark_background", "-dark")):
        with plt.style.context(theme):
            bars = [(f"{row['method']}, {row['data']}: {name}", other["cpu"] / row["eigenfold"]["cpu"])
                    for row in rows_of(results, EMBEDDINGS + SPECTRAL) for name, other in row["others"].items() if other.get("cpu")]
            bars.sort(key=lambda bar: bar[1])
            figure, axes = plt.subplots(figsize=(9, 0.26 * len(bars) + 1.2))
            axes.barh([name for name, _ in bars], [ratio for _, ratio in bars], color=["#d55e00" if ratio < 1 else "#2b84fe" for _, ratio in bars])
            axes.set_xscale("log")
            axes.axvline(1, color="gray", linewidth=1)
            axes.set_xlabel("CPU time of the other package / CPU time of eigenfold (log scale)")
            for at, (_, ratio) in enumerate(bars):
                axes.text(ratio, at, f" {ratio:,.0f}×" if ratio >= 100 else f" {ratio:.2g}×", va="center", fontsize=8)
            axes.margins(x=0.12, y=0.01)
            save(figure, f"ratios{suffix}")
            figure, axes = plt.subplots(figsize=(7, 4.4))
            for method in dict.fromkeys(method for method, *_ in GROWTH):
                points = sorted((row["n"], row["eigenfold"]["cpu"]) for row in rows_of(results, GROWTH) if row["method"] == method)
                if points:
                    axes.plot(*zip(*points), marker="o", label=method)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel("points of a Swiss roll")
            axes.set_ylabel("CPU seconds, whole process")
            axes.legend()
            save(figure, f"growth{suffix}")


def save(figure, name):
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(CHARTS / f"{name}.svg", bbox_inches="tight", transparent=True, metadata={"Date": None})


# --- outside


def environment():
    """The Python of the virtual environment."""
    home = ROOT / "target/benchmark-venv"
    wanted = (ROOT / "scripts/benchmarks.txt").read_text()
    python, stamp = home / "bin/python", home / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", ROOT / "scripts/benchmarks.txt"], check=True)
        stamp.write_text(wanted)
    return python


def measured(command, timeout, settings):
    """Runs a command: its output, CPU seconds and peak memory in MB, or why it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        with tempfile.TemporaryFile("w+") as errors:
            done = subprocess.run(["/usr/bin/env", *map(str, command)], stdout=subprocess.PIPE, stderr=errors, text=True, timeout=timeout, env=settings)
            errors.seek(0)
            said = errors.read().strip().splitlines()
    except subprocess.TimeoutExpired:
        return None, None, f"over {timeout:.0f} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        return None, None, f"fails: {said[-1][:120] if said else done.returncode}"
    return done.stdout, cpu, None


def run(options):
    kept = pathlib.Path(options.results)
    results = json.loads(kept.read_text()) if kept.exists() else {"rows": []}
    python = environment()
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    settings = {**os.environ, **{name: str(options.threads) for name in variables}}
    me = [python, __file__, "--inside"]
    compared_too = {work[:2] for work in EMBEDDINGS + SPECTRAL + SEARCH}
    works = EMBEDDINGS + SPECTRAL + SEARCH + [work for work in GROWTH if work[:2] not in compared_too]
    wanted = [work for work in works if not options.only or work[0] in options.only.split(",")]
    if options.data:
        wanted = [work for work in wanted if work[1] in options.data.split(",")]
    for method, data, packages in wanted:
        with tempfile.TemporaryDirectory() as folder:
            archive, array = f"{folder}/{data}.npz", f"{folder}/{data}.npy"
            made, _, failed = measured([*me, "make", data, archive, array], 600, settings)
            if failed:
                print(f"{method} {data}: left out, the data are not there ({failed})")
                continue
            row = {"method": method, "data": data, **json.loads(made), "threads": options.threads, "eigenfold": {}, "others": {name: {} for name in packages}}
            own = ["--perplexity", 30] if method == "tsne" else ["-k", {"umap": 14, "knn": 15}.get(method, 10)]
            own += ["--metric", "cosine"] if data == "text" and method in ("tsne", "umap", "knn") else []
            for _ in range(options.repeat):
                out, report = f"{folder}/ours.npy", f"{folder}/ours.json"
                task = ["graph", array, "--approximate"] if method == "knn" else ["embed", array, "-m", method, "-d", 2]
                _, cpu, failed = measured([options.program, *task, *own, "-o", out, "--json", report, "--threads", options.threads, "-q"], options.timeout, settings)
                keep(row["eigenfold"], cpu, failed)
                for name in packages:
                    other = row["others"][name]
                    if other.get("error"):
                        continue
                    printed, _, failed = measured([*me, "fit", name, method, archive, f"{folder}/{name}.npy", options.threads], options.timeout, settings)
                    times = {} if failed else json.loads(printed.strip().splitlines()[-1])
                    keep(other, times.get("cpu"), failed)
                    if times.get("cold"):
                        other["cold"] = round(min(other.get("cold", math.inf), times["cold"]), 3)
            for name, entrant in [("ours", row["eigenfold"]), *row["others"].items()]:
                if not entrant.get("error"):
                    entrant["quality"] = json.loads(measured([*me, "judge", archive, f"{folder}/{name}.npy", method], 900, settings)[0] or "{}")
            results["rows"] = [old for old in results["rows"] if (old["method"], old["data"]) != (method, data)] + [row]
            results["machine"] = {"processor": processor(), "system": platform.system(), "date": time.strftime("%Y-%m-%d")}
            kept.write_text(json.dumps(results, indent=1) + "\n")
            ratios = ", ".join(f"{name} {other['cpu'] / row['eigenfold']['cpu']:.2f} x" if other.get("cpu") else f"{name} {other.get('error')}" for name, other in row["others"].items())
            print(f"{method:20} {data:14} eigenfold {row['eigenfold'].get('cpu')} CPU s  {ratios}", flush=True)


def keep(entrant, cpu, failed):
    """The least CPU time of several runs; the reason if one failed."""
    if failed:
        entrant["error"] = failed
    else:
        entrant["cpu"] = round(min(entrant.get("cpu", math.inf), cpu), 4)


def processor():
    try:
        return re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        return platform.processor()


def rows_of(results, work):
    """The measured rows of a list of work, in its order."""
    measured_rows = {(row["method"], row["data"]): row for row in results["rows"]}
    return [measured_rows[method, data] for method, data, _ in work if (method, data) in measured_rows]


def seconds(entrant):
    if entrant.get("error"):
        return entrant["error"].split(":")[0]
    return f"{entrant['cpu']:.3g} s"


def quality(entrant):
    return ", ".join(f"{name} {value}" for name, value in entrant.get("quality", {}).items())


def compared(results, work, packages, cold=False):
    """A table of entrants: CPU seconds, ratio and quality."""
    head = ["method", "data", "rows × features", "eigenfold", *packages, "ratio", "quality: eigenfold", "quality: others"]
    lines = [head, ["---"] * len(head)]
    for row in rows_of(results, work):
        others = row["others"]
        ratios = [f"{other['cpu'] / row['eigenfold']['cpu']:.1f}" if other.get("cpu") else "" for other in (others.get(name, {}) for name in packages)]
        cells = [f"{seconds(others[name])}{' (cold: ' + format(others[name]['cold'], '.3g') + ' s)' if cold and others[name].get('cold') else ''}" if name in others else "" for name in packages]
        lines.append([row["method"], row["data"], f"{row['n']:,} × {row['features']}", seconds(row["eigenfold"]), *cells,
                      " and ".join(ratio for ratio in ratios if ratio), quality(row["eigenfold"]), "; ".join(quality(other) for other in others.values() if quality(other))])
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def growth(results):
    lines = ["| method | rows | CPU seconds | times the row above |", "|---|---|---|---|"]
    before = None
    for row in rows_of(results, GROWTH):
        cpu = row["eigenfold"]["cpu"]
        times = f"{cpu / before[1]:.1f}" if before and before[0] == row["method"] else ""
        lines.append(f"| {row['method']} | {row['n']:,} | {cpu:.3g} | {times} |")
        before = row["method"], cpu
    return "\n".join(lines)


def page():
    results = json.loads(RESULTS.read_text())
    tables = {
        "embeddings": compared(results, EMBEDDINGS, ["openTSNE", "scikit-learn", "umap-learn"], cold=True),
        "spectral": compared(results, SPECTRAL, ["scikit-learn", "tapkee"]),
        "search": compared(results, SEARCH, ["pynndescent"], cold=True),
        "growth": growth(results),
        "machine": f"Processor: {results['machine']['processor']}. Date: {results['machine']['date']}.",
    }
    text = PAGE.read_text()
    for name, table in tables.items():
        text, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda found: found[1] + table + "\n" + found[2], text, flags=re.S)
        assert count == 1, f"{PAGE} has no marks for {name}"
    PAGE.write_text(text)
    subprocess.run([environment(), __file__, "--inside", "charts"], check=True)


def main():
    if sys.argv[1:2] == ["--inside"]:
        return inside(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["run", "page"])
    parser.add_argument("--program", default=str(ROOT / "target/release/eigenfold"))
    parser.add_argument("--only", help="methods, with commas between")
    parser.add_argument("--data", help="data sets, with commas between")
    parser.add_argument("--results", default=str(RESULTS), help="the file that the figures are added to")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300)
    options = parser.parse_args()
    run(options) if options.task == "run" else page()


if __name__ == "__main__":
    main()
