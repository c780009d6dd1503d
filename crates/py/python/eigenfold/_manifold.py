"""The function of scikit-learn that its users call in place of a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._classes import CLASSES


def locally_linear_embedding(X: Any, *, n_neighbors: Any, n_components: Any, **params: Any) -> tuple[np.ndarray, float]:
    """Embed points by locally linear embedding, as scikit-learn's function of this name.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points.
    n_neighbors : int
        The number of neighbors of each point, the point itself not counted.
    n_components : int
        The number of coordinates.
    **params : dict
        Further parameters of `LocallyLinearEmbedding`, such as `method`.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        The coordinates.
    error : float
        The reconstruction error, the attribute `reconstruction_error_` of the class.

    Raises
    ------
    ValueError
        If a number is missing or a parameter is out of range.

    See Also
    --------
    LocallyLinearEmbedding : The estimator, which can also transform new points.

    Examples
    --------
    >>> from eigenfold import datasets, locally_linear_embedding
    >>> X = datasets.make("swiss-roll", n=200).data
    >>> embedding, error = locally_linear_embedding(X, n_neighbors=12, n_components=2, method="modified")
    >>> embedding.shape
    (200, 2)
    """
    fitted: Any = CLASSES["LocallyLinearEmbedding"](n_components=n_components, n_neighbors=n_neighbors, **params).fit(X)
    return fitted.embedding_, fitted.reconstruction_error_
