"""
Motion capture: a man starts to run
===================================

A man starts from rest and takes about three strides. A body has many joints,
but the run has few degrees of freedom: the embedding is a start and then loops.

Data: ``osu_run1/data.csv`` (55 frames x 102 numbers: x, y and z of 34 markers)
and ``osu_run1/connections.txt`` (the lines of the stick figure), from the Open
Motion Data Project, Ohio State University ACCAD, CC BY-NC-SA 3.0.
"""

# %%

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import Isomap

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "osu_run1"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

with open(folder / "data.csv") as file:
    markers = [name[:-2] for name in file.readline().split(",")[:34]]
    X = np.loadtxt(file, delimiter=",")
lines = [line.split(",") for line in (folder / "connections.txt").read_text().splitlines()]
bones = [[markers.index(end.strip()) for end in line] for line in lines
         if all(end.strip() in markers for end in line)]

# %%
# Isomap with six neighbors. The markers are drawn as stick figures beside every
# fifth frame.

Z = Isomap(n_neighbors=6).fit_transform(X)

fig, ax = plt.subplots(figsize=(10, 8), layout="constrained")
ax.plot(*Z.T, color="0.7", lw=1)
drawn = ax.scatter(*Z.T, c=np.arange(len(Z)), s=30, zorder=2)
fig.colorbar(drawn, label="frame (30 per second)", shrink=0.6)
for at in range(0, len(X), 5):
    x, y, z = X[at].reshape(3, 34)
    for i, j in bones:
        ax.plot(Z[at, 0] + 0.35 * y[[i, j]], Z[at, 1] + 0.9 + 0.35 * z[[i, j]], color="black", lw=0.8)
ax.set(title="55 frames of a run by Isomap", aspect="equal", xticks=[], yticks=[])
plt.show()
