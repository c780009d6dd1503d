"""
An embedding in a scikit-learn pipeline
=======================================

Estimators of eigenfold work in pipelines, in ``GridSearchCV`` and in
``cross_val_score``. Here an embedding comes before a nearest-neighbor
classifier.
"""

# %%
# ``GridSearchCV`` chooses the number of coordinates. The embedding is fitted
# inside each fold, and the test rows of the fold are embedded by ``transform``.
# One digit is unlike all others, and the warning about it is switched off.

import warnings

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from eigenfold import PCA, Isomap, LaplacianEigenmaps, datasets

X, y, *_ = datasets.load("digits")
dims = [1, 2, 3, 5, 10, 20]
warnings.filterwarnings("ignore", message=".* far from all training points")

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for embedding in [PCA(), Isomap(), LaplacianEigenmaps()]:
    pipe = make_pipeline(embedding, KNeighborsClassifier(5))
    step = pipe.steps[0][0]
    search = GridSearchCV(pipe, {f"{step}__n_components": dims}, cv=3).fit(X, y)
    name = type(embedding).__name__
    ax.errorbar(dims, search.cv_results_["mean_test_score"],
                search.cv_results_["std_test_score"], marker="o", capsize=3, label=name)
    print(f"{name}: {search.best_params_}, accuracy {search.best_score_:.3f}")

ax.set(title="Digits: 5-NN classifier after an embedding", xscale="log", ylim=(0, 1),
       xlabel="n_components", ylabel="accuracy (3-fold cross-validation)")
ax.set_xticks(dims, dims)
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# Two coordinates of Laplacian eigenmaps already separate most digits. PCA needs
# between five and ten coordinates for the same accuracy.
