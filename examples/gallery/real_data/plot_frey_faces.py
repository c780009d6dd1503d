"""
Frey faces: reconstruct a face from any point
=============================================

The Frey faces are 1,965 frames of a video: one face, many expressions, 28 x 20
pixels. The inverse transform draws the face that belongs to a point of the
embedding.

Data: ``frey_faces/data.npy`` (1,965 x 560 bytes, images row by row), from
``frey_rawface.mat`` of S. Roweis and B. Frey.
"""

# %%

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import Isomap

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "frey_faces"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

X = np.load(folder / "data.npy").astype(float)
isomap = Isomap(n_neighbors=15).fit(X)
Z = isomap.embedding_

# %%
# Faces are reconstructed on a grid. Cells without points of the embedding stay
# empty: little is known there. Cells at the edge would warn of that.

low, high = np.quantile(Z, [0.005, 0.995], axis=0)
nx, ny = 16, 9
x, y = np.linspace(low[0], high[0], nx), np.linspace(low[1], high[1], ny)
grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
step = np.array([x[1] - x[0], y[1] - y[0]])
inside = (np.abs(Z[:, None] - grid) < 0.6 * step).all(axis=2).sum(axis=0) >= 3
warnings.filterwarnings("ignore", message=".* far from all points")
faces = isomap.inverse_transform(grid[inside])

fig, (ax, below) = plt.subplots(2, 1, figsize=(9, 11), layout="constrained")
ax.scatter(*Z.T, c=np.arange(len(Z)), s=6, linewidths=0)
ax.set(title="1,965 frames by Isomap, colored by time", aspect="equal", xticks=[], yticks=[])
sheet = np.full((28 * ny, 20 * nx), np.nan)
for at, face in zip(np.flatnonzero(inside), faces):
    row, column = ny - 1 - at // nx, at % nx
    sheet[28 * row : 28 * row + 28, 20 * column : 20 * column + 20] = face.reshape(28, 20)
below.imshow(sheet, cmap="gray")
below.set(title="The face that belongs to each region", xticks=[], yticks=[])
plt.show()
