"""The function of scikit-learn that its users call in place of a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._classes import CLASSES


def locally_linear_embedding(X: Any, *, n_neighbors: Any, n_components: Any, **params: Any) -> tuple[np.ndarray, float]:
    """The coordinates of the points, and the error of their reconstruction: those of `LocallyLinearEmbedding`, whose parameters it takes.

    >>> from eigenfold import datasets, locally_linear_embedding
    >>> map_, error = locally_linear_embedding(datasets.load("iris").data, n_neighbors=12, n_components=2, method="modified")
    >>> map_.shape
    (150, 2)
    """
    fitted: Any = CLASSES["LocallyLinearEmbedding"](n_components=n_components, n_neighbors=n_neighbors, **params).fit(X)
    return fitted.embedding_, fitted.reconstruction_error_
