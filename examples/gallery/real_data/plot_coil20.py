"""
COIL-20: a ring for every object
================================

Ten objects were photographed on a turntable, every 5 degrees. The 72 views of
an object are a closed curve in pixel space, and a good embedding has ten rings.

Data: ``coil20/data_32x32.npy`` (1,440 x 1,024 bytes: 20 objects, 72 views each,
4 x 4 pixels averaged), from the Columbia Object Image Library.
"""

# %%

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from eigenfold import PCA, TSNE, UMAP

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "coil20"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

X = np.load(folder / "data_32x32.npy")[:720] / 255.0
thing = np.repeat(np.arange(10), 72)

# %%
# Lines join successive views of an object. An image shows its first view. UMAP
# warns that the graph has several components: some objects have no neighbor in
# common with others.

warnings.filterwarnings("ignore", message="the graph has .* connected components")

methods = {"PCA": PCA(), "UMAP": UMAP(n_neighbors=6), "t-SNE": TSNE(perplexity=12)}
fig, axes = plt.subplots(1, 3, figsize=(15, 5.4), layout="constrained")
for ax, (name, method) in zip(axes, methods.items()):
    Z = method.fit_transform(X)
    for at in range(10):
        ring = np.append(np.flatnonzero(thing == at), 72 * at)
        ax.plot(*Z[ring].T, "o-", ms=2.5, lw=0.6)
        image = OffsetImage(X[72 * at].reshape(32, 32), cmap="gray", zoom=0.7)
        ax.add_artist(AnnotationBbox(image, Z[72 * at], pad=0.05, xybox=(16, 16), boxcoords="offset points",
                                     bboxprops={"edgecolor": f"C{at}", "lw": 2}))
    ax.set(title=name, xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
plt.show()

# %%
# In two linear coordinates the rings overlap. UMAP and t-SNE show one closed curve
# for most objects. A ring is folded or broken where different views of an object
# look alike.
