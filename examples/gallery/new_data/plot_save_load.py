"""
Save a model and load it again
==============================

``save`` writes a fitted model to one file. ``eigenfold.load`` reads it, and so
does the command-line program. A model embeds the same rows at the same
coordinates in each of them.
"""

# %%
# Fit UMAP to the first 1,500 digits, and save it.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import eigenfold

X, y, *_ = eigenfold.datasets.load("digits")
umap = eigenfold.UMAP().fit(X[:1500])

file = Path(tempfile.mkdtemp()) / "digits.model"
umap.save(file)
print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")

# %%
# Another session loads the model and embeds the other 297 digits.

again = eigenfold.load(file)
print(again)
Z = again.transform(X[1500:])
print("same coordinates:", np.array_equal(Z, umap.transform(X[1500:])))

fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.scatter(*again.embedding_.T, color="lightgrey", s=6, linewidths=0)
drawn = ax.scatter(*Z.T, c=y[1500:], cmap="tab10", s=16, linewidths=0)
ax.legend(*drawn.legend_elements(), title="new digit", ncols=2, fontsize="small")
ax.set(title="297 new digits on a saved embedding", xticks=[], yticks=[])
ax.set_aspect("equal", adjustable="datalim")
plt.show()

# %%
# The program does the same with
# ``eigenfold transform digits.model new.csv -o embedded.csv``. Pickle works too,
# but only the model file is read by the program.
