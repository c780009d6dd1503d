"""Whatever holds numbers can be given, and what cannot be used is refused in Python's words."""

import datetime
import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

import eigenfold
from eigenfold import PCA, Isomap


@pytest.fixture(scope="module")
def expected():
    X = eigenfold.datasets.make("swiss-roll", n=120).data
    return X, Isomap().fit_transform(X)


def test_memory_order_and_containers_make_no_difference(expected, tmp_path):
    X, map_ = expected
    wide = np.asfortranarray(np.hstack([X, X]))
    read_only = X.copy()
    read_only.setflags(write=False)
    np.save(tmp_path / "x.npy", X)
    columns = {name: X[:, at] for at, name in enumerate("abc")}
    inputs = {
        "fortran": np.asfortranarray(X),
        "fortran slice": wide[:, :3],
        "strided": np.repeat(X, 2, axis=0)[::2],
        "read only": read_only,
        "memory-mapped": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "object": X.astype(object),
        "big endian": X.astype(">f8"),
        "lists": X.tolist(),
        "pandas": pandas.DataFrame(columns),
        "nullable pandas": pandas.DataFrame(columns).convert_dtypes(),
        "polars": polars.DataFrame(columns),
        "pyarrow": pyarrow.table(columns),
    }
    for name, given in inputs.items():
        assert np.array_equal(Isomap().fit_transform(given), map_), name


def vectors(X):
    """The rows of X in one column of every kind of table, beside others."""
    about = {"id": np.arange(len(X)), "text": ["x"] * len(X)}
    lists = X.tolist()
    return {
        "pandas": pandas.DataFrame({**about, "v": list(X)}),
        "lists in pandas": pandas.DataFrame({**about, "v": lists}),
        "arrow in pandas": pandas.DataFrame({**about, "v": pandas.Series(lists, dtype=pandas.ArrowDtype(pyarrow.list_(pyarrow.float64())))}),
        "polars": polars.DataFrame({**about, "v": lists}),
        "arrays in polars": polars.DataFrame({**about, "v": X}),
        "pyarrow": pyarrow.table({**about, "v": lists}),
        "large lists": pyarrow.table({**about, "v": pyarrow.array(lists, pyarrow.large_list(pyarrow.float64()))}),
        "fixed lists": pyarrow.table({**about, "v": pyarrow.array(lists, pyarrow.list_(pyarrow.float64(), X.shape[1]))}),
    }


def test_a_column_of_vectors_is_a_block_of_features(expected):
    X, map_ = expected
    fitted = Isomap().fit(X)
    for name, table in vectors(X).items():
        with pytest.warns(UserWarning, match="the vectors of column 'v' were taken for the points and columns 'id', 'text' left aside; give vector='v'"):
            found = Isomap().fit(table)
        assert np.array_equal(found.embedding_, map_), name
        assert list(found.feature_names_in_) == ["v[0]", "v[1]", "v[2]"] and found.n_features_in_ == 3, name
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no warning where the column is named, or known from the fit
            assert np.array_equal(Isomap(vector="v").fit_transform(table), map_), name
            assert np.allclose(found.transform(table), fitted.transform(X)), name
            if not hasattr(table, "column_names"):  # a column of pyarrow has no name
                assert np.allclose(found.transform(table["v"]), fitted.transform(X)), name
    several = pandas.DataFrame({"w": list(-X), "v": list(X)})
    assert np.allclose(found.transform(several), fitted.transform(X))
    assert np.array_equal(eigenfold.knn_graph(pandas.Series(list(X)), 5).toarray(), eigenfold.knn_graph(X, 5).toarray())
    spectral = eigenfold.SpectralEmbedding(affinity="rbf")
    assert np.array_equal(spectral.fit_transform(pandas.DataFrame({"v": list(X)})), spectral.fit_transform(X))


