"""The docstrings of the classes: parameters from the library's table, attributes from the table below, examples from `_examples`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from ._examples import EXAMPLES, SEE_ALSO, TITLES
from ._spec import Parameter, Spec


class Attribute(NamedTuple):
    """A fitted attribute, and the classes that have it."""

    name: str
    type: str
    meaning: str
    of: Callable[[Spec], bool]


def _any(spec: Spec) -> bool:
    return True


def _named(*names: str) -> Callable[[Spec], bool]:
    return lambda spec: spec.name in names


def _but(*names: str) -> Callable[[Spec], bool]:
    return lambda spec: spec.name not in names


# Classes that optimize an objective and have no eigenvalues, those of which one figure is known, and those with a model of the data.
DESCENTS = ("ElasticEmbedding", "SNE", "SymmetricSNE", "TSNE", "UMAP", "Sammon", "MDS")
WEIGHTS = ("MVU", "MEU", "Drill")
MODELS = ("PPCA", "FactorAnalysis", "GPLVM", "MEU", "Drill")

ATTRIBUTES = [
    Attribute("embedding_", "ndarray of shape (n_samples, n_components)", "The coordinates, one row per point.", _any),
    Attribute("eigenvalues_", "ndarray of shape (n_components,)", "The eigenvalues of the coordinates, in the order of the coordinates.", _but(*DESCENTS, "FactorAnalysis", "GPLVM")),
    Attribute("components_", "ndarray of shape (n_components, n_features)", "The principal axes, of unit length.", _named("PCA")),
    Attribute("components_", "ndarray of shape (n_components, n_features)", "The loadings W, transposed.", _named("PPCA", "FactorAnalysis")),
    Attribute("mean_", "ndarray of shape (n_features,)", "The mean of the features.", _named("PCA", "PPCA", "FactorAnalysis")),
    Attribute("explained_variance_", "ndarray of shape (n_components,)", "The variance along each axis, with the divisor n - 1.", _named("PCA")),
    Attribute("explained_variance_ratio_", "ndarray of shape (n_components,)", "The share of the total variance along each axis.", _named("PCA")),
    Attribute("singular_values_", "ndarray of shape (n_components,)", "The singular values of the centered data.", _named("PCA")),
    Attribute("noise_variance_", "ndarray of shape (n_features,)", "The variance of the noise of each feature.", _named("PPCA", "FactorAnalysis")),
    Attribute("covariance_", "ndarray of shape (n_features, n_features)", "The covariance of the features by the model, W Wᵀ + Ψ; computed on access.", _named("PPCA", "FactorAnalysis")),
    Attribute("reconstruction_error_", "float", "The sum of the eigenvalues of the coordinates.", _named("LocallyLinearEmbedding")),
    Attribute("kl_divergence_", "float", "The Kullback-Leibler divergence at the end.", _named("SNE", "SymmetricSNE", "TSNE")),
    Attribute("stress_", "float", "The stress at the end: the sum of squared differences of distances; Kruskal's stress-1 if `normalized_stress` is True, or 'auto' without `metric_mds`.", _named("MDS")),
    Attribute("stress_", "float", "Sammon's stress at the end.", _named("Sammon")),
    Attribute("normalized_stress_", "float", "Kruskal's stress-1 at the end.", _named("MDS", "Sammon")),
    Attribute("certificate_", "dict", "Bounds on the largest variance that the constraints allow: that of the embedding (`primal`), an upper bound (`dual`), their relative `gap`, and whether a factorization `confirmed` the bound.", _named("MVU")),
    Attribute("duality_gap_", "float", "The duality gap of the solution.", _named(*WEIGHTS)),
    Attribute("edges_", "ndarray of shape (n_edges, 2)", "The pairs of points that have a weight.", _named(*WEIGHTS)),
    Attribute("edge_weights_", "ndarray of shape (n_edges,)", "The fitted weights of `edges_`.", _named(*WEIGHTS)),
    Attribute("path_", "list of dict", "The fit for each penalty; only if a path of penalties is requested.", _named("Drill")),
    Attribute("precision_", "scipy.sparse.csr_array of shape (n_samples, n_samples)", "The fitted precision matrix of the points.", _named("MEU")),
    Attribute("graph_", "scipy.sparse.csr_array of shape (n_samples, n_samples)", "The fitted weights of the neighborhood graph.", lambda spec: spec.graph and spec.name in WEIGHTS),
    Attribute("graph_", "scipy.sparse.csr_array of shape (n_samples, n_samples)", "The edge lengths of the neighborhood graph; computed on access. Only after a fit to points.", lambda spec: spec.graph and spec.name not in WEIGHTS),
    Attribute("dist_matrix_", "ndarray of shape (n_samples, n_samples)", "The lengths of the shortest paths on the graph; computed on access.", _named("Isomap")),
    Attribute("affinity_matrix_", "ndarray or scipy.sparse.csr_array of shape (n_samples, n_samples)", "The weights in scikit-learn's form; computed on access. Only if `affinity` is given.", _named("LaplacianEigenmaps")),
    Attribute("log_likelihood_", "float", "The log likelihood of the fitted model.", _named(*MODELS)),
    Attribute("log_likelihood_", "float", "The log likelihood of the points under a Gaussian Markov random field with the precision of the method, plus noise. Only where it is cheap to compute, or with `likelihood=True`.", _but(*MODELS)),
    Attribute("center_", "ndarray of shape (n_features,)", "What was subtracted from each feature; only with `standardize`, `scale_columns` or `log`.", _any),
    Attribute("scale_", "ndarray of shape (n_features,)", "What each feature was divided by; only with `standardize`, `scale_columns` or `log`.", _any),
    Attribute("n_iter_", "int", "The number of iterations of the solver.", _any),
    Attribute("n_features_in_", "int", "The number of columns of the input.", _any),
    Attribute("feature_names_in_", "ndarray of str", "The names of the columns; only if `X` is a DataFrame or table with names.", _any),
    Attribute("report_", "dict", "Everything known about the fit: parameters as requested and as used, seconds, warnings and diagnostics.", _any),
]


# The words of parameters that are not the library's own.
CHOICES = {
    "graph": ("nearest", "mutual", "within", "all", "learned"),
    "disconnected": ("join", "error", "separate"),
    "missing": ("error", "mean", "model"),
    "scale_columns": ("unit", "robust"),
    "log": ("log1p", "log"),
}
# The longest line, as far as words allow.
WIDTH = 100


def docstring(spec: Spec) -> str:
    """The docstring of a class in numpydoc's form."""
    used = {name: one for name, one in spec.parameters.items() if not one.meaning.startswith("accepted")}
    ignored = {name: one for name, one in spec.parameters.items() if name not in used}
    sections = {
        "Parameters": _entries(used),
        "Attributes": [line for one in ATTRIBUTES if one.of(spec) for line in _entry(f"{one.name} : {one.type}", one.meaning)],
        "Other Parameters": _entries(ignored),
        "See Also": SEE_ALSO.get(spec.name, []),
        "References": [f"{spec.paper}."],
        "Examples": EXAMPLES.get(spec.name, "").strip().splitlines(),
    }
    lines = [f"{TITLES.get(spec.name, spec.name)}.", "", *textwrap.wrap(_sentence(spec.summary), WIDTH)]
    lines += ["", "::", "", f"    {spec.formula}"] if spec.formula else []
    for title, content in sections.items():
        lines += ["", title, "-" * len(title), *content] if content else []
    return "\n".join([*lines, ""])


