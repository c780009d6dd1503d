"""scikit-learn's contract: its own checks, and the places where estimators are used."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import eigenfold
from eigenfold._classes import CLASSES

# What of scikit-learn's checks cannot hold, and why.
EXPECTED: dict[str, dict[str, str]] = {}


@pytest.mark.parametrize("name", CLASSES)
def test_check_estimator(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Some of the checks have ten points, and some two features.
        spec = CLASSES[name]._spec
        small = {"n_neighbors": 5} if spec.graph else {"n_components": 1} if spec.latent else {}
        results = check_estimator(CLASSES[name](**small), expected_failed_checks=EXPECTED.get(name), on_fail=None, on_skip=None)
    failed = [f"{result['check_name']}: {result['exception']!r}" for result in results if result["status"] == "failed"]
    assert not failed, "\n".join(failed)
    assert sum(result["status"] == "passed" for result in results) > 30


@pytest.mark.parametrize("name", ["PCA", "Isomap", "UMAP"])
def test_check_estimator_holds_in_single_precision(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = {"n_neighbors": 5} if CLASSES[name]._spec.graph else {}
        results = check_estimator(CLASSES[name](dtype="float32", **small), on_fail=None, on_skip=None)
    assert {result["check_name"]: result["status"] for result in results}["check_transformer_preserve_dtypes"] == "passed"
    assert not [result["check_name"] for result in results if result["status"] == "failed"]


def test_what_is_returned_has_the_type_that_was_asked_for(each, few):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        double, single = each().fit(few), each(dtype="float32").fit(few)
        rows = double.inverse_transform(double.embedding_[:5]), single.inverse_transform(double.embedding_[:5])
    for wide, narrow in [(double.embedding_, single.embedding_), (double.transform(few[:5]), single.transform(few[:5])), rows]:
        np.testing.assert_array_equal(narrow, wide.astype(np.float32), strict=True)


@pytest.mark.parametrize("kind", [np.float16, np.int8])
def test_short_types_have_the_results_of_double_precision(each, few, kind):
    short = few.astype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = each().fit(short), each().fit(short.astype(np.float64))
    np.testing.assert_array_equal(one.embedding_, other.embedding_, strict=True)
    np.testing.assert_array_equal(one.transform(short[:5]), other.transform(short[:5].astype(np.float64)), strict=True)


def test_estimators_are_scikit_learns(each):
    assert isinstance(each(), BaseEstimator) and isinstance(each(), TransformerMixin)


def test_they_are_cloned_pickled_and_sent_to_other_processes(each, roll, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = each(n_components=2).fit(roll)
    again = pickle.loads(pickle.dumps(estimator))
    assert np.array_equal(again.embedding_, estimator.embedding_)
    assert np.array_equal(again.transform(roll[:3]), estimator.transform(roll[:3]))
    assert clone(estimator).get_params() == estimator.get_params() and not hasattr(clone(estimator), "embedding_")


def test_joblib_fits_in_other_processes(roll):
    def shape(k):
        return eigenfold.Isomap(n_neighbors=k).fit_transform(roll).shape

    assert joblib.Parallel(n_jobs=2)(joblib.delayed(shape)(k) for k in (6, 8)) == [(120, 2)] * 2


def test_a_forked_process_has_threads_of_its_own(roll):
    import multiprocessing

    eigenfold.Isomap().fit(roll)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_embed, (roll,)).get(timeout=30).shape == (120, 2)


def _embed(X):
    return eigenfold.Isomap().fit_transform(X)


def test_pipelines_and_grid_search():
    X, y = eigenfold.datasets.load("iris")[:2]
    pipe = make_pipeline(eigenfold.Isomap(n_neighbors=12), LogisticRegression())
    assert pipe.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    search = GridSearchCV(eigenfold.PCA(), {"n_components": [1, 2, 3]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 3}
    search = GridSearchCV(eigenfold.PPCA(), {"n_components": [1, 2]}, cv=3).fit(X)
    assert np.isfinite(search.best_score_)


@pytest.mark.filterwarnings("ignore")
def test_the_calls_of_scikit_learns_gallery_work_as_they_stand():
    from sklearn.datasets import load_digits, make_s_curve, make_swiss_roll

    from eigenfold import MDS, TSNE, Isomap, LocallyLinearEmbedding, SpectralEmbedding

    # plot_compare_methods, plot_swissroll, plot_lle_digits: their parameters, fewer points.
    curve = make_s_curve(200, random_state=0)[0]
    roll = make_swiss_roll(n_samples=300, random_state=0)[0]
    digits = load_digits(n_class=6).data[::4]
    lle = {"n_neighbors": 12, "n_components": 2, "eigen_solver": "auto", "random_state": 0}
    calls = [(curve, LocallyLinearEmbedding(method=method, **lle)) for method in ("standard", "ltsa", "hessian", "modified")]
    calls += [
        (curve, Isomap(n_neighbors=12, n_components=2, p=1)),
        (curve, MDS(n_components=2, max_iter=50, n_init=1, random_state=0, normalized_stress=False)),
        (curve, SpectralEmbedding(n_components=2, n_neighbors=12, random_state=42)),
        (curve, TSNE(n_components=2, perplexity=30, init="random", max_iter=250, random_state=0)),
        (roll, TSNE(n_components=2, perplexity=40, random_state=0)),
        (digits, Isomap(n_neighbors=30, n_components=2)),
        (digits, LocallyLinearEmbedding(n_neighbors=30, n_components=2, method="modified")),
        (digits, MDS(n_components=2, n_init=1, max_iter=120, eps=1e-6)),
        (digits, SpectralEmbedding(n_components=2, random_state=0, eigen_solver="arpack")),
        (digits, TSNE(n_components=2, max_iter=500, n_iter_without_progress=150, n_jobs=2, random_state=0)),
    ]
    for X, estimator in calls:
        assert estimator.fit_transform(X).shape == (len(X), 2), estimator


def test_tables_come_out_where_they_are_requested():
    import pandas
    import polars
    import sklearn

    loaded = eigenfold.datasets.load("iris")
    frame = pandas.DataFrame(loaded.data, columns=loaded.feature_names, index=np.arange(150) + 7)
    isomap = eigenfold.Isomap().set_output(transform="pandas")
    out = isomap.fit_transform(frame)
    assert list(out.columns) == ["isomap0", "isomap1"] and list(out.index) == list(frame.index)
    assert list(isomap.feature_names_in_) == loaded.feature_names
    assert isinstance(clone(isomap).set_output(transform="polars").fit_transform(frame), polars.DataFrame)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(eigenfold.PCA().fit_transform(loaded.data), pandas.DataFrame)


def test_an_estimator_that_is_not_fitted_says_so(each, roll):
    for call in ("transform", "inverse_transform", "score"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(each(), call)(roll)
    with pytest.raises(AttributeError):
        each().embedding_


def test_without_scikit_learn_it_is_light_and_complete(tmp_path):
    import subprocess
    import sys

    code = """
import sys, time
import numpy
began = time.process_time()
import eigenfold
took = time.process_time() - began
assert not any(name.split(".")[0] in ("sklearn", "scipy", "pandas", "matplotlib") for name in sys.modules), sys.modules
X = eigenfold.datasets.load("iris").data
isomap = eigenfold.Isomap(n_neighbors=7)
assert repr(isomap) == "Isomap(n_neighbors=7)", isomap
assert isomap.set_params(n_neighbors=9).get_params()["n_neighbors"] == 9
assert isomap.fit_transform(X).shape == (150, 2) and not any(name.startswith("sklearn") for name in sys.modules)
try:
    eigenfold.PCA().transform(X)
except eigenfold.NotFittedError:
    pass
import sklearn.base
assert isinstance(eigenfold.PCA(), sklearn.base.BaseEstimator) and isinstance(isomap, sklearn.base.BaseEstimator)
print(took)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0  # what it took stands in docs/reference/benchmarks.md: times differ between machines