def test_a_column_given_alone_needs_no_name(expected):
    X, map_ = expected
    fitted = Isomap().fit(pyarrow.table({"v": X.tolist()}))
    assert list(fitted.feature_names_in_) == ["v[0]", "v[1]", "v[2]"]
    named = pandas.Series(list(X), name="w")
    alone = [named, pandas.Series(list(X)), named.to_numpy(), polars.Series("", X), pyarrow.array(X.tolist()), pyarrow.table({"v": X.tolist()})["v"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column in alone:
            assert np.array_equal(Isomap().fit_transform(column), map_)
            assert np.array_equal(fitted.transform(column), fitted.transform(pandas.DataFrame({"v": list(X)})))
            assert np.array_equal(Isomap().fit(X).transform(column), fitted.transform(column))
    assert list(Isomap().fit(named).feature_names_in_) == ["w[0]", "w[1]", "w[2]"] and not hasattr(Isomap().fit(alone[1]), "feature_names_in_")


# The type that holds every number of a type, if not double precision.
TYPES = {"float16": "float32", "float32": "float32", "float64": "float64", "int8": "float32", "uint8": "float32", "int32": "float64", "int64": "float64"}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("holes", [False, True], ids=["whole", "holes"])
def test_the_type_of_vectors_is_kept_if_single_precision_holds_it(kind, holes):
    X = (np.arange(48) * 7 % 16).reshape(12, 4).astype(kind)
    rows: list = list(X)
    there = X.astype(np.float64)
    if holes:
        rows[0] = rows[5] = None
        there[[0, 5]] = np.nan
    entries, two = getattr(pyarrow, kind)(), [rows[:3], rows[3:]]
    lists, fixed = pyarrow.list_(entries), pyarrow.list_(entries, 4)
    columns = {
        "pandas": pandas.Series(rows),
        "cells of numpy": pandas.Series(rows).to_numpy(),
        "list": rows,
        "pyarrow": pyarrow.array(rows, lists),
        "large": pyarrow.array(rows, pyarrow.large_list(entries)),
        "fixed": pyarrow.array(rows, fixed),
        "chunks": pyarrow.chunked_array([pyarrow.array(part, fixed) for part in two]),
        "slice": pyarrow.array([rows[1], *rows, rows[2]], lists).slice(1, 12),
        "arrow in pandas": pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array([pyarrow.array(rows, lists)]))),
        "polars": polars.Series([None if row is None else row.tolist() for row in rows], dtype=polars.List(getattr(polars, kind.title().replace("Ui", "UI")))),
    }
    for name, column in columns.items():
        found = eigenfold._input.matrix(column)
        np.testing.assert_array_equal(found, there, err_msg=name)
        assert found.dtype == TYPES[kind], name
    if not holes:
        assert eigenfold._input.matrix(X).dtype == TYPES[kind]


def test_a_hole_in_a_vector_is_nan_in_the_type_of_the_others():
    cells = [[1.0, None], [2.0, 3.0], None]
    for column in (pyarrow.array(cells, pyarrow.list_(pyarrow.float32())), polars.Series(cells, dtype=polars.List(polars.Float32))):
        found = eigenfold._input.matrix(column)
        np.testing.assert_array_equal(found, np.array([[1, np.nan], [2, 3], [np.nan, np.nan]], dtype=np.float32), strict=True)


def test_functions_take_columns_of_vectors_too(expected):
    X, map_ = expected
    frame = pandas.DataFrame({"id": range(len(X)), "v": list(X)})
    maps = pyarrow.array(map_.tolist())
    assert eigenfold.quality(frame["v"], maps) == eigenfold.quality(X, map_)
    assert eigenfold.dimension(polars.from_pandas(frame[["v"]]), quick=True) == eigenfold.dimension(X, quick=True)
    with pytest.warns(UserWarning, match=r"column 'id' left aside; give X\['v'\] alone if that is right"):
        found = eigenfold.compare(frame, "pca")
    assert '"name":"v[2]"' in found.html().replace(" ", "")
    assert '"name":"b"' in eigenfold.compare(pyarrow.table({"a": X[:, 0], "b": X[:, 1]}), "pca").html().replace(" ", "")
    fitted = PCA().fit(X)
    assert np.array_equal(fitted.inverse_transform(pandas.Series(list(fitted.embedding_))), fitted.inverse_transform(fitted.embedding_))


