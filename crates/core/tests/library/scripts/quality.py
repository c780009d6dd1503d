"""Makes the numbers of tests/library/quality.rs with scikit-learn (1.9), SciPy and the definitions of the papers in NumPy.

    python3 quality.py

Data, map, labels and truth are products of squares and a fraction, taken modulo one, so that every language has the
same bits. No two distances from one point are equal.
"""

import numpy as np
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from scipy.stats import pearsonr, rankdata, spearmanr
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import KNeighborsClassifier

N, P = 120, 4


def noise(at):
    return (at * at * 0.7548776662466927) % 1.0


X = noise(np.arange(1, N * P + 1)).reshape(N, P)
Y = np.c_[X[:, 0] + 0.25 * X[:, 2], X[:, 1] - 0.5 * X[:, 3]]
labels = np.floor(3 * noise(np.arange(N) + 1000)).astype(int)
labels[X[:, 0] > 0.5] = 2
truth = np.c_[X[:, 1], X[:, 0], X[:, 3]]

delta, d = cdist(X, X), cdist(Y, Y)
assert all(len(np.unique(row)) == N for row in np.vstack([delta, d]))


def ranks(distances):
    """The rank of every other point, 1 the nearest; 0 for the point itself."""
    return np.argsort(np.argsort(distances, axis=1), axis=1)


R, S = ranks(delta), ranks(d)


def rnx(k):
    """Lee, Peluffo-Ordonez, Verleysen (2015): from the co-ranking matrix, entry by entry."""
    Q = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            if i != j:
                Q[R[i, j], S[i, j]] += 1
    qnx = Q[1 : k + 1, 1 : k + 1].sum() / (k * N)
    return ((N - 1) * qnx - k) / (N - 1 - k)


def show(name, values):
    print(f"{name}: [{', '.join('%.15e' % v for v in np.atleast_1d(values))}]")


for k in (1, 7, 20, 59):
    show(f"trustworthiness k={k}", trustworthiness(X, Y, n_neighbors=k))
    # What is torn apart is what would be joined if the map were the data.
    show(f"continuity k={k}", trustworthiness(Y, X, n_neighbors=k))
curve = np.array([rnx(k) for k in range(1, N - 1)])
sizes = np.arange(1, N - 1)
show("rnx 1 7 20 118", curve[[0, 6, 19, 117]])
show("rnx_auc", (curve / sizes).sum() / (1 / sizes).sum())
upper = np.triu_indices(N, 1)
a, b = delta[upper], d[upper]
show("stress", np.sqrt(((a - b) ** 2).sum() / (a**2).sum()))
scale = (a * b).sum() / (b * b).sum()
show("scaled_stress", np.sqrt(((a - scale * b) ** 2).sum() / (a**2).sum()))
show("pearson", pearsonr(a, b).statistic)
show("residual_variance", 1 - pearsonr(a, b).statistic ** 2)
show("spearman", spearmanr(a, b).statistic)
show("spearman of row 5", spearmanr(np.delete(delta[5], 5), np.delete(d[5], 5)).statistic)
# Ties: distances rounded to tenths.
show("spearman, ties", pearsonr(rankdata(np.round(a, 1)), rankdata(b)).statistic)
each = silhouette_samples(Y, labels)
show("silhouette, of rows 0 to 2", [each.mean(), *each[:3]])
for k in (1, 7):
    near = np.argsort(d, axis=1)[:, 1 : k + 1]
    show(f"neighborhood_hit k={k}", (labels[near] == labels[:, None]).mean())
    right = 0
    for i in range(N):
        others = np.delete(np.arange(N), i)
        right += KNeighborsClassifier(k).fit(Y[others], labels[others]).predict(Y[i : i + 1])[0] == labels[i]
    show(f"knn_accuracy k={k}", right / N)
show("disparity", procrustes(truth, np.c_[Y, np.zeros(N)])[2])
