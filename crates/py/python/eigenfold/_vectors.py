"""Columns of vectors: tables of pandas, polars and pyarrow that have an array or a list of numbers in every row of one column.

A column may also be given alone, as a Series, an array of pyarrow, or an array of numpy that has an array in every cell. A column is
read as three arrays: which of its rows hold a vector, how long these vectors are, and their entries one after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._sklearn import warn

# The columns that a warning lists.
LISTED = 5
NUMBERS = {"halffloat", "float", "double", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


def unpacked(X: Any, choice: Choice | None = None) -> tuple[Any, list[str] | None]:
    """The vectors of a table as a matrix and the names of their entries; another input as it is, and None.

    They are in the column that was chosen or fitted to, or in the only column that holds vectors; other columns are left aside.
    """
    if hasattr(X, "collect") and not hasattr(X, "to_numpy"):
        return X, None  # a lazy frame, which is refused later
    if _is_column(X):
        return _alone(X, choice) if _holds_vectors(X) else (X, None)
    names = column_names(X)
    if names is None:
        return X, None
    wanted, fitted = (None, None) if choice is None else (choice.wanted, choice.fitted)
    vectors = [name for name in names if _holds_vectors(_column(X, name))]
    if wanted is not None and wanted not in vectors:
        ways = f"give one of {_listed(vectors)}" if vectors else "leave it out"
        raise ValueError(f"vector is {wanted!r}, and X has no column of vectors of this name; {ways}")
    if wanted is None and fitted not in vectors:
        if len(vectors) > 1:
            fact = f"columns {_listed(vectors)} hold vectors, and the points can be in one of them"
            raise ValueError(f"{fact}; give X[{vectors[0]!r}] alone{'' if choice is None else f', or vector={vectors[0]!r}'}")
        if not vectors:
            return X, None
        way = f"X[{vectors[0]!r}] alone" if choice is None else f"vector={vectors[0]!r}"
        _warn(vectors[0], [name for name in names if name != vectors[0]], way)
    name = wanted if wanted is not None else fitted if fitted in vectors else vectors[0]
    values = matrix(_column(X, name), str(name))
    return values, _entries(str(name), values)


class Choice(NamedTuple):
    """How an estimator chooses among columns of vectors."""

    # By its parameter `vector`.
    wanted: str | None
    # By the column that it was fitted to.
    fitted: str | None = None
    # Whether it was fitted at all.
    again: bool = False


def of_fitted(estimator: Any) -> Choice:
    """The column of vectors that an estimator was fitted to, by the names of its features."""
    names = getattr(estimator, "feature_names_in_", None)
    name = None if names is None or not str(names[0]).endswith("[0]") else str(names[0])[:-3]
    return Choice(estimator.vector, name, True)


def _alone(column: Any, choice: Choice | None) -> tuple[np.ndarray, list[str] | None]:
    """A column by itself, which needs no name where an estimator is fitted: nothing else can be meant."""
    own = getattr(column, "name", None)
    name = None if own is None or own == "" else str(own)
    values = matrix(column, name)
    if choice is not None and choice.again:
        name = choice.fitted
    return values, None if name is None else _entries(name, values)


def _entries(name: str, values: np.ndarray) -> list[str]:
    return [f"{name}[{at}]" for at in range(values.shape[1])]


def _warn(name: Any, aside: list[Any], way: str) -> None:
    if aside:
        what = "column" if len(aside) == 1 else "columns"
        fact = f"the vectors of column {name!r} were taken for the points and {what} {_listed(aside)} left aside"
        warn(f"{fact}; give {way} if that is right, or leave the column out if not")


def _listed(names: list[Any]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(repr(name) for name in names[:LISTED]) + more


def column_names(X: Any) -> list[Any] | None:
    """What the columns of a table are called; None if it is no table."""
    names = getattr(X, "column_names", None)
    if names is None and hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = X.columns
    return None if names is None else list(names)


def _is_column(X: Any) -> bool:
    """Whether this is one column: a Series of pandas or polars, an array of pyarrow, or one of numpy with anything in its cells."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype == object
    alone = not hasattr(X, "columns") and not hasattr(X, "column_names")
    return alone and (hasattr(X, "iloc") or hasattr(X, "to_pylist") or hasattr(X, "to_list") and hasattr(X, "dtype"))


def _column(X: Any, name: Any) -> Any:
    if hasattr(X, "column_names"):
        return X.column(X.column_names.index(name))
    column = X[name]
    return column.iloc[:, 0] if hasattr(column, "iloc") and column.ndim == 2 else column  # two columns of one name


