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

from eigenfold import MVU, datasets

roll = datasets.make("swiss-roll", n=800)
mvu = MVU(n_neighbors=6).fit(roll.data)
certificate = mvu.certificate_
print(f"variance reached  {certificate['primal']:.1f}")
print(f"upper bound       {certificate['dual']:.1f}")
print(f"relative gap      {certificate['gap']:.1e}")
print(f"dimensions        {certificate['rank']}")

# %%
# The multipliers of the problem are forces: an edge with a large multiplier is
# pulled hard. They are drawn on the embedding. The bars are the eigenvalues of
# the unfolding: its whole variance is in two coordinates.

Z = mvu.embedding_
force = mvu.edge_weights_
strong = force > np.quantile(force, 0.5)

fig, (ax, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained",
                                width_ratios=[4, 1])
for (i, j), f in zip(mvu.edges_[strong], force[strong]):
    ax.plot(*Z[[i, j]].T, color="C3", lw=0.3 + 2 * f / force.max(), alpha=0.6, zorder=1)
ax.scatter(*Z.T, c=roll.truth[:, 0], s=10, zorder=2)
ax.set(title="The unrolled sheet; red edges carry the largest forces", aspect="equal")
shares = np.array(mvu.report_["eigenvalues"][:6])
right.bar(range(1, len(shares) + 1), shares / shares.sum())
right.set(title="eigenvalues", xlabel="coordinate", ylabel="share of the variance")
plt.show()
