"""How good a map is: the same numbers as scikit-learn's, the same shape for every input."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import pearsonr, spearmanr
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_samples

import eigenfold


@pytest.fixture(scope="module")
def given():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(150, 5))
    return X, X[:, :2] + 0.3 * X[:, 2:4], (X[:, 0] > 0.3).astype(int) + 2 * (X[:, 1] > 0)


@pytest.fixture(scope="module")
def judged(given) -> eigenfold.Quality:
    return eigenfold.quality(*given[:2])


def test_the_measures_are_scikit_learns_and_scipys(given):
    X, Y, labels = given
    found = eigenfold.quality(X, Y, labels, n_neighbors=8)
    assert found["trustworthiness"] == pytest.approx(trustworthiness(X, Y, n_neighbors=8), abs=1e-12)
    assert found["continuity"] == pytest.approx(trustworthiness(Y, X, n_neighbors=8), abs=1e-12)
    assert found["pearson"] == pytest.approx(pearsonr(pdist(X), pdist(Y)).statistic, abs=1e-12)
    assert found["spearman"] == pytest.approx(spearmanr(pdist(X), pdist(Y)).statistic, abs=1e-12)
    each = silhouette_samples(Y, labels)
    assert np.allclose(found.pointwise["silhouette"], each, atol=1e-12) and found["silhouette"] == pytest.approx(each.mean())
    assert list(found) == [key for key in eigenfold.Quality.measures if key != "disparity"]
    assert found.n_neighbors == 8 and all(error is None for error in found.errors.values())
    k, rnx = found.curve
    assert k[0] == 1 and k[-1] == 148 and np.all(rnx <= 1) and found.shepard.shape == (2000, 2)


def test_a_draw_of_rows_has_errors_and_says_which_rows(given, judged):
    X, Y, _ = given
    all_rows, some = judged, eigenfold.quality(X, Y, rows=50, random_state=3)
    assert len(some.rows) == 50 and np.isnan(some.pointwise["continuity"]).sum() == 100
    assert np.array_equal(some.pointwise["continuity"][some.rows], all_rows.pointwise["continuity"][some.rows])
    off = abs(some["trustworthiness"] - all_rows["trustworthiness"])
    assert 0 < off < 5 * some.errors["trustworthiness"]
    assert "50 rows sampled" in repr(some) and "±" in repr(some) and "±" not in repr(all_rows)


def test_distances_truth_and_missing_labels(given, judged):
    X, Y, labels = given
    points, distances = judged, eigenfold.quality(cdist(X, X), Y, metric="precomputed")
    assert "reconstruction_error" not in distances and distances["continuity"] == pytest.approx(points["continuity"])
    unknown = np.where(np.arange(150) < 50, -1, labels)
    found = eigenfold.quality(X, Y, unknown, truth=3 * Y[:, ::-1] + 1)
    assert found["disparity"] == pytest.approx(0, abs=1e-12)
    assert np.isnan(found.pointwise["neighborhood_hit"]).sum() == 50
    with pytest.raises(ValueError, match="n_neighbors 149 or less"):
        eigenfold.quality(X, Y, n_neighbors=150)
    with pytest.raises(ValueError, match="one row per point"):
        eigenfold.quality(X, Y[1:])
