"""The package and the program give the same numbers, bit for bit."""

import subprocess

import numpy as np
import pytest
from conftest import PROGRAM

import eigenfold
from eigenfold._classes import CLASSES

CASES = [(name, value) for name, cls in CLASSES.items() for value in cls._spec.methods]


def program(*args: object) -> None:
    done = subprocess.run([PROGRAM, *map(str, args), "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name, value", CASES)
def test_every_method_gives_the_bytes_of_the_program(name, value, roll, tmp_path):
    cls = CLASSES[name]
    method, implied = cls._spec.methods[value]
    flags = [part for flag, text in implied.items() for part in (f"--{flag}", text)]
    np.save(tmp_path / "x.npy", roll)
    program("embed", tmp_path / "x.npy", "-m", method, *flags, "-o", tmp_path / "y.npy", "--save", tmp_path / "y.model")
    estimator = cls(method=value) if value else cls()
    assert np.array_equal(estimator.fit_transform(roll), np.load(tmp_path / "y.npy"))

    loaded = eigenfold.load(tmp_path / "y.model")
    assert type(loaded) is cls and np.array_equal(loaded.embedding_, estimator.embedding_)
    assert loaded.get_params() == estimator.get_params()
    estimator.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "y.model").read_bytes()


def test_parameters_reach_the_library_by_their_names(roll, tmp_path):
    np.save(tmp_path / "x.npy", roll)
    flags = "--perplexity 12.5 --max-iterations 60 --exaggeration 4 --seed 3 --init random -d 3"
    program("embed", tmp_path / "x.npy", "-m", "tsne", *flags.split(), "-o", tmp_path / "y.npy")
    tsne = eigenfold.TSNE(3, perplexity=12.5, max_iter=60, early_exaggeration=4.0, random_state=3, init="random")
    assert np.array_equal(tsne.fit_transform(roll), np.load(tmp_path / "y.npy"))


def test_other_words_reach_the_library_too(few, tmp_path):
    np.save(tmp_path / "x.npy", few)
    pairs = [
        ("smacof --variant nonmetric", eigenfold.MDS(metric_mds=False)),
        ("isomap --radius 6", eigenfold.Isomap(n_neighbors=None, radius=6.0)),
        ("isomap --graph learned --penalty 0.05", eigenfold.Isomap(n_neighbors=20, graph="learned", graph_params={"penalty": 0.05})),
        ("kernel-pca --kernel poly --degree 2 --offset 2 --scale 0.5", eigenfold.KernelPCA(kernel="poly", degree=2, coef0=2.0, gamma=0.5)),
        ("lle --regularization 0.01 --metric manhattan --graph mutual -k 12", eigenfold.LocallyLinearEmbedding(n_neighbors=12, reg=0.01, metric="l1", graph="mutual")),
    ]
    for flags, estimator in pairs:
        program("embed", tmp_path / "x.npy", "-m", *flags.split(), "-o", tmp_path / "y.npy", "--save", tmp_path / "y.model")
        assert np.array_equal(estimator.fit_transform(few), np.load(tmp_path / "y.npy")), flags
        again = eigenfold.load(tmp_path / "y.model").fit_transform(few)
        assert np.array_equal(again, estimator.embedding_), flags


def test_new_points_and_the_inverse_transform_are_those_of_the_program(few, tmp_path):
    new = few[:7] + 0.01
    isomap = eigenfold.Isomap(n_neighbors=8).fit(few)
    isomap.save(tmp_path / "m.model")
    np.save(tmp_path / "new.npy", new)
    np.save(tmp_path / "places.npy", isomap.embedding_[:5])
    program("transform", tmp_path / "m.model", tmp_path / "new.npy", "-o", tmp_path / "placed.npy")
    assert np.array_equal(isomap.transform(new), np.load(tmp_path / "placed.npy"))
    outputs = ["-o", tmp_path / "back.npy", "--std", tmp_path / "std.npy"]
    program("reconstruct", tmp_path / "m.model", tmp_path / "places.npy", *outputs)
    back, deviations = isomap.inverse_transform(isomap.embedding_[:5], return_std=True)
    assert np.array_equal(back, np.load(tmp_path / "back.npy"))
    assert np.array_equal(deviations, np.load(tmp_path / "std.npy"))


