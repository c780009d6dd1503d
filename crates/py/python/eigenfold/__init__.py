"""eigenfold unfolds data: estimators with scikit-learn's habits, each with `transform` and `inverse_transform`.

>>> from eigenfold import Isomap, datasets
>>> roll = datasets.make("swiss-roll", n=200)
>>> isomap = Isomap(n_neighbors=8).fit(roll.data)
>>> isomap.embedding_.shape
(200, 2)
>>> rows, deviations = isomap.inverse_transform(isomap.embedding_[:3], return_std=True)
>>> rows.shape == deviations.shape == (3, 3)
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
