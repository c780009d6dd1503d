"""
Draw a graph
============

Methods with a neighborhood graph also take a graph instead of points: a sparse
matrix of edge lengths. This example draws the graph of a grid on a torus and
the graph of a binary tree.
"""

# %%
# An entry ``A[i, j]`` is the length of the edge between ``i`` and ``j``; entries
# that are not stored are not edges. ``metric="precomputed"`` takes the matrix.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse import coo_array

from eigenfold import MDS, Isomap, LaplacianEigenmaps


def graph(pairs):
    i, j = np.array(pairs).T
    n = max(i.max(), j.max()) + 1
    one_way = coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    return (one_way + one_way.T).tocsr()


tree = graph([((child - 1) // 2, child) for child in range(1, 127)])
tube = graph([(10 * a + b, 10 * a + (b + 1) % 10) for a in range(30) for b in range(10)]
             + [(10 * a + b, 10 * (a + 1) + b) for a in range(29) for b in range(10)])

# %%
# Isomap and MDS draw path lengths, Laplacian eigenmaps draw the slowest
# vibrations of the graph.

fig, axes = plt.subplots(2, 3, figsize=(12, 7.5), layout="constrained")
for row, (name, A) in zip(axes, {"binary tree": tree, "tube of 30 rings": tube}.items()):
    for ax, method in zip(row, [Isomap, MDS, LaplacianEigenmaps]):
        Z = method(metric="precomputed").fit_transform(A)
        i, j = A.nonzero()
        ax.add_collection(LineCollection(Z[np.stack([i, j], axis=1)], color="0.7", lw=0.7))
        ax.scatter(*Z.T, c=np.arange(len(Z)), s=14, zorder=2)
        ax.set(title=f"{name}: {method.__name__}", xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
plt.show()
