"""What the users of scikit-learn and umap-learn find on single classes of theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _sklearn
from ._base import Estimator
from ._functions import MOST_CLASSES
from ._spec import text_of


class GeodesicEstimator(Estimator):
    """A method of the lengths of shortest paths."""

    eigenvalues_: np.ndarray

    @property
    def dist_matrix_(self) -> np.ndarray:
        """The lengths of the shortest paths between all points, of shape (n_samples, n_samples); computed on access."""
        self._require("dist_matrix_", True)
        from scipy.sparse.csgraph import shortest_path

        return shortest_path(self.graph_, directed=False)

    def reconstruction_error(self) -> float:
        """Return the reconstruction error of the kernel, as scikit-learn defines it.

        It is the Frobenius norm ``|K - K'| / n``, where ``K = -H D² H / 2`` for the path lengths ``D``, and ``K'`` is the part of
        ``K`` in the coordinates.

        Returns
        -------
        float
            The error.

        See Also
        --------
        score : Return the share of variance that the inverse transform preserves.

        Examples
        --------
        >>> from eigenfold import Isomap, datasets
        >>> X = datasets.make("swiss-roll", n=200).data
        >>> Isomap(n_components=2).fit(X).reconstruction_error() < Isomap(n_components=1).fit(X).reconstruction_error()
        True
        """
        self._fitted()
        kernel = -0.5 * self.dist_matrix_**2
        kernel -= kernel.mean(axis=0)
        kernel -= kernel.mean(axis=1)[:, None]
        left = np.sum(kernel**2) - np.sum(self.eigenvalues_**2)
        return float(np.sqrt(max(left, 0.0)) / len(kernel))


class AffinityEstimator(Estimator):
    """A method of weights between points, which may be scikit-learn's."""

    affinity: Any
    gamma: float | None
    _weights: Any

    @property
    def affinity_matrix_(self) -> Any:
        """The weights by `affinity` in scikit-learn's form, with the diagonal; computed on access. Only if `affinity` is given."""
        self._require("affinity_matrix_", self.affinity is not None)
        if self._weights is not None:
            return self._weights
        graph = self._edges("separate")
        if self.affinity == "rbf":
            gamma = 1.0 / self.n_features_in_ if self.gamma is None else self.gamma
            return np.exp(-gamma * graph.toarray() ** 2)
        from scipy.sparse import eye_array

        graph.data[:] = 1.0
        return (0.5 * (graph + graph.T) + eye_array(graph.shape[0])).tocsr()


class StressEstimator(Estimator):
    """A method of the differences between distances, whose optimization may start from given coordinates."""

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Any:
        """Fit the method.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            The points, or with ``metric="precomputed"`` their distances.
        y : None
            Ignored.
        init : array-like of shape (n_samples, n_components), optional
            The coordinates from which the optimization starts; by default as the parameter `init`.

        Returns
        -------
        Estimator
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If the input or a parameter is not valid; the message has the row, column or parameter and what to do.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it met its tolerance.

        See Also
        --------
        fit_transform : Fit and return the coordinates.

        Examples
        --------
        >>> from eigenfold import MDS, datasets
        >>> X = datasets.load("iris").data[::5]
        >>> MDS().fit(X, init=X[:, :2]).embedding_.shape
        (30, 2)
        """
        return self._fit(X, y, init)

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Any:
        """Fit the method and return the coordinates of the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            The points, or with ``metric="precomputed"`` their distances.
        y : None
            Ignored.
        init : array-like of shape (n_samples, n_components), optional
            The coordinates from which the optimization starts; by default as the parameter `init`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates; a DataFrame after `set_output`.

        See Also
        --------
        fit : Fit without returning the coordinates; lists the errors and warnings.

        Examples
        --------
        >>> from eigenfold import MDS, datasets
        >>> MDS().fit_transform(datasets.load("iris").data[::5]).shape
        (30, 2)
        """
        return self._contained(self.fit(X, y, init).embedding_, X)


class SupervisedEstimator(Estimator):
    """A method that goes by the classes of the points too, where it is given them."""

    target_weight: float

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit the method, by the classes of the points too if they are given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            The points: an array, a pandas or polars DataFrame, a pyarrow table, or a scipy sparse matrix, which is converted to a dense
            array. With ``metric="precomputed"`` a square matrix of distances, or a sparse matrix as a graph of edge lengths.
        y : array-like of shape (n_samples,), optional
            The class of each point; points of one class attract each other by the parameter `target_weight`. Text and up to 30
            different whole numbers are classes. -1, None and NaN are unknown classes. Other numbers are not used, with a warning.

        Returns
        -------
        Estimator
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If the input or a parameter is not valid; the message has the row, column or parameter and what to do.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it met its tolerance.

        See Also
        --------
        fit_transform : Fit and return the coordinates.

        Examples
        --------
        >>> from eigenfold import UMAP, datasets
        >>> X, y, *_ = datasets.load("iris")
        >>> UMAP(n_neighbors=30).fit(X, y).embedding_.shape
        (150, 2)
        """
        return self._fit(X, y, None)

    def _labels(self, y: Any, rows: int, request: dict[str, Any]) -> list[int | None] | None:
        found = None if y is None or self.target_weight == 0 else classes(y, rows)
        # Without classes there is nothing to weigh.
        request["parameters"].pop("supervision", None)
        if found is not None:
            request["parameters"]["supervision"] = text_of("target_weight", self.target_weight)
        return found


def classes(y: Any, rows: int) -> list[int | None] | None:
    """The class of every point, nothing where it is not known (-1, or missing); nothing at all if these are no classes."""
    values = np.asarray(y)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim == 1 and len(values) != rows:
        raise ValueError(f"y has {len(values)} entries for {rows} points; give one per point")
    known = np.array([one is not None and bool(one == one) for one in values]) if values.ndim == 1 else np.zeros(0)
    way_out = "set target_weight=0 to be silent, or give classes as text, as in y.astype(str)"
    if values.ndim != 1:
        _sklearn.warn(f"y has the shape {values.shape} and was not used: UMAP goes by one class per point; {way_out}")
        return None
    numbers = all(isinstance(one, (int, float, np.number, np.bool_)) for one in values[known])
    names, found = np.unique(values[known].astype(float if numbers else str), return_inverse=True)
    if numbers and (len(names) > MOST_CLASSES or any(name % 1 for name in names)):
        fact = f"y has {len(names)} different numbers, which are values and not classes, and was not used"
        _sklearn.warn(f"{fact}; {way_out}")
        return None
    of: list[int | None] = [None] * rows
    for at, one in zip(np.flatnonzero(known), found):
        of[at] = None if str(names[one]) in ("-1", "-1.0") else int(one)
    return of
