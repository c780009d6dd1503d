"""
Where does the embedding know nothing? Uncertainty shading
==========================================================

An embedding has empty regions. The standard deviation of the inverse transform
says where a reconstruction can be trusted.
"""

# %%
# A Gaussian process latent variable model (GPLVM) of iris. The inverse transform
# is computed on a grid, and the root mean square of the standard deviations of
# the four measurements shades the background.

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import GPLVM, datasets

iris = datasets.load("iris")
gplvm = GPLVM().fit(iris.data)
Z = gplvm.embedding_

low, high = Z.min(axis=0), Z.max(axis=0)
margin = 0.15 * (high - low)
x, y = [np.linspace(a, b, 60) for a, b in zip(low - margin, high + margin)]
grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
rows, std = gplvm.inverse_transform(grid, return_std=True)
shade = np.sqrt((std**2).mean(axis=1)).reshape(60, 60)

# %%
# White is certain, dark is uncertain.

fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
drawn = ax.contourf(x, y, shade, levels=20, cmap="Greys")
fig.colorbar(drawn, label="standard deviation of the inverse transform (cm)")
for at, name in enumerate(iris.target_names):
    ax.scatter(*Z[iris.target == at].T, s=18, ec="white", lw=0.3, label=name)
ax.set(title="Iris by GPLVM", xticks=[], yticks=[], aspect="equal")
ax.legend()
plt.show()
