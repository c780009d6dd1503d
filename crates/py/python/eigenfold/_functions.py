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
    """How many coordinates the points need, by a dozen estimators: `recommended`, `estimates` with intervals, `check`.

    >>> from eigenfold import datasets, dimension
    >>> dimension(datasets.make("swiss-roll", n=500).data, quick=True)["recommended"]["dims"]
    2
    """
    data, seed, threads = _input.matrix(X), _input.seed(random_state), _input.threads(n_jobs)
    return json.loads(_eigenfold.dimension(data, n_neighbors, quick, pointwise, seed, threads))


def gp_likelihood(
    X: Any, embedding: Any, *, lengths: str = "ard", starts: str = "all", inducing: int | None = None, n_jobs: int | None = None
) -> dict[str, Any]:
    """The log likelihood of the data under a Gaussian process over any embedding: `value`, and the parameters.

    More is better; compare maps of the same data. `lengths` is "ard" (a length per coordinate), "unit" or "raw"; `starts` is
    "all" (seven starts) or "one".

    >>> from eigenfold import PCA, datasets, gp_likelihood
    >>> X = datasets.load("iris").data
    >>> good, bad = gp_likelihood(X, PCA().fit_transform(X)), gp_likelihood(X, X[::-1, :2])
    >>> good["value"] > bad["value"]
    True
    """
    if starts not in ("all", "one"):
        raise ValueError(f"starts is {starts!r}; give 'all' or 'one'")
    data, places = _input.matrix(X), _input.matrix(embedding)
    return json.loads(_eigenfold.gp_likelihood(data, places, lengths, starts == "one", inducing, _input.threads(n_jobs)))


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
    """The neighborhood graph as a sparse matrix of lengths (scipy), one row per point; no point is its own neighbor.

    The matrix can be given to every graph method with `metric="precomputed"`, and to scikit-learn's too. `disconnected` is
    "separate" (as they are), "join" (with the shortest linking edges) or "error".

    >>> from eigenfold import datasets, knn_graph
    >>> knn_graph(datasets.load("iris").data, 5).nnz
    750
    """
    kind, metric = ("distances", "euclidean") if metric == "precomputed" else ("points", metric)
    words = {"n_neighbors": n_neighbors, "radius": radius, "graph": graph, "approximate": approximate, "disconnected": disconnected}
    request = {**graph_request(words), "metric": metric, "seed": _input.seed(random_state)}
    return knn_graph_of(kind, _input.matrix(X), request, _input.threads(n_jobs))


def knn_graph_of(kind: str, data: Any, request: dict[str, Any], threads: int | None) -> Any:
    from scipy.sparse import csr_array

    starts, targets, lengths, _ = _eigenfold.graph(kind, data, json.dumps(request), threads)
    n = len(starts) - 1
    return csr_array((lengths, targets, starts), shape=(n, n))


class Picture:
    """A picture of a map as the program draws it; a notebook shows it, and `save` writes it."""

    def __init__(self, places: np.ndarray, labels: Any, title: str) -> None:
        self._places, self._title = places, title
        self._classes, self._values = _coloring(labels, len(places))

    def save(self, path: Any) -> None:
        """Writes the picture as .png or .svg."""
        content = _eigenfold.picture(self._places, self._classes, self._values, self._title, path)
        with open(path, "wb") as file:
            file.write(content)

    def _repr_png_(self) -> bytes:
        return _eigenfold.picture(self._places, self._classes, self._values, self._title, "map.png")


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
    """Draws a map, one color per class or by value.

    With matplotlib the first two coordinates are drawn and the axes returned. Axes have equal units, since distances on a map
    mean something and the directions of its axes do not. Without it, or if a `file` (.png or .svg) is named, the picture is the
    program's own: `Picture`, which a notebook shows and whose `save` writes a file.

    >>> from eigenfold import PCA, datasets, plot
    >>> X, y, *_ = datasets.load("iris")
    >>> picture = plot(PCA().fit_transform(X), y, file="iris.svg")
    >>> open("iris.svg").read(4)
    '<svg'
    """
    places = _input.matrix(embedding)
    try:
        from matplotlib import pyplot
    except ImportError:
        pyplot = None  # type: ignore[assignment]
    if file is not None or pyplot is None:
        if ax is not None:
            raise ValueError("ax is for matplotlib; leave out ax, or file")
        picture = Picture(places, labels, title or "map")
        if file is not None:
            picture.save(file)
        return picture
    if places.shape[1] < 2:
        places = np.column_stack([places[:, 0], np.zeros(len(places))])
    axes = pyplot.subplots(figsize=(6, 6))[1] if ax is None else ax
    size = size or float(np.clip(20000 / len(places), 2, 40))
    look: dict[str, Any] = {"s": size, "linewidths": 0}
    classes, values = _coloring(labels, len(places))
    if values is not None:
        drawn = axes.scatter(places[:, 0], places[:, 1], c=values, cmap="viridis", **look)
        axes.figure.colorbar(drawn, ax=axes, shrink=0.7)
    elif classes is None:
        axes.scatter(places[:, 0], places[:, 1], **look)
    else:
        names, of = classes
        colors = pyplot.get_cmap("tab10" if len(names) <= 10 else "nipy_spectral")(np.linspace(0, 1, max(len(names), 2)))
        for at, name in [(None, "missing")] * (None in of) + list(enumerate(names)):
            ours = np.array([one == at for one in of])
            axes.scatter(places[ours, 0], places[ours, 1], color="lightgrey" if at is None else colors[at], label=name, **look)
        axes.legend(loc="best", markerscale=2, fontsize="small")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    if title:
        axes.set_title(title)
    return axes
