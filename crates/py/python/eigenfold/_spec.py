"""From the library's table of methods to the parameters of a class, and from a class's parameters back to a recipe."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from . import _eigenfold, _input
from ._sklearn import same

TABLE: dict[str, dict[str, Any]] = {method["name"]: method for method in json.loads(_eigenfold.methods())}

SHARED = {
    "random_state": (0, "int | None", "the seed of every random choice; None is 0. The same seed gives the same result for any `n_jobs`"),
    "n_jobs": (None, "int | None", "the number of threads; None and -1 are one per core"),
    "missing": ("error", "str", "how missing cells (NaN) are treated: 'error' raises an error; 'mean' uses the mean of the column; 'model' predicts them from similar rows, and PPCA and FactorAnalysis integrate them out instead"),
    "vector": (None, "str | None", "the column of a table that has a vector in every row; these vectors are the points, and other columns are no features. None is the only such column"),
    "standardize": (False, "bool", "whether to center every column and scale it to unit variance first; the same as `scale_columns='unit'`"),
    "scale_columns": (None, "str | None", "how to center and scale every column first: 'unit' by mean and standard deviation, 'robust' by median and interquartile range"),
    "log": (None, "str | None", "the logarithm to take of every number before columns are scaled: 'log1p' is log(1 + x)"),
    "memory": (None, "int | None", "the most memory to use, in bytes; None is most of what is free. A fit that would need more is refused before it starts"),
    "dtype": ("float64", "str | type", "the type of coordinates, reconstructed rows and their standard deviations: 'float64' or 'float32'. Data of float32 are kept as they are, and computations are in double precision, for either type"),
    "likelihood": (False, "bool", "whether to compute `log_likelihood_` where it takes long"),
    "verbose": (0, "int", "1 prints a line per stage, 2 prints more often"),
    "callback": (None, "Callable[[str, float, float | None], Any] | None", "called several times a second as ``callback(stage, fraction, objective)``; a true return value stops the fit, which keeps the embedding it has"),
}
# Of methods that optimize from a start.
SEEDED = {
    "random_state": (0, "int | None", "the seed of every random choice; None is 0. The same seed gives the same result for any `n_jobs`. Other seeds hardly change the result, because the start is not random; with `init='random'` they change the start, and None is another seed for each fit"),
}
GRAPH = {
    "n_neighbors": (10, "int | str | None", "the number of neighbors of each point, the point itself not counted; 'auto' tries several"),
    "radius": (None, "float | None", "the distance within which points are neighbors; give `n_neighbors=None` with it"),
    "graph": ("nearest", "str", "which points are neighbors: 'nearest' are the k nearest; 'mutual' are pairs that are among the nearest of each other; 'within' are those within `radius`; 'all' are all; 'learned' are those of the nearest that a sparse precision matrix keeps"),
    "graph_params": (None, "dict[str, Any] | None", "the parameters of `graph='learned'`, by the names that Drill has: penalty, ridge and others"),
    "approximate": (None, "bool | None", "whether the neighbor search may miss a tenth of the neighbors for speed; None is exact, except for UMAP, which may miss one in a hundred"),
    "disconnected": ("join", "str", "how to treat several connected components of the graph: 'join' links them by the shortest edges between them, 'error' raises an error, 'separate' embeds each on its own"),
    "rescale": (None, "int | None", "the number of coordinates within which to restore the distances between neighbors after the fit; None does not"),
}
METRIC = {
    "metric": ("euclidean", "str | Callable[[Any, Any], float]", "the distance: 'euclidean', 'manhattan', 'cosine', 'correlation', 'chebyshev', 'minkowski', 'hamming', 'jaccard', 'haversine', 'haversine-degrees', 'canberra', 'braycurtis' or 'mahalanobis' (by the covariance of the data); 'precomputed' for a matrix of distances or a sparse graph of edge lengths; any other name of scipy's ``cdist``, or a function of two rows, for which all distances are computed first"),
    "metric_params": (None, "dict[str, Any] | None", "further arguments of the metric: ``{'p': 3}`` of minkowski, ``{'V': covariance}`` of mahalanobis, or those of scipy"),
}
KNN = {
    "precomputed_knn": (None, "Any", "the nearest neighbors of the points, if they are known, instead of a search: ``(indices, distances)`` of shape (n_samples, k), the point itself in the first column or not, or umap-learn's triple of them and an index, which is ignored, or a sparse matrix of distances. The first of each row are used. New points are still compared with the points of `fit`"),
}

@dataclass
class Parameter:
    """A parameter of a class: its default, type and meaning; the library's name, and the words of a choice, if the method has it."""

    default: Any
    type: str
    meaning: str
    library: str | None = None
    values: tuple[str, ...] = ()


