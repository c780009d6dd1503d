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
        """The lengths of the shortest paths between all points; n x n, and computed anew each time."""
        self._require("dist_matrix_", True)
        from scipy.sparse.csgraph import shortest_path

        return shortest_path(self.graph_, directed=False)

    def reconstruction_error(self) -> float:
        """‖K - K̂‖ / n, with K = -H D² H / 2 of the path lengths D and K̂ what the coordinates keep of it; as scikit-learn has it."""
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
        """The weights of scikit-learn's `affinity`, a point's with itself too; but for given ones they are computed anew each time."""
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
        """Fits the method to points, or to distances if `metric="precomputed"`; from the coordinates `init` if they are given."""
        return self._fit(X, y, init)

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Any:
        """Fits the method and returns the coordinates, one row per point."""
        return self._contained(self.fit(X, y, init).embedding_, X)


class SupervisedEstimator(Estimator):
    """A method that goes by the classes of the points too, where it is given them."""

    target_weight: float

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fits the method to points, or to distances or a sparse graph if `metric="precomputed"`.

        Classes `y` pull points of one class together, as much as `target_weight` says. Text and up to 30 different whole
        numbers are classes, and -1 is one that is not known; other numbers are not used, with a warning.
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