def test_vectors_that_are_not_there_are_missing(expected):
    X = expected[0].copy()
    cells = [*X[:7].tolist(), None, [1.0, None, 2.0], *X[9:].tolist()]
    X[7], X[8] = np.nan, [1.0, np.nan, 2.0]
    there = Isomap(missing="mean").fit_transform(X)
    for table in (pandas.DataFrame({"v": cells}), polars.DataFrame({"v": cells}), pyarrow.table({"v": cells})):
        assert np.array_equal(Isomap(missing="mean").fit_transform(table), there)


def test_distances_and_graphs_are_inputs(expected):
    X, map_ = expected
    distances = cdist(X, X)
    assert np.allclose(Isomap(metric="precomputed").fit_transform(distances), map_, atol=1e-6)
    graph = eigenfold.knn_graph(X, 10, disconnected="join")
    assert scipy.sparse.issparse(graph) and graph.shape == (120, 120)
    assert np.allclose(Isomap(metric="precomputed").fit_transform(graph), map_, atol=1e-6)
    mds = eigenfold.ClassicalMDS(metric="precomputed").fit(distances)
    assert np.allclose(mds.transform(distances[:3]), mds.embedding_[:3])
    kernel = eigenfold.KernelPCA(kernel="precomputed").fit_transform(X @ X.T)
    assert np.allclose(np.abs(kernel), np.abs(eigenfold.KernelPCA(kernel="linear").fit_transform(X)), atol=1e-6)
    assert np.array_equal(Isomap().fit_transform(scipy.sparse.csr_array(X)), map_)
    with pytest.raises(ValueError, match="200000 x 2000 would be written out"):
        Isomap().fit(scipy.sparse.csr_array((200_000, 2000)))


def test_any_metric_of_scipy_or_a_function_will_do(expected):
    X = expected[0]
    named = Isomap(metric="sqeuclidean").fit(X)
    given = Isomap(metric="precomputed").fit(cdist(X, X, "sqeuclidean"))
    assert np.array_equal(named.embedding_, given.embedding_) and named.n_features_in_ == 3
    assert np.allclose(named.transform(X[:4]), named.embedding_[:4])
    by_function = Isomap(metric=lambda a, b: np.abs(a - b).max()).fit_transform(X)
    assert np.allclose(by_function, Isomap(metric="chebyshev").fit_transform(X))
    assert np.allclose(Isomap(metric="minkowski", p=1.5).fit_transform(X), Isomap(metric="minkowski", metric_params={"p": 1.5}).fit_transform(X))


def test_a_metric_of_ones_own_gets_double_precision():
    pixels = np.random.default_rng(0).integers(0, 256, (20, 5)).astype(np.uint8)
    types = set()
    Isomap(metric=lambda a, b: types.update((a.dtype, b.dtype)) or np.abs(a - b).sum()).fit(pixels)
    assert types == {np.dtype(np.float64)}


@pytest.mark.parametrize("diagonal, way", [(0.0, "if they are distances, use metric='precomputed'"), (1.0, r"similarities, use KernelPCA\(kernel='precomputed'\)")])
def test_a_table_of_all_pairs_among_points_gets_a_hint_in_pythons_words(diagonal, way):
    table = np.random.default_rng(0).random((20, 20))
    table = (table + table.T) / 2
    np.fill_diagonal(table, diagonal)
    with pytest.warns(UserWarning, match=way):
        eigenfold.PCA().fit(table)


def test_a_covariance_of_ones_own_makes_mahalanobis_distances(expected):
    X = expected[0]
    by_data = Isomap(metric="mahalanobis").fit(X)
    for given in ({"V": np.cov(X.T)}, {"VI": np.linalg.inv(np.cov(X.T))}):
        assert np.allclose(Isomap(metric="mahalanobis", metric_params=given).fit_transform(X), by_data.embedding_)
    # Without units: other columns that say the same have the same distances.
    mixed = X @ [[10.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.1]]
    assert np.allclose(by_data.graph_.toarray(), Isomap(metric="mahalanobis").fit(mixed).graph_.toarray())
    assert np.allclose(by_data.inverse_transform(by_data.embedding_).mean(axis=0), X.mean(axis=0), atol=1.0)


