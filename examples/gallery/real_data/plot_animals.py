"""
Animals and their features
==========================

33 animals are described by 102 features that they have or do not have. The
table is small and binary.

Data: ``animals_33x102/data.csv`` (33 x 102, with the names of the features) and
``animals_33x102/labels.csv`` (the animals), from C. Kemp and J. B. Tenenbaum,
The discovery of structural form, PNAS 105, 2008.
"""

# %%

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import MDS

folder = Path(os.environ.get("EIGENFOLD_DATA", "data")) / "animals_33x102"
if not folder.is_dir():
    raise SystemExit(f"skipped: {folder} is missing; the first lines say where the data come from")

X = np.loadtxt(folder / "data.csv", delimiter=",", skiprows=1)
animals = (folder / "labels.csv").read_text().split()

# %%
# The Jaccard distance ignores features that neither animal has. MDS draws the
# distances. Each name stands on the side away from the nearest animal.

mds = MDS(metric="jaccard").fit(X)
Z = mds.embedding_
print(f"normalized stress {mds.normalized_stress_:.2f}")

kinds = {
    "mammals": "Elephant Rhino Horse Cow Camel Giraffe Chimp Gorilla Mouse Squirrel Tiger Lion"
               " Cat Dog Wolf Deer Seal Dolphin Whale",
    "birds": "Robin Eagle Chicken Finch Ostrich Penguin",
    "reptiles and fish": "Iguana Alligator Salmon Trout",
    "insects": "Bee Ant Butterfly Cockroach",
}
fig, ax = plt.subplots(figsize=(8, 7.5), layout="constrained")
for kind, members in kinds.items():
    rows = [animals.index(animal) for animal in members.split()]
    points = ax.scatter(*Z[rows].T, s=30, label=kind)
    for row in rows:
        nearest = np.linalg.norm(Z - Z[row], axis=1).argsort()[1]
        away = (Z[row] - Z[nearest]) / np.linalg.norm(Z[row] - Z[nearest])
        ax.annotate(animals[row], Z[row], xytext=6 * away, textcoords="offset points",
                    ha="left" if away[0] > 0.4 else "right" if away[0] < -0.4 else "center",
                    va="bottom" if away[1] > 0.4 else "top" if away[1] < -0.4 else "center",
                    color=points.get_facecolor()[0], fontsize=9)
ax.set(title="33 animals by MDS of Jaccard distances", xticks=[], yticks=[], aspect="equal")
ax.margins(0.1)
ax.legend(loc="upper right")
plt.show()
