"""What scikit-learn's users type and look at, on our classes: with the results that they know."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.manifold
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

import eigenfold
from eigenfold import MDS, Isomap, SpectralEmbedding


def same_up_to_signs(a, b, factor=1.0):
    assert np.allclose(np.abs(a), np.abs(b * factor), atol=1e-5 * np.abs(a).max())


@pytest.mark.parametrize("parameters", [{"n_neighbors": 2}, {"n_neighbors": None, "radius": 0.5}])
def test_new_points_near_old_ones_land_near_them(parameters):
    # scikit-learn's own test; a radius had 0.055 where new points had neighbors beyond it.
    X = sklearn.datasets.make_s_curve(200, random_state=0)[0]
    isomap = Isomap(n_components=10, **parameters)
    places = isomap.fit_transform(X)
    moved = isomap.transform(X + 0.01 * np.random.RandomState(0).randn(*X.shape))
    assert np.sqrt(np.mean((places - moved) ** 2)) < 0.02


@pytest.mark.parametrize("parameters", [{"n_neighbors": 6}, {"n_neighbors": None, "radius": 9.0}])
def test_isomaps_distances_and_error_are_scikit_learns(roll, parameters):
    ours, theirs = Isomap(**parameters).fit(roll), sklearn.manifold.Isomap(**parameters).fit(roll)
    assert np.allclose(ours.dist_matrix_, theirs.dist_matrix_)
    assert np.isclose(ours.reconstruction_error(), theirs.reconstruction_error())
    same_up_to_signs(ours.embedding_, theirs.embedding_)
    with pytest.raises(AttributeError):
        Isomap().dist_matrix_


@pytest.mark.parametrize("parameters", [
    {"affinity": "nearest_neighbors", "n_neighbors": 9},
    {"affinity": "nearest_neighbors", "n_neighbors": np.int64(9)},
    {"affinity": "nearest_neighbors", "n_neighbors": None},
    {"affinity": "rbf", "gamma": 0.05},
    {"affinity": "rbf"},
    {"affinity": lambda X: rbf_kernel(X, gamma=0.05)},
])
def test_spectral_embedding_has_scikit_learns_weights_and_map(parameters):
    X = np.random.default_rng(0).normal(size=(80, 3))
    ours, theirs = SpectralEmbedding(**parameters).fit(X), sklearn.manifold.SpectralEmbedding(random_state=0, **parameters).fit(X)
    dense = [matrix.toarray() if hasattr(matrix, "toarray") else matrix for matrix in (ours.affinity_matrix_, theirs.affinity_matrix_)]
    assert np.allclose(*dense)
    factor = np.linalg.norm(ours.embedding_, axis=0) / np.linalg.norm(theirs.embedding_, axis=0)
    same_up_to_signs(ours.embedding_, theirs.embedding_, factor)


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_locally_linear_embedding_is_a_function_too(roll, method):
    parameters = {"n_neighbors": 12, "n_components": 2, "method": method, "eigen_solver": "dense"}
    map_, error = eigenfold.locally_linear_embedding(roll, **parameters)
    by_class = eigenfold.LocallyLinearEmbedding(n_neighbors=12, method=method).fit(roll)
    assert np.array_equal(map_, by_class.embedding_) and error == by_class.reconstruction_error_
    if method in ("standard", "modified"):  # the others have other patches there (docs/reference/coming-from.md)
        theirs, _ = sklearn.manifold.locally_linear_embedding(roll, **parameters)
        same_up_to_signs(map_, theirs, np.linalg.norm(map_, axis=0) / np.linalg.norm(theirs, axis=0))


def test_weights_of_a_sparse_matrix_of_distances(roll):
    graph = sklearn.neighbors.NearestNeighbors(n_neighbors=12).fit(roll).kneighbors_graph(roll, mode="distance")
    parameters = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 8}
    ours, theirs = SpectralEmbedding(**parameters).fit(graph), sklearn.manifold.SpectralEmbedding(random_state=0, **parameters).fit(graph)
    assert np.allclose(ours.affinity_matrix_.toarray(), theirs.affinity_matrix_.toarray())
    factor = np.linalg.norm(ours.embedding_, axis=0) / np.linalg.norm(theirs.embedding_, axis=0)
    same_up_to_signs(ours.embedding_, theirs.embedding_, factor)


@pytest.mark.parametrize("name", ["TSNE", "SNE", "SymmetricSNE"])
@pytest.mark.parametrize("perplexity", ["auto", 20.0])
def test_distances_make_the_same_map_in_a_sparse_matrix(roll, name, perplexity):
    estimator = eigenfold._classes.CLASSES[name](metric="precomputed", init="random", perplexity=perplexity)
    distances = cdist(roll, roll)
    sparse = sklearn.neighbors.kneighbors_graph(roll, 120, mode="distance", include_self=True)
    sparse.data = distances[np.repeat(np.arange(120), 120), sparse.indices]
    assert np.array_equal(estimator.fit_transform(distances), estimator.fit_transform(sparse))


def test_mds_knows_its_older_words(roll):
    distances = cdist(roll, roll)
    new = MDS(metric="precomputed").fit(distances)
    assert np.array_equal(MDS(dissimilarity="precomputed").fit_transform(distances), new.embedding_)
    by_order = MDS(metric=False).fit(roll)
    assert by_order.stress_ == MDS(metric_mds=False).fit(roll).stress_ == by_order.normalized_stress_
    start = np.random.default_rng(0).normal(size=(120, 2))
    assert np.array_equal(MDS().fit_transform(roll, init=start), MDS(init=start).fit_transform(roll))


def test_a_generator_gives_one_seed_per_fit(roll):
    generator = np.random.RandomState(3)
    tsne = eigenfold.TSNE(random_state=generator, init="random", max_iter=20).fit(roll)
    drawn = np.random.RandomState(3).randint(2**31 - 1)
    assert np.array_equal(tsne.embedding_, eigenfold.TSNE(random_state=drawn, init="random", max_iter=20).fit_transform(roll))
    before = generator.get_state()[2]
    tsne.transform(roll[:2])
    assert generator.get_state()[2] == before


def test_exceptions_and_warnings_are_caught_by_both_names(roll):
    for name in (NotFittedError, eigenfold.NotFittedError):
        with pytest.raises(name) as raised:
            Isomap().transform(roll)
        assert isinstance(pickle.loads(pickle.dumps(raised.value)), name)
    for name in (ConvergenceWarning, eigenfold.ConvergenceWarning):
        with pytest.warns(name):
            MDS(max_iter=2).fit(roll)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=eigenfold.ConvergenceWarning)
        MDS(max_iter=2).fit(roll)


class Mine(Isomap):
    def __init__(self, n_neighbors=6, more=1):
        super().__init__(n_neighbors=n_neighbors)
        self.more = more

    def fit(self, X, y=None):
        super().fit(X, y)
        self.spread_ = self.embedding_.std()
        return self


def test_a_class_of_ones_own_can_inherit(roll):
    mine = Mine(n_neighbors=7).fit(roll)
    assert mine.get_params() == {"n_neighbors": 7, "more": 1} and repr(mine) == "Mine(n_neighbors=7)"
    assert clone(mine).get_params() == mine.get_params() and not hasattr(clone(mine), "spread_")
    assert pickle.loads(pickle.dumps(mine)).spread_ == mine.spread_
    assert np.array_equal(mine.embedding_, Isomap(n_neighbors=7).fit_transform(roll))


def test_a_notebook_shows_an_estimator(each):
    shown = each()._repr_html_()
    assert each.__name__ in shown and "n_components" in shown
    assert "text/html" in each()._repr_mimebundle_()


def test_scores_choose_parameters_in_other_processes(roll):
    assert (cross_val_score(Isomap(n_neighbors=8), roll, cv=3) > 0.5).all()
    search = GridSearchCV(Isomap(), {"n_neighbors": np.arange(6, 11, 2)}, cv=3, n_jobs=2).fit(roll)
    assert search.best_params_["n_neighbors"] in (6, 8, 10) and search.best_estimator_.embedding_.shape == (120, 2)


def test_all_numbers_of_jobs_give_the_same_map(roll):
    expected = Isomap().fit_transform(roll)
    for n_jobs in (1, 2, -1, -2, np.int64(2)):
        assert np.array_equal(Isomap(n_jobs=n_jobs).fit_transform(roll), expected)
