"""The parameters of the Spark classes: those of the library's table by spark.ml's names, and those of columns and samples."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Callable

from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import HasInputCol, HasInputCols, HasOutputCol, HasSeed

from .._spec import Parameter, Spec

# Parameters of the Python classes that have no meaning here: objects of one process, words of other libraries, and those that have another
# name below.
LEFT_OUT = {"callback", "dtype", "n_jobs", "precomputed_knn", "random_state", "vector"}
# Parameters that the classes of several methods add to those of the table.
ADDED = {"method", "metric_mds"}
METRIC = "the distance: 'euclidean', 'manhattan', 'cosine', 'correlation', 'chebyshev', 'minkowski', 'hamming', 'jaccard', 'haversine', 'haversine-degrees', 'canberra', 'braycurtis' or 'mahalanobis' (by the covariance of the sample)"
HANDLE_INVALID = ("error", "skip", "keep")
OUTPUT_TYPES = ("vector", "array<double>", "array<float>")


def camel(name: str) -> str:
    """A parameter's name as spark.ml writes it: `nNeighbors` of `n_neighbors`."""
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def of_table(spec: Spec) -> dict[str, Parameter]:
    """The parameters of a method, by their names in Python."""
    theirs = set(spec.further) | set(spec.idle)
    found = {name: one for name, one in spec.parameters.items() if name in ADDED or name not in LEFT_OUT | theirs}
    if "metric" in found:
        found["metric"] = replace(found["metric"], type="str", meaning=METRIC)
    return found


def converter(name: str, kind: str) -> Callable[[Any], Any]:
    """Checks a value by the type that the parameter has in Python."""
    kinds = {part.strip().partition("[")[0] for part in kind.split("|")} - {"None", "ArrayLike", "Callable"}

    def convert(value: Any) -> Any:
        if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
            value = value.item()  # a number of numpy, which JSON has not
        of = type(value).__name__
        if of in kinds or of == "int" and "float" in kinds:
            return float(value) if of == "int" and "int" not in kinds else value
        if of == "float" and "int" in kinds and "float" not in kinds and value == int(value):
            return int(value)
        raise TypeError(f"{name} is {value!r}; give {' or '.join(sorted(kinds))}")

    return convert


def word(name: str, words: tuple[str, ...]) -> Callable[[Any], Any]:
    """Checks that a value is one of some words."""

    def convert(value: Any) -> Any:
        if value not in words:
            raise TypeError(f"{name} is {value!r}; give {', '.join(map(repr, words[:-1]))} or {words[-1]!r}")
        return value

    return convert


def param(name: str, meaning: str, convert: Callable[[Any], Any]) -> Any:
    return Param(Params._dummy(), name, meaning, typeConverter=convert)


class ColumnParams(HasInputCol, HasInputCols, HasOutputCol):
    """The columns that a model reads and writes, and what it does with rows that it cannot embed."""

    outputType: Any = param("outputType", "the type of the output columns: 'vector', 'array<double>' or 'array<float>'", word("outputType", OUTPUT_TYPES))
    stdCol: Any = param("stdCol", "a column for the standard deviations of the coordinates, if it is given", converter("stdCol", "str"))
    farCol: Any = param("farCol", "a column that is true where a row is far from all training rows, if it is given", converter("farCol", "str"))
    heldOut: Any = param("heldOut", "whether standard deviations include the variability of the embedding itself, as `held_out` in Python", converter("heldOut", "bool"))
    handleInvalid: Any = param("handleInvalid", "what to do with rows that cannot be embedded: 'error' raises an error that names the first, 'skip' leaves them out, 'keep' keeps them with a null embedding", word("handleInvalid", HANDLE_INVALID))

    def _column_defaults(self, name: str) -> None:
        self._setDefault(outputCol=name, outputType="vector", handleInvalid="error", heldOut=None, stdCol=None, farCol=None)


class SampleParams(HasSeed):
    """How many rows are fitted, and which."""

    sampleSize: Any = param("sampleSize", "the number of rows that are fitted: those with the smallest hashes of their content and the seed", converter("sampleSize", "int"))


def setter(name: str) -> Callable[..., Any]:
    def set_one(self: Any, value: Any) -> Any:
        return self._set(**{name: value})

    set_one.__name__ = f"set{name[0].upper()}{name[1:]}"
    set_one.__doc__ = f"Set the parameter `{name}`."
    return set_one


def getter(name: str) -> Callable[..., Any]:
    def get_one(self: Any) -> Any:
        return self.getOrDefault(name)

    get_one.__name__ = f"get{name[0].upper()}{name[1:]}"
    get_one.__doc__ = f"Return the parameter `{name}`."
    return get_one
