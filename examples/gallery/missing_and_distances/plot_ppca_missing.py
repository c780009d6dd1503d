"""
Missing cells: PPCA against mean imputation
===========================================

Probabilistic PCA (PPCA) has a likelihood, so it can integrate missing cells out.
No cell has to be filled in before the fit.
"""

# %%
# Cells of iris are deleted at random. ``missing="model"`` fits PPCA to the cells
# that are left. The other way fills each missing cell with the mean of its
# column, and runs PCA. Both have two coordinates, and both reconstruct the
# deleted cells. The error is relative to the standard deviation of these cells,
# and is the mean over five deletions.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import PCA, PPCA, datasets

iris = datasets.load("iris")
X = iris.data
fractions = [5, 10, 20, 30, 40, 50]
errors = {"mean imputation, then PCA": [], "PPCA": []}
for percent in fractions:
    found = {name: [] for name in errors}
    for seed in range(5):
        holes = np.random.default_rng(seed).random(X.shape) < percent / 100
        holes[holes.all(axis=1), 0] = False
        table = np.where(holes, np.nan, X)
        filled = np.where(holes, np.nanmean(table, axis=0), X)
        pca, ppca = PCA(), PPCA(missing="model")
        guesses = (pca.inverse_transform(pca.fit_transform(filled)),
                   ppca.inverse_transform(ppca.fit_transform(table)))
        for name, guess in zip(errors, guesses):
            found[name].append(np.sqrt(((guess - X)[holes] ** 2).mean()) / X[holes].std())
    for name in errors:
        errors[name].append(np.mean(found[name]))

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, values in errors.items():
    ax.plot(fractions, values, "o-", label=name)
ax.set(title="Iris with deleted cells", xlabel="deleted cells (%)", ylim=(0, 0.7),
       ylabel="relative error in deleted cells")
ax.legend()
plt.show()

# %%
# The embeddings of the last table, in which half of the cells are missing. With
# mean imputation, rows collapse toward the mean. PPCA keeps *setosa* apart; its
# coordinates have unit variance, so the picture has other proportions.

fig, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
maps = {"PCA of the complete table": PCA().fit_transform(X), "mean imputation, then PCA": pca.embedding_,
        "PPCA": ppca.embedding_}
for ax, (name, Z) in zip(axes, maps.items()):
    for at, kind in enumerate(iris.target_names):
        ax.scatter(*Z[iris.target == at].T, s=14, linewidths=0, label=kind)
    ax.set(title=name, xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
axes[0].legend()
plt.show()