def _entries(parameters: dict[str, Parameter]) -> list[str]:
    return [line for name, one in parameters.items() for line in _entry(f"{name} : {_type(name, one)}", _meaning(one))]


def _entry(head: str, meaning: str) -> list[str]:
    wrapped = textwrap.wrap(_sentence(meaning), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [head, *(f"    {line}" for line in wrapped)]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _meaning(parameter: Parameter) -> str:
    """What a parameter means, its words written as Python has them: `fast = ...` is `'fast': ...`."""
    words = {word: repr(word) for word in (*parameter.values, "auto")} | {"none": "None"}
    pattern = r"(?<![\w'-])(" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + r")( \(or [\w-]+\))? = "
    text = re.sub(pattern, lambda found: f"{words[found[1]]}{found[2] or ''}: ", parameter.meaning)
    return re.sub(r"\|([^|]+)\|", r"‖\1‖", text)  # a bar has a meaning of its own in reStructuredText


def _type(name: str, parameter: Parameter) -> str:
    """A type as numpydoc writes it: `{'pca', 'random'} or array-like, default='pca'`."""
    kinds = re.sub(r"Callable\[.*\]", "callable", parameter.type).replace("dict[str, Any]", "dict").replace("ArrayLike", "array-like")
    names = ["object" if kind == "Any" else kind for kind in kinds.split(" | ")]
    values = parameter.values or CHOICES.get(name, ())
    if values and "str" in names:
        names[names.index("str")] = "{" + ", ".join(repr(value) for value in values) + "}"
    several = ", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else names[0]
    return f"{several}, default={parameter.default!r}"
