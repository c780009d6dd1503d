"""
Compare many methods in one call
================================

``compare`` fits several methods to the same data, evaluates them alike, ranks
them, and writes one HTML page to look at.
"""

# %%
# Each method has a limit of seconds; a method that fails is reported and the
# others go on.

import matplotlib.pyplot as plt

from eigenfold import compare, datasets

iris = datasets.load("iris")
names = [iris.target_names[k] for k in iris.target]
methods = ["pca", "isomap", "umap", "tsne", "laplacian-eigenmaps", "mvu"]
comparison = compare(iris.data, methods, labels=names, title="iris")
print(comparison.table[["rnx_auc", "trustworthiness", "spearman", "knn_accuracy"]].round(3))

# %%
# The rank is by ``rnx_auc``, the share of neighborhoods of all sizes that the
# embedding keeps. ``maps`` has the embeddings, best first, each rotated and
# scaled onto the best one.

fig, axes = plt.subplots(2, 3, figsize=(11, 5), layout="constrained")
for ax, (name, Z) in zip(axes.flat, comparison.maps.items()):
    for at, kind in enumerate(iris.target_names):
        ax.scatter(*Z[iris.target == at].T, s=12, linewidths=0, label=kind)
    ax.set(title=name, xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
axes.flat[0].legend(fontsize="small", loc="upper center")
plt.show()

# %%
# ``comparison.report("iris.html")`` writes the page: one file, which needs no
# network. A notebook shows the page below the cell.

comparison
