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


def masked(X, share=0.1):
    X = X.copy()
    X[np.random.default_rng(4).random(X.shape) < share] = np.nan
    return X


def statistics(X):
    """Counts and means in one pass, and in a second one the covariance with the mean in the place of missing cells."""
    seen = ~np.isnan(X)
    counts = seen.sum(axis=0)
    mean = np.where(seen, X, 0).sum(axis=0) / counts
    centered = np.where(seen, X - mean, 0)
    return len(X), counts.tolist(), mean, centered.T @ centered / len(X), int((~seen).all(axis=1).sum())


class Rows:
    """Rows in several partitions, with a count of the passes over them."""

    def __init__(self, X, partitions):
        self.parts, self.passes = np.array_split(X, partitions), 0

    def __call__(self, model):
        assert isinstance(model, bytes)
        self.passes += 1
        terms = [_eigenfold.latent_terms(model, np.ascontiguousarray(part)) for part in self.parts]
        return np.concatenate(terms).sum(axis=0)


@pytest.mark.parametrize("scale", [None, "unit"])
@pytest.mark.parametrize("estimator, method", [(PPCA, "ppca"), (FactorAnalysis, "fa")])
def test_passes_over_rows_with_missing_cells_are_the_fit_to_the_rows(tmp_path, estimator, method, scale):
    X = masked(rows(offset=10.0))
    whole = estimator(n_components=3, scale_columns=scale, missing="model").fit(X)
    request = json.dumps({"method": method, "dims": 3, "scale_columns": scale})
    found = []
    for partitions in (1, 3, 50):
        evaluate = Rows(X, partitions)
        model = _eigenfold.fit_latent_by_passes(request, statistics(X), evaluate, X[::2].copy(), None, None, None)
        assert json.loads(model.report)["iterations"] == evaluate.passes
        found.append(model.to_bytes())
    assert len(set(found)) == 1
    again = loaded(model, tmp_path / "m.model").set_params(missing="model")
    signs = np.sign((again.transform(X) * whole.embedding_).sum(axis=0))
    assert np.abs(again.transform(X) * signs - whole.embedding_).max() < 1e-5 * np.abs(whole.embedding_).max()
    assert np.isclose(again.log_likelihood_, whole.log_likelihood_, rtol=1e-9)
    assert np.allclose(again.noise_variance_, whole.noise_variance_, rtol=1e-4)
    assert again.report_["fitted_rows"] == len(X)


def test_the_terms_of_a_row_do_not_depend_on_its_batch():
    X = masked(rows(), 0.3)
    models = []
    def evaluate(model):
        models.append(model)
        return _eigenfold.latent_terms(model, X).sum(axis=0)
    request = json.dumps({"method": "fa", "dims": 3})
    _eigenfold.fit_latent_by_passes(request, statistics(X), evaluate, X[:50].copy(), None, None, None)
    together = _eigenfold.latent_terms(models[-1], X)
    assert together.shape == (len(X), 1 + 2 * 7 + 7 * 3)
    alone = np.concatenate([_eigenfold.latent_terms(models[-1], X[i : i + 1]) for i in range(len(X))])
    assert together.tobytes() == alone.tobytes()
    assert np.array_equal(_eigenfold.latent_terms(models[-1], np.full((1, 7), np.nan)), np.zeros((1, 36)))
    assert _eigenfold.latent_terms(models[-1], X[:0]).shape == (0, 36)


def test_errors_of_a_pass_end_the_fit():
    X = masked(rows())
    fit = lambda evaluate, listener=None: _eigenfold.fit_latent_by_passes(
        json.dumps({"method": "fa"}), statistics(X), evaluate, X[:50].copy(), None, None, listener
    )
    with pytest.raises(ZeroDivisionError):
        fit(lambda model: 1 / 0)
    with pytest.raises(ValueError, match="a pass gave 2 sums"):
        fit(lambda model: np.zeros(2))
    with pytest.raises(TypeError):
        fit(lambda model: "nothing")
    with pytest.raises(ValueError, match="3 columns and the model has 7 features"):
        fit(lambda model: _eigenfold.latent_terms(model, X[:, :3].copy()).sum(axis=0))
    with pytest.raises(ValueError, match="not those of a latent model"):
        _eigenfold.latent_terms(b"none", X)
    evaluate, seen = Rows(X, 2), []
    model = fit(evaluate, lambda *news: seen.append(news) or len(seen) > 3)
    assert evaluate.passes < 20 and not json.loads(model.report)["converged"]


def test_a_constant_column_takes_no_passes_of_its_own():
    X = masked(rows())
    constant = np.insert(np.insert(X, 2, 0.0, axis=1), 5, 0.0, axis=1)
    constant[3, 2] = np.nan
    passes = []
    for table in (X, constant):
        evaluate = Rows(table, 1)
        _eigenfold.fit_latent_by_passes(json.dumps({"method": "fa", "dims": 3}), statistics(table), evaluate, table[::2].copy(), None, None, None)
        passes.append(evaluate.passes)
    assert passes[1] < 2 * passes[0], passes
