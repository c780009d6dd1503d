"""What users hand over, as the arrays that the library takes: one copy at most, and none here for float32 and float64."""

from __future__ import annotations

import datetime
import os
from typing import Any, NamedTuple

import numpy as np

from . import _vectors
from ._sklearn import warn


# Sparse points with more cells than this are not written out: 1.6 GB.
MOST_CELLS = 200_000_000
# More than the largest machines have cores, and few enough to be started in a moment.
MOST_THREADS = 1024

# How the types of columns of dates and times begin, in pandas, polars and pyarrow, and what is said of them.
TIMES = ("date", "time", "duration", "period")
A_TIME = "holds dates or times, which are not numbers; leave it out, or subtract a time and divide by a unit"


class CheckedInput(NamedTuple):
    """An input: of kind `points`, `distances`, `similarities`, `graph`, or `measured` (points with a metric of scipy)."""

    kind: str
    data: Any
    features: int
    names: list[str] | None


def read(estimator: Any, X: Any, kind: str, least: int = 1, names: list[str] | None = None) -> CheckedInput:
    """The input of an estimator, of at least `least` rows; its columns have the names given here, or its own."""
    who = type(estimator).__name__
    _refuse_lazy(X)
    if hasattr(X, "tocsr") and kind == "distances":
        return CheckedInput("graph", _graph(X), X.shape[1], None)
    if hasattr(X, "tocsr"):
        X = _dense(X)
    names = names or feature_names(X)
    data = matrix(X, who)
    if kind == "measured":
        data = data.astype(np.float64, copy=False)  # what measures may compute in the type that it gets
    rows, columns = data.shape
    if rows < least:
        raise ValueError(
            f"Found array with {rows} sample(s) (shape={data.shape}) while a minimum of {least} is required by {who}."
        )
    if columns < 1:
        raise ValueError(f"Found array with 0 feature(s) (shape={data.shape}) while a minimum of 1 is required by {who}.")
    return CheckedInput(kind, data, columns, names)


def matrix(X: Any, who: str = "eigenfold") -> np.ndarray:
    """A matrix in any memory order, from an array, a table or nested lists: of float32 if that holds every number of its type."""
    _refuse_lazy(X)
    X, _ = _vectors.unpacked(X)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        array = _table(X)
    elif isinstance(X, np.ma.MaskedArray):
        array = np.ma.filled(X.astype(np.float64), np.nan)  # what is masked is not known
    else:
        array = _array(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array!r}\n")
    if array.dtype.kind in "mM":
        raise ValueError(f"{array.dtype} holds times, which are not numeric; subtract a time and divide by a unit first")
    wanted = np.float32 if array.dtype.kind in "fiu" and np.can_cast(array.dtype, np.float32) else np.float64
    if array.dtype != wanted or not array.dtype.isnative or not array.flags.aligned:
        array = array.astype(wanted)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead by {who}. Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    return array


def _array(X: Any) -> np.ndarray:
    try:
        return np.asarray(X)
    except ValueError:
        # Rows of several lengths, or some that are None.
        if isinstance(X, (list, tuple)):
            return _vectors.matrix(X)
        raise


def _table(X: Any) -> np.ndarray:
    """The numbers of a table of pandas, polars or pyarrow; what is null there is NaN here."""
    for name, kind in _kinds(X):
        if kind.lower().startswith(TIMES):
            raise ValueError(f"column {name!r} {A_TIME}")
    array = _cells(X)
    if array.dtype.kind != "O":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as refused:
        raise ValueError(_first_text(X, array) or str(refused)) from None


def _refuse_lazy(X: Any) -> None:
    if hasattr(X, "collect") and not hasattr(X, "to_numpy"):
        raise TypeError(f"a {type(X).__name__} is a table that has not been computed yet; give X.collect()")


def _first_text(X: Any, array: np.ndarray) -> str | None:
    """The first column of a table that holds something else than numbers, and the way out."""
    names = getattr(X, "column_names", None)
    for at, name in enumerate(list(X.columns) if names is None else names):
        for cell in array[:, at]:
            if isinstance(cell, (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)):
                return f"column {name!r} {A_TIME}"
            if isinstance(cell, (list, tuple, np.ndarray)):
                return f"column {name!r} holds lists, and not a vector of numbers in every row; leave it out"
            try:
                float(cell)
            except (TypeError, ValueError) as refused:
                return f"column {name!r}: {refused}; leave it out, or encode it, as pandas.get_dummies does"
    return None


def _kinds(X: Any) -> list[tuple[Any, str]]:
    """What the columns of a table are called, and their types."""
    if hasattr(X, "column_names"):
        return list(zip(X.column_names, map(str, X.schema.types)))
    return [(name, getattr(dtype, "name", None) or str(dtype)) for name, dtype in zip(X.columns, X.dtypes)]


def _cells(X: Any) -> np.ndarray:
    if hasattr(X, "column_names"):  # pyarrow
        return np.column_stack([column.to_numpy(zero_copy_only=False) for column in X.columns])
    if hasattr(X, "iloc"):  # pandas, whose nullable columns have a null of their own
        if not any(getattr(dtype, "na_value", None) is not None for dtype in X.dtypes):
            return X.to_numpy()
        try:
            return X.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            return X.to_numpy(dtype=object)
    return X.to_numpy()