@pytest.mark.parametrize("flags, parameters", [
    ("--standardize", {"standardize": True}),
    ("--scale-columns robust", {"scale_columns": "robust"}),
    ("--log", {"log": "log1p"}),
    ("--log log --scale-columns unit", {"log": "log", "scale_columns": "unit"}),
])
def test_columns_are_prepared_as_the_program_prepares_them(flags, parameters, tmp_path):
    X = eigenfold.datasets.load("iris").data[::3] * [1.0, 10.0, 0.1, 1.0]
    np.save(tmp_path / "x.npy", X)
    program("embed", tmp_path / "x.npy", "-m", "isomap", *flags.split(), "-o", tmp_path / "y.npy", "--save", tmp_path / "y.model")
    isomap = eigenfold.Isomap(**parameters)
    assert np.array_equal(isomap.fit_transform(X), np.load(tmp_path / "y.npy"))
    isomap.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "y.model").read_bytes()
    loaded = eigenfold.load(tmp_path / "y.model")
    assert np.array_equal(loaded.transform(X[:5] + 0.01), isomap.transform(X[:5] + 0.01))
    assert np.array_equal(loaded.fit_transform(X), isomap.embedding_)
    # The inverse transform is in the units of the data.
    assert np.abs(isomap.inverse_transform(isomap.embedding_) / X - 1).mean() < 0.1


def test_prepared_columns_are_seen_by_all_that_is_fitted():
    X = eigenfold.datasets.load("iris").data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, given = eigenfold.PCA(standardize=True).fit(X), eigenfold.PCA().fit(Z)
    assert np.allclose(ours.center_, X.mean(axis=0)) and np.allclose(ours.scale_, X.std(axis=0))
    assert np.allclose(ours.components_, given.components_) and np.allclose(ours.explained_variance_ratio_, given.explained_variance_ratio_)
    assert np.allclose(eigenfold.Isomap(standardize=True).fit(X).graph_.data, eigenfold.Isomap().fit(Z).graph_.data)
    # A density of x is that of z times |dz/dx|.
    gain = -np.log(X.std(axis=0)).sum()
    assert np.allclose(eigenfold.PPCA(standardize=True).fit(X).score_samples(X), eigenfold.PPCA().fit(Z).score_samples(Z) + gain)


METRICS = ["manhattan", "cosine", "correlation", "chebyshev", "minkowski:3", "hamming", "jaccard", "canberra", "braycurtis", "mahalanobis"]


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_are_those_of_the_program(metric, tmp_path):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 9)).astype(float) + (metric not in ("jaccard", "hamming"))
    X = X if metric in ("jaccard", "hamming") else X + np.random.default_rng(1).random(X.shape)
    np.save(tmp_path / "x.npy", X)
    program("embed", tmp_path / "x.npy", "-m", "isomap", "--metric", metric, "-o", tmp_path / "y.npy", "--save", tmp_path / "y.model")
    parameters = {"metric": "minkowski", "metric_params": {"p": 3}} if metric == "minkowski:3" else {"metric": metric}
    isomap = eigenfold.Isomap(**parameters).fit(X)
    assert np.array_equal(isomap.embedding_, np.load(tmp_path / "y.npy"))
    loaded = eigenfold.load(tmp_path / "y.model")
    assert loaded.metric == metric and np.array_equal(loaded.transform(X[:3] * 1.01), isomap.transform(X[:3] * 1.01))
    # They agree with scipy's, by which all distances would be computed.
    from scipy.spatial.distance import cdist

    name, more = {"manhattan": "cityblock"}.get(metric, metric.partition(":")[0]), {"p": 3} if metric == "minkowski:3" else {}
    more |= {"VI": np.linalg.inv(np.cov(X.T))} if metric == "mahalanobis" else {}
    there = cdist(X > 0 if metric == "jaccard" else X, X > 0 if metric == "jaccard" else X, name, **more)
    graph = eigenfold.knn_graph(X, 5, metric=metric)
    rows = np.repeat(np.arange(60), 5)
    assert np.allclose(graph.data, there[rows, graph.indices])


