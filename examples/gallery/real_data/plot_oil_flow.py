"""
Oil flow: three regimes in a pipeline
=====================================

Twelve gamma-ray beams measure a mixture of oil, water and gas in a pipe. The
mixture flows in one of three regimes. This data set is a classic of latent
variable models.

Data: ``oil/data.csv`` (1,000 x 12) and ``oil/labels.csv`` (regime 0, 1 or 2), the
training part of the multi-phase oil flow of C. M. Bishop and G. D. James (1993).
"""

# %%

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import GPLVM, PCA, TSNE, quality

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "oil"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

X = np.loadtxt(folder / "data.csv", delimiter=",")
y = np.loadtxt(folder / "labels.csv", dtype=int)
X, y = X[:600], y[:600]

# %%
# The first 600 rows are enough for a picture. How often does the nearest point of
# the embedding belong to another regime? Publications on the GPLVM count these
# errors.

methods = {"PCA": PCA(), "GPLVM": GPLVM(), "t-SNE": TSNE()}
fig, axes = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
for ax, (name, method) in zip(axes, methods.items()):
    Z = method.fit_transform(X)
    accuracy = quality(X, Z, y, n_neighbors=1)["knn_accuracy"]
    for regime, marker in enumerate("os^"):
        ax.scatter(*Z[y == regime].T, s=14, marker=marker, linewidths=0, alpha=0.8, label=f"regime {regime}")
    ax.set(title=f"{name}: {round(len(X) * (1 - accuracy))} nearest-neighbor errors", xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
axes[0].legend()
plt.show()
