"""UMAP with the words of umap-learn, the classes that it is given, and what seeds change."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn import decomposition, manifold
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import eigenfold
from eigenfold import TSNE, UMAP
from eigenfold._classes import CLASSES

IRIS = eigenfold.datasets.load("iris")
X, KINDS = IRIS.data, IRIS.target


def silently(call):
    """Without a word about parameters or y; a graph with several connected components is another matter."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(had no effect|was not used)")
        return call()


def apart(map_: np.ndarray) -> float:
    """How far the second and the third kind are from each other, in units of their size."""
    two, three = map_[KINDS == 1], map_[KINDS == 2]
    size = np.sqrt((two.var(axis=0) + three.var(axis=0)).sum())
    return float(np.linalg.norm(two.mean(axis=0) - three.mean(axis=0)) / size)


def disparity(one: np.ndarray, other: np.ndarray) -> float:
    from scipy.spatial import procrustes

    return procrustes(one, other)[2]


def test_words_with_a_counterpart_mean_the_same():
    words = {"n_epochs": 40, "repulsion_strength": 2.0, "low_memory": False, "transform_seed": 7, "precomputed_knn": (None, None, None)}
    embedded = silently(lambda: UMAP(**words).fit_transform(X))
    assert np.array_equal(embedded, UMAP(max_iter=40, negative_sample_rate=10.0).fit_transform(X))
    assert not np.array_equal(embedded, UMAP(max_iter=40).fit_transform(X))


@pytest.mark.parametrize(
    "words",
    [{"learning_rate": 0.5}, {"local_connectivity": 2}, {"set_op_mix_ratio": 0.25}, {"densmap": True}],
    ids=lambda words: next(iter(words)),
)
def test_words_without_one_are_reported_to_have_no_effect(words):
    with pytest.warns(UserWarning, match=f"^{next(iter(words))} had no effect: ") as caught:
        changed = UMAP(max_iter=20, **words).fit_transform(X)
    assert len([one for one in caught if "no effect" in str(one.message)]) == 1
    assert np.array_equal(changed, UMAP(max_iter=20).fit_transform(X))


def test_classes_shape_the_map_as_much_as_requested():
    plain = silently(lambda: UMAP().fit(X).embedding_)
    half = silently(lambda: UMAP().fit(X, KINDS).embedding_)
    assert apart(half) > 1.5 * apart(plain)
    names = np.array(["a", "b", "c"])[KINDS]
    for y in (names, names.astype(object), KINDS.astype(float), KINDS.reshape(-1, 1), KINDS + 7):
        assert np.array_equal(UMAP(target_weight=0.5).fit_transform(X, y), half)
    assert np.array_equal(UMAP(target_weight=0).fit_transform(X, KINDS), plain)
    assert np.array_equal(UMAP(target_weight=0.9).fit_transform(X), plain)
    # Of half of them the class is not known.
    some = np.where(np.arange(150) % 2, KINDS, -1)
    holes = np.where(np.arange(150) % 2, names.astype(object), None)
    known = UMAP().fit_transform(X, some)
    assert np.array_equal(known, UMAP().fit_transform(X, holes))
    assert not np.array_equal(known, half) and not np.array_equal(known, plain)


def test_classes_are_those_of_the_program(tmp_path):
    import subprocess

    from conftest import PROGRAM

    ours = UMAP(target_weight=0.7).fit(X, KINDS)
    subprocess.run([PROGRAM, "embed", "iris", "-m", "umap", "--supervision", "0.7", "-q", "--save", tmp_path / "m"], check=True, capture_output=True)
    theirs = eigenfold.load(tmp_path / "m")
    assert np.array_equal(ours.embedding_, theirs.embedding_) and theirs.target_weight == 0.7


@pytest.mark.parametrize("y", [X[:, 0], np.arange(150), np.arange(150) / 10, np.column_stack([KINDS, KINDS])], ids=["lengths", "counts", "fractions", "two"])
def test_values_are_not_taken_for_classes(y):
    plain = UMAP().fit_transform(X)
    with pytest.warns(UserWarning, match="^y has .* was not used.*; set target_weight=0 to be silent, or give classes as text") as caught:
        assert np.array_equal(UMAP().fit_transform(X, y), plain)
    said = [str(one.message) for one in caught if "not used" in str(one.message)]
    assert len(said) == 1 and "\n" not in said[0]
    assert np.array_equal(silently(lambda: UMAP(target_weight=0).fit_transform(X, y)), plain)


def test_pipelines_hand_y_on_and_new_rows_have_none():
    classify = make_pipeline(UMAP(), KNeighborsClassifier())
    assert silently(lambda: cross_val_score(classify, X, KINDS, cv=3)).mean() > 0.9
    regress = make_pipeline(UMAP(target_weight=0), Ridge())
    assert np.isfinite(silently(lambda: cross_val_score(regress, X, X[:, 0], cv=3, error_score="raise"))).all()


@pytest.mark.parametrize("name", CLASSES)
def test_what_scikit_learn_lets_be_given_without_its_name_may_be(name):
    theirs = getattr(decomposition, name, None) or getattr(manifold, "SpectralEmbedding" if name == "LaplacianEigenmaps" else name, None)
    first = None if theirs is None else list(inspect.signature(theirs).parameters.values())[0]
    allowed = first is not None and first.kind is first.POSITIONAL_OR_KEYWORD
    if allowed:
        assert CLASSES[name](3).n_components == 3
    else:
        with pytest.raises(TypeError, match="takes 1 positional argument"):
            CLASSES[name](3)
    with pytest.raises(TypeError):
        CLASSES[name](2, 10)


@pytest.mark.parametrize("method", [UMAP, TSNE])
def test_seeds_change_nothing_until_the_start_is_random(method):
    one, other = (method(random_state=seed).fit_transform(X) for seed in (1, 2))
    assert disparity(one, other) < 1e-6
    assert np.array_equal(method(random_state=None).fit_transform(X), method(random_state=0).fit_transform(X))
    one, again, other = (method(init="random", random_state=seed).fit_transform(X) for seed in (1, 1, 2))
    assert np.array_equal(one, again) and disparity(one, other) > 1e-3
    np.random.seed(5)
    first, second = (method(init="random", random_state=None).fit(X) for _ in range(2))
    assert disparity(first.embedding_, second.embedding_) > 1e-3
    np.random.seed(5)
    assert np.array_equal(method(init="random", random_state=None).fit_transform(X), first.embedding_)


def test_how_sure_a_place_is_comes_from_maps_without_some_rows():
    rows = X[::2]
    _, deviations = UMAP().fit(rows).transform(rows, return_std=True)
    assert deviations.shape == (75, 2) and (deviations > 0).any()
