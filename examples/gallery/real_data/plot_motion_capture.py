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
# Isomap with six neighbors. Stick figures show some frames, from the side.

Z = Isomap(n_neighbors=6).fit_transform(X)
center = Z[20:].mean(axis=0)

fig, ax = plt.subplots(figsize=(10, 6.5), layout="constrained")
ax.plot(*Z.T, color="0.7", lw=1)
drawn = ax.scatter(*Z.T, c=np.arange(len(Z)), s=30, zorder=2)
fig.colorbar(drawn, label="frame (30 per second)", shrink=0.7)
for at in [0, 10, 15, 20, 23, 26, 29, 32]:
    inward = (center - Z[at]) / np.linalg.norm(center - Z[at]) if at > 15 else np.array([0, 1])
    x, y, z = X[at].reshape(3, 34)
    where = Z[at] + 1.1 * inward
    for bone in bones:
        ax.plot(where[0] + 0.45 * x[bone], where[1] + 0.45 * z[bone], color="black", lw=1)
    ax.plot(*np.stack([Z[at], where - 0.5 * inward]).T, ":", color="0.5", lw=1)
ax.set(title="55 frames of a run by Isomap", aspect="equal", xticks=[], yticks=[])
ax.margins(0.05)
plt.show()
