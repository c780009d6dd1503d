"""
Carreira-Perpiñán 2010: a spiral unrolls as repulsion grows
===========================================================

Elastic embedding balances attraction between neighbors and repulsion between
all points, with a weight λ. This example repeats figure 2 of the paper that
introduced it: a spiral in one dimension, for growing λ. The page
:doc:`/papers/carreira-perpinan-2010` has the other figures.

Reference: M. Á. Carreira-Perpiñán. The elastic embedding algorithm for
dimensionality reduction. ICML 2010.
"""

# %%
# The points have equal distances along the spiral. Each fit starts from the
# embedding of the λ before it.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import ElasticEmbedding

t = np.linspace(0, 2 * np.pi, 2000)
length = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
angle = np.interp(np.linspace(0, length[-1], 200), length, t)
radius = 0.93 * angle / angle[-1]
spiral = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)

strengths = np.geomspace(1e-2, 1e2, 40)
embedding, path = "random", []
for lam in strengths:
    elastic = ElasticEmbedding(n_components=1, graph="all", bandwidth=0.05, lam=lam, init=embedding)
    embedding = elastic.fit_transform(spiral)
    path.append(embedding[:, 0])
path = np.array(path)

# %%

fig, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
axes[0].scatter(*spiral.T, c=np.arange(200), s=12)
axes[0].set(title="A spiral of 200 points", aspect="equal")
for i in range(0, 200, 5):
    axes[1].plot(strengths, path[:, i], color=plt.cm.viridis(i / 199), lw=1)
axes[1].set(title="Its embedding in one dimension", xscale="log", xlabel="λ", ylabel="coordinate")
axes[2].plot(np.linspace(0, 1, 200), path[-1])
axes[2].set(title=f"λ = {strengths[-1]:.0f}", xlabel="position along the spiral", ylabel="coordinate")
plt.show()

steps = np.diff(path[-1])
print(f"{max((steps > 0).sum(), (steps < 0).sum())} of 199 steps go one way")
