"""
Missing cells: PPCA against mean imputation
===========================================

Probabilistic PCA (PPCA) has a likelihood, so it can integrate missing cells out.
No cell has to be filled in before the fit.
"""

# %%
# Cells of the digits are deleted at random. ``missing="model"`` fits PPCA to the
# cells that are left. The other way fills each missing cell with the mean of its
# column, and runs PCA. The error is that of the ten-dimensional reconstruction
# in the deleted cells, over the standard deviation of these cells.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import PCA, PPCA, datasets

X = datasets.load("digits").data[:500]
X = X[:, X.std(axis=0) > 0.5]
rng = np.random.default_rng(0)
fractions = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
errors = {"mean imputation, then PCA": [], "PPCA with missing cells": []}
for fraction in fractions:
    holes = rng.random(X.shape) < fraction
    table = np.where(holes, np.nan, X)
    filled = np.where(holes, np.nanmean(table, axis=0), X)
    ppca = PPCA(n_components=10, missing="model")
    for name, method, rows in [("mean imputation, then PCA", PCA(n_components=10), filled),
                               ("PPCA with missing cells", ppca, table)]:
        guess = method.inverse_transform(method.fit_transform(rows))
        error = (guess - X)[holes] / X[holes].std()
        errors[name].append(np.sqrt((error**2).mean()))

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, values in errors.items():
    ax.plot([100 * f for f in fractions], values, "o-", label=name)
ax.set(title="Digits with deleted cells", xlabel="deleted cells (%)", ylim=(0, 1),
       ylabel="error in deleted cells\n(standard deviations)")
ax.legend()
plt.show()

# %%
# The last table has 60 % of its cells missing. Three of its rows: as observed,
# as reconstructed by PPCA, and complete.

full = np.zeros((3, 3, 64))
columns = datasets.load("digits").data[:500].std(axis=0) > 0.5
full[:, :, columns] = np.stack([table[:3], guess[:3], X[:3]])
fig, axes = plt.subplots(3, 3, figsize=(5, 5), layout="constrained")
for row, kind in zip(axes, full):
    for ax, image in zip(row, kind):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[], facecolor="lightsteelblue")
for row, name in zip(axes, ["observed", "PPCA", "complete"]):
    row[0].set_ylabel(name)
plt.show()
