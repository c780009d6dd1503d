"""
Where is the robot? Positions from WiFi signals
===============================================

A robot drives through a building and records the signal strengths of 30 access
points. The embedding recovers its path without any map of the building.

Data: ``robot_wireless/data.csv`` (215 x 30 signal strengths) and
``robot_wireless/labels.csv`` (time and true position), recorded by B. Ferris and
D. Fox at the University of Washington.
"""

# %%

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import PCA, Isomap, quality

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "robot_wireless"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

X = np.loadtxt(folder / "data.csv", delimiter=",", skiprows=1)
time, *path = np.loadtxt(folder / "labels.csv", delimiter=",", skiprows=1).T
path = np.stack(path, axis=1)

# %%
# Each embedding is rotated and scaled onto the true path. The disparity is the
# part of the shape that differs.

fig, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
axes[0].set_title("True path (m)")
axes[0].plot(*path.T, color="0.8", lw=1)
axes[0].scatter(*path.T, c=time, s=14, zorder=2)
for ax, method in zip(axes[1:], [PCA(), Isomap(n_neighbors=7)]):
    Z = method.fit_transform(X)
    disparity = quality(X, Z, truth=path)["disparity"]
    U, s, Vt = np.linalg.svd((Z - Z.mean(axis=0)).T @ (path - path.mean(axis=0)))
    Z = path.mean(axis=0) + s.sum() / ((Z - Z.mean(axis=0)) ** 2).sum() * (Z - Z.mean(axis=0)) @ U @ Vt
    ax.plot(*Z.T, color="0.8", lw=1)
    drawn = ax.scatter(*Z.T, c=time, s=14, zorder=2)
    ax.set_title(f"{type(method).__name__}: disparity {disparity:.2f}")
for ax in axes:
    ax.set_aspect("equal", adjustable="datalim")
fig.colorbar(drawn, label="time (s)")
plt.show()

# %%
# The robot goes once around a block. The embedding by Isomap closes the loop.