def test_missing_cells_are_an_error_or_a_guess(expected):
    X = expected[0].copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 4, column 2 is not a number \(NaN\)"):
        Isomap().fit(X)
    for estimator in (eigenfold.PPCA(missing="model"), eigenfold.FactorAnalysis(1, missing="model"), Isomap(missing="mean")):
        assert np.isfinite(estimator.fit_transform(X)).all()
    frame = pandas.DataFrame(X).astype("Float64")
    assert np.isfinite(eigenfold.PPCA(missing="model").fit_transform(frame)).all()


def test_what_is_masked_is_missing(expected):
    X = np.ma.masked_greater(expected[0], 12.0)
    with pytest.raises(ValueError, match="is not a number"):
        Isomap().fit(X)
    there = eigenfold.PPCA(missing="model").fit_transform(X.filled(np.nan))
    assert np.array_equal(eigenfold.PPCA(missing="model").fit_transform(X), there)


def test_a_matrix_per_pair_of_features_is_made_only_when_it_is_requested():
    wide = np.random.default_rng(0).normal(size=(20, 60_000))  # its covariance would have 29 GB
    ppca = eigenfold.PPCA().fit(wide)
    assert ppca.components_.shape == (2, 60_000)
    narrow = eigenfold.PPCA().fit(wide[:, :5])
    assert np.allclose(narrow.covariance_, narrow.components_.T @ narrow.components_ + np.diag(narrow.noise_variance_))


