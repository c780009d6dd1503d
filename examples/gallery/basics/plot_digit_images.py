"""
An embedding with images as points
==================================

If rows are images, draw some of them on the embedding. Regions then explain
themselves, without any label.
"""

# %%
# t-SNE embeds the digits. An image is drawn where no other image is near.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from eigenfold import TSNE, datasets

X, y, *_ = datasets.load("digits")
Z = TSNE().fit_transform(X)

fig, ax = plt.subplots(figsize=(9, 8), layout="constrained")
ax.scatter(*Z.T, c=y, cmap="tab10", s=6, linewidths=0)

size = np.ptp(Z, axis=0).max()
shown = np.empty((0, 2))
for row, point in enumerate(Z):
    if len(shown) and np.abs(shown - point).max(axis=1).min() < 0.035 * size:
        continue
    shown = np.vstack([shown, point])
    image = OffsetImage(X[row].reshape(8, 8), cmap="gray_r", zoom=2)
    frame = {"edgecolor": plt.cm.tab10(y[row] / 9), "linewidth": 1.5}
    ax.add_artist(AnnotationBbox(image, point, pad=0.1, bboxprops=frame))

ax.set(title="Digits by t-SNE", xticks=[], yticks=[])
ax.set_aspect("equal", adjustable="datalim")
plt.show()

print(f"{len(shown)} of {len(X)} images are drawn")

# %%
# The frame has the color of the class. Within a class, neighboring images have
# the same slant or the same stroke. Ones with a base line lie apart from ones
# without.
