"""Every method at its default settings on everyday data: writes docs/internals/everyday.md.

    python3 scripts/everyday.py PROGRAM [--limit SECONDS] [--data DIRECTORY] [--out docs/internals/everyday.md]
                                        [--sets NAMES] [--methods NAMES]

PROGRAM is the eigenfold program. DIRECTORY has the data sets that are not built in; those that are absent are left out.
Needs numpy: scripts/everyday.sh makes an environment that has it. Each run has a limit of CPU seconds.
The program's runs are not repeated if this is stopped and started again with the same --work directory.

A map is degenerate if nearly all points are in a dot, or one of its coordinates has no width. A degenerate map that came
without a warning is an error: all of them are listed, and the exit code is 1.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

LIMIT = 120  # CPU seconds for each run
NEAREST = 5  # neighbors that vote
RANKED = 10  # neighbors of trustworthiness
SAMPLED = 1000  # points that trustworthiness is computed on
MOST = 5000  # rows of large data sets
DOT = 0.01  # a map whose middle nine tenths are this part of its width is a dot
FLAT = 1e-6  # a coordinate this much narrower than the first has no width


def shared(directory, name, file="data.csv", labels="labels.csv", truth=None):
    """A data set of the directory: its rows, with classes or with true coordinates where it has them."""
    folder = os.path.join(directory, name)
    path = os.path.join(folder, file)
    if not os.path.exists(path):
        return None
    if file.endswith(".npz"):
        with np.load(path) as archive:
            data = archive[archive.files[0]]
    elif file.endswith(".npy"):
        data = np.load(path)
    else:
        data = table(path)
    data = np.asarray(data[:MOST], dtype=float)
    classes = places = None
    labels = os.path.join(folder, labels) if labels else None
    if labels and os.path.exists(labels):
        known = np.load(labels) if labels.endswith(".npy") else table(labels)
        known = np.asarray(known[: len(data)], dtype=float)
        if truth is None:
            classes = known.reshape(len(data), -1)[:, 0].astype(int)
        else:
            places = known[:, truth]
    return data, classes, places


def table(path):
    """The numbers of a text file, without its header."""
    with open(path, encoding="utf-8") as file:
        first = file.readline()
    try:
        [float(cell) for cell in first.split(",")]
        header = 0
    except ValueError:
        header = 1
    return np.loadtxt(path, delimiter=",", skiprows=header, ndmin=1)


def built_in(program, work, name, *more):
    """A data set that the program brings along."""
    rows, labels = os.path.join(work, name + ".csv"), os.path.join(work, name + "-labels.npy")
    if more:
        subprocess.run([program, "sample", name, *more, "-q", "-o", rows, "--truth", labels], check=True)
        return table(rows), None, np.load(labels)
    subprocess.run([program, "sample", name, "-q", "-o", rows], check=True)
    data = table(rows) if name != "iris" else None
    if data is None:
        with open(rows, encoding="utf-8") as file:
            lines = [line.strip().split(",") for line in file][1:]
        names = sorted({line[-1] for line in lines})
        return (
            np.array([[float(cell) for cell in line[:-1]] for line in lines]),
            np.array([names.index(line[-1]) for line in lines]),
            None,
        )
    return data[:, :-1], data[:, -1].astype(int), None


def data_sets(program, work, directory):
    """All of them by name, in the order of the tables."""
    sets = {
        "swiss roll": built_in(program, work, "swiss-roll", "-n", "2000"),
        "iris": built_in(program, work, "iris"),
        "digits": built_in(program, work, "digits"),
        "oil": shared(directory, "oil"),
        "optdigits": shared(directory, "optdigits"),
        "segmentation": shared(directory, "segmentation"),
        "letter": shared(directory, "letter"),
        "mnist": shared(directory, "mnist", "data.npz"),
        "coil": shared(directory, "coil20", "data_32x32.npy"),
        "faces": shared(directory, "isomap_faces_32x32", "data.npy", truth=slice(0, 3)),
        "frey": shared(directory, "frey_faces", "data.npy", labels=None),
        "wireless": shared(directory, "robot_wireless", truth=slice(1, 3)),
        "run": shared(directory, "osu_run1", labels=None),
        "animals": shared(directory, "animals_33x102", labels=None),
    }
    return {name: found for name, found in sets.items() if found is not None}


def squares(a, b):
    """Squared distances between the rows of two tables."""
    found = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * a @ b.T
    return np.maximum(found, 0)


def accuracy(places, classes):
    """The share of points whose class is that of most of the nearest others on the map; of ties the smallest class."""
    right = 0
    for start in range(0, len(places), SAMPLED):
        rows = np.arange(start, min(start + SAMPLED, len(places)))
        away = squares(places[rows], places)
        away[np.arange(len(rows)), rows] = np.inf
        near = np.argpartition(away, NEAREST, axis=1)[:, :NEAREST]
        votes = np.zeros((len(rows), classes.max() + 1))
        for column in range(NEAREST):
            votes[np.arange(len(rows)), classes[near[:, column]]] += 1
        right += (votes.argmax(1) == classes[rows]).sum()
    return right / len(places)


def explained(places, truth):
    """The share of the variance of the true coordinates that an affine map of the coordinates explains."""
    truth = (truth - truth.mean(0)) / truth.std(0)
    known = np.column_stack([places / max(np.abs(places).max(), 1e-300), np.ones(len(places))])
    rest = truth - known @ np.linalg.lstsq(known, truth, rcond=None)[0]
    return 1 - (rest**2).sum() / (truth**2).sum()


class Trust:
    """Trustworthiness: how far down in the data those are who are near on the map."""

    def __init__(self, data):
        self.rows = np.unique(np.linspace(0, len(data) - 1, min(SAMPLED, len(data))).astype(int))
        away = squares(data[self.rows], data)
        away[np.arange(len(self.rows)), self.rows] = -1  # itself first
        order = away.argsort(axis=1, kind="stable")
        self.rank = np.empty_like(order)
        np.put_along_axis(self.rank, order, np.arange(len(data))[None, :].repeat(len(self.rows), 0), axis=1)

    def of(self, places):
        n, k = len(places), min(RANKED, (len(places) - 1) // 2)
        away = squares(places[self.rows], places)
        away[np.arange(len(self.rows)), self.rows] = np.inf
        near = np.argpartition(away, k, axis=1)[:, :k]
        ranks = np.take_along_axis(self.rank, near, axis=1)
        beyond = np.maximum(ranks - k, 0).sum()
        return 1 - 2 * beyond / (len(self.rows) * k * (2 * n - 3 * k - 1))


def degenerate(places):
    """What is wrong with a map, in words; nothing if that is nothing."""
    if not np.isfinite(places).all():
        return "not finite"
    low, high = places.min(0), places.max(0)
    width = high - low
    if width.max() == 0 or width.min() <= FLAT * width.max():
        return f"a coordinate has {width.min() / max(width.max(), 1e-300):.0e} of the width of another"
    middle = np.quantile(places, 0.95, axis=0) - np.quantile(places, 0.05, axis=0)
    part = (middle / width).min()
    return f"nine tenths of the points have {part:.1e} of the width of the map" if part < DOT else None


def run(program, method, source, target, limit):
    """One run: what the program reports, with its CPU seconds; or why there is no map."""
    report = target + ".json"
    command = [program, "embed", source, "-m", method, "-o", target + ".npy", "--json", report, "-q", "--threads", "1"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    capped = lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=capped, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode == 0:
        with open(report, encoding="utf-8") as file:
            return json.load(file) | {"spent": spent, "wall": time.time() - start}
    if done.returncode in (2, 1) and spent < limit - 1:
        return {"refused": done.stderr.strip().splitlines()[-1].removeprefix("eigenfold: "), "spent": spent}
    return {"over": True, "spent": spent}


def grid(title, methods, sets, cell):
    """A table: methods down, data sets across."""
    lines = [f"| {title} | " + " | ".join(sets) + " |", "|---|" + "---:|" * len(sets)]
    lines += [f"| {method} | " + " | ".join(cell(method, name) for name in sets) + " |" for method in methods]
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--data", default=os.environ.get("EIGENFOLD_SHARED", "../shared") + "/data")
    parser.add_argument("--out", default="docs/internals/everyday.md")
    parser.add_argument("--work", default="target/everyday")
    parser.add_argument("--sets")
    parser.add_argument("--methods")
    return parser.parse_args()


def main():
    args = arguments()
    program = os.path.abspath(args.program)
    os.makedirs(args.work, exist_ok=True)
    listed = os.path.join(args.work, "methods.json")
    subprocess.run([program, "methods", "--json", listed], check=True, stdout=subprocess.DEVNULL)
    with open(listed, encoding="utf-8") as file:
        methods = [method["name"] for method in json.load(file)]
    methods = args.methods.split(",") if args.methods else methods
    sets = data_sets(program, args.work, args.data)
    sets = {name: sets[name] for name in args.sets.split(",")} if args.sets else sets

    found, silent = {}, []
    for name, (data, classes, truth) in sets.items():
        source = os.path.join(args.work, name.replace(" ", "-") + ".npy")
        np.save(source, data)
        trust = Trust(data)
        for method in methods:
            target = os.path.join(args.work, name.replace(" ", "-") + "-" + method)
            kept = target + ".kept.json"
            if os.path.exists(kept):
                with open(kept, encoding="utf-8") as file:
                    report = json.load(file)
            else:
                report = run(program, method, source, target, args.limit)
                with open(kept, "w", encoding="utf-8") as file:
                    json.dump(report, file)
            if "over" not in report and "refused" not in report:
                places = np.load(target + ".npy")
                report["good"] = (
                    accuracy(places, classes) if classes is not None
                    else explained(places, truth) if truth is not None
                    else None
                )
                report["trust"] = trust.of(places)
                report["wrong"] = degenerate(places)
                if report["wrong"] and not report["warnings"]:
                    silent.append(f"{method} on {name}: {report['wrong']}")
            found[method, name] = report
            shown = report.get("refused") or ("over" if "over" in report else f"{report['good']} {report['trust']:.3f}")
            print(f"{name:13} {method:20} {report['spent']:7.1f} s  {shown}", flush=True)
    write(args, methods, sets, found)
    for line in silent:
        print("DEGENERATE WITHOUT A WARNING:", line, file=sys.stderr)
    return 1 if silent else 0


def write(args, methods, sets, found):
    """The page."""
    def figure(method, name, of):
        report = found[method, name]
        if "over" in report:
            return "…"
        if "refused" in report:
            return "–"
        text = of(report)
        if not text:
            return ""
        return text + ("°" if not report["converged"] else "") + ("!" if report["wrong"] else "")

    sizes = ", ".join(f"{name} {data.shape[0]:,} × {data.shape[1]:,}" for name, (data, _, _) in sets.items())
    good = [name for name, (_, classes, truth) in sets.items() if classes is not None or truth is not None]
    true = [name for name, (_, _, truth) in sets.items() if truth is not None]
    number = lambda key: lambda report: f"{report[key]:.2f}"
    seconds = lambda report: f"{report['spent']:.1f}"
    warned = {}
    for (method, name), report in found.items():
        for warning in [report["refused"]] if "refused" in report else report.get("warnings", []):
            warned.setdefault((name, warning), []).append(method)
    page = f"""# All methods on everyday data