@pytest.mark.parametrize("name", ["Isomap", "PCA", "LaplacianEigenmaps", "TSNE"])
@pytest.mark.parametrize("held_out", [None, True, False])
def test_deviations_of_places_are_those_of_the_program(name, held_out, tmp_path):
    if name == "PCA" and held_out is False:
        with pytest.raises(ValueError, match="does not depend on nearby rows.*; use held_out=True"):
            eigenfold.PCA().fit(np.eye(30)).transform(np.eye(30), return_std=True, held_out=False)
        return
    X = eigenfold.datasets.load("iris").data[::3]
    estimator = CLASSES[name]().fit(X)
    estimator.save(tmp_path / "m.model")
    np.save(tmp_path / "new.npy", X[:7] + 0.03)
    flags = {None: [], True: ["--held-out", "rows"], False: ["--held-out", "none"]}[held_out]
    program("transform", tmp_path / "m.model", tmp_path / "new.npy", "-o", tmp_path / "y.npy", "--std", tmp_path / "std.npy", *flags)
    placed, deviations = estimator.transform(X[:7] + 0.03, return_std=True, held_out=held_out)
    assert np.array_equal(placed, np.load(tmp_path / "y.npy")) and np.array_equal(deviations, np.load(tmp_path / "std.npy"))


def test_hidden_coordinates_have_the_deviations_of_their_posterior(tmp_path):
    X = eigenfold.datasets.load("iris").data
    X[::7, 2] = np.nan
    ppca = eigenfold.PPCA(missing="model").fit(X)
    _, deviations = ppca.transform(X, return_std=True)
    # Rows with missing cells are less certain.
    assert deviations.shape == (150, 2) and (deviations[::7].min(axis=0) > deviations[1::7].max(axis=0)).all()
    # By hand: the covariance of z given x is (I + W' Psi^-1 W)^-1.
    W = ppca.components_.T
    covariance = np.linalg.inv(np.eye(2) + W.T @ (W / ppca.noise_variance_[:, None]))
    assert np.allclose(deviations[1], np.sqrt(np.diag(covariance)))


def test_intervals_of_the_inverse_transform_can_do_without_rows_held_out(few, tmp_path):
    isomap = eigenfold.Isomap(n_neighbors=8).fit(few)
    isomap.save(tmp_path / "m.model")
    np.save(tmp_path / "places.npy", isomap.embedding_[:5])
    program("reconstruct", tmp_path / "m.model", tmp_path / "places.npy", "-o", tmp_path / "b.npy", "--std", tmp_path / "s.npy", "--held-out", "none")
    _, deviations = isomap.inverse_transform(isomap.embedding_[:5], return_std=True, held_out=False)
    assert np.array_equal(deviations, np.load(tmp_path / "s.npy"))


def test_single_precision_is_widened_and_nothing_else(roll):
    single = roll.astype(np.float32)
    assert np.array_equal(eigenfold.PCA().fit_transform(single), eigenfold.PCA().fit_transform(single.astype(float)))


def test_missing_cells_are_guessed_by_columns_that_are_prepared(tmp_path):
    X = eigenfold.datasets.load("iris").data * [1.0, 100.0, 1.0, 1.0]
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    np.save(tmp_path / "x.npy", X)
    for flags, parameters in [("--standardize", {"standardize": True}), ("--scale-columns robust", {"scale_columns": "robust"}), ("--log", {"log": "log1p"})]:
        program("embed", tmp_path / "x.npy", "-m", "isomap", "--missing", "model", *flags.split(), "-o", tmp_path / "y.npy")
        assert np.array_equal(eigenfold.Isomap(missing="model", **parameters).fit_transform(X), np.load(tmp_path / "y.npy")), flags


@pytest.mark.parametrize("name", ["PPCA", "FactorAnalysis"])
def test_the_likelihood_of_a_latent_model_is_its_own(name, tmp_path):
    X = eigenfold.datasets.load("iris").data
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    latent = CLASSES[name](n_components=1, missing="model").fit(X)
    assert np.isclose(latent.log_likelihood_, latent.score_samples(X).sum(), rtol=1e-9)
    latent.save(tmp_path / "m")
    assert eigenfold.load(tmp_path / "m").log_likelihood_ == latent.log_likelihood_
