"""
The Swiss roll by nine methods
==============================

A Swiss roll is a flat rectangle that is rolled up in three dimensions. A method
for manifolds should unroll it.
"""

# %%
# The data set comes with its true coordinates: the position along the roll, and
# the position across it.

import matplotlib.pyplot as plt

import eigenfold as ef

roll = ef.datasets.make("swiss-roll", n=1000)
color = roll.truth[:, 0]

fig, ax = plt.subplots(figsize=(5, 4.5), layout="constrained", subplot_kw={"projection": "3d"})
ax.scatter(*roll.data.T, c=color, cmap="viridis", s=8)
ax.view_init(elev=8, azim=-70)
ax.set_aspect("equal")
ax.set(title="1,000 points of a Swiss roll", xticks=[], yticks=[], zticks=[])
plt.show()

# %%
# Nine methods embed it in the plane. ``quality`` compares each result with the
# true coordinates. The disparity is the part of the shape that differs after a
# rotation and a change of scale: 0 is the same shape.

methods = {
    "PCA": ef.PCA(),
    "Isomap": ef.Isomap(),
    "LTSA": ef.LocallyLinearEmbedding(method="ltsa"),
    "Hessian LLE": ef.LocallyLinearEmbedding(method="hessian"),
    "MVU": ef.MVU(n_neighbors=6),
    "Laplacian eigenmaps": ef.LaplacianEigenmaps(),
    "elastic embedding": ef.ElasticEmbedding(),
    "UMAP": ef.UMAP(),
    "t-SNE": ef.TSNE(),
}

fig, axes = plt.subplots(3, 3, figsize=(11, 7), layout="constrained")
for ax, (name, method) in zip(axes.flat, methods.items()):
    Z = method.fit_transform(roll.data)
    disparity = ef.quality(roll.data, Z, truth=roll.truth)["disparity"]
    ax.scatter(*Z.T, c=color, cmap="viridis", s=6, linewidths=0)
    ax.set(title=f"{name}: disparity {disparity:.2f}", xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
plt.show()

# %%
# Isomap, MVU and elastic embedding recover the rectangle and its proportions.
# LTSA and Hessian LLE recover the rectangle, but their coordinates always have
# equal variance. PCA only turns the roll. Laplacian eigenmaps bend the long side
# and lose the short one. UMAP and t-SNE keep neighbors and tear the rectangle.
#
# sphinx_gallery_thumbnail_number = 2