FRAME = pandas.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 7})
REFUSED = [
    (lambda X: Isomap().fit(FRAME.assign(kind=pandas.Categorical(["x", "y"] * 10))), ValueError, "column 'kind': could not convert string to float: 'x'; leave it out, or encode it"),
    (lambda X: Isomap().fit(polars.from_pandas(FRAME).with_columns(s=polars.lit("x"))), ValueError, "column 's': could not convert"),
    (lambda X: Isomap().fit(pyarrow.table({"a": X[:, 0], "s": ["x"] * len(X)})), ValueError, "column 's': could not convert"),
    (lambda X: Isomap().fit(FRAME.assign(t=pandas.date_range("2026-01-01", periods=20))), ValueError, "column 't' holds dates or times, which are not numbers; leave it out"),
    (lambda X: Isomap().fit(polars.DataFrame({"a": X[:, 0], "t": [datetime.date(2026, 1, 1)] * len(X)})), ValueError, "column 't' holds dates or times"),
    (lambda X: Isomap().fit(pyarrow.table({"a": X[:, 0], "t": [datetime.datetime(2026, 1, 1)] * len(X)})), ValueError, "column 't' holds dates or times"),
    (lambda X: Isomap().fit(pandas.DataFrame({"v": list(X), "w": list(X)})), ValueError, r"columns 'v', 'w' hold vectors, and the points can be in one of them; give X\['v'\] alone, or vector='v'"),
    (lambda X: Isomap(vector="u").fit(pandas.DataFrame({"v": list(X), "w": list(X)})), ValueError, "vector is 'u', and X has no column of vectors of this name; give one of 'v', 'w'"),
    (lambda X: Isomap().fit(pandas.DataFrame({"v": [*X[:5], X[5, :2], *X[6:]]})), ValueError, "row 6, column 'v' has 2 numbers and row 1 has 3; give every row a vector of one length"),
    (lambda X: eigenfold.knn_graph(pandas.DataFrame({"v": list(X), "w": list(X)}), 5), ValueError, r"columns 'v', 'w' hold vectors, and the points can be in one of them; give X\['v'\] alone$"),
    (lambda X: Isomap().fit([*X[:5], X[5, :2], *X[6:]]), ValueError, "row 6 has 2 numbers and row 1 has 3; give every row a vector of one length"),
    (lambda X: Isomap().fit(pandas.Series([*X[:5], X[5, :2], *X[6:]]).to_numpy()), ValueError, "row 6 has 2 numbers and row 1 has 3"),
    (lambda X: Isomap().fit(pyarrow.array([None, *X[1:5].tolist(), [1.0], *X[6:].tolist()])), ValueError, "row 6 has 1 number and row 2 has 3"),
    (lambda X: Isomap().fit(X).transform(polars.Series("v", [*X[:5].tolist(), [1.0]])), ValueError, "row 6, column 'v' has 1 number and row 1 has 3"),
    (lambda X: Isomap().fit(X).transform(pandas.Series([*X[:5].tolist(), None])), ValueError, r"row 6, column 1 is not a number \(NaN\), the first of 3 in 1 row; use missing="),
    (lambda X: Isomap().fit(pandas.Series([*X[:5].tolist(), ["a", 1.0, 2.0]], name="v")), ValueError, "row 6, column 'v': could not convert string to float: 'a'; give every row a vector of numbers"),
    (lambda X: Isomap().fit(pyarrow.array([None, []], pyarrow.list_(pyarrow.float32()))), ValueError, "no row has a vector with a number"),
    (lambda X: Isomap().fit(pyarrow.array([], pyarrow.list_(pyarrow.float32()))), ValueError, "0 sample"),
    (lambda X: Isomap().fit(polars.DataFrame({"v": [[], *X[1:].tolist()]})), ValueError, "row 2, column 'v' has 3 numbers and row 1 has 0"),
    (lambda X: Isomap().fit(pyarrow.table({"v": [[row] for row in X.tolist()]})), ValueError, "column 'v' holds lists, and not a vector of numbers in every row"),
    (lambda X: Isomap().fit(pyarrow.table({"v": [None, *X[1:].tolist()]})), ValueError, r"row 1, column.* is not a number \(NaN\)"),
    (lambda X: Isomap().fit(pandas.DataFrame({"v": [["a"], *X[1:]]})), ValueError, "column 'v' holds lists"),
    (lambda X: Isomap().fit(FRAME.assign(c=[1.0, np.nan] * 10)), ValueError, r"row 2, column \"c\" is not a number \(NaN\), the first of 10 in 10 rows; use missing='model' or 'mean'"),
    (lambda X: Isomap().fit(FRAME).transform(FRAME.assign(b=[*range(19), np.nan])), ValueError, r"row 20, column \"b\" is not a number \(NaN\); use missing="),
    (lambda X: Isomap().fit(np.vstack([X, [np.nan, 1.0, 2.0]])), ValueError, r"row 121, column 1 is not a number \(NaN\); use missing='model'"),
    (lambda X: eigenfold.UMAP(15), TypeError, r"UMAP.__init__\(\) takes 1 positional argument but 2 were given; name them, as in UMAP\(n_components=2\)"),
    (lambda X: eigenfold.PCA(2, n_components=2), TypeError, "multiple values for argument 'n_components'"),
    (lambda X: eigenfold.UMAP(n_epochs=0).fit(X), ValueError, "n_epochs is 0; give an integer >= 1"),
    (lambda X: eigenfold.UMAP(repulsion_strength="much").fit(X), ValueError, "repulsion_strength is 'much'"),
    (lambda X: eigenfold.UMAP().fit(X, [0, 1]), ValueError, "y has 2 entries for 120 points"),
    (lambda X: eigenfold.UMAP(target_weight=1.5).fit(X, np.arange(120) % 2), ValueError, "target_weight is 1.5"),
    (lambda X: Isomap().fit(np.zeros((20, 2), dtype="M8[s]")), ValueError, "holds times, which are not numeric"),
    (lambda X: Isomap().fit(polars.from_pandas(FRAME).lazy()), TypeError, "give X.collect()"),
    (lambda X: Isomap(n_jobs="2").fit(X), ValueError, "n_jobs is '2'"),
    (lambda X: Isomap(random_state=2**64).fit(X), ValueError, "random_state is 18446744073709551616; give an integer below"),
    (lambda X: Isomap(2, 8), TypeError, r"Isomap.__init__\(\) takes 1 positional argument but 3 were given"),
    (lambda X: eigenfold.ClassicalMDS(metric="precomputed").fit(cdist(X, X)).score(cdist(X, X)), ValueError, "a map of distances cannot; fit it to points"),
    (lambda X: eigenfold.PCA().fit(X).transform(X, return_std=True, held_out=False), ValueError, "use held_out=True"),
    (lambda X: Isomap(n_jobs=10**6).fit(X), ValueError, "n_jobs is 1000000 and more than 1024 threads are never started"),
    (lambda X: eigenfold.PCA(log="log").fit(FRAME), ValueError, 'row 1, column "a" is 0, and log is defined for positive numbers only; use log log1p'),
    (lambda X: eigenfold.PCA(log="log2").fit(X), ValueError, 'log is "log2"; give log1p or log'),
    (lambda X: eigenfold.PCA(standardize=True, scale_columns="robust").fit(X), ValueError, "leave one of them out"),
    (lambda X: eigenfold.ClassicalMDS(metric="precomputed", standardize=True).fit(cdist(X, X)), ValueError, "only points have columns to prepare"),
    (lambda X: eigenfold.SpectralEmbedding(affinity="nearest_neighbors", n_neighbors=1).fit(X), ValueError, "n_neighbors is 1"),
    (lambda X: eigenfold.plot(X[:, :2], X[:5, 0], file="x.png"), ValueError, "5 labels for 120 points"),
    (lambda X: eigenfold.plot(X[:, :2], file="x.jpg"), ValueError, "use .png, .svg or .pdf"),
    (lambda X: Isomap().fit(X[:0]), ValueError, "0 sample"),
    (lambda X: Isomap().fit(X[:1]), ValueError, "1 sample"),
    (lambda X: Isomap().fit(X[:, :0]), ValueError, "0 feature"),
    (lambda X: Isomap().fit(X[0]), ValueError, "Reshape your data"),
    (lambda X: Isomap().fit([["a", "b"]] * 20), ValueError, "could not convert string"),
    (lambda X: Isomap().fit(np.array([[{}, 1]] * 20, dtype=object)), TypeError, "argument must be"),
    (lambda X: Isomap().fit(X + 1j), ValueError, "Complex"),
    (lambda X: Isomap().fit(X * np.inf), ValueError, "NaN|inf"),
    (lambda X: Isomap(n_neighbors=500).fit(X), ValueError, "use n_neighbors 119 or less"),
    (lambda X: Isomap(n_neighbors=2, disconnected="error").fit(X), ValueError, "components.*use n_neighbors"),
    (lambda X: Isomap(n_neighbors=5, radius=1.0).fit(X), ValueError, "n_neighbors and radius exclude each other"),
    (lambda X: Isomap(n_neighbors="many").fit(X), ValueError, "n_neighbors is 'many'"),
    (lambda X: Isomap(n_neighbors=2.5).fit(X), ValueError, "n_neighbors is 2.5"),
    (lambda X: Isomap(metric="nonsense").fit(X), ValueError, "metric is 'nonsense'"),
    (lambda X: Isomap(n_components=0).fit(X), ValueError, "n_components is 0; give an integer >= 1"),
    (lambda X: Isomap(disconnected=3).fit(X), ValueError, 'disconnected is "3"; give join'),
    (lambda X: Isomap(metric=None).fit(X), ValueError, "metric is None"),
    (lambda X: Isomap(metric="mahalanobis").fit(np.column_stack([X, X[:, 0]])), ValueError, "column 4 is a linear combination of the columns before it"),
    (lambda X: Isomap(metric="mahalanobis", metric_params={"V": np.zeros((3, 3))}).fit(X), ValueError, "Singular matrix"),
    (lambda X: Isomap(memory="4GB").fit(X), ValueError, "memory is '4GB'"),
    (lambda X: eigenfold.KernelPCA(gamma=-1.0).fit(X), ValueError, "gamma is -1.0; give a number above 0"),
    (lambda X: Isomap(graph="learned", graph_params={"x": 1}).fit(X), ValueError, "graph_params has 'x'"),
    (lambda X: Isomap(landmarks=2).fit(X), ValueError, "landmarks is 2; give an integer >= 3"),
    (lambda X: Isomap(n_jobs=0).fit(X), ValueError, "n_jobs is 0"),
    (lambda X: Isomap(n_nieghbors=5), TypeError, "unexpected keyword argument 'n_nieghbors'"),
    (lambda X: Isomap(memory=1000).fit(X), ValueError, "memory"),
    (lambda X: eigenfold.PCA(7).fit(X), ValueError, "use n_components 3 or less"),
    (lambda X: eigenfold.TSNE(max_iter=0).fit(X), ValueError, "max_iter is 0"),
    (lambda X: eigenfold.LocallyLinearEmbedding(method="x").fit(X), ValueError, "method is 'x'; give one of 'standard'"),
    (lambda X: eigenfold.LocallyLinearEmbedding(reg=-1.0).fit(X), ValueError, "reg is -1"),
    (lambda X: Isomap().fit(X).transform(X[:, :2]), ValueError, "X has 2 features, but Isomap is expecting 3"),
    (lambda X: Isomap().fit(X).inverse_transform(np.zeros((2, 5))), ValueError, "coordinates|columns"),
    (lambda X: eigenfold.load("/nowhere/map.model"), FileNotFoundError, "nowhere"),
    (lambda X: eigenfold.load(__file__), ValueError, "not an eigenfold model"),
]


