"""Fits to sums over rows that are elsewhere, against fits to the rows: PCA, PPCA and factor analysis."""

import json

import numpy as np
import pytest

import eigenfold
from eigenfold import PCA, PPCA, FactorAnalysis, _eigenfold


def rows(n=400, p=7, offset=0.0):
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 3)) * [3, 2, 1] @ random.normal(size=(3, p)) + 0.5 * random.normal(size=(n, p))
    return X * np.arange(1, p + 1) + offset


def moments(X):
    centered = X - X.mean(axis=0)
    return len(X), X.mean(axis=0), centered.T @ centered / len(X)


def loaded(model, path):
    model.save(path)
    return eigenfold.load(path)


@pytest.mark.parametrize("scale", [None, "unit"])
@pytest.mark.parametrize("part", [1, 4])
@pytest.mark.parametrize("estimator, method, tolerance", [(PCA, "pca", 1e-12), (PPCA, "ppca", 1e-10), (FactorAnalysis, "fa", 1e-5)])
def test_a_fit_to_moments_is_the_fit_to_the_rows(tmp_path, estimator, method, tolerance, part, scale):
    X = rows(offset=10.0)
    whole = estimator(n_components=3, scale_columns=scale).fit(X)
    request = json.dumps({"method": method, "dims": 3, "scale_columns": scale})
    seen = X if scale is None else (X - X.mean(axis=0)) / X.std(axis=0)
    model = _eigenfold.fit_moments(request, moments(X), X[::part].copy(), None, None, None)
    again = loaded(model, tmp_path / "m.model")
    signs = np.sign((again.transform(X) * whole.embedding_).sum(axis=0))
    size = np.abs(whole.embedding_).max()
    assert np.abs(again.transform(X) * signs - whole.embedding_).max() < tolerance * size
    assert np.array_equal(again.transform(X[::part]), again.embedding_)
    if part == 1:
        assert (signs > 0).all()
    for name in ("components_", "mean_", "noise_variance_"):
        if hasattr(whole, name):
            factor = signs[:, None] if name == "components_" else 1
            theirs = getattr(whole, name)
            assert np.abs(getattr(again, name) * factor - theirs).max() < 10 * tolerance * max(1, np.abs(theirs).max())
    if method == "pca":
        for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "eigenvalues_"):
            assert np.allclose(getattr(again, name), getattr(whole, name), rtol=1e-12), name
        variances = np.linalg.eigvalsh(np.cov(seen.T))[::-1][:3]
        assert np.allclose(again.explained_variance_, variances, rtol=1e-12)
    else:
        assert np.isclose(again.log_likelihood_, whole.log_likelihood_, rtol=1e-10)
    assert again.report_["n"] == len(X[::part]) and again.report_["fitted_rows"] == len(X)
    back = again.inverse_transform(again.embedding_)
    assert np.abs(back - whole.inverse_transform(whole.embedding_)[::part]).max() < 10 * tolerance * np.abs(X).max()


def test_logarithms_are_those_of_the_request():
    X = np.exp(rows() / 10)
    request = json.dumps({"method": "pca", "log": "log1p", "indicators": [2], "scale_columns": "unit"})
    logs = _eigenfold.logarithms(request, X)
    expected = np.log1p(X)
    expected[:, 2] = X[:, 2]
    assert np.allclose(logs, expected, rtol=1e-15)
    X[3, 4] = np.nan
    assert np.isnan(_eigenfold.logarithms(request, X)[3, 4])
    with pytest.raises(ValueError, match="log1p is defined for numbers above -1"):
        _eigenfold.logarithms(request, -X)


def test_what_moments_cannot_give_is_refused():
    X = rows()
    fit = lambda request, given=moments(X), sample=X: _eigenfold.fit_moments(json.dumps(request), given, sample, None, None, None)
    for request, message in [
        ({"method": "umap"}, "use pca, ppca or fa"),
        ({"method": "pca", "scale_columns": "robust"}, "needs the medians"),
        ({"method": "pca", "dims": "auto"}, "n_components auto"),
    ]:
        with pytest.raises(ValueError, match=message):
            fit(request)
    with pytest.raises(ValueError, match="columns"):
        fit({"method": "pca"}, sample=X[:, :3].copy())
