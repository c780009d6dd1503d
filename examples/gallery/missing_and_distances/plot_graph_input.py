"""
Draw a graph
============

Methods with a neighborhood graph also take a graph instead of points: a sparse
matrix of edge lengths. This example draws a binary tree and a mesh with a hole.
"""

# %%
# An entry ``A[i, j]`` is the length of the edge between ``i`` and ``j``. An entry
# that is not stored is not an edge.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse import coo_array

from eigenfold import MDS, UMAP, ElasticEmbedding


def graph(pairs):
    i, j = np.array(pairs).T
    n = max(i.max(), j.max()) + 1
    one_way = coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    return (one_way + one_way.T).tocsr()


tree = graph([((child - 1) // 2, child) for child in range(1, 127)])

cells = [(a, b) for a in range(20) for b in range(20) if not (6 <= a < 14 and 6 <= b < 14)]
number = {cell: at for at, cell in enumerate(cells)}
mesh = graph([(number[a, b], number[next_])
              for a, b in cells for next_ in [(a + 1, b), (a, b + 1)] if next_ in number])

# %%
# ``metric="precomputed"`` takes the matrix. Elastic embedding spreads the nodes
# evenly. UMAP shows groups of nodes. MDS keeps the lengths of paths.

fig, axes = plt.subplots(2, 3, figsize=(12, 8), layout="constrained")
for row, (name, A) in zip(axes, {"binary tree": tree, "mesh with a hole": mesh}.items()):
    for ax, method in zip(row, [ElasticEmbedding, UMAP, MDS]):
        Z = method(metric="precomputed").fit_transform(A)
        edges = np.stack(A.nonzero(), axis=1)
        ax.add_collection(LineCollection(Z[edges], color="0.7", lw=0.8))
        ax.scatter(*Z.T, c=np.arange(len(Z)), s=16, zorder=2)
        ax.set(title=f"{name}: {method.__name__}", xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
plt.show()
