"""Makes the numbers of tests/reference.rs with scikit-learn (1.9) and NumPy.

    python3 scikit_learn.py

Data: the R2 swiss roll (a deterministic low-discrepancy sample, no random numbers) and scikit-learn's iris.
"""

import numpy as np
from sklearn import decomposition, manifold, neighbors
from sklearn.datasets import load_iris


def swiss(n):
    g = 1.32471795724474602596
    i = np.arange(1, n + 1)
    u, v = (0.5 + i / g) % 1, (0.5 + i / g**2) % 1
    t = 1.5 * np.pi * (1 + 2 * u)
    return np.c_[t * np.cos(t), 21 * v, t * np.sin(t)]


def show(name, values):
    print(f"{name}: [{', '.join('%.15e' % v for v in np.atleast_1d(values))}]")


iris, roll = load_iris().data, swiss(600)
show("pca iris", decomposition.PCA().fit(iris).explained_variance_ * (len(iris) - 1))
for kernel, options in [("rbf", dict(gamma=0.25)), ("poly", dict(gamma=1.0, degree=2, coef0=1.0)), ("cosine", {})]:
    model = decomposition.KernelPCA(n_components=3, kernel=kernel, eigen_solver="dense", **options).fit(iris)
    show(f"kernel-pca {kernel} iris", model.eigenvalues_)
model = manifold.Isomap(n_neighbors=8, n_components=3, eigen_solver="dense").fit(roll)
show("isomap swiss-600 k=8", model.kernel_pca_.eigenvalues_)
for n in (500, 600, 1000):
    model = manifold.LocallyLinearEmbedding(n_neighbors=10, n_components=2, eigen_solver="dense").fit(swiss(n))
    show(f"lle swiss-{n} k=10", model.reconstruction_error_)

# Laplacian eigenmaps: the spectrum of the normalized Laplacian of the union graph with weights one, and with heat
# weights of the root mean square neighbor distance, by NumPy's dense solver.
A = neighbors.kneighbors_graph(roll, 10, mode="distance").toarray()
sigma2 = (A[A > 0] ** 2).mean()
D = np.maximum(A, A.T)
for name, W in [("simple", (D > 0) * 1.0), ("heat", np.where(D > 0, np.exp(-(D**2) / (2 * sigma2)), 0))]:
    d = W.sum(1)
    L = (np.diag(d) - W) / np.sqrt(np.outer(d, d))
    show(f"laplacian {name} swiss-600 k=10", np.linalg.eigvalsh(L)[1:4])
    if name == "heat":
        # Diffusion maps, alpha = 1: the walk with self-loops after dividing the density out.
        K = W + np.eye(len(W))
        q = K.sum(1)
        K = K / np.outer(q, q)
        d = K.sum(1)
        show("diffusion swiss-600 k=10", 1 - np.linalg.eigvalsh(K / np.sqrt(np.outer(d, d)))[::-1][1:4])