@pytest.mark.parametrize("at", range(len(REFUSED)))
def test_refusals_are_in_pythons_words(at, expected):
    call, error, message = REFUSED[at]
    with pytest.raises(error, match=message) as raised:
        call(expected[0])
    assert "`" not in str(raised.value) and "--" not in str(raised.value)


def test_scikit_learns_words_mean_here_what_they_mean_there(expected):
    X = expected[0]
    gamma = 0.01
    ours = eigenfold.KernelPCA(kernel="rbf", gamma=gamma).fit(X)
    direct = eigenfold.KernelPCA(bandwidth=(2 * gamma) ** -0.5).fit(X)
    assert np.array_equal(ours.embedding_, direct.embedding_)
    theirs = pytest.importorskip("sklearn.decomposition").KernelPCA(2, kernel="rbf", gamma=gamma).fit(X)
    assert np.allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    for parameters in ({"affinity": "nearest_neighbors", "n_neighbors": 9}, {"affinity": "rbf", "gamma": 0.05}, {"affinity": lambda X: np.exp(-0.05 * cdist(X, X) ** 2)}):
        there = pytest.importorskip("sklearn.manifold").SpectralEmbedding(2, random_state=0, **parameters).fit_transform(X)
        here = eigenfold.SpectralEmbedding(2, **parameters).fit_transform(X)
        factor = np.linalg.norm(here, axis=0) / np.linalg.norm(there, axis=0)
        assert np.allclose(np.abs(here), np.abs(there * factor), atol=1e-5 * np.abs(here).max())
    manhattan = Isomap(metric="minkowski", p=1).fit_transform(X)
    assert np.array_equal(manhattan, Isomap(metric="manhattan").fit_transform(X))
    with pytest.warns(UserWarning, match="learning_rate had no effect"):
        eigenfold.TSNE(learning_rate=100.0, max_iter=5, perplexity=5).fit(X)


