"""
Where does the embedding know nothing? Uncertainty shading
==========================================================

An embedding has empty regions. The standard deviation of the inverse transform
says where a reconstruction can be trusted.
"""

# %%
# A Gaussian process latent variable model (GPLVM) of iris. The inverse transform
# is computed on a grid, and the root mean square of the standard deviations of
# the four measurements shades the background. It warns of points that are far
# from the data; here they are wanted.

import warnings

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
warnings.filterwarnings("ignore", message=".* far from all points")
rows, std = gplvm.inverse_transform(grid, return_std=True)
shade = np.sqrt((std**2).mean(axis=1)).reshape(60, 60)

# %%
# White is certain, dark is uncertain.

fig, ax = plt.subplots(figsize=(10, 3.4), layout="constrained")
drawn = ax.pcolormesh(x, y, shade, norm="log", cmap="Greys", shading="auto")
fig.colorbar(drawn, label="standard deviation (cm)")
for at, name in enumerate(iris.target_names):
    ax.scatter(*Z[iris.target == at].T, s=18, ec="white", lw=0.3, label=name)
ax.set(title="Iris by GPLVM, and the uncertainty of the inverse transform",
       xticks=[], yticks=[], aspect="equal")
ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.02), frameon=False)
plt.show()
