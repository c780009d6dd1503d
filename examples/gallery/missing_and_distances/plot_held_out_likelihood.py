"""
Held-out likelihood: PPCA or factor analysis?
=============================================

PPCA and factor analysis are probability densities. The log density of held-out
rows chooses between them, and chooses the number of coordinates.
"""

# %%
# Simulated data with five latent coordinates and 20 features. In one data set
# every feature has the same noise, as PPCA assumes. In the other the noise
# differs from feature to feature, as factor analysis assumes.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from eigenfold import PPCA, ConvergenceWarning, FactorAnalysis

rng = np.random.default_rng(0)
signal = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 20))
noise = rng.normal(size=signal.shape)
sets = {"the same noise in every feature": signal + noise,
        "noise of different size": signal + noise * np.linspace(0.2, 4, 20)}

# %%
# ``score`` is the mean log density of the rows, so ``cross_val_score`` works as
# for any estimator. Models with too many coordinates warn that a feature has no
# noise left; the likelihood below shows the same.

warnings.filterwarnings("ignore", message=".* next to no noise")
warnings.simplefilter("ignore", ConvergenceWarning)
dims = range(1, 10)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (name, X) in zip(axes, sets.items()):
    for model in [PPCA, FactorAnalysis]:
        values = [cross_val_score(model(n_components=d, tol=1e-8), X, cv=5).mean() for d in dims]
        best = int(np.argmax(values))
        line, = ax.plot(dims, values, "o-", label=model.__name__)
        ax.plot(dims[best], values[best], "o", ms=13, mfc="none", color=line.get_color())
    ax.axvline(5, color="0.8", zorder=0)
    ax.set(title=name, xlabel="n_components", xticks=dims)
axes[0].set_ylabel("held-out log density per row")
axes[0].legend(loc="lower right")
plt.show()

# %%
# The circle is the best number of coordinates; the grey line is the truth. Where
# the noise differs, factor analysis is better at every number of coordinates,
# and PPCA uses additional coordinates to describe the noise.