def _is_polars(column: Any) -> bool:
    return not isinstance(column, np.ndarray) and not hasattr(column, "iloc")


def _holds_vectors(column: Any) -> bool:
    if hasattr(column, "to_pylist"):
        return _is_arrow_list(column.type)
    if _is_polars(column):
        inner = getattr(column.dtype, "inner", None)
        return inner is not None and inner.is_numeric()
    if hasattr(column.dtype, "pyarrow_dtype"):
        return _is_arrow_list(column.dtype.pyarrow_dtype)
    if column.dtype != object:
        return False
    first = next((cell for cell in column if _is_there(cell)), None)
    return isinstance(first, (list, tuple, np.ndarray)) and np.ndim(first) == 1 and np.asarray(first).dtype.kind in "fiuO"


def _is_arrow_list(kind: Any) -> bool:
    is_list = str(kind).startswith(("list<", "large_list<", "fixed_size_list<"))
    return is_list and str(kind.value_type) in NUMBERS


def _is_there(cell: Any) -> bool:
    return cell is not None and type(cell).__name__ != "NAType" and not (np.ndim(cell) == 0 and cell != cell)


def matrix(column: Any, name: str | None = None) -> np.ndarray:
    """The vectors of a column, or of a list, below each other, in the type that they have; NaN where there is none."""
    if hasattr(getattr(column, "dtype", None), "pyarrow_dtype"):
        column = column.array.__arrow_array__()
    if hasattr(column, "to_pylist"):
        there, lengths, entries = _of_arrow(column)
    elif isinstance(column, (list, tuple)) or not _is_polars(column):
        there, lengths, entries = _of_cells(list(column), name)
    else:
        there, lengths, entries = _of_polars(column)
    if not len(there):
        return np.empty((0, 1))
    if not lengths.any():
        raise ValueError(f"no row{'' if name is None else f' of column {name!r}'} has a vector with a number; leave the column out")
    width, rows = int(lengths[0]), np.flatnonzero(there)
    if (others := np.flatnonzero(lengths != width)).size:
        numbers = "1 number" if lengths[others[0]] == 1 else f"{lengths[others[0]]} numbers"
        fact = f"{_place(rows[others[0]], name)} has {numbers} and row {rows[0] + 1} has {width}"
        raise ValueError(f"{fact}; give every row a vector of one length")
    vectors = entries.reshape(len(rows), width)
    if len(rows) == len(there):
        return vectors
    # The least type that has NaN and holds the numbers.
    whole = np.full((len(there), width), np.nan, np.result_type(vectors.dtype, np.float16))
    whole[there] = vectors
    return whole


def _place(row: Any, name: str | None) -> str:
    return f"row {row + 1}" if name is None else f"row {row + 1}, column {name!r}"


def _of_arrow(column: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    there = np.asarray(column.is_valid())
    chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk)]
    chunks = [chunk.drop_null() if chunk.null_count else chunk for chunk in chunks]
    lengths = [np.full(len(chunk), chunk.type.list_size) if hasattr(chunk.type, "list_size") else np.diff(chunk.offsets) for chunk in chunks]
    return there, _joined(lengths), _joined([chunk.flatten().to_numpy(zero_copy_only=False) for chunk in chunks])


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)


def _of_polars(column: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    kept = column.drop_nulls()
    lengths = kept.list.len().to_numpy() if type(column.dtype).__name__ == "List" else np.full(len(kept), column.dtype.size)
    return column.is_not_null().to_numpy(), lengths, kept.explode().to_numpy()


def _of_cells(cells: list[Any], name: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    there = np.asarray([_is_there(cell) for cell in cells], dtype=bool)
    vectors = [_vector(cells[row], _place(row, name)) for row in np.flatnonzero(there)]
    return there, np.asarray([len(vector) for vector in vectors], dtype=int), _joined(vectors)


def _vector(cell: Any, place: str) -> np.ndarray:
    """The numbers in a cell, which is at this place."""
    try:
        vector = np.asarray(cell)
        if vector.dtype.kind not in "fiu":
            vector = np.asarray(cell, dtype=np.float64)
    except (TypeError, ValueError) as refused:
        raise ValueError(f"{place}: {refused}; give every row a vector of numbers") from None
    if vector.ndim != 1:
        raise ValueError(f"{place} has {vector.ndim} dimensions; give every row a vector of numbers")
    return vector
