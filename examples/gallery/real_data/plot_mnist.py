"""
MNIST: 10,000 digits by UMAP
============================

MNIST has 70,000 images of 28 x 28 pixels. UMAP embeds 10,000 of them, and then
2,000 others on the same embedding.

Data: ``mnist/data.npz`` (array ``data``, 70,000 x 784 bytes) and
``mnist/labels.csv`` (the digit, one per line), made from the four original files
of Y. LeCun, C. Cortes and C. J. C. Burges.
"""

# %%

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from eigenfold import UMAP

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "mnist"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

archive = np.load(folder / "data.npz")
X = archive[archive.files[0]]
y = np.loadtxt(folder / "labels.csv", dtype=int)

# %%
# Fit 10,000 rows, and embed 2,000 rows of the test set. A classifier by the ten
# nearest points of the embedding gives a number to what the eye sees.

train, y_train = X[:10_000].astype(np.float32), y[:10_000]
test, y_test = X[60_000:62_000].astype(np.float32), y[60_000:62_000]

umap = UMAP().fit(train)
Z = umap.embedding_
warnings.filterwarnings("ignore", message=".* far from all training points")
new = umap.transform(test)
right = KNeighborsClassifier(10).fit(Z, y_train).predict(new) == y_test
print(f"accuracy of the ten nearest neighbors: {100 * right.mean():.1f} %")

# %%

fig, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
axes[0].scatter(*Z.T, c=y_train, cmap="tab10", s=2, linewidths=0)
for digit in range(10):
    axes[0].text(*np.median(Z[y_train == digit], axis=0), str(digit), size=16, weight="bold",
                 ha="center", va="center", bbox={"fc": "white", "ec": "none", "alpha": 0.7, "pad": 1})
axes[1].scatter(*Z.T, color="0.85", s=2, linewidths=0)
axes[1].scatter(*new[right].T, c=y_test[right], cmap="tab10", s=5, linewidths=0)
axes[1].scatter(*new[~right].T, marker="x", color="black", s=16, lw=0.8, label="neighbors of another class")
axes[1].legend(loc="lower right")
for ax, title in zip(axes, ["10,000 training digits", "2,000 test digits"]):
    ax.set(title=title, xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
plt.show()
