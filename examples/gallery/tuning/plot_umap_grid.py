"""
UMAP: n_neighbors and min_dist
==============================

Two parameters shape a UMAP embedding. ``n_neighbors`` is the size of the
neighborhoods in the data. ``min_dist`` is how close points may be in the
embedding.
"""

# %%
# A grid of three by three values:

import matplotlib.pyplot as plt

from eigenfold import UMAP, datasets

X, y, *_ = datasets.load("digits")

neighbors, distances = [7, 15, 50], [0.0, 0.1, 0.8]
fig, axes = plt.subplots(3, 3, figsize=(9.6, 9), layout="constrained")
for row, k in zip(axes, neighbors):
    for ax, min_dist in zip(row, distances):
        Z = UMAP(n_neighbors=k, min_dist=min_dist).fit_transform(X)
        drawn = ax.scatter(*Z.T, c=y, cmap="tab10", s=4, linewidths=0)
        ax.set(xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
    row[0].set_ylabel(f"n_neighbors = {k}")
for ax, min_dist in zip(axes[0], distances):
    ax.set_title(f"min_dist = {min_dist}")
fig.legend(*drawn.legend_elements(), title="digit", loc="outside right center")
plt.show()

# %%
# More neighbors merge small groups and show more of the large structure. A
# larger ``min_dist`` spreads the points of each group; it changes the look and
# hardly the neighborhoods. Defaults are 10 neighbors and a ``min_dist`` of 0.1.
