"""
How many neighbors? ``n_neighbors="auto"``
==========================================

Isomap measures distances along a graph of nearest neighbors. With too many
neighbors the graph takes short cuts, and the embedding collapses.
"""

# %%
# ``n_neighbors="auto"`` fits ten graphs and keeps the best one. The measure is
# the neighbor distance ratio: how many times as far in the data are the ten
# nearest points of the embedding as the ten nearest points of the data? 1 is
# perfect.

import matplotlib.pyplot as plt

from eigenfold import Isomap, datasets

roll = datasets.make("swiss-roll", n=1000)
auto = Isomap(n_neighbors="auto").fit(roll.data)
chosen = auto.report_["chosen"]["n_neighbors"]
tried = {one["k"]: one["value"] for one in chosen["tried"]}
best = chosen["chosen"]
print(f"n_neighbors = {best}")

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(list(tried), list(tried.values()), "o-")
ax.plot(best, tried[best], "o", color="C3", ms=10, label=f"chosen: {best}")
ax.set(title="Isomap of a Swiss roll", xlabel="n_neighbors", xscale="log",
       ylabel="neighbor distance ratio (1 is perfect)", xticks=list(tried))
ax.set_xticklabels(tried)
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# The embedding with too few, with the chosen number and with too many:

fig, axes = plt.subplots(3, 1, figsize=(6, 6), layout="constrained")
for ax, k in zip(axes, [4, best, 50]):
    Z = Isomap(n_neighbors=k).fit_transform(roll.data)
    ax.scatter(*Z.T, c=roll.truth[:, 0], s=6, linewidths=0)
    ax.set(title=f"n_neighbors = {k}", xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
plt.show()

# %%
# With 4 neighbors the sheet has creases and holes. With 50, edges jump from one
# turn of the roll to the next.
#
# sphinx_gallery_thumbnail_number = 2
