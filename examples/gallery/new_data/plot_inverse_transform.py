"""
Inverse transform: walk through the embedding
=============================================

``inverse_transform`` reconstructs a row of data from any point of the
embedding. Here it draws the digits that lie on a path between two classes.
"""

# %%
# A path from the center of the zeros to the center of the sixes, in 10 steps.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import Isomap, datasets

X, y, *_ = datasets.load("digits")
keep = np.isin(y, [0, 6, 4])
X, y = X[keep], y[keep]
isomap = Isomap(n_neighbors=12).fit(X)
Z = isomap.embedding_

stops = [np.median(Z[y == digit], axis=0) for digit in (0, 6, 4)]
way = np.linspace(0, 1, 8)[:, None]
path = np.vstack([(1 - way) * stops[0] + way * stops[1], ((1 - way) * stops[1] + way * stops[2])[1:]])
images, std = isomap.inverse_transform(path, return_std=True)

# %%
# The first row of images is the reconstruction. The second row is its standard
# deviation: bright pixels are uncertain.

fig = plt.figure(figsize=(11, 6.5), layout="constrained")
grid = fig.add_gridspec(3, len(path), height_ratios=[5, 1, 1])
ax = fig.add_subplot(grid[0, :])
for digit in (0, 4, 6):
    ax.scatter(*Z[y == digit].T, s=8, linewidths=0, alpha=0.6, label=str(digit))
ax.plot(*path.T, "ko-", ms=5, lw=1)
ax.set(title="The zeros, fours and sixes by Isomap, and a path", xticks=[], yticks=[])
ax.set_aspect("equal", adjustable="datalim")
ax.legend()
for at in range(len(path)):
    for row, (picture, cmap) in enumerate([(images[at], "gray_r"), (std[at], "magma")]):
        small = fig.add_subplot(grid[1 + row, at])
        small.imshow(picture.reshape(8, 8), cmap=cmap, vmin=0, vmax=(16, std.max())[row])
        small.set(xticks=[], yticks=[])
        if at == 0:
            small.set_ylabel(("digit", "std")[row])
plt.show()
