"""Quality measures of any embedding, in total and per point."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _eigenfold, _input


class Quality(dict):
    """The measures of an embedding by their names, each a number; undefined ones, such as those of labels without labels, are left out.

    `errors` has the standard errors (None where all rows were used), `pointwise` an array with one number per point for each
    measure (NaN where a point was not sampled), `rows` the points that were sampled, `n_neighbors` the neighbors looked at, `curve` the
    sizes k and the values R_NX(k), `shepard` some pairs of distances, in the data and on the map. `Quality.measures` says of every
    measure what it means, which way is better and what its limits are.
    """

    errors: dict[str, float | None]
    pointwise: dict[str, np.ndarray]
    rows: np.ndarray
    n_neighbors: int
    curve: tuple[np.ndarray, np.ndarray]
    shepard: np.ndarray
    measures: dict[str, dict[str, Any]] = {each["key"]: each for each in json.loads(_eigenfold.measures())}

    def __repr__(self) -> str:
        def line(key: str, value: float) -> str:
            error = self.errors.get(key)
            known = f"{value:.4f}" if error is None else f"{value:.4f} ± {error:.4f}"
            return f"  {key:<20} {known:<18} ({self.measures[key]['better']} is better)"

        sampled = len(self.rows) < len(next(iter(self.pointwise.values()), self.rows))
        rows = f", {len(self.rows)} rows sampled" if sampled else ""
        return "\n".join([f"Quality with {self.n_neighbors} neighbors{rows}", *(line(*each) for each in self.items())])


def quality(
    X: Any,
    embedding: Any,
    labels: Any = None,
    *,
    truth: Any = None,
    n_neighbors: int | None = None,
    metric: str = "euclidean",
    rows: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Quality:
    """Quality measures of any embedding: neighborhoods, distances, labels, reconstruction, and the truth where it is known.

    `X` are points, or distances with `metric="precomputed"`; `labels` one class per point, -1 where it is not known; `truth`
    coordinates that are known to be right. `n_neighbors` is 10 if not given. Up to 5,000 points all rows are used; beyond that
    some are drawn by `random_state`, at most `rows` of them, and the values have standard errors.

    >>> from eigenfold import PCA, datasets, quality
    >>> iris = datasets.load("iris")
    >>> found = quality(iris.data, PCA().fit_transform(iris.data), iris.target)
    >>> print(f"{found['trustworthiness']:.3f}, {found['knn_accuracy']:.2f}")
    0.983, 0.95
    >>> found.pointwise["silhouette"].shape
    (150,)
    """
    data, places = _input.matrix(X), _input.matrix(embedding)
    kind, metric = ("distances", "euclidean") if metric == "precomputed" else ("points", metric)
    known = None if truth is None else _input.matrix(truth)
    seed, threads = _input.seed(random_state), _input.threads(n_jobs)
    about, sampled, each, shepard = _eigenfold.quality(
        kind, data, places, _classes(labels), known, n_neighbors, rows, metric, seed, threads
    )
    report = json.loads(about)
    found = Quality(report["values"])
    found.errors, found.n_neighbors, found.rows, found.shepard = report["errors"], report["neighbors"], sampled, shepard
    found.curve = (np.asarray(report["curve"][0], dtype=int), np.asarray(report["curve"][1], dtype=float))
    found.pointwise = {}
    for key, values in zip(found, each):
        found.pointwise[key] = np.full(len(places), np.nan)
        found.pointwise[key][sampled] = values
    return found


def _classes(labels: Any) -> list[int | None] | None:
    """The class of every point; -1 and NaN are nothing known."""
    if labels is None:
        return None
    names, of = np.unique(np.asarray(labels).ravel(), return_inverse=True)
    return [None if str(names[at]) in ("-1", "-1.0", "nan") else int(at) for at in of]