Every method at its default settings, with two coordinates, on data of several kinds. [scripts/everyday.sh](../../scripts/everyday.sh) generates this page, and
fails if an embedding is degenerate without a warning. Large data sets have their first {MOST:,} rows. Every run has one thread.

Rows × columns: {sizes}.

| mark | meaning |
|---|---|
| … | the run was ended after {args.limit:.0f} CPU seconds |
| – | refused; the reason is listed under [warnings](#warnings) |
| ° | not converged, with a warning |
| ! | degenerate, with a warning: nearly all points coincide in the picture, or a coordinate has no variance |

## Class accuracy and recovery of true coordinates

The fraction of points whose class is the majority class of their five nearest neighbors in the embedding. These data sets have true coordinates instead of classes: {", ".join(true)}. Their value is the fraction of the variance explained by an affine function of the embedding (R²).

{grid("", methods, good, lambda m, s: figure(m, s, number("good")))}

## Trustworthiness

Trustworthiness with ten neighbors: 1 at best, about 0.5 for a random embedding.

{grid("", methods, list(sets), lambda m, s: figure(m, s, number("trust")))}

## CPU seconds

Total of all threads, including reading and writing.

{grid("", methods, list(sets), lambda m, s: figure(m, s, seconds))}

## Warnings

"""
    for name in sets:
        lines = [f"- {', '.join(by)}: {warning}\n" for (of, warning), by in warned.items() if of == name]
        page += f"**{name}**\n\n" + "".join(lines) + "\n" if lines else ""
    with open(args.out, "w", encoding="utf-8") as file:
        file.write(page.rstrip() + "\n")


if __name__ == "__main__":
    sys.exit(main())
