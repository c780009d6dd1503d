"""
Single cells: blood cells by gene expression
============================================

Each row is a blood cell, each column a gene. UMAP groups cells of one type.

Data: 700 cells and 765 genes, a part of the 68,000 blood cells (PBMC) of
G. X. Y. Zheng and others (Nature Communications 8, 2017). The table ships inside
the package scanpy. Install ``scanpy`` and ``h5py`` to run this example; scanpy
itself is not imported.
"""

# %%

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import PCA, UMAP

if find_spec("scanpy") is None or find_spec("h5py") is None:
    raise SystemExit("skipped: scanpy or h5py is missing; pip install scanpy h5py")
import h5py

path = Path(find_spec("scanpy").origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"
with h5py.File(path) as file:
    X = file["X"][:]
    kind = file["obs"]["bulk_labels"]
    kinds = file["uns/bulk_labels_categories"][:].astype(str)
print(X.shape, len(kinds), "types of cells")

# %%
# The table has log-transformed, standardized expressions. As usual for cells,
# 50 principal components come first; they remove much of the noise.

Z = UMAP(n_neighbors=15).fit_transform(PCA(n_components=50).fit_transform(X))

fig, ax = plt.subplots(figsize=(10, 6), layout="constrained")
for at, name in enumerate(kinds):
    ax.scatter(*Z[kind == at].T, s=14, linewidths=0, color=plt.cm.tab10(at), label=name)
ax.set(title="700 blood cells by UMAP", xticks=[], yticks=[])
ax.set_aspect("equal", adjustable="datalim")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), title="type of cell")
plt.show()
