"""What scikit-learn's users find on single classes of theirs, made when it is asked for: it has a number for every pair of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Estimator


class GeodesicEstimator(Estimator):
    """A method of the lengths of shortest paths."""

    eigenvalues_: np.ndarray

    @property
    def dist_matrix_(self) -> np.ndarray:
        """The lengths of the shortest paths between all points; n x n, and computed anew each time."""
        self._known("dist_matrix_", True)
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
        self._known("affinity_matrix_", self.affinity is not None)
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
    """A method of the differences between distances, whose descent may start from given coordinates."""

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Any:
        """Fits the method to points, or to distances if `metric="precomputed"`; from the coordinates `init` if they are given."""
        return self._fit(X, y, init)

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Any:
        """Fits the method and returns the coordinates, one row per point."""
        return self._contained(self.fit(X, y, init).embedding_, X)