def feature_names(X: Any) -> list[str] | None:
    """The names of the columns of a table, if all are text."""
    names = getattr(X, "column_names", None)
    names = list(getattr(X, "columns", ())) if names is None else list(names)
    are_text = {isinstance(name, str) for name in names}
    if are_text == {True, False}:
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. If you want feature names to be stored and validated, you must "
            "convert them all to strings, by using X.columns = X.columns.astype(str) for example."
        )
    return names if are_text == {True} else None


def check_again(estimator: Any, given: CheckedInput) -> None:
    """Refuses other columns than those an estimator was fitted to."""
    who, expected = type(estimator).__name__, estimator.n_features_in_
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and given.names is not None and list(fitted) != given.names:
        raise ValueError(_other_names(list(fitted), given.names))
    if fitted is not None and given.names is None:
        warn(f"X does not have valid feature names, but {who} was fitted with feature names")
    if fitted is None and given.names is not None:
        warn(f"X has feature names, but {who} was fitted without feature names")
    if given.features != expected:
        raise ValueError(f"X has {given.features} features, but {who} is expecting {expected} features as input")


def _other_names(fitted: list[str], given: list[str]) -> str:
    def listed(names: list[str]) -> str:
        return "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")

    message = "The feature names should match those that were passed during fit.\n"
    if unseen := sorted(set(given) - set(fitted)):
        message += "Feature names unseen at fit time:\n" + listed(unseen)
    if missing := sorted(set(fitted) - set(given)):
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def _dense(X: Any) -> np.ndarray:
    """The points of a sparse matrix, all cells written out, if there are not too many of them."""
    if X.shape[0] * X.shape[1] > MOST_CELLS:
        fact = f"a sparse matrix of {X.shape[0]} x {X.shape[1]} would be written out in full"
        raise ValueError(f"{fact}; reduce its columns first, or give metric='precomputed' and a graph of distances")
    return X.toarray()


def _graph(X: Any, what: str = "a graph") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lengths of a sparse matrix, which are a graph where the metric is precomputed."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"{what} is a square matrix and this is {X.shape[0]} x {X.shape[1]}; give one row and column per point")
    X = X.tocsr()
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)


def knn(given: Any, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Given neighbors as the three arrays of the sparse rows of their distances; None if there are none."""
    if given is None or isinstance(given, (tuple, list)) and len(given) > 1 and all(part is None for part in given[:2]):
        return None
    if hasattr(given, "tocsr"):
        return _graph(given, "precomputed_knn")
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise ValueError(f"precomputed_knn is a {type(given).__name__}; give (indices, distances), or a sparse matrix of distances")
    # The third is umap-learn's search index, for which there is no use: the model searches among the points itself.
    indices, distances = np.asarray(given[0]), np.asarray(given[1])
    if indices.ndim != 2 or indices.shape != distances.shape:
        fact = f"the indices of precomputed_knn have the shape {indices.shape} and the distances {distances.shape}"
        raise ValueError(f"{fact}; give two matrices of one row per point")
    if indices.dtype.kind not in "iu" or distances.dtype.kind not in "iuf":
        fact = f"precomputed_knn has indices of type {indices.dtype} and distances of type {distances.dtype}"
        raise ValueError(f"{fact}; give integers and floats")
    if len(indices) != rows:
        raise ValueError(f"precomputed_knn has neighbors of {len(indices)} points, and there are {rows}; give one row per point")
    # pynndescent has -1 where it found no neighbor.
    wrong = (indices >= rows) | (indices < -1) if indices.dtype.kind == "i" else indices >= rows
    if wrong.any():
        row, column = (int(at) for at in np.argwhere(wrong)[0])
        fact = f"row {row + 1} of precomputed_knn has the neighbor {indices[row, column]}, and there are {rows} points"
        raise ValueError(f"{fact}; number them from 0 to {rows - 1}")
    # A point is not its own neighbor; most lists have it in their first column.
    kept = indices != np.arange(rows)[:, None]
    if indices.dtype.kind == "i":
        kept &= indices >= 0
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    return starts, indices[kept].astype(np.int64), distances[kept].astype(np.float64)


def seed(random_state: Any, init: Any = None) -> int:
    """A seed from what scikit-learn takes: nothing, a number, or a generator to draw one from.

    Nothing is 0, except for an optimization that starts at random: there it is another one each time, by numpy's own generator.
    """
    if random_state is None and isinstance(init, str) and init == "random":
        return int(np.random.randint(2**31 - 1))
    if random_state is None:
        return 0
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    number = whole("random_state", random_state)
    if number >= 2**64:
        raise ValueError(f"random_state is {number}; give an integer below 2**64")
    return number


def whole(name: str, value: Any, least: int = 0, more: str = "") -> int:
    """A whole number, from whatever counts as one."""
    number = value.__index__() if hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_)) else None
    if number is None or number < least:
        raise ValueError(f"{name} is {value!r}; give an integer >= {least}{more}")
    return number


def threads(n_jobs: Any) -> int | None:
    """A number of threads: all cores for None or -1, all but one for -2; the result does not depend on it."""
    if n_jobs is None:
        return None
    if not hasattr(n_jobs, "__index__") or isinstance(n_jobs, (bool, np.bool_)) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}; give 1 or more, or -1 for all cores")
    if n_jobs < 0:
        return None if n_jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + n_jobs.__index__())
    if n_jobs > MOST_THREADS:
        fact = f"n_jobs is {n_jobs} and more than {MOST_THREADS} threads are never started"
        raise ValueError(f"{fact}; use {os.cpu_count() or 1}, one per core, or -1")
    return n_jobs.__index__()
