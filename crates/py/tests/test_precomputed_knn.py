"""Neighbors that were found elsewhere, in the forms that other packages have them."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

import eigenfold
from eigenfold import TSNE, UMAP, ClassicalMDS, ElasticEmbedding, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from eigenfold._classes import CLASSES

ROLL = eigenfold.datasets.make("swiss-roll", n=300).data
NEW = eigenfold.datasets.make("swiss-roll", n=20, random_state=5).data
FOUND = NearestNeighbors(n_neighbors=16).fit(ROLL).kneighbors(ROLL)
# As pynndescent and umap-learn have them: the point itself in the first column.
INDICES, DISTANCES = FOUND[1], FOUND[0]
METHODS = [UMAP(n_neighbors=15), Isomap(n_neighbors=15), LaplacianEigenmaps(n_neighbors=15), LocallyLinearEmbedding(n_neighbors=15), ElasticEmbedding(n_neighbors=15), TSNE(perplexity=5)]


def with_knn(estimator, knn):
    return clone(estimator).set_params(precomputed_knn=knn)


@pytest.mark.parametrize("estimator", METHODS, ids=lambda estimator: type(estimator).__name__)
def test_given_neighbors_give_the_embedding_of_a_search(estimator):
    searched = clone(estimator).fit(ROLL)
    assert (INDICES[:, 0] == np.arange(300)).all()
    forms = {
        "pair": (INDICES, DISTANCES),
        "triple": (INDICES.astype(np.int32), DISTANCES, object()),
        "others": (INDICES[:, 1:], DISTANCES[:, 1:]),
        "unsigned": (INDICES.astype(np.uint32), DISTANCES),
        "sparse": kneighbors_graph(ROLL, 15, mode="distance"),
        "with itself": kneighbors_graph(ROLL, 16, mode="distance", include_self=True).tocoo(),
    }
    for name, knn in forms.items():
        given = with_knn(estimator, knn).fit(ROLL)
        # Distances by scikit-learn's formula differ in their last bits.
        assert np.allclose(given.embedding_, searched.embedding_, rtol=1e-4, atol=1e-4 * np.abs(searched.embedding_).max()), name
        assert given.report_["graph_route"] == "given neighbors", name
    assert np.allclose(given.transform(NEW), searched.transform(NEW), rtol=1e-3, atol=1e-3 * np.abs(searched.embedding_).max())


def test_neighbors_of_our_own_give_the_same_bytes():
    graph = eigenfold.knn_graph(ROLL, 15)
    for estimator in METHODS:
        searched, given = clone(estimator).fit(ROLL), with_knn(estimator, graph).fit(ROLL)
        assert np.array_equal(searched.embedding_, given.embedding_)
        assert np.array_equal(searched.transform(NEW), given.transform(NEW))


def test_the_first_neighbors_are_used_and_single_precision_is_enough():
    few, exact = Isomap(n_neighbors=6).fit(ROLL), (INDICES[:, :7], DISTANCES[:, :7])
    many = Isomap(n_neighbors=6, precomputed_knn=(INDICES, DISTANCES)).fit(ROLL)
    assert np.array_equal(many.embedding_, Isomap(n_neighbors=6, precomputed_knn=exact).fit(ROLL).embedding_)
    single = Isomap(n_neighbors=6, precomputed_knn=(INDICES, DISTANCES.astype(np.float32))).fit(ROLL)
    assert np.allclose(single.embedding_, few.embedding_, atol=1e-3)
    # pynndescent has -1 and infinity where it found none.
    holes = (INDICES.copy(), DISTANCES.copy())
    holes[0][:, 10:], holes[1][:, 10:] = -1, np.inf
    assert np.array_equal(many.embedding_, Isomap(n_neighbors=6, precomputed_knn=holes).fit(ROLL).embedding_)


def test_the_graph_is_that_of_the_given_neighbors(tmp_path):
    other = (INDICES, 2.0 * DISTANCES)
    isomap = Isomap(n_neighbors=15, precomputed_knn=other).fit(ROLL)
    assert np.allclose(isomap.graph_.toarray(), 2.0 * kneighbors_graph(ROLL, 15, mode="distance").toarray())
    assert np.allclose(isomap.embedding_, 2.0 * Isomap(n_neighbors=15).fit(ROLL).embedding_)
    again = pickle.loads(pickle.dumps(isomap))
    assert (again.graph_ != isomap.graph_).nnz == 0
    isomap.save(tmp_path / "roll.model")
    loaded = eigenfold.load(tmp_path / "roll.model")
    assert np.array_equal(loaded.transform(NEW), isomap.transform(NEW))
    with pytest.raises(AttributeError, match="the graph of given neighbors is not kept in a model file; set precomputed_knn"):
        loaded.graph_


def test_none_of_them_is_a_search():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for none in (None, (None, None, None), (None, None)):
            assert np.array_equal(UMAP(precomputed_knn=none).fit_transform(ROLL), UMAP().fit_transform(ROLL))


def changed(at, value, part=0):
    arrays = [INDICES.copy(), DISTANCES.copy()]
    arrays[part][at] = value
    return tuple(arrays)


@pytest.mark.parametrize(
    "knn, says",
    [
        (changed((6, 3), 300), r"^row 7 of precomputed_knn has the neighbor 300, and there are 300 points; number them from 0 to 299$"),
        (changed((6, 3), -2), r"^row 7 of precomputed_knn has the neighbor -2, "),
        (changed((6, 3), -1.0, 1), r"length -1; lengths are finite and not negative$"),
        (changed((6, 3), np.nan, 1), r"length NaN; lengths are finite and not negative$"),
        (changed((6, 3), np.inf, 1), r"length inf; "),
        (changed((6, 3), 6), r"^row 7 has 14 given neighbors, and n_neighbors needs 15; give at least 15 for every row, or use n_neighbors 14 or less$"),
        ((INDICES[:200], DISTANCES[:200]), r"^precomputed_knn has neighbors of 200 points, and there are 300; give one row per point$"),
        ((INDICES[:, :10], DISTANCES[:, :10]), r"^row 1 has 9 given neighbors, and n_neighbors needs 15; "),
        ((INDICES, DISTANCES[:, 1:]), r"^the indices of precomputed_knn have the shape \(300, 16\) and the distances \(300, 15\); "),
        ((INDICES[0], DISTANCES[0]), r"shape \(16,\) .*; give two matrices of one row per point$"),
        ((INDICES + 0.5, DISTANCES), r"^precomputed_knn has indices of type float64 and distances of type float64; give integers and floats$"),
        (INDICES, r"^precomputed_knn is a ndarray; give \(indices, distances\), or a sparse matrix of distances$"),
        ((INDICES,), r"^precomputed_knn is a tuple; "),
        (kneighbors_graph(ROLL[:200], 15, mode="distance"), r"^neighbors are given for 200 points, and there are 300; give the neighbors of every point$"),
        (kneighbors_graph(ROLL, 15, mode="distance")[:200], r"^precomputed_knn is a square matrix and this is 200 x 300; "),
    ],
)
def test_neighbors_that_do_not_fit_are_refused(knn, says):
    for cls in (UMAP, Isomap):
        with pytest.raises(ValueError, match=says):
            cls(n_neighbors=15, precomputed_knn=knn).fit(ROLL)


def test_parameters_that_search_exclude_them():
    knn = (INDICES, DISTANCES)
    for words, says in [
        ({"n_neighbors": "auto"}, "n_neighbors auto searches for up to 50 neighbors, and neighbors are given; give n_neighbors a number"),
        ({"n_neighbors": None, "radius": 3.0}, "radius needs all points within it, and nearest neighbors are given"),
        ({"graph": "all"}, "graph all needs all pairs"),
        ({"graph": "learned"}, "a learned graph searches for its candidates itself"),
    ]:
        with pytest.raises(ValueError, match=says):
            Isomap(precomputed_knn=knn, **words).fit(ROLL)
    with pytest.raises(ValueError, match="perplexity needs 90; give at least 90 for every row, or use a smaller perplexity"):
        TSNE(precomputed_knn=knn).fit(ROLL)
    with pytest.raises(ValueError, match="a graph has its neighbors already"):
        Isomap(metric="precomputed", precomputed_knn=knn).fit(kneighbors_graph(ROLL, 15, mode="distance"))
    with pytest.warns(UserWarning, match="approximate was not used: the neighbors are given"):
        UMAP(approximate=True, precomputed_knn=knn).fit(ROLL)


@pytest.mark.parametrize("name", CLASSES)
def test_methods_with_neighbors_take_them_and_others_have_no_such_parameter(name):
    cls = CLASSES[name]
    near = name in ("TSNE", "SNE", "SymmetricSNE") or "n_neighbors" in cls().get_params()
    assert ("precomputed_knn" in cls().get_params()) == near
    assert not near or "precomputed_knn" in cls.__doc__
    with pytest.raises(TypeError):
        ClassicalMDS(precomputed_knn=None)


def test_a_clone_and_a_copy_have_the_neighbors():
    estimator = UMAP(n_neighbors=15, precomputed_knn=(INDICES, DISTANCES))
    expected = estimator.fit_transform(ROLL)
    for other in (clone(estimator), copy.deepcopy(estimator)):
        assert np.array_equal(other.fit_transform(ROLL), expected)
