"""Many methods on the same points: evaluated alike, ranked, and shown on one page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _eigenfold, _input, _vectors


class Comparison:
    """The embeddings of several methods with their quality measures.

    `compare` returns it. `print` shows the ranking, and a notebook displays the page that `report` writes.

    Parameters
    ----------
    found : object
        The result of the compiled library.
    columns : list of str or None
        The names of the features.
    image : tuple of int or None
        The height and width of the images that the rows are.
    title : str
        The title of the page.

    Attributes
    ----------
    methods : list of dict
        One entry per embedding, best first: `name`, `status`, `reason`, `seconds`, `memory_mb`, `quality` and more.
    rule : str
        The rule of the ranking.

    See Also
    --------
    compare : Make a comparison.
    """

    def __init__(self, found: Any, columns: list[str] | None, image: tuple[int, int] | None, title: str) -> None:
        self._found, self._columns, self._image, self._title = found, columns, image, title
        about = json.loads(found.about())
        self.methods: list[dict[str, Any]] = about["methods"]
        self.rule: str = about["rule"]

    @property
    def ranking(self) -> list[str]:
        """The names of the embeddings, best first, without those that failed or were skipped."""
        return list(self._found.ranking())

    @property
    def maps(self) -> dict[str, np.ndarray]:
        """The embeddings by name, best first; each is rotated and scaled to match the best one."""
        return {name: self._found.map(name) for name in self.ranking}

    @property
    def status(self) -> dict[str, str]:
        """The status by name: `done`; or `stopped`, `failed` or `skipped` with the reason."""
        said = lambda one: one["status"] if one["reason"] is None else f"{one['status']}: {one['reason']}"  # noqa: E731
        return {one["name"]: said(one) for one in self.methods}

    @property
    def table(self) -> Any:
        """The quality measures, one row per embedding, best first: a pandas DataFrame, or a list of dicts without pandas."""
        rows = []
        for one in self.methods:
            row = {name: one[name] for name in ("name", "status", "seconds", "memory_mb")}
            row.update({key: measure["value"] for key, measure in one["quality"].items()})
            rows.append(row)
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows).set_index("name")

    def html(self, *, title: str | None = None, names: Sequence[str] | None = None) -> str:
        """Return the page as HTML that needs no network.

        Parameters
        ----------
        title : str, optional
            The title; by default that of `compare`.
        names : sequence of str, optional
            The name of each row, shown when the mouse is on its point.

        Returns
        -------
        str
            The page.

        See Also
        --------
        report : Write the page to a file.
        """
        said = None if names is None else [str(name) for name in names]
        return self._found.html(title or self._title, self._columns, said, self._image)

    def report(self, file: str | Path, *, title: str | None = None, names: Sequence[str] | None = None) -> None:
        """Write the page to an HTML file.

        Parameters
        ----------
        file : str or path-like
            The file.
        title : str, optional
            The title; by default that of `compare`.
        names : sequence of str, optional
            The name of each row, shown when the mouse is on its point.

        See Also
        --------
        html : Return the page as a string.
        """
        Path(file).write_text(self.html(title=title, names=names), encoding="utf-8")

    def _repr_html_(self) -> str:
        # A page in a frame of its own, so that it and the notebook do not touch each other.
        from html import escape

        page = escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 800px; border: 0" sandbox="allow-scripts"></iframe>'

    def __repr__(self) -> str:
        lines = [f"Comparison of {len(self.methods)} maps, {self.rule}"]
        for one in self.methods:
            area = one["quality"].get("rnx_auc", {}).get("value")
            lines.append(f"  {one['name']:<24} " + (f"{area:.3f}" if area is not None else self.status[one["name"]]))
        return "\n".join(lines)


def compare(
    X: Any,
    methods: Iterable[str] | str | None = None,
    *,
    labels: Any = None,
    n_components: int = 2,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    sweep: Mapping[str, Sequence[Any]] | None = None,
    seconds: float = 60.0,
    image: tuple[int, int] | None = None,
    title: str = "data",
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[..., Any] | None = None,
    **parameters: Any,
) -> Comparison:
    """Embed the same points by several methods, and rank the embeddings by their quality.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points. A column that has a vector in every row will do, as in ``df["embedding"]``.
    methods : str or iterable of str, optional
        The methods by the names of the command-line program, such as 'pca', 'umap' or 'lle'; 'all' is all of them. By default a
        selection of common methods.
    labels : array-like of shape (n_samples,), optional
        The class of each point, or a number; they color the page, and classes are used by the quality measures of labels.
    n_components : int, default=2
        The number of coordinates.
    n_neighbors : int, default=10
        The number of neighbors of the methods that use a graph.
    metric : str, default='euclidean'
        The distance, by the names of `knn_graph`.
    sweep : mapping of str to sequence, optional
        One parameter with several values, such as ``{"n_neighbors": [5, 10, 20]}``; each value gives an embedding of every
        method that has the parameter.
    seconds : float, default=60.0
        The time limit of each method.
    image : tuple of int, optional
        The height and width of the grey images that the rows are, such as ``(8, 8)``; the page shows them.
    title : str, default='data'
        The title of the page.
    random_state : int, RandomState, Generator or None, default=0
        The seed of all random choices; None is 0.
    n_jobs : int, optional
        The number of threads; None and -1 are one per core. The result does not depend on it.
    callback : callable, optional
        Called several times a second as ``callback(stage, fraction, objective)``; if it returns a true value, the comparison
        stops.
    **parameters : dict
        Parameters of the methods, such as ``perplexity=50``; each reaches the methods that have it.

    Returns
    -------
    Comparison
        The embeddings, with `ranking`, `table`, `maps`, `status` and the page by `report`. A method that fails or is stopped has its
        reason in `status`, and the others go on.

    Raises
    ------
    ValueError
        If a method or parameter is unknown, `sweep` has several parameters, or a number is missing.

    See Also
    --------
    quality : Measure a single embedding.
    dimension : Estimate the number of coordinates.

    Examples
    --------
    >>> from eigenfold import compare, datasets
    >>> iris = datasets.load("iris")
    >>> found = compare(iris.data, ["pca", "umap"], labels=iris.target)
    >>> sorted(found.ranking)
    ['pca', 'umap']
    >>> found.maps["pca"].shape
    (150, 2)
    """
    names = [methods] if isinstance(methods, str) else list(methods or [])
    if sweep is not None and len(sweep) != 1:
        raise ValueError(f"sweep has {len(sweep)} parameters; give one, as in {{'neighbors': [5, 10, 20]}}")
    swept = None if sweep is None else next((name, [str(value) for value in values]) for name, values in sweep.items())
    if swept is not None:
        swept = (swept[0].removeprefix("n_").replace("_", "-"), swept[1])
    request = {
        "parameters": {name.replace("_", "-"): str(value) for name, value in parameters.items()},
        "dims": n_components,
        "neighbors": n_neighbors,
        "metric": metric,
        "seed": _input.seed(random_state),
    }
    X, entries = _vectors.unpacked(X)
    columns = entries or _vectors.column_names(X)
    data = _input.matrix(X)
    listener = None if callback is None else lambda stage, fraction, objective, _notes: callback(stage, fraction, objective)
    found = _eigenfold.compare(
        data, names, json.dumps(request), swept, _labeled(labels, len(data)), float(seconds), _input.threads(n_jobs), listener
    )
    return Comparison(found, None if columns is None else [str(name) for name in columns], image, title)


def _labeled(labels: Any, rows: int) -> tuple[str, list[str] | None, list[float]] | None:
    """The name of the labels, those of the classes, and a number per row."""
    if labels is None:
        return None
    name, values = str(getattr(labels, "name", None) or "label"), np.asarray(labels)
    if values.shape != (rows,):
        raise ValueError(f"labels have the shape {values.shape}; give one per row, {rows} of them")
    if values.dtype.kind == "f" and len(np.unique(values)) > 30:
        return name, None, [float(value) for value in values]
    known = np.array([value is not None and value == value for value in values])
    classes, of = np.unique(values[known].astype(str) if values.dtype.kind == "O" else values[known], return_inverse=True)
    numbers = np.full(rows, -1.0)
    numbers[known] = of
    return name, [str(one) for one in classes], numbers.tolist()
