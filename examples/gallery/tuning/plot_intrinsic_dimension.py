"""
How many dimensions do the data have?
=====================================

Before an embedding, ask how many coordinates the data need. ``dimension``
estimates the intrinsic dimension by several methods.
"""

# %%
# Data sets with known answers, and the digits, where the answer is not known.

import matplotlib.pyplot as plt

from eigenfold import datasets, dimension

sets = {
    "helix (1)": datasets.make("helix", n=1000).data,
    "Swiss roll (2)": datasets.make("swiss-roll", n=1000).data,
    "noisy roll (2)": datasets.make("swiss-roll", n=1000, noise=0.5).data,
    "digits (?)": datasets.load("digits").data[:1000],
}
found = {name: dimension(X, quick=True) for name, X in sets.items()}
for name, one in found.items():
    print(f"{name}: recommended dimension {one['recommended']['dims']}")

# %%
# Each estimate has a 95 % interval where one is known. The interval is
# statistical: it does not include the bias of the method.

names = {"two_nn": "2NN", "ess": "simplex skewness", "two_nn_fit": "2NN, fit",
         "levina_bickel": "Levina-Bickel", "mackay_ghahramani": "MacKay-Ghahramani"}

fig, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained", sharey=True)
for ax, (name, one) in zip(axes, found.items()):
    for at, key in enumerate(names):
        estimate = one["estimates"][key]
        if estimate["low"] is not None:
            ax.plot([estimate["low"], estimate["high"]], [at, at], color="C0", lw=6, alpha=0.4)
        ax.plot(estimate["value"], at, "o", color="C0")
    ax.axvline(one["recommended"]["dims"], color="C3", ls="--", label="recommended")
    ax.set(title=name, xlabel="dimension", xlim=(0, None))
axes[0].set_yticks(range(len(names)), names.values())
axes[0].legend(fontsize="small")
plt.show()

# %%
# Noise adds a dimension at small scales. The estimate by scale shows this: it is
# too large for the nearest neighbors, and falls to 2 for larger neighborhoods.

fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for name, one in found.items():
    ax.plot([scale["k"] for scale in one["scales"]], [scale["value"] for scale in one["scales"]],
            "o-", label=name)
ax.set(title="Dimension by scale", xscale="log", xlabel="neighbors", ylabel="dimension", ylim=(0, None))
ax.legend()
plt.show()