def test_an_error_has_its_parameter_row_and_column_as_attributes(expected):
    X, _ = expected
    with pytest.raises(ValueError) as caught:
        Isomap(n_neighbors=500).fit(X)
    assert (caught.value.parameter, caught.value.row, caught.value.column) == ("n_neighbors", None, None)
    with pytest.raises(ValueError) as caught:
        Isomap().fit(np.vstack([X, [1.0, np.nan, 2.0]]))
    assert (caught.value.parameter, caught.value.row, caught.value.column) == (None, 120, 1)


@pytest.mark.parametrize("estimator", [PCA, Isomap], ids=lambda one: one.__name__)
def test_float32_is_kept_and_is_returned_if_it_is_asked_for(expected, estimator):
    single = expected[0].astype(np.float32)
    double = estimator().fit(single.astype(np.float64))
    one, other = estimator().fit(single), estimator(dtype=np.float32).fit(single)
    np.testing.assert_array_equal(one.embedding_, double.embedding_)
    assert (one.embedding_.dtype, other.embedding_.dtype) == (np.float64, np.float32)
    np.testing.assert_array_equal(other.embedding_, one.embedding_.astype(np.float32))
    assert len(pickle.dumps(one)) < len(pickle.dumps(double)) - 3.5 * single.size
    results = [other.transform(single[:5]), *other.inverse_transform(other.embedding_[:5], return_std=True)]
    assert [array.dtype for array in results] == [np.float32] * 3
    with pytest.raises(ValueError, match="dtype is 'int8'; give 'float64' or 'float32'"):
        estimator(dtype="int8").fit(single)
