"""
Inverse transform: walk through the embedding
=============================================

``inverse_transform`` reconstructs a row of data from any point of the
embedding. Here it draws the digits that lie on a path between two classes.
"""

# %%
# A path from the center of the zeros to the center of the sixes and on to the
# fours, in 14 steps. Some steps are between the classes, far from all points; the
# warning about them is switched off.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import Isomap, datasets

X, y, *_ = datasets.load("digits")
keep = np.isin(y, [0, 4, 6])
X, y = X[keep], y[keep]
isomap = Isomap(n_neighbors=20).fit(X)
Z = isomap.embedding_

stops = [np.median(Z[y == digit], axis=0) for digit in (0, 6, 4)]
path = np.stack([np.interp(np.linspace(0, 2, 15), [0, 1, 2], axis) for axis in zip(*stops)], axis=1)
warnings.filterwarnings("ignore", message=".* far from all points")
images, std = isomap.inverse_transform(path, return_std=True)

# %%
# Each image is the reconstruction at one point of the path. The number behind
# "±" is the mean of the standard deviations of its 64 pixels, on the scale of
# the data, 0 to 16.

fig, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for digit in (0, 4, 6):
    left.scatter(*Z[y == digit].T, s=10, linewidths=0, alpha=0.6, label=str(digit))
left.plot(*path.T, "k-", lw=1)
for at, point in enumerate(path):
    left.text(*point, str(at), ha="center", va="center", size=8,
              bbox={"boxstyle": "circle,pad=0.2", "fc": "white"})
left.set(title="Zeros, fours and sixes by Isomap, and a path", xticks=[], yticks=[])
left.set_aspect("equal", adjustable="datalim")
left.legend()

right.set_axis_off()
for at, image in enumerate(images):
    small = right.inset_axes([0.2 * (at % 5), 0.68 - 0.34 * (at // 5), 0.18, 0.26])
    small.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    small.set(xticks=[], yticks=[])
    small.set_title(f"{at}: ± {std[at].mean():.1f}", size=9)
plt.show()
