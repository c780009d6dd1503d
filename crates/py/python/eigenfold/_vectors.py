"""Columns of vectors: tables of pandas, polars and pyarrow that have an array or a list of numbers in every row of one column."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._sklearn import warn

# The columns that a warning lists.
LISTED = 5
NUMBERS = {"halffloat", "float", "double", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


def unpacked(X: Any, wanted: str | None = None, fitted: str | None = None) -> tuple[Any, list[str] | None]:
    """The vectors of a table as a matrix and the names of their entries; another input as it is, and None.

    They are in the column that is wanted or was fitted to, or in the only column that holds vectors; other columns are left aside.
    """
    if hasattr(X, "collect") and not hasattr(X, "to_numpy"):
        return X, None  # a lazy frame, which is refused later
    if _is_column(X):
        return _matrix(X, _name(X)) if _holds_vectors(X) else (X, None)
    names = _names(X)
    if names is None:
        return X, None
    vectors = [name for name in names if _holds_vectors(_column(X, name))]
    if wanted is not None and wanted not in vectors:
        ways = f"give one of {_listed(vectors)}" if vectors else "leave it out"
        raise ValueError(f"vector is {wanted!r}, and X has no column of vectors of this name; {ways}")
    if wanted is None and fitted not in vectors:
        if len(vectors) > 1:
            fact = f"columns {_listed(vectors)} hold vectors, and the points can be in one of them"
            raise ValueError(f"{fact}; give X[{vectors[0]!r}] alone, or vector={vectors[0]!r}")
        if not vectors:
            return X, None
        _warn(vectors[0], [name for name in names if name != vectors[0]])
    name = wanted if wanted is not None else fitted if fitted in vectors else vectors[0]
    return _matrix(_column(X, name), str(name))


def fitted(estimator: Any) -> str | None:
    """The column of vectors that an estimator was fitted to, by the names of its features."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None or not str(names[0]).endswith("[0]") else str(names[0])[:-3]


def _warn(name: Any, aside: list[Any]) -> None:
    if aside:
        what = "column" if len(aside) == 1 else "columns"
        fact = f"the vectors of column {name!r} were taken for the points and {what} {_listed(aside)} left aside"
        warn(f"{fact}; give vector={name!r} if that is right, or leave the column out if not")


def _listed(names: list[Any]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(repr(name) for name in names[:LISTED]) + more


def _names(X: Any) -> list[Any] | None:
    """The names of the columns of a table."""
    names = getattr(X, "column_names", None)
    if names is None and hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = X.columns
    return None if names is None else list(names)


def _is_column(X: Any) -> bool:
    """Whether this is one column: a Series of pandas or polars, an array of pyarrow."""
    alone = not hasattr(X, "columns") and not hasattr(X, "column_names")
    return alone and (hasattr(X, "iloc") or hasattr(X, "to_pylist") or hasattr(X, "to_list") and hasattr(X, "dtype"))


def _column(X: Any, name: Any) -> Any:
    if hasattr(X, "column_names"):
        return X.column(X.column_names.index(name))
    column = X[name]
    return column.iloc[:, 0] if hasattr(column, "iloc") and column.ndim == 2 else column  # two columns of one name


def _name(column: Any) -> str:
    name = getattr(column, "name", None) or getattr(column, "_name", None)
    return str(name) if name else "vector"


def _holds_vectors(column: Any) -> bool:
    if hasattr(column, "to_pylist"):
        return _is_arrow_list(column.type)
    if not hasattr(column, "iloc"):
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


def _matrix(column: Any, name: str) -> tuple[np.ndarray, list[str]]:
    """The vectors of a column below each other; NaN where there is none."""
    whole = _whole(column)
    values = _stacked(list(column.to_pylist() if hasattr(column, "to_pylist") else column), name) if whole is None else whole
    return values, [f"{name}[{at}]" for at in range(values.shape[1])]


def _whole(column: Any) -> np.ndarray | None:
    """The same without a step through Python, where nothing is missing and all vectors are of one length."""
    if hasattr(column, "to_pylist"):
        chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk)]
        entries = [chunk.flatten() for chunk in chunks]
        if not chunks or any(chunk.null_count for chunk in chunks + entries):
            return None
        sizes = {int(length) for chunk in chunks for length in _lengths(chunk)}
        if len(sizes) != 1 or sizes == {0}:
            return None
        return np.concatenate([entry.to_numpy(zero_copy_only=False) for entry in entries]).reshape(len(column), -1)
    if not hasattr(column, "iloc"):  # polars
        entries = column.explode()
        if column.null_count() or entries.null_count() or not len(column):
            return None
        sizes = set(column.list.len().unique()) if type(column.dtype).__name__ == "List" else {column.dtype.size}
        return entries.to_numpy().reshape(len(column), -1) if len(sizes) == 1 and sizes != {0} else None
    cells = list(column)
    same = {(cell.shape, cell.dtype) if isinstance(cell, np.ndarray) else None for cell in cells}
    return np.stack(cells) if len(same) == 1 and None not in same and cells[0].ndim == 1 and cells[0].dtype != object else None


def _lengths(chunk: Any) -> np.ndarray:
    """How long the lists of an array of pyarrow are, none of which is missing."""
    if hasattr(chunk.type, "list_size"):
        return np.asarray([chunk.type.list_size])
    return np.unique(np.diff(np.asarray(chunk.offsets)))


def _stacked(cells: list[Any], name: str) -> np.ndarray:
    first: tuple[int, int] | None = None
    rows: list[np.ndarray | None] = []
    for row, cell in enumerate(cells, 1):
        if not _is_there(cell):
            rows.append(None)
            continue
        try:
            vector = np.asarray(cell, dtype=np.float64)
        except (TypeError, ValueError) as refused:
            raise ValueError(f"row {row}, column {name!r}: {refused}; give every row a vector of numbers") from None
        if vector.ndim != 1:
            raise ValueError(f"row {row}, column {name!r} has {vector.ndim} dimensions; give every row a vector of numbers")
        first = first or (row, len(vector))
        if len(vector) != first[1]:
            numbers = "1 number" if len(vector) == 1 else f"{len(vector)} numbers"
            fact = f"row {row}, column {name!r} has {numbers} and row {first[0]} has {first[1]}"
            raise ValueError(f"{fact}; give every row a vector of one length")
        rows.append(vector)
    if first is None or first[1] == 0:
        raise ValueError(f"no row of column {name!r} has a vector with a number; leave the column out")
    return np.stack([np.full(first[1], np.nan) if row is None else row for row in rows])