@dataclass
class Spec:
    """A class: its name, the methods it stands for by the value of `method`, and scikit-learn's further parameters."""

    name: str
    methods: dict[str, tuple[str, dict[str, str]]]
    formula: str = ""
    instead: Callable[[dict[str, Any]], None] = lambda values: None
    data: Callable[[Any, Any], Any] = lambda estimator, X: X
    further: dict[str, tuple[Any, str, str]] = field(default_factory=dict)
    # Parameters of other libraries that do nothing here: the default, and why; setting one gives a warning.
    idle: dict[str, tuple[Any, str]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    # Whether `n_components` may be given without its name, as scikit-learn's class of that name allows.
    positional: bool = False
    parameters: dict[str, Parameter] = field(init=False)
    unseen: dict[str, Parameter] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        rows = [row for name, _ in self.methods.values() for row in TABLE[name]["parameters"]]
        first = next(iter(self.methods.values()))[0]
        self.summary, self.paper = TABLE[first]["summary"], TABLE[first]["paper"]
        self.graph = any(TABLE[name]["graph"] for name, _ in self.methods.values())
        self.metric = any(TABLE[name]["metric"] for name, _ in self.methods.values()) or self.graph
        self.latent = first in ("ppca", "fa")
        self.linear = first in ("pca", "ppca", "fa", "gplvm")
        meaning = "the number of coordinates; 'auto' estimates it by `eigenfold.dimension`, None is the largest possible number"
        self.parameters = {"n_components": Parameter(2, "int | str | None", meaning)}
        self._add(GRAPH if self.graph else {})
        self._add(METRIC if self.metric else {})
        # Methods with a perplexity search for neighbors without a graph of them.
        self._add(KNN if self.graph or any(row["name"] == "perplexity" for row in rows) else {})
        if len(self.methods) > 1:
            kinds = ", ".join(f"{value!r} ({name})" for value, (name, _) in self.methods.items())
            self.parameters["method"] = Parameter("standard", "str", f"the variant, with its name in the command-line program: {kinds}", values=tuple(self.methods))
        for row in rows:
            self._add_row(row, self.unseen if row["python"] in self.hidden else self.parameters)
        self._add(self.further)
        self._add({name: (default, "Any", f"accepted for compatibility, without effect: {why.format(self.name)}") for name, (default, why) in self.idle.items()})
        self._add(SHARED | (SEEDED if "init" in self.parameters else {}))

    def _add(self, parameters: dict[str, tuple[Any, str, str]]) -> None:
        """Parameters with other defaults or meanings than the library's, or that it does not have."""
        for name, (default, kind, meaning) in parameters.items():
            before = self.parameters.get(name)
            self.parameters[name] = Parameter(default, kind, meaning, None if before is None else before.library)

    def _add_row(self, row: dict[str, Any], to: dict[str, Parameter]) -> None:
        """A row of the table. Where a parameter has several, each with its default, None stands for that default."""
        name, default, kind = row["python"], value_of(row), type_of(row)
        before = to.get(name)
        if before is None:
            to[name] = Parameter(default, kind, row["meaning"], row["name"], tuple(row["values"] or ()))
        elif before.library == row["name"] and (before.default != default or before.default is None):
            before.default = None
            before.type = " | ".join(dict.fromkeys(f"{before.type} | {kind} | None".split(" | ")))
            if row["meaning"] not in before.meaning:
                before.meaning += "; " + row["meaning"]

    def method(self, estimator: Any) -> tuple[str, dict[str, str]]:
        """The library's name of the method, and the parameters that it implies."""
        if len(self.methods) == 1:
            return next(iter(self.methods.values()))
        chosen = estimator.method if isinstance(estimator.method, str) else None
        if chosen not in self.methods:
            ways = ", ".join(repr(name) for name in self.methods)
            raise ValueError(f"method is {estimator.method!r}; give one of {ways}")
        return self.methods[chosen]

    def kind(self, estimator: Any) -> str:
        """The kind of the input, as of `request`; draws no seed."""
        return self.request(estimator, seed=0)[1]

    def request(self, estimator: Any, seed: int | None = None) -> tuple[dict[str, Any], str, Any]:
        """The request for the library, the kind of the input (`measured`: points whose distances come from scipy), and where an optimization starts if that is given."""
        values = {name: getattr(estimator, name) for name in self.parameters}
        values["shape"] = getattr(estimator, "_shape", None)
        self.instead(values)
        method, implied = self.method(estimator)
        kind, metric = "points", values.get("metric", "euclidean")
        if isinstance(metric, str) and metric == "precomputed":
            kind, metric = "distances", "euclidean"
        elif (own := native(metric, values)) is None:
            kind, metric = "measured", "euclidean"
        else:
            metric = own
        if isinstance(values.get("kernel"), str) and values["kernel"] == "precomputed":
            kind, values["kernel"] = "similarities", self.parameters["kernel"].default
        start = values.get("init")
        if hasattr(start, "shape") or isinstance(start, list):
            values["init"] = self.parameters["init"].default
        else:
            start = None
        given = {
            row.library: text_of(name, values[name])
            for name, row in (self.parameters | self.unseen).items()
            if row.library is not None and name in values and not same(values[name], row.default)
        }
        graph_params = values.get("graph_params") or {}
        request = {
            "method": method,
            "parameters": given | implied,
            "dims": _count("n_components", values["n_components"]),
            **graph_request(values),
            "graph_parameters": {of_learned(name): text_of(name, value) for name, value in graph_params.items()},
            "metric": metric,
            "missing": str(values["missing"]),
            "seed": _input.seed(values["random_state"], values.get("init")) if seed is None else seed,
            "memory": None if values["memory"] is None else _input.whole("memory", values["memory"], 1),
            "likelihood": bool(values["likelihood"]),
            "log": _word("log", values["log"]),
            "scale_columns": _word("scale_columns", values["scale_columns"]),
            "standardize": bool(values["standardize"]),
            "rescale": None if values.get("rescale") is None else _input.whole("rescale", values["rescale"], 1),
        }
        return request, kind, start


def graph_request(values: dict[str, Any]) -> dict[str, Any]:
    """The part of a request that is about the graph."""
    graph, radius = str(values.get("graph", "nearest")), values.get("radius")
    neighbors = _count("n_neighbors", values.get("n_neighbors"))
    if radius is not None and neighbors is not None:
        raise ValueError("n_neighbors and radius exclude each other; set one of them to None")
    if radius is not None and _number("radius", radius) == np.inf:
        graph, radius = "all", None
    if radius is not None and graph == "nearest":
        graph = "within"
    return {
        # A graph of all pairs has no use for the number that every class has by default.
        "neighbors": None if graph == "all" else neighbors,
        "radius": _number("radius", radius),
        "graph": graph,
        "approximate": None if values.get("approximate") is None else bool(values["approximate"]),
        "disconnected": str(values.get("disconnected", "join")),
    }


def native(metric: Any, values: dict[str, Any]) -> str | None:
    """The library's own name of a metric, if it is one of the library's."""
    more = values.get("metric_params") or {}
    if not isinstance(metric, str) or set(more) - {"p"} or more and metric != "minkowski":
        return None
    if metric == "minkowski":
        power = float(more.get("p", values.get("p", 2)))
        metric = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(power, f"minkowski:{power}")
    return _eigenfold.metric(metric)


def _word(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is {value!r}; give a word or None")
    return value


def _count(name: str, value: Any) -> Any:
    """A number, `auto`, or nothing."""
    return value if value is None or isinstance(value, str) and value == "auto" else _input.whole(name, value, 1, ", or 'auto'")


def _number(name: str, value: Any) -> float | None:
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError):
        number = np.nan
    if number is not None and np.isnan(number):
        raise ValueError(f"{name} is {value!r}; give a number")
    return number


def of_learned(name: str) -> str:
    """The library's name of a parameter of learned graphs."""
    rows = {row["python"]: row["name"] for row in TABLE["drill"]["parameters"]}
    if name not in rows:
        raise ValueError(f"graph_params has {name!r}; a learned graph has {', '.join(rows)}")
    return rows[name]


def value_of(row: dict[str, Any]) -> Any:
    """The default of a parameter as a value of Python."""
    text = row["default"]
    if text == row["auto"]:
        return None if text == "none" else text
    if row["kind"] == "switch":
        return text == "true"
    return float(text) if row["kind"] == "number" else int(text) if row["kind"] == "count" else text


def type_of(row: dict[str, Any]) -> str:
    """The type of a parameter, as a stub has it."""
    plain = {"number": "float", "count": "int", "switch": "bool"}.get(row["kind"], "str")
    if row["python"] == "init":
        plain = "str | ArrayLike"
    if row["kind"] == "text":
        plain = "str | float"
    return plain + {"auto": " | str" if plain not in ("str", "str | float") else "", "none": " | None"}.get(row["auto"], "")


def text_of(name: str, value: Any) -> str:
    """A value as the library reads it; a number keeps all its digits."""
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list, np.ndarray)):
        return ",".join(text_of(name, one) for one in value)
    raise ValueError(f"{name} is {value!r}; give a number or a word")
