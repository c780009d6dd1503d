"""Reference values of the alignment methods: dense NumPy after the papers, and scikit-learn for modified LLE.

    python3 alignment.py

The data are swiss(n), the first n points of the R2 low-discrepancy sequence rolled up. A patch is a point with its ten
nearest neighbors. Prints the smallest eigenvalues of each method's matrix, the constant vector's zero left out.
"""
import itertools

import numpy as np
from sklearn.manifold import LocallyLinearEmbedding


def swiss(n):
    g = 1.324717957244746
    i = np.arange(1, n + 1)
    u, v = (0.5 + i / g) % 1, (0.5 + i / g**2) % 1
    t = 1.5 * np.pi * (1 + 2 * u)
    return np.c_[t * np.cos(t), 21 * v, t * np.sin(t)]


def patches(x, k):
    for i, row in enumerate(((x[:, None] - x[None]) ** 2).sum(-1)):
        row[i] = -1
        yield np.argsort(row, kind="stable")[: k + 1]


def tangent(x, members, d):
    centered = x[members] - x[members].mean(0)
    return np.linalg.svd(centered, full_matrices=False)[0][:, :d]


def bottom(forms, n):
    a = np.zeros((n, n))
    for members, q in forms:
        a[np.ix_(members, members)] += q
    return np.linalg.eigvalsh(a)


def ltsa(x, k, d):
    for members in patches(x, k):
        b = np.c_[np.full(k + 1, (k + 1) ** -0.5), tangent(x, members, d)]
        yield members, np.eye(k + 1) - b @ b.T


def hessian(x, k, d):
    for members in patches(x, k):
        u = tangent(x, members, d)
        pairs = [u[:, a] * u[:, b] for a, b in itertools.combinations_with_replacement(range(d), 2)]
        h = np.linalg.qr(np.c_[np.ones(k + 1), u, np.stack(pairs, 1)])[0][:, 1 + d :]
        yield members, h @ h.T


x = swiss(600)
print("ltsa        ", bottom(ltsa(x, 10, 2), 600)[1:6].tolist())
print("hessian-lle ", bottom(hessian(x, 10, 2), 600)[1:6].tolist())
mlle = LocallyLinearEmbedding(n_neighbors=10, n_components=2, method="modified", eigen_solver="dense").fit(x)
print("modified-lle", mlle.reconstruction_error_, "sum of two")
