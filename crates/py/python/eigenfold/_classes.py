"""The estimators: one class per method of the library's table, with the names and parameters of scikit-learn."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from . import _input
from ._base import Estimator, LatentEstimator
from ._docs import docstring
from ._spec import TABLE, Spec
from ._theirs import AffinityEstimator, GeodesicEstimator, StressEstimator, SupervisedEstimator

Values = dict[str, Any]
# Affinities of scikit-learn that are given as a matrix.
GIVEN = ("precomputed", "precomputed_nearest_neighbors")

# Words that choose a solver in scikit-learn. Here the library chooses, and the answer does not depend on it.
SOLVERS = "accepted for compatibility with scikit-learn and ignored; the result does not depend on the solver"


def solvers(**defaults: Any) -> dict[str, tuple[Any, str, str]]:
    return {name: (default, "Any", SOLVERS) for name, default in defaults.items()}


def bandwidth(gamma: Any) -> float:
    """σ of exp(-γ d²) = exp(-d² / 2σ²)."""
    if not gamma > 0:
        raise ValueError(f"gamma is {gamma}; give a number above 0")
    return 1.0 / math.sqrt(2.0 * gamma)


def kernel(values: Values) -> None:
    """γ of scikit-learn: of the gaussian kernel 1/2σ², of the others what multiplies the inner product."""
    if values["gamma"] is None:
        return
    if values["kernel"] in ("gaussian", "rbf"):
        values["bandwidth"] = bandwidth(values["gamma"])
    else:
        values["scale"] = values["gamma"]


def affinity(values: Values) -> None:
    """The weights of scikit-learn's SpectralEmbedding, which counts a point among its own neighbors."""
    chosen = values["affinity"]
    if chosen is None:
        if values["gamma"] is not None:
            values["bandwidth"] = bandwidth(values["gamma"])
    elif isinstance(chosen, str) and chosen == "nearest_neighbors":
        values["kernel"], values["mutual"] = "simple", "twice"
        if values["n_neighbors"] is None and values["shape"] is not None:
            values["n_neighbors"] = max(values["shape"][0] // 10, 2)
        if values["n_neighbors"] not in (None, "auto"):
            values["n_neighbors"] = _input.whole("n_neighbors", values["n_neighbors"], 2, ": a point counts among its own") - 1
    elif isinstance(chosen, str) and chosen == "rbf":
        values["graph"], values["n_neighbors"] = "all", None
        if values["gamma"] is not None or values["shape"] is not None:
            values["bandwidth"] = bandwidth(1.0 / values["shape"][1] if values["gamma"] is None else values["gamma"])
    elif callable(chosen) or chosen in GIVEN:
        values["metric"], values["kernel"], values["bandwidth"] = "precomputed", "heat", 1.0
    else:
        ways = f"None (a heat kernel on the nearest neighbors), 'nearest_neighbors', 'rbf', {', '.join(map(repr, GIVEN))} or a function"
        raise ValueError(f"affinity is {chosen!r}; give {ways}")


def nearest_of(lengths: Any, n_neighbors: Any) -> Any:
    """One for each of the nearest `count` entries in every row of a sparse matrix of distances, itself counted; made symmetric."""
    from scipy.sparse import csr_array

    near = shortest(csr_array(lengths), _input.whole("n_neighbors", n_neighbors, 1))
    near.data[:] = 1.0
    return 0.5 * (near + near.T)


def shortest(graph: Any, count: int) -> Any:
    """So many of the least entries of every row of a sparse matrix."""
    from scipy.sparse import csr_array

    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = np.lexsort((graph.indices, graph.data, row))
    kept = order[np.arange(len(order)) - graph.indptr[row] < count]
    return csr_array((graph.data[kept], (row[kept], graph.indices[kept])), shape=graph.shape)


def effective(estimator: Any, X: Any) -> Any:
    """Of a sparse matrix of distances as many of every row as would be used of a dense one: three for each effective neighbor."""
    if not hasattr(X, "tocsr") or estimator.metric != "precomputed":
        return X
    from scipy.sparse import csr_array

    perplexities = estimator.perplexity.split(",") if isinstance(estimator.perplexity, str) else np.atleast_1d(estimator.perplexity)
    try:
        perplexity = 30.0 if estimator.perplexity == "auto" else max(float(one) for one in perplexities)
    except (TypeError, ValueError):
        return X  # which is refused later
    graph = csr_array(X).astype(np.float64)
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    others = row != graph.indices
    graph = csr_array((graph.data[others], (row[others], graph.indices[others])), shape=graph.shape)
    return shortest(graph, max(math.ceil(3.0 * min(perplexity, graph.shape[0])), 1))


def affinities(estimator: Any, X: Any) -> Any:
    """Given weights as a graph of lengths: those of which a heat kernel of σ = 1 makes the weights again, up to a factor."""
    chosen = estimator.affinity
    estimator._shape, estimator._weights = getattr(X, "shape", None) or np.asarray(X).shape, None
    if not callable(chosen) and not (isinstance(chosen, str) and chosen in GIVEN):
        return X
    from scipy.sparse import coo_array

    estimator._weights = chosen(X) if callable(chosen) else X if chosen == GIVEN[0] else nearest_of(X, estimator.n_neighbors)
    weights = coo_array(estimator._weights).astype(np.float64)
    if len(weights.data) and weights.data.min() < 0:
        raise ValueError(f"an affinity is {weights.data.min()}; give weights that are not negative")
    i, j = weights.coords
    kept = (weights.data > 0) & (i != j)
    values = weights.data[kept]
    lengths = np.sqrt(2.0 * np.log(values.max(initial=0.0) / values))
    return coo_array((lengths, (i[kept], j[kept])), shape=weights.shape)


def stress(values: Values) -> None:
    """Words of scikit-learn's MDS, those of versions before 1.8 too."""
    if isinstance(values["metric"], (bool, np.bool_)):
        values["metric_mds"], values["metric"] = values["metric"], "euclidean"
    if values["dissimilarity"] is not None:
        if values["dissimilarity"] not in ("euclidean", "precomputed"):
            raise ValueError(f"dissimilarity is {values['dissimilarity']!r}; give 'euclidean' or 'precomputed', or use metric")
        values["metric"] = values["dissimilarity"]
    values["variant"] = "metric" if values["metric_mds"] else "nonmetric"
    if values["eps"] is not None:
        values["tol"] = values["eps"]
    if isinstance(values["init"], str) and values["init"] == "classical_mds":
        values["init"] = "scaling"


def student(values: Values) -> None:
    """`method` of scikit-learn's TSNE says how forces are summed."""
    ways = {"barnes_hut": "fast", "exact": "exact"}
    if values["method"] is not None:
        if values["method"] not in ways:
            raise ValueError(f"method is {values['method']!r}; give 'barnes_hut' or 'exact', or use accuracy")
        values["accuracy"] = ways[values["method"]]


def umap(values: Values) -> None:
    """Words of umap-learn."""
    if values["n_epochs"] is not None:
        values["max_iter"] = _input.whole("n_epochs", values["n_epochs"], 1)
    try:
        values["negative_sample_rate"] = values["negative_sample_rate"] * float(values["repulsion_strength"])
    except (TypeError, ValueError):
        raise ValueError(f"repulsion_strength is {values['repulsion_strength']!r}; give a number above 0") from None


# Why a word does nothing here.
SCHEDULE = "{} has its own schedule"
UMAP_IDLE = {
    "learning_rate": (1.0, SCHEDULE),
    "local_connectivity": (1.0, "it is always 1"),
    "set_op_mix_ratio": (1.0, "it is always 1, the union"),
    "densmap": (False, "densMAP is not implemented, and this is the embedding of UMAP"),
}
UMAP_WORDS = {
    "target_weight": (0.5, "float", "the weight of the classes `y` of `fit` relative to the distances, from 0 to 1; 0 ignores `y`"),
    "n_epochs": (None, "int | None", "umap-learn's name of `max_iter`, which it replaces if given"),
    "repulsion_strength": (1.0, "float", "a factor of `negative_sample_rate`, as in umap-learn"),
    "low_memory": (True, "Any", "accepted for compatibility with umap-learn and ignored; the result does not depend on it"),
    "transform_seed": (42, "Any", "accepted for compatibility with umap-learn and ignored; `transform` is not random"),
}
GAMMA = {"gamma": (None, "float | None", "scikit-learn's parameter: 1/(2σ²) of the Gaussian kernel, instead of `bandwidth`; the scale of other kernels")}
LLE = {"standard": "lle", "modified": "modified-lle", "hessian": "hessian-lle", "ltsa": "ltsa", "acyclic": "alle"}
FAMILY: dict[str, tuple[str, dict[str, str]]] = {value: (name, {}) for value, name in LLE.items()}
FAMILY |= {value: ("lle", {"variant": value}) for value in ("free", "symmetric")}


def one(name: str, method: str, formula: str, **more: Any) -> Spec:
    return Spec(name, {"": (method, {})}, formula, **more)


SPECS = [
    one("PCA", "pca", "Y = X V, with X centered and X'X V = V Λ", positional=True, further=solvers(svd_solver="auto", copy=True)),
    one("ClassicalMDS", "mds", "-H D² H / 2 = Y Y', with D the distances and H = I - 11'/n", positional=True),
    one("KernelPCA", "kernel-pca", "H K H = V Λ V', Y = V √Λ", positional=True, instead=kernel, further=GAMMA | solvers(eigen_solver="auto", tol=0, max_iter=None, fit_inverse_transform=False, copy_X=True)),
    one("Isomap", "isomap", "-H D² H / 2 = Y Y', with D the lengths of shortest paths on the graph", further={"p": (2, "float", "the power of `metric='minkowski'`: 1 is manhattan, 2 is euclidean")} | solvers(eigen_solver="auto", tol=0, max_iter=None, path_method="auto", neighbors_algorithm="auto")),
    Spec("LocallyLinearEmbedding", FAMILY, "min Σ |y[i] - Σ w[i,j] y[j]|² with the w that reconstruct x[i] from its neighbors, Y'Y = n I", further=solvers(eigen_solver="auto", tol=1e-6, max_iter=100, neighbors_algorithm="auto", hessian_tol=1e-4, modified_tol=1e-12), hidden=("variant",)),
    one("LaplacianEigenmaps", "laplacian-eigenmaps", "(D - W) y = λ D y, with W the weights of the graph and D its row sums", positional=True, instead=affinity, data=affinities, further={"affinity": (None, "str | Callable[[Any], Any] | None", "the weights as scikit-learn defines them: 'nearest_neighbors' (equal weights, the point itself counted in `n_neighbors`), 'rbf' (all pairs), 'precomputed' or a function for your own weights, 'precomputed_nearest_neighbors' for a sparse matrix of distances; None uses `kernel`")} | GAMMA | solvers(eigen_solver=None, eigen_tol="auto")),
    one("DiffusionMaps", "diffusion-maps", "y[k] = λ[k]^t ψ[k], with P ψ = λ ψ of the walk P on the graph"),
    one("MVU", "mvu", "max tr K with K[i,i] + K[j,j] - 2 K[i,j] <= d[i,j]² for neighbors, K >= 0, 1'K1 = 0"),
    one("MEU", "meu", "K = (L(λ) + γI)⁻¹, the λ of the pairs such that their mean squared distances are those of the data"),
    one("Drill", "drill", "max log det P - tr(P S) - ρ Σ |p[i,j]| over the pairs of neighbors"),
    one("PPCA", "ppca", "x = μ + W z + ε, z ~ N(0, I), ε ~ N(0, σ² I)"),
    one("FactorAnalysis", "fa", "x = μ + W z + ε, z ~ N(0, I), ε ~ N(0, Ψ), Ψ diagonal", positional=True, further=solvers(svd_method="randomized", copy=True)),
    one("PPCO", "ppco", "K = Y Y' + λ I, of a kernel or of distances", instead=kernel, further=GAMMA),
    one("PKPCA", "pkpca", "probabilistic PCA in the feature space of a kernel", instead=kernel, further=GAMMA),
    one("GPLVM", "gplvm", "x[:, f] ~ N(0, K(Y)) for every feature f, over the positions Y"),
    one("ElasticEmbedding", "elastic", "min Σ w+[i,j] |y[i] - y[j]|² + λ Σ w-[i,j] exp(-|y[i] - y[j]|²)"),
    one("SNE", "sne", "min Σ KL(P[i] | Q[i]), Gaussian affinities in the data and on the map", data=effective),
    one("SymmetricSNE", "symmetric-sne", "min KL(P | Q), with Gaussian affinities of pairs on the map", data=effective),
    one("TSNE", "tsne", "min KL(P | Q), q[i,j] ∝ 1/(1 + |y[i] - y[j]|²)", instead=student, data=effective, positional=True, further={"method": (None, "str | None", "scikit-learn's parameter: 'barnes_hut' is `accuracy='fast'`, 'exact' is `accuracy='exact'`; None uses `accuracy`")}, idle=dict(learning_rate=("auto", SCHEDULE), n_iter_without_progress=(300, SCHEDULE), min_grad_norm=(1e-7, SCHEDULE), angle=(0.5, SCHEDULE))),
    one("UMAP", "umap", "min Σ w[i,j] log(w/v) + (1 - w) log((1 - w)/(1 - v)), w of the fuzzy graph, v = 1/(1 + a |y[i] - y[j]|^2b)", instead=umap, further=UMAP_WORDS, idle=UMAP_IDLE),
    one("Sammon", "sammon", "min Σ (d[i,j] - |y[i] - y[j]|)² / d[i,j] / Σ d[i,j]"),
    one("MDS", "smacof", "min Σ (d[i,j] - |y[i] - y[j]|)², or of distances in their order alone", positional=True, instead=stress, hidden=("variant",), further={"dissimilarity": (None, "str | None", "the name of `metric` before scikit-learn 1.8: 'euclidean' or 'precomputed'"), "metric_mds": (True, "bool", "whether to fit the distances themselves (metric), or their order alone (nonmetric)"), "eps": (None, "float | None", "scikit-learn's name of `tol`, which it replaces if given"), "normalized_stress": ("auto", "bool | str", "whether `stress_` is Kruskal's stress-1; 'auto' is True with `metric_mds=False`")}, idle={"n_init": (1, SCHEDULE)}),
]


def initializer(spec: Spec) -> Any:
    """An `__init__` that keeps its arguments and does nothing else, with a signature that names them."""
    defaults = {name: parameter.default for name, parameter in spec.parameters.items()}

    def __init__(self: Any, *unnamed: Any, **given: Any) -> None:
        most = 1 if spec.positional else 0
        if len(unnamed) > most:
            allowed = f"from 1 to {most + 1} positional arguments" if most else "1 positional argument"
            way_out = f"name them, as in {spec.name}(n_components=2)"
            raise TypeError(f"{spec.name}.__init__() takes {allowed} but {len(unnamed) + 1} were given; {way_out}")
        if unnamed and "n_components" in given:
            raise TypeError(f"{spec.name}.__init__() got multiple values for argument 'n_components'")
        if unknown := [name for name in given if name not in defaults]:
            raise TypeError(f"{spec.name}.__init__() got an unexpected keyword argument {unknown[0]!r}")
        self.__dict__.update(defaults, **dict(zip(["n_components"], unnamed)), **given)

    def parameter(name: str, kind: Any) -> inspect.Parameter:
        return inspect.Parameter(name, kind, default=defaults[name])

    own, *others = defaults
    kinds = inspect.Parameter
    first = kinds.POSITIONAL_OR_KEYWORD if spec.positional else kinds.KEYWORD_ONLY
    signature = [kinds("self", kinds.POSITIONAL_OR_KEYWORD), parameter(own, first)]
    signature += [parameter(name, kinds.KEYWORD_ONLY) for name in others]
    __init__.__qualname__ = f"{spec.name}.__init__"
    __init__.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    return __init__


BASES: dict[str, type[Estimator]] = {"Isomap": GeodesicEstimator, "LaplacianEigenmaps": AffinityEstimator, "MDS": StressEstimator, "UMAP": SupervisedEstimator}


def estimator(spec: Spec) -> type[Estimator]:
    body = {"_spec": spec, "__init__": initializer(spec), "__doc__": docstring(spec), "__module__": "eigenfold"}
    base = LatentEstimator if spec.latent else BASES.get(spec.name, Estimator)
    return type(spec.name, (base,), body)


def camel(method: str) -> str:
    return "".join(word.capitalize() for word in method.split("-"))


# A method of the table without a class above gets one here.
named = {method for spec in SPECS for method, _ in spec.methods.values()}
SPECS += [one(camel(method), method, "") for method in TABLE if method not in named]
CLASSES = {spec.name: estimator(spec) for spec in SPECS}

