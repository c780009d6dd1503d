"""
Sentences: vectors of a language model
======================================

A language model turns a sentence into a vector of 384 numbers. UMAP draws 5,248
sentences from the documentation of Python packages.

Data: ``text_minilm/data.npz`` (5,248 x 384, vectors of unit length from the model
MiniLM-L6-v2) and ``text_minilm/labels.csv`` (the topic of the module). Any
table of sentence vectors does instead.
"""

# %%

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import UMAP, quality

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "text_minilm"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

archive = np.load(folder / "data.npz")
X = archive[archive.files[0]].astype(np.float32)
topic = np.array((folder / "labels.csv").read_text().split("\n")[: len(X)])

# %%
# Similarity of sentence vectors is an angle, so the metric is the cosine.

Z = UMAP(n_neighbors=15, metric="cosine").fit_transform(X)
found = quality(X, Z, topic, metric="cosine", rows=1000)
print(f"10 nearest points have the topic of the point: {100 * found['neighborhood_hit']:.0f} %")

# %%

names, of = np.unique(topic, return_inverse=True)
colors = plt.cm.tab20(np.arange(len(names)) % 20)
fig, ax = plt.subplots(figsize=(10, 8), layout="constrained")
ax.scatter(*Z.T, color=colors[of], s=4, linewidths=0)
for at, name in enumerate(names):
    ax.text(*np.median(Z[of == at], axis=0), name, size=12, weight="bold", ha="center", va="center",
            bbox={"fc": "white", "ec": colors[at], "alpha": 0.85, "pad": 2})
ax.set(title="5,248 sentences by UMAP", xticks=[], yticks=[])
ax.set_aspect("equal", adjustable="datalim")
plt.show()
