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
    print(f"{name}: {one['recommended']['dims']} coordinates recommended")

# %%
# Each estimate has a 95 % interval. The interval is statistical: it does not
# include the bias of the method.

fig, axes = plt.subplots(1, 4, figsize=(13, 3.8), layout="constrained", sharey=True)
for ax, (name, one) in zip(axes, found.items()):
    for at, estimate in enumerate(one["estimates"]):
        low, high = estimate["interval"] or (estimate["value"],) * 2
        ax.plot([low, high], [at, at], color="C0", lw=3, alpha=0.5)
        ax.plot(estimate["value"], at, "o", color="C0")
    ax.axvline(one["recommended"]["dims"], color="C3", ls="--", label="recommended")
    ax.set(title=name, xlabel="dimension", xlim=(0, None))
axes[0].set_yticks(range(len(found["digits (?)"]["estimates"])),
                   [each["name"] for each in found["digits (?)"]["estimates"]])
axes[0].legend(fontsize="small")
plt.show()
