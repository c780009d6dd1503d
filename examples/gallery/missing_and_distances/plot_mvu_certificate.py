"""
Maximum variance unfolding with a certificate
=============================================

Maximum variance unfolding (MVU) keeps the distances between neighbors and makes
the variance as large as possible. That is a convex problem, so the result comes
with a proof: no embedding with these distances has more variance than a bound.
"""

# %%
# Fit the roll, and read the certificate. ``primal`` is the variance that was
# reached, ``dual`` is the bound.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from eigenfold import MVU, datasets

roll = datasets.make("swiss-roll", n=800)
mvu = MVU(n_neighbors=6).fit(roll.data)
certificate = mvu.certificate_
print(f"variance reached  {certificate['primal']:.1f}")
print(f"upper bound       {certificate['dual']:.1f}")
print(f"relative gap      {certificate['gap']:.1e}")
print(f"dimensions        {certificate['rank']}")

# %%
# The multipliers of the problem are forces: the edges with large multipliers
# hold the sheet together. They are drawn in red. The whole variance of the
# unfolding is in two coordinates.

Z, force = mvu.embedding_, mvu.edge_weights_
strong = force > np.quantile(force, 0.7)

fig, ax = plt.subplots(figsize=(11, 2.7), layout="constrained")
width = 0.4 + 3 * force[strong] / np.quantile(force, 0.99)
ax.add_collection(LineCollection(Z[mvu.edges_[strong]], color="C3", lw=width.clip(0, 4), alpha=0.6))
ax.scatter(*Z.T, c=roll.truth[:, 0], s=12, zorder=2)
shares = mvu.eigenvalues_ / certificate["primal"]
ax.set(title="The unrolled sheet, and the edges with the largest forces", aspect="equal",
       xlabel=f"{100 * shares[0]:.1f} % of the variance", ylabel=f"{100 * shares[1]:.1f} %")
plt.show()
