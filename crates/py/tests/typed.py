"""What a type checker must accept and see; mypy reads it, and it is never run."""

import numpy as np
from typing_extensions import assert_type

import eigenfold
from eigenfold import PCA, Isomap

X = np.zeros((20, 3))
assert_type(Isomap(n_neighbors=5).fit(X), Isomap)
assert_type(Isomap().fit(X).embedding_, np.ndarray)
assert_type(PCA(2).fit(X).explained_variance_ratio_, np.ndarray)
rows, deviations = Isomap().fit(X).inverse_transform(X[:, :2], return_std=True)
assert_type(deviations, np.ndarray)
eigenfold.TSNE(perplexity=20.0, init=X[:, :2], callback=lambda stage, fraction, objective: None)
eigenfold.UMAP(min_dist=0.3).save("map.model")
Isomap(n_neigbors=5)  # type: ignore[call-arg]
