"""
How good is an embedding? Quality measures
==========================================

No single number decides which embedding is best. ``quality`` computes measures
of neighborhoods, of distances and of classes, for embeddings of any program.
"""

# %%
# Five embeddings of the digits:

import matplotlib.pyplot as plt
import numpy as np

import eigenfold as ef

X, y, *_ = ef.datasets.load("digits")
methods = [ef.PCA(), ef.Isomap(), ef.LaplacianEigenmaps(), ef.UMAP(), ef.TSNE()]
results = {type(m).__name__: ef.quality(X, m.fit_transform(X), y) for m in methods}

# %%
# Four measures, all between 0 and 1, and larger is better for all of them:
#
# - *trustworthiness*: points that are near in the embedding are near in the data;
# - *continuity*: points that are near in the data are near in the embedding;
# - *distance correlation*: long distances stay long (rank correlation);
# - *k-NN accuracy*: the nearest neighbors in the embedding have the same class.

keys = {"trustworthiness": "trustworthiness", "continuity": "continuity",
        "spearman": "distance correlation", "knn_accuracy": "k-NN accuracy"}

fig, ax = plt.subplots(figsize=(9, 4), layout="constrained")
at = np.arange(len(keys))
for shift, (name, found) in enumerate(results.items()):
    values = [found[key] for key in keys]
    bars = ax.bar(at + 0.16 * (shift - 2), values, 0.15, label=name)
    ax.bar_label(bars, fmt="%.2f", fontsize=7)
ax.set_xticks(at, keys.values())
ax.set(title="Five embeddings of the digits", ylim=(0, 1.22), ylabel="larger is better")
ax.legend(ncols=5, loc="upper center", fontsize="small")
plt.show()

# %%
# t-SNE and UMAP keep neighborhoods best, PCA keeps long distances best. The
# measures are also known for every point: dark points below have false
# neighbors. Most of them lie at the edge of a cluster or between clusters.

Z = methods[-1].embedding_
lost = 1 - results["TSNE"].pointwise["trustworthiness"]
fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
drawn = ax.scatter(*Z.T, c=lost, cmap="magma_r", s=10, linewidths=0, vmax=np.quantile(lost, 0.99))
fig.colorbar(drawn, label="1 - trustworthiness of the point")
ax.set(title="Where t-SNE is wrong", xticks=[], yticks=[], aspect="equal")
plt.show()
