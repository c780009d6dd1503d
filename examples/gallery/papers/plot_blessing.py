"""
The blessing of dimensionality: a ring
======================================

In most models, each feature adds parameters. Maximum entropy unfolding (MEU) has
one parameter per pair of points, and features are independent draws. So more
features determine the model better. N. D. Lawrence calls this the blessing of
dimensionality. The page :doc:`/papers/blessing` has the full tables.

Reference: N. D. Lawrence. A unifying probabilistic perspective for spectral
dimensionality reduction. JMLR 13, 2012, section 2.5.
"""

# %%
# Forty points on a ring: weight 1 to the next point, 0.5 to the next but one.
# Features are draws of a Gaussian Markov random field (GMRF), a Gaussian whose
# precision matrix is the Laplacian of these weights.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import MEU

n = 40
W = np.zeros((n, n))
for step, weight in [(1, 1.0), (2, 0.5)]:
    i = np.arange(n)
    W[i, (i + step) % n] = W[(i + step) % n, i] = weight
values, vectors = np.linalg.eigh(np.diag(W.sum(axis=0)) - W)
root = vectors[:, 1:] / np.sqrt(values[1:])

# %%
# MEU estimates all 780 weights from the features alone.

rng = np.random.default_rng(0)
counts, errors, maps = [10, 30, 100, 300, 1000, 3000], [], {}
for count in counts:
    meu = MEU(graph="all").fit(root @ rng.normal(size=(n - 1, count)))
    errors.append(np.linalg.norm(meu.graph_.toarray() - W) / np.linalg.norm(W))
    maps[count] = meu.embedding_

# %%

fig, axes = plt.subplots(1, 4, figsize=(14, 3.6), layout="constrained")
axes[0].loglog(counts, errors, "o-", label="MEU")
axes[0].loglog(counts, errors[-1] * np.sqrt(counts[-1] / np.array(counts)), "k:", label="1 / √features")
axes[0].set(title="Error of the weights", xlabel="features", ylabel="relative error")
axes[0].legend()
for ax, count in zip(axes[1:], [10, 100, 3000]):
    Z = maps[count]
    ax.plot(*np.vstack([Z, Z[:1]]).T, color="0.75", lw=1)
    ax.scatter(*Z.T, c=np.arange(n), cmap="twilight", s=30, zorder=2)
    ax.set(title=f"{count:,} features", xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
plt.show()
