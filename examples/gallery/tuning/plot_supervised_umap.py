"""
Supervised UMAP
===============

UMAP can use class labels. Classes are then drawn apart, and new rows are still
embedded without a label.
"""

# %%
# ``fit(X, y)`` with ``target_weight`` between 0 (labels are ignored) and 1. The
# label of 300 digits is hidden: ``-1`` means that the class is not known.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import UMAP, datasets, quality

X, y, *_ = datasets.load("digits")
hidden = np.random.default_rng(0).choice(len(X), 300, replace=False)
known = y.astype(int).copy()
known[hidden] = -1

fig, axes = plt.subplots(1, 3, figsize=(12, 4.3), layout="constrained")
for ax, weight in zip(axes, [0.0, 0.5, 0.9]):
    Z = UMAP(target_weight=weight).fit(X, known).embedding_
    ax.scatter(*Z.T, c=y, cmap="tab10", s=5, linewidths=0, alpha=0.4)
    drawn = ax.scatter(*Z[hidden].T, c=y[hidden], cmap="tab10", s=14, ec="black", lw=0.5)
    silhouette = quality(X, Z, y)["silhouette"]
    ax.set(title=f"target_weight = {weight}: silhouette {silhouette:.2f}", xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
fig.legend(*drawn.legend_elements(), title="digit", loc="outside right center")
plt.show()

# %%
# The framed points are those without a label. The silhouette measures how well
# the classes are separated, and grows with the weight. Labels can separate
# classes that the data do not separate: a supervised embedding is not evidence
# that classes differ.
