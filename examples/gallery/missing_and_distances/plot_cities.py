"""
A map of cities from their distances
====================================

Multidimensional scaling (MDS) draws points from a table of distances. The
distances between 40 cities give a map of Europe.
"""

# %%
# The table of distances along great circles, from latitude and longitude:

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import MDS

cities = {
    "Amsterdam": (52.4, 4.9), "Athens": (38.0, 23.7), "Barcelona": (41.4, 2.2),
    "Belgrade": (44.8, 20.5), "Berlin": (52.5, 13.4), "Brussels": (50.9, 4.3),
    "Bucharest": (44.4, 26.1), "Budapest": (47.5, 19.0), "Copenhagen": (55.7, 12.6),
    "Dublin": (53.3, -6.3), "Edinburgh": (55.9, -3.2), "Geneva": (46.2, 6.1),
    "Hamburg": (53.5, 10.0), "Helsinki": (60.2, 24.9), "Istanbul": (41.0, 29.0),
    "Kyiv": (50.4, 30.5), "Lisbon": (38.7, -9.1), "London": (51.5, -0.1),
    "Lyon": (45.8, 4.8), "Madrid": (40.4, -3.7), "Marseille": (43.3, 5.4),
    "Milan": (45.5, 9.2), "Moscow": (55.8, 37.6), "Munich": (48.1, 11.6),
    "Naples": (40.9, 14.3), "Oslo": (59.9, 10.8), "Paris": (48.9, 2.4),
    "Porto": (41.1, -8.6), "Prague": (50.1, 14.4), "Reykjavik": (64.1, -21.9),
    "Riga": (57.0, 24.1), "Rome": (41.9, 12.5), "Seville": (37.4, -6.0),
    "Sofia": (42.7, 23.3), "Stockholm": (59.3, 18.1), "Tallinn": (59.4, 24.7),
    "Vienna": (48.2, 16.4), "Vilnius": (54.7, 25.3), "Warsaw": (52.2, 21.0),
    "Zagreb": (45.8, 16.0),
}
latitude, longitude = np.radians(list(cities.values())).T
unit = np.stack([np.cos(latitude) * np.cos(longitude),
                 np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1)
distances = 6371 * np.arccos(np.clip(unit @ unit.T, -1, 1))
np.fill_diagonal(distances, 0)

# %%
# ``metric="precomputed"`` takes the table. MDS minimizes the squared differences
# between the distances of the map and those of the table.

mds = MDS(metric="precomputed").fit(distances)
print(f"normalized stress {mds.normalized_stress_:.4f}")

# %%
# Distances do not know where north is, and a mirrored map has the same
# distances. The best rotation or reflection onto the known directions (a
# Procrustes fit) puts north on top and east on the right.

known = np.stack([longitude * np.cos(latitude.mean()), latitude], axis=1)
known -= known.mean(axis=0)
U, _, Vt = np.linalg.svd((mds.embedding_ - mds.embedding_.mean(axis=0)).T @ known)
Z = mds.embedding_ @ U @ Vt

fig, ax = plt.subplots(figsize=(8.5, 8), layout="constrained")
ax.scatter(*Z.T, s=14)
ax.margins(0.12)
for name, point in zip(cities, Z):
    side = "right" if name == "Lyon" else "left"
    ax.annotate(name, point, xytext=(4 if side == "left" else -4, 3), ha=side,
                textcoords="offset points", fontsize=9)
ax.set(title="Forty cities, from distances alone", xlabel="east (km)", ylabel="north (km)", aspect="equal")
plt.show()
