"""The docstrings: numpydoc finds nothing missing in them, they list the fitted attributes that there are, and their examples run."""

import inspect
import re

import numpy as np
import pandas
import pytest
from conftest import run
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import eigenfold
from eigenfold import datasets
from eigenfold._classes import CLASSES

FUNCTIONS = ["compare", "dimension", "gp_likelihood", "knn_graph", "load", "locally_linear_embedding", "plot", "quality"]
FUNCTIONS += [f"datasets.{name}" for name in ("load", "make", "names")]
RESULTS = ["Comparison", "Quality", "_functions.Picture", "datasets.Drawn", "datasets.Loaded"]
METHODS = ["fit", "fit_transform", "transform", "inverse_transform", "score", "save", "get_feature_names_out", "set_output"]
FURTHER = ["Isomap.reconstruction_error", "PPCA.score", "PPCA.score_samples", "UMAP.fit", "MDS.fit", "MDS.fit_transform"]
# These write what another function has made, whose docstring has the example.
WRITERS = ["Comparison.html", "Comparison.report", "_functions.Picture.save"]
FURTHER += [*WRITERS, "_sklearn.Alone.get_params", "_sklearn.Alone.set_params"]
PROPERTIES = ["Isomap.graph_", "Isomap.dist_matrix_", "MEU.precision_", "PPCA.covariance_", "LaplacianEigenmaps.affinity_matrix_"]
PROPERTIES += [f"Comparison.{name}" for name in ("ranking", "maps", "status", "table")]

# What is not asked for: a line break after the quotes (GL01, GL02), and an extended summary (ES01).
STYLE = {"GL01", "GL02", "ES01"}
# A summary of a class or property is a noun, and results are made by functions, whose docstrings have the example.
NOUN = STYLE | {"SS05"}
MADE = NOUN | {"EX01", "SA01", "PR01", "PR02"}


def faults(name: str, allowed: set[str]) -> list[str]:
    return [f"{name}: {code} {message}" for code, message in validate(f"eigenfold.{name}")["errors"] if code not in allowed]


def test_every_public_name_is_checked_here():
    public = {name for name in eigenfold.__all__ if name not in CLASSES and name not in ("datasets", "SpectralEmbedding")}
    errors = {name for name in public if isinstance(getattr(eigenfold, name), type) and issubclass(getattr(eigenfold, name), Exception)}
    assert public - errors == {name for name in FUNCTIONS + RESULTS if "." not in name}
    assert all(getattr(eigenfold, name).__doc__ for name in errors)
    made = {name for name, value in vars(datasets).items() if getattr(value, "__module__", "") == "eigenfold.datasets" and name[0] != "_"}
    assert {f"datasets.{name}" for name in made} == {name for name in FUNCTIONS + RESULTS if name.startswith("datasets.")}


@pytest.mark.parametrize("name", FUNCTIONS + FURTHER)
def test_functions_have_all_sections(name):
    assert not faults(name, STYLE | ({"EX01", "SA01"} if name in WRITERS else set()))


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_all_sections(name):
    assert not faults(f"PCA.{name}", STYLE)


@pytest.mark.parametrize("name", RESULTS + PROPERTIES)
def test_results_and_properties_are_described(name):
    assert not faults(name, MADE)


def test_classes_have_all_sections(each):
    # Parameters that are ignored stand apart, and not where the signature has them (PR03).
    assert not faults(each.__name__, NOUN | {"PR03"})
    doc = NumpyDocString(each.__doc__)
    assert doc["Parameters"] and doc["Attributes"] and doc["References"]
    assert {one.name for one in doc["Parameters"] + doc["Other Parameters"]} == set(each._spec.parameters)
    assert all("default=" in one.type for one in doc["Parameters"] + doc["Other Parameters"])


def test_help_shows_the_parameters(each):
    class Mine(each):
        def __init__(self, more=1):
            super().__init__()

    assert list(inspect.signature(each).parameters) == list(each._spec.parameters)
    assert list(inspect.signature(Mine).parameters) == ["more"]


def test_the_examples_of_classes_differ():
    examples = {tuple(line for line in NumpyDocString(each.__doc__)["Examples"] if line.startswith(">>>")) for each in CLASSES.values()}
    assert len(examples) == len(CLASSES) and all(len(lines) >= 3 for lines in examples)


def attributes(estimator: object) -> set[str]:
    """The public fitted attributes, properties among them."""
    computed = {name for name, value in inspect.getmembers(type(estimator), lambda value: isinstance(value, property)) if name.endswith("_") and not name.startswith("_")}
    stored = {name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")}
    return stored | {name for name in computed if hasattr(estimator, name)}


@pytest.mark.filterwarnings("ignore")
def test_the_attributes_are_those_of_a_fit(each):
    X = datasets.load("iris").data[::3]
    few = {"max_iter": 5} if "max_iter" in each._spec.parameters and each.__name__ in ("MVU", "GPLVM") else {}
    documented = NumpyDocString(each.__doc__)["Attributes"]
    names = [one.name for one in documented]
    assert len(set(names)) == len(names)
    conditional = {one.name for one in documented if re.search(r"\b[Oo]nly\b", " ".join(one.desc))}
    found = attributes(each(**few).fit(X))
    assert set(names) - conditional <= found <= set(names)

    # With everything that brings an attribute.
    more = {"affinity": "nearest_neighbors"} if each.__name__ == "LaplacianEigenmaps" else {}
    more |= {"penalty": "0.01:0.1:3"} if each.__name__ == "Drill" else {}
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    assert attributes(each(standardize=True, likelihood=True, **few, **more).fit(frame)) == set(names)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [name for name in FUNCTIONS + FURTHER if name not in WRITERS] + ["Quality", *(f"Isomap.{name}" for name in METHODS)])
def test_the_examples_of_functions_run(name, tmp_path, monkeypatch):
    thing = eigenfold
    for part in name.split("."):
        thing = getattr(thing, part)
    monkeypatch.chdir(tmp_path)
    run(thing.__doc__, name)


@pytest.mark.parametrize("key", ["dimension", "gp_likelihood", "quality"])
def test_the_keys_of_dicts_are_documented(key):
    roll = datasets.make("swiss-roll", n=100)
    found = {
        "dimension": lambda: eigenfold.dimension(roll.data),
        "gp_likelihood": lambda: eigenfold.gp_likelihood(roll.data, roll.truth, starts="one"),
        "quality": lambda: eigenfold.quality(roll.data, roll.truth, np.arange(100) % 3, truth=roll.truth),
    }[key]()
    (returned,) = NumpyDocString(inspect.getdoc(getattr(eigenfold, key)))["Returns"]
    documented = {name.strip() for line in returned.desc if (entry := re.match(r"(\w[\w, ]*) : ", line)) for name in entry[1].split(",")}
    assert documented == set(found)
