"""
Iris: which measurement separates the species?
==============================================

PCA is linear, so each coordinate is a sum of measurements. Arrows show how much
each measurement contributes (a biplot).
"""

# %%
# The four measurements have one unit, but different variances.
# ``standardize=True`` gives each of them unit variance.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import PCA, datasets

iris = datasets.load("iris")
fig, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for ax, standardize in zip(axes, [False, True]):
    pca = PCA(standardize=standardize).fit(iris.data)
    Z = pca.embedding_
    for at, name in enumerate(iris.target_names):
        ax.scatter(*Z[iris.target == at].T, s=16, alpha=0.7, label=name)
    reach = 0.8 * (np.abs(Z).max(axis=0) / np.abs(pca.components_).max(axis=1)).min()
    sides = [("left", "bottom"), ("right", "bottom"), ("left", "top"), ("left", "bottom")]
    for (ha, va), name, arrow in zip(sides, iris.feature_names, reach * pca.components_.T):
        ax.annotate("", arrow, (0, 0), arrowprops={"arrowstyle": "->", "lw": 1.5})
        ax.text(*arrow, name.replace("_", " "), ha=ha, va=va, size=9,
                bbox={"fc": "white", "ec": "none", "alpha": 0.6, "pad": 1})
    first, second = 100 * pca.explained_variance_ratio_
    ax.set(title=f"standardize={standardize}", xlabel=f"PC 1 ({first:.0f} % of the variance)",
           ylabel=f"PC 2 ({second:.0f} %)")
    ax.set_aspect("equal", adjustable="datalim")
axes[1].legend(fontsize="small", loc="upper right")
plt.show()

# %%
# Without standardization the first coordinate is mostly the length of the petal,
# the measurement with the largest variance. Both separate *setosa* from the
# other two species.
