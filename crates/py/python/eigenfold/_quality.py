"""Quality measures of any embedding, in total and per point."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _eigenfold, _input


class Quality(dict):
    """The quality measures of an embedding: a dict of numbers by name, and more as attributes.

    `quality` returns it. `print` shows the measures with their standard errors. Measures that are not defined are left out, such as
    those of labels where there are no labels.

    Attributes
    ----------
    errors : dict of (float or None)
        The standard error of each measure; None where all rows were used.
    pointwise : dict of ndarray of shape (n_samples,)
        The value of each measure at every point; NaN where a point was not sampled.
    rows : ndarray of int
        The points that were sampled.
    n_neighbors : int
        The size of the neighborhoods.
    curve : tuple of two ndarray
        The neighborhood sizes k, and R_NX(k): the share of neighbors kept at size k, rescaled so that a random embedding has 0.
    shepard : ndarray of shape (n_pairs, 2)
        Distances of sampled pairs of points, in the data and in the embedding, for a Shepard diagram.
    measures : dict of dict
        A description of every measure, also of those left out: `title`, `explain`, `group`, `better` ('higher' or 'lower'),
        `low` and `high` (its limits, or None).

    See Also
    --------
    quality : Compute the measures.

    Examples
    --------
    >>> from eigenfold import Quality
    >>> Quality.measures["neighbor_ratio"]["better"]
    'lower'
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
    """Measure how well an embedding preserves neighborhoods, distances and labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The data, or with `metric='precomputed'` their distances. A column that has a vector in every row will do, as in
        ``df["embedding"]``.
    embedding : array-like of shape (n_samples, n_components)
        The embedding, by eigenfold or by any other program, one row per row of `X`.
    labels : array-like of shape (n_samples,), optional
        The class of each point; -1 and NaN where it is not known.
    truth : array-like of shape (n_samples, n_true), optional
        The true coordinates of the points.
    n_neighbors : int, optional
        The size of the neighborhoods; by default 10.
    metric : str, default='euclidean'
        The distance between rows of `X`, by the names of `knn_graph`.
    rows : int, optional
        The largest number of rows to evaluate. By default all rows of up to 5,000 points are evaluated, and a sample of more.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the sample; None is 0.
    n_jobs : int, optional
        The number of threads; None and -1 are one per core. The result does not depend on it.

    Returns
    -------
    Quality
        A dict with the keys below, and with standard errors, values per point and curves as attributes.

        trustworthiness : float
            1 if all neighbors in the embedding are near in the data.
        continuity : float
            1 if all neighbors in the data are near in the embedding.
        neighbors_kept : float
            The share of the `n_neighbors` nearest neighbors in the data that are among those in the embedding.
        rnx_auc : float
            The share of neighbors kept, averaged over all sizes of neighborhoods with most weight on small ones; 1 is perfect,
            0 a random embedding.
        neighbor_ratio : float
            The neighbor distance ratio: how many times as far in the data the ten nearest neighbors in the embedding are as the
            ten true ones; 1 is perfect.
        stress : float
            How much the distances differ, relative to those of the data; 0 if all are equal.
        scaled_stress : float
            The stress after optimal scaling of the embedding.
        residual_variance : float
            The share of the variance of the distances that the embedding does not explain.
        pearson, spearman : float
            The correlation of the distances, and of their ranks.
        neighborhood_hit : float
            The share of neighbors in the embedding that have the label of the point. Needs `labels`.
        knn_accuracy : float
            The accuracy of a nearest-neighbor classifier in the embedding. Needs `labels`.
        silhouette : float
            The silhouette coefficient of the labels, from -1 to 1. Needs `labels`.
        reconstruction_error : float
            The error of rows reconstructed from their embedding points by the other rows; 0 is exact, 1 no better than the mean.
            Needs points.
        disparity : float
            The difference from the true coordinates after Procrustes alignment; 0 is the same shape. Needs `truth`.

    Raises
    ------
    ValueError
        If the numbers of rows differ, a number is missing, or a parameter is out of range.

    See Also
    --------
    compare : Embed the same points by several methods and rank the embeddings.
    gp_likelihood : Compute the likelihood of the data given an embedding.

    Examples
    --------
    >>> from eigenfold import PCA, datasets, quality
    >>> iris = datasets.load("iris")
    >>> found = quality(iris.data, PCA().fit_transform(iris.data), iris.target)
    >>> print(f"{found['trustworthiness']:.3f}, {found['knn_accuracy']:.2f}")
    0.983, 0.95
    >>> found.pointwise["silhouette"].shape
    (150,)
    """
    data, coordinates = _input.matrix(X), _input.matrix(embedding)
    kind, metric = ("distances", "euclidean") if metric == "precomputed" else ("points", metric)
    known = None if truth is None else _input.matrix(truth)
    seed, threads = _input.seed(random_state), _input.threads(n_jobs)
    about, sampled, each, shepard = _eigenfold.quality(
        kind, data, coordinates, _classes(labels), known, n_neighbors, rows, metric, seed, threads
    )
    report = json.loads(about)
    found = Quality(report["values"])
    found.errors, found.n_neighbors, found.rows, found.shepard = report["errors"], report["neighbors"], sampled, shepard
    found.curve = (np.asarray(report["curve"][0], dtype=int), np.asarray(report["curve"][1], dtype=float))
    found.pointwise = {}
    for key, values in zip(found, each):
        found.pointwise[key] = np.full(len(coordinates), np.nan)
        found.pointwise[key][sampled] = values
    return found


def _classes(labels: Any) -> list[int | None] | None:
    """The class of every point; -1 and NaN are nothing known."""
    if labels is None:
        return None
    names, of = np.unique(np.asarray(labels).ravel(), return_inverse=True)
    return [None if str(names[at]) in ("-1", "-1.0", "nan") else int(at) for at in of]
