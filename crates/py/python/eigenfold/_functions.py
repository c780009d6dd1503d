"""Functions of data and of embeddings that need no estimator."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _eigenfold, _input
from ._spec import graph_request

# More different numbers than these are values, fewer are classes.
MOST_CLASSES = 30


def dimension(
    X: Any, *, n_neighbors: int | None = None, quick: bool = False, pointwise: bool = False, random_state: Any = 0, n_jobs: int | None = None
) -> dict[str, Any]:
    """Estimate the intrinsic dimension of points by twelve estimators.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points, by the Euclidean distance. Repeated points count once. A column that has a vector in every row will do, as in
        ``df["embedding"]``.
    n_neighbors : int, optional
        The largest neighborhood of the Levina-Bickel estimate, of the correlation dimension and of the pointwise estimates; by
        default 20, or all other points if there are fewer.
    quick : bool, default=False
        Skip the slower estimators: `correlation`, `graph_length`, `svd`, `isomap` and `mvu`. The recommendation is the same.
    pointwise : bool, default=False
        Also estimate the dimension at each point.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the random subsets of `graph_length`; None is 0.
    n_jobs : int, optional
        The number of threads; None and -1 are one per core. The result does not depend on it.

    Returns
    -------
    dict
        The estimates, with the keys

        recommended : dict
            `dims`, the recommended number of coordinates; `reason`, the estimate that decided; `caveat`, what speaks against it.
        estimates : dict of dict
            One entry per estimator: `two_nn` (the main one), `ess`, `two_nn_mle`, `two_nn_mean`, `two_nn_fit`,
            `levina_bickel`, `mackay_ghahramani`, `correlation`, `graph_length`, `svd` (linear dimension only), `isomap` and
            `mvu`. Each has `value`; `low` and `high`, the ends of the 95 % interval, or None; `points`, the number of points
            used.
        left_out : dict of str
            The reason for each estimator that could not be computed.
        scales : list of dict
            The GRIDE estimate by scale. Each has `k` (the 2k-th neighbor is compared with the k-th), `value`,
            `standard_error`, `low`, `high`, `distance` (the mean distance to the 2k-th neighbor) and `among` (the number of
            points).
        check : dict
            `flagged`, whether the points do not look like a sample of a smooth density; `departure`, the Kolmogorov-Smirnov
            statistic behind it.
        neighbors : int
            The `n_neighbors` used.
        pointwise : list of float or None
            The dimension at each point, if requested.
        warnings : list of str
            What limits the estimates.

    Raises
    ------
    ValueError
        If there are fewer than three distinct points, a number is missing, or `n_neighbors` is out of range.

    See Also
    --------
    compare : Embed the same points by several methods and rank the embeddings.
    quality : Measure how well an embedding preserves the data.

    Examples
    --------
    >>> from eigenfold import datasets, dimension
    >>> found = dimension(datasets.make("swiss-roll", n=500).data, quick=True)
    >>> found["recommended"]["dims"]
    2
    >>> sorted(found["estimates"]["two_nn"])
    ['high', 'low', 'points', 'value']
    """
    data, seed, threads = _input.matrix(X), _input.seed(random_state), _input.threads(n_jobs)
    return json.loads(_eigenfold.dimension(data, n_neighbors, quick, pointwise, seed, threads))


def gp_likelihood(
    X: Any, embedding: Any, *, lengths: str = "ard", starts: str = "all", inducing: int | None = None, n_jobs: int | None = None
) -> dict[str, Any]:
    """Compute the log likelihood of data under a Gaussian process over an embedding.

    Larger is better. Only values for the same `X` are comparable. Every feature is an independent Gaussian process over the
    embedding, with a squared exponential kernel, a bias and noise, whose parameters are fitted.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data that were embedded; a column that has a vector in every row will do.
    embedding : array-like of shape (n_samples, n_components)
        The embedding, by eigenfold or by any other program, one row per row of `X`.
    lengths : {'ard', 'unit', 'raw'}, default='ard'
        The length scales of the kernel: one per coordinate ('ard'), one for coordinates of unit variance ('unit'), or one for
        the coordinates as they are ('raw').
    starts : {'all', 'one'}, default='all'
        Where the optimization of the parameters starts: at seven points ('all') or at one ('one').
    inducing : int, optional
        The number of inducing points, which give a lower bound. By default the likelihood is exact up to 2,000 points and uses
        200 to 800 inducing points beyond.
    n_jobs : int, optional
        The number of threads; None and -1 are one per core. The result does not depend on it.

    Returns
    -------
    dict
        The likelihood, with the keys

        value : float
            The log likelihood (natural logarithm), or its lower bound.
        variance : float
            The variance of the kernel.
        length : float or list of float
            The length scale of the kernel; one per coordinate with `lengths='ard'`.
        bias : float
            The variance of the constant that is added to the process.
        noise : float
            The variance of the noise.
        noise_floor : bool
            Whether the noise is at its lower bound, so that less noise would increase the value.
        inducing : int or None
            The number of inducing points; None if the value is exact.
        starts : list of float or None
            The value that each start reached; None where it could not be computed.
        converged : bool
            Whether the best start converged.

    Raises
    ------
    ValueError
        If the numbers of rows differ, no feature varies, or a parameter is out of range.

    See Also
    --------
    quality : Measure neighborhoods, distances and labels of an embedding.

    Examples
    --------
    >>> from eigenfold import PCA, datasets, gp_likelihood
    >>> X = datasets.load("iris").data[::3]
    >>> good = gp_likelihood(X, PCA().fit_transform(X))
    >>> bad = gp_likelihood(X, X[::-1, :2])
    >>> good["value"] > bad["value"]
    True
    """
    if starts not in ("all", "one"):
        raise ValueError(f"starts is {starts!r}; give 'all' or 'one'")
    data, coordinates = _input.matrix(X), _input.matrix(embedding)
    return json.loads(_eigenfold.gp_likelihood(data, coordinates, lengths, starts == "one", inducing, _input.threads(n_jobs)))


def knn_graph(
    X: Any,
    n_neighbors: int | None = 10,
    *,
    radius: float | None = None,
    graph: str = "nearest",
    metric: str = "euclidean",
    approximate: bool | None = None,
    disconnected: str = "separate",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Any:
    """Build the neighborhood graph of points as a sparse matrix of edge lengths.

    The methods that use a graph accept the matrix with `metric="precomputed"`, and so do those of scikit-learn.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points, or with `metric='precomputed'` their distances. A column that has a vector in every row will do, as in
        ``df["embedding"]``.
    n_neighbors : int or None, default=10
        The number of neighbors of each point, the point itself not counted.
    radius : float, optional
        The distance within which points are neighbors; give `n_neighbors=None` with it.
    graph : {'nearest', 'mutual', 'within', 'all', 'learned'}, default='nearest'
        Which points are neighbors: the nearest ones, pairs that are among the nearest of each other, those within `radius`, all,
        or those of the nearest that a sparse precision matrix keeps (see `Drill`).
    metric : str, default='euclidean'
        The distance: 'euclidean', 'manhattan', 'cosine', 'correlation', 'chebyshev', 'minkowski:3', 'hamming', 'jaccard',
        'haversine', 'haversine-degrees', 'canberra', 'braycurtis', 'mahalanobis' or 'precomputed'.
    approximate : bool, optional
        Whether the search may miss a tenth of the neighbors for speed; by default it is exact.
    disconnected : {'separate', 'join', 'error'}, default='separate'
        How to treat several connected components: keep them, link them by the shortest edges between them, or raise an error.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the approximate search; None is 0.
    n_jobs : int, optional
        The number of threads; None and -1 are one per core. The result does not depend on it.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        The lengths of the edges; row i has the neighbors of point i.

    Raises
    ------
    ValueError
        If `n_neighbors` and `radius` are both given or out of range, or the graph is not connected with `disconnected='error'`.

    See Also
    --------
    Isomap : Embed points by the shortest paths on the graph.
    LaplacianEigenmaps : Embed points by the eigenvectors of the graph Laplacian.

    Examples
    --------
    >>> from eigenfold import Isomap, datasets, knn_graph
    >>> graph = knn_graph(datasets.make("swiss-roll", n=200).data, 8)
    >>> graph.shape, graph.nnz
    ((200, 200), 1600)
    >>> Isomap(metric="precomputed").fit_transform(graph).shape
    (200, 2)
    """
    kind, metric = ("distances", "euclidean") if metric == "precomputed" else ("points", metric)
    words = {"n_neighbors": n_neighbors, "radius": radius, "graph": graph, "approximate": approximate, "disconnected": disconnected}
    request = {**graph_request(words), "metric": metric, "seed": _input.seed(random_state)}
    return knn_graph_of(kind, _input.matrix(X), request, _input.threads(n_jobs))


def knn_graph_of(kind: str, data: Any, request: dict[str, Any], threads: int | None, known: Any = None) -> Any:
    """The graph as a sparse matrix; of known neighbors, as three arrays, if there are some."""
    from scipy.sparse import csr_array

    starts, targets, lengths, _ = _eigenfold.graph(kind, data, json.dumps(request), known, threads)
    n = len(starts) - 1
    return csr_array((lengths, targets, starts), shape=(n, n))


class Picture:
    """A picture of an embedding, drawn without matplotlib.

    `plot` returns it where matplotlib is not installed, or where a `file` is named. A notebook displays it.

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, n_components)
        The embedding; with more than two coordinates all pairs of them are drawn.
    labels : array-like of shape (n_samples,) or None
        What colors the points, as in `plot`.
    title : str
        The title of the picture.
    """

    def __init__(self, coordinates: np.ndarray, labels: Any, title: str) -> None:
        self._coordinates, self._title = coordinates, title
        self._classes, self._values = _coloring(labels, len(coordinates))

    def save(self, path: Any) -> None:
        """Write the picture to a file.

        Parameters
        ----------
        path : str or path-like
            The file, whose name ends in ``.png`` or ``.svg``.
        """
        content = _eigenfold.picture(self._coordinates, self._classes, self._values, self._title, path)
        with open(path, "wb") as file:
            file.write(content)

    def _repr_png_(self) -> bytes:
        return _eigenfold.picture(self._coordinates, self._classes, self._values, self._title, "map.png")


def _coloring(labels: Any, rows: int) -> tuple[tuple[list[str], list[int | None]] | None, list[float] | None]:
    """What colors points: classes (names, and that of each point, None where it is missing) up to thirty, or values."""
    if labels is None:
        return None, None
    # Of a list, so that a NaN among words stays what it is.
    labels = (np.asarray(labels) if hasattr(labels, "dtype") else np.array(labels, dtype=object)).ravel()
    if len(labels) != rows:
        raise ValueError(f"there are {len(labels)} labels for {rows} points; give one per point")
    known = np.array([one is not None and bool(one == one) for one in labels], dtype=bool)
    numbers = all(isinstance(one, (int, float, np.number, np.bool_)) for one in labels[known])
    texts = np.array(labels[known].tolist() if numbers else [str(one) for one in labels[known]])
    names, found = np.unique(texts, return_inverse=True)
    if len(names) > MOST_CLASSES and numbers:
        return None, [float(one) if there else np.nan for one, there in zip(labels, known)]
    of: list[int | None] = [None] * rows
    for at, one in zip(np.flatnonzero(known), found):
        of[at] = int(one)
    return ([str(name) for name in names], of), None


def plot(
    embedding: Any, labels: Any = None, *, ax: Any = None, title: str | None = None, size: float | None = None, file: Any = None
) -> Any:
    """Draw an embedding, with one color per class or a color scale for values.

    With matplotlib, the first two coordinates are drawn. Both axes have the same units and no ticks, because the distances of an
    embedding have a meaning and the directions of its axes do not.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        The coordinates.
    labels : array-like of shape (n_samples,), optional
        What colors the points. Text, and up to 30 different numbers, are classes with a legend; more numbers are values on a color
        scale. None and NaN are drawn in grey.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default new ones.
    title : str, optional
        The title.
    size : float, optional
        The area of a point in square typographic points, as in `matplotlib.pyplot.scatter`; by default smaller for more points.
    file : str or path-like, optional
        A ``.png`` or ``.svg`` file. The picture is then drawn without matplotlib, as the command-line program draws it, and
        written.

    Returns
    -------
    matplotlib.axes.Axes or Picture
        The axes; or, if a `file` is named or matplotlib is not installed, a `Picture`, which a notebook displays and whose
        `save` writes a file.

    Raises
    ------
    ValueError
        If the number of labels is not that of the points, or both `ax` and `file` are given.

    See Also
    --------
    compare : Draw the embeddings of several methods on one page.

    Examples
    --------
    >>> from eigenfold import PCA, datasets, plot
    >>> X, y, *_ = datasets.load("iris")
    >>> picture = plot(PCA().fit_transform(X), y, file="iris.svg")
    >>> from pathlib import Path
    >>> Path("iris.svg").read_text().startswith("<svg")
    True
    """
    coordinates = _input.matrix(embedding)
    try:
        from matplotlib import pyplot
    except ImportError:
        pyplot = None  # type: ignore[assignment]
    if file is not None or pyplot is None:
        if ax is not None:
            raise ValueError("ax is for matplotlib; leave out ax, or file")
        picture = Picture(coordinates, labels, title or "map")
        if file is not None:
            picture.save(file)
        return picture
    if coordinates.shape[1] < 2:
        coordinates = np.column_stack([coordinates[:, 0], np.zeros(len(coordinates))])
    axes = pyplot.subplots(figsize=(6, 6))[1] if ax is None else ax
    size = size or float(np.clip(20000 / len(coordinates), 2, 40))
    look: dict[str, Any] = {"s": size, "linewidths": 0}
    classes, values = _coloring(labels, len(coordinates))
    if values is not None:
        drawn = axes.scatter(coordinates[:, 0], coordinates[:, 1], c=values, cmap="viridis", **look)
        axes.figure.colorbar(drawn, ax=axes, shrink=0.7)
    elif classes is None:
        axes.scatter(coordinates[:, 0], coordinates[:, 1], **look)
    else:
        names, of = classes
        colors = pyplot.get_cmap("tab10" if len(names) <= 10 else "nipy_spectral")(np.linspace(0, 1, max(len(names), 2)))
        for at, name in [(None, "missing")] * (None in of) + list(enumerate(names)):
            ours = np.array([one == at for one in of])
            axes.scatter(coordinates[ours, 0], coordinates[ours, 1], color="lightgrey" if at is None else colors[at], label=name, **look)
        axes.legend(loc="best", markerscale=2, fontsize="small")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    if title:
        axes.set_title(title)
    return axes
