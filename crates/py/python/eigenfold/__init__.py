"""Dimensionality reduction: 26 methods as scikit-learn-compatible estimators.

Every estimator fitted to points has `transform` for new points and `inverse_transform` with standard deviations. `quality`, `compare` and
`dimension` measure embeddings, rank methods and estimate the number of coordinates.

>>> from eigenfold import Isomap, datasets
>>> X = datasets.make("swiss-roll", n=200).data
>>> isomap = Isomap(n_neighbors=8).fit(X)
>>> isomap.transform(X[:3] + 0.01).shape
(3, 2)
>>> rows, std = isomap.inverse_transform(isomap.embedding_[:3], return_std=True)
>>> rows.shape == std.shape == (3, 3)
True
"""

from . import datasets
from ._classes import CLASSES
from ._compare import Comparison, compare
from ._eigenfold import EigenfoldError
from ._functions import dimension, gp_likelihood, knn_graph, plot
from ._load import load
from ._manifold import locally_linear_embedding
from ._quality import Quality, quality
from ._sklearn import ConvergenceWarning, NotFittedError

__version__ = "0.1.0"

globals().update(CLASSES)
SpectralEmbedding = CLASSES["LaplacianEigenmaps"]

__all__ = [
    *CLASSES,
    "Comparison",
    "ConvergenceWarning",
    "EigenfoldError",
    "NotFittedError",
    "Quality",
    "SpectralEmbedding",
    "compare",
    "datasets",
    "dimension",
    "gp_likelihood",
    "knn_graph",
    "load",
    "locally_linear_embedding",
    "plot",
    "quality",
]
