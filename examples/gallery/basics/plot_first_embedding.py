"""
A first embedding: PCA, UMAP and t-SNE
======================================

The digits data set has 1,797 images of 8 x 8 pixels, so each image is a point
in 64 dimensions. Three methods draw these points in the plane.
"""

# %%
# Every method is a class with ``fit_transform``, as in scikit-learn. Start with
# PCA: it is fast, and its distances are easy to interpret. UMAP and t-SNE keep
# neighbors together, so that groups become visible.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import PCA, TSNE, UMAP, datasets

digits = datasets.load("digits")
X, y = digits.data, digits.target

embeddings = {
    "PCA": PCA().fit_transform(X),
    "UMAP": UMAP().fit_transform(X),
    "t-SNE": TSNE().fit_transform(X),
}

# %%
# The class label was not used for the embedding. Here it colors the points, and
# each digit is written at the median of its class.

fig, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, Z) in zip(axes, embeddings.items()):
    ax.scatter(*Z.T, c=y, cmap="tab10", s=5, linewidths=0)
    for digit in range(10):
        ax.text(*np.median(Z[y == digit], axis=0), str(digit), size=15, weight="bold",
                ha="center", va="center",
                bbox={"boxstyle": "circle,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8})
    ax.set(title=name, xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
plt.show()

# %%
# PCA shows the largest variances, and the classes overlap. UMAP and t-SNE
# separate the ten digits. Do not read the distances between far groups of these
# two: only neighborhoods are meant to be right.
