"""The stress that scikit-learn's majorization reaches from classical scaling (scikit-learn 1.9.1, numpy).

Prints the sum over i < j of (delta - d)^2 for iris and for swiss(200), the numbers in tests/stress.rs.
"""

import inspect

import numpy as np
from sklearn.datasets import load_iris
from sklearn.manifold import smacof
from sklearn.metrics import pairwise_distances


def scaled(distances):
    n = len(distances)
    center = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ distances**2 @ center)
    return vectors[:, -2:][:, ::-1] * np.sqrt(values[-2:][::-1])


def swiss(n):
    g, i = 1.324717957244746, np.arange(1, n + 1)
    u, v = (0.5 + i / g) % 1, (0.5 + i / g**2) % 1
    t = 1.5 * np.pi * (1 + 2 * u)
    return np.c_[t * np.cos(t), 21 * v, t * np.sin(t)]


for name, points in [("iris", load_iris().data), ("swiss(200)", swiss(200))]:
    given = pairwise_distances(points)
    asked = dict(n_components=2, init=scaled(given), n_init=1, max_iter=20000, eps=1e-15, normalized_stress=False)
    known = inspect.signature(smacof).parameters
    found = smacof(given, **{key: value for key, value in asked.items() if key in known})[0]
    print(name, repr(((given - pairwise_distances(found)) ** 2).sum() / 2))
