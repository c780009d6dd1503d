"""
Lawrence 2012: which embedding of a run is best?
================================================

N. D. Lawrence scored embeddings by a likelihood: how likely are the data as a
smooth function of the embedding, under a Gaussian process? This example repeats
his comparison of spectral methods on motion capture of a run. The page
:doc:`/papers/lawrence-2012` has the other tables and figures.

Data: ``osu_run1/data.csv`` (55 frames x 102 numbers), from the Open Motion Data
Project, Ohio State University ACCAD, CC BY-NC-SA 3.0.

Reference: N. D. Lawrence. A unifying probabilistic perspective for spectral
dimensionality reduction. JMLR 13, 2012.
"""

# %%

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import eigenfold as ef

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "osu_run1"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

X = np.loadtxt(folder / "data.csv", delimiter=",", skiprows=1)

# %%
# All methods with a graph use six neighbors. ``gp_likelihood`` fits a Gaussian process over
# each embedding, with one length per coordinate.

k = {"n_neighbors": 6}
methods = {
    "Isomap": ef.Isomap(**k),
    "MVU": ef.MVU(**k, variant="equality"),
    "MEU": ef.MEU(**k),
    "DRILL": ef.Drill(**k, penalty=0.0, ridge=0.0),
    "Laplacian eigenmaps": ef.LaplacianEigenmaps(**k),
    "kernel PCA": ef.KernelPCA(),
    "PCA": ef.PCA(),
    "acyclic LLE": ef.LocallyLinearEmbedding(**k, method="acyclic", ordering="elimination", reg=1e-12),
    "LLE": ef.LocallyLinearEmbedding(**k),
}
maps = {name: method.fit_transform(X) for name, method in methods.items()}
values = {name: ef.gp_likelihood(X, Z)["value"] for name, Z in maps.items()}

# %%

fig, axes = plt.subplots(3, 3, figsize=(10, 9), layout="constrained")
for ax, name in zip(axes.flat, sorted(values, key=values.get, reverse=True)):
    Z = maps[name]
    ax.plot(*Z.T, color="0.75", lw=1)
    ax.scatter(*Z.T, c=np.arange(len(Z)), s=18, zorder=2)
    ax.set(title=f"{name}: {values[name]:.0f}", xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
fig.suptitle("55 frames of a run, and the log-likelihood of the data over the embedding")
plt.show()

# %%
# Isomap has the largest likelihood, as in the paper, and MVU is close. A good
# embedding has a start and then loops: the runner repeats his strides.
