"""
Embed new rows, with standard deviations
========================================

``transform`` puts new rows on an existing embedding. With ``return_std=True`` it
also returns how uncertain each coordinate is, and it warns of rows that are far
from all training data.
"""

# %%
# Isomap is fitted to 800 digits. The new rows are 12 other digits and two
# images that are not digits: a checkerboard and random noise.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from eigenfold import Isomap, datasets

X, y, *_ = datasets.load("digits")
isomap = Isomap().fit(X[:800])

checkerboard = 16.0 * (np.indices((8, 8)).sum(axis=0) % 2).ravel()
noise = np.random.default_rng(0).uniform(0, 16, 64)
new = np.vstack([X[1000:1012], checkerboard, noise])

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    Z, std = isomap.transform(new, return_std=True)
print(caught[0].message)

# %%
# Each ellipse has half-axes of one standard deviation. It covers 68 % per
# coordinate: the position on this embedding is uncertain, and so is the
# embedding itself.

fig, (ax, right) = plt.subplots(1, 2, figsize=(11, 6), layout="constrained",
                                width_ratios=[5, 1])
ax.scatter(*isomap.embedding_.T, c=y[:800], cmap="tab10", s=6, linewidths=0, alpha=0.4)
names = [str(digit) for digit in y[1000:1012]] + ["board", "noise"]
for name, point, s in zip(names, Z, std):
    color = "black" if name.isalpha() else plt.cm.tab10(int(name) / 9)
    ax.add_patch(Ellipse(point, 2 * s[0], 2 * s[1], fc="none", ec=color, lw=1.5))
    ax.text(*point, name, ha="center", va="center", weight="bold", color=color)
ax.set(title="12 new digits, and 2 images that are not digits", xticks=[], yticks=[])
ax.set_aspect("equal", adjustable="datalim")

right.barh(range(len(new)), np.linalg.norm(std, axis=1), color="C0")
right.set_yticks(range(len(new)), names)
right.set(title="Uncertainty", xlabel="standard deviation")
right.invert_yaxis()
plt.show()
