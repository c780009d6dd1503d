"""
t-SNE: what the perplexity does
===============================

The perplexity of t-SNE is about the number of neighbors that each point
attracts. Small values show fine structure, large values show large structure.
"""

# %%
# Five values, from 3 to 300. ``rnx_auc`` measures how many neighbors of all
# neighborhood sizes are kept; ``knn_accuracy`` looks at the ten nearest only.

import matplotlib.pyplot as plt

from eigenfold import TSNE, datasets, quality

X, y, *_ = datasets.load("digits")
X, y = X[:1000], y[:1000]

fig, axes = plt.subplots(1, 5, figsize=(15, 3.5), layout="constrained")
for ax, perplexity in zip(axes, [3, 10, 30, 100, 300]):
    Z = TSNE(perplexity=perplexity).fit_transform(X)
    found = quality(X, Z, y)
    drawn = ax.scatter(*Z.T, c=y, cmap="tab10", s=6, linewidths=0)
    ax.set(title=f"perplexity {perplexity}", xticks=[], yticks=[],
           xlabel=f"rnx_auc {found['rnx_auc']:.2f}, knn_accuracy {found['knn_accuracy']:.2f}")
    ax.set_aspect("equal", adjustable="datalim")
fig.legend(*drawn.legend_elements(), title="digit", loc="outside right center")
plt.show()

# %%
# With a perplexity of 3, clusters break into crumbs that mean nothing. With 300,
# they move together. The default, ``perplexity="auto"``, depends on the number
# of points; the report says which value was used.

used = {one["name"]: one["used"] for one in TSNE().fit(X).report_["parameters"]}
print("perplexity", used["perplexity"])
