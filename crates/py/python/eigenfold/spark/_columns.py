"""The rows of Arrow batches as matrices: from vectors of spark.ml, from arrays, or from several columns of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import types

NUMBERS = (types.DoubleType, types.FloatType, types.LongType, types.IntegerType, types.ShortType, types.ByteType)
# What other columns of a row are shown where it is named.
NAMES = (types.StringType, types.LongType, types.IntegerType, types.ShortType, types.DateType, types.TimestampType)
SHOWN = 2


class Group(NamedTuple):
    """Rows of a batch that have the same number of features."""

    rows: np.ndarray
    matrix: np.ndarray


class Columns(NamedTuple):
    """The columns that hold the features of a row."""

    names: tuple[str, ...]
    kind: str
    # Whether all numbers are of single precision.
    single: bool
    # Columns by which a row is named in messages.
    shown: tuple[str, ...]
    # Where they are among the columns of a batch.
    places: tuple[int, ...] = ()
    shown_places: tuple[int, ...] = ()

    @staticmethod
    def of(schema: Any, column: str | None, columns: list[str] | None) -> Columns:
        """The columns of a DataFrame that a user named, checked."""
        if (column is None) == (columns is None):
            raise ValueError("give inputCol, a column of vectors or arrays, or inputCols, several columns of numbers")
        all_names = [field.name for field in schema.fields]
        fields = {field.name: field.dataType for field in schema.fields}
        given = [_resolved(name, all_names) for name in ([column] if column is not None else list(columns or []))]
        kinds = [fields[name] for name in given]
        shown = tuple(name for name, kind in fields.items() if isinstance(kind, NAMES) and name not in given and all_names.count(name) == 1)[:SHOWN]
        if column is not None:
            (column,) = given
        else:
            if not given:
                raise ValueError("inputCols is empty; name at least one column of numbers")
            for name, kind in zip(given, kinds):
                if not isinstance(kind, NUMBERS):
                    raise ValueError(f"column {name!r} is of type {kind.simpleString()}, which is not a number; cast it to double, or leave it out")
            return Columns(tuple(given), "columns", all(isinstance(kind, types.FloatType) for kind in kinds), shown)
        (kind,) = kinds
        if type(kind).__name__ == "VectorUDT":
            return Columns(tuple(given), "vector", False, shown)
        if isinstance(kind, types.ArrayType) and isinstance(kind.elementType, NUMBERS):
            return Columns(tuple(given), "array", isinstance(kind.elementType, types.FloatType), shown)
        raise ValueError(f"column {column!r} is of type {kind.simpleString()}; give vectors, arrays of numbers, or inputCols")

    def within(self, names: list[str]) -> Columns:
        """The same columns, found in a batch by their place: names may have dots, which Spark Connect takes for fields."""
        return self._replace(places=tuple(map(names.index, self.names)), shown_places=tuple(names.index(name) for name in self.shown if name in names))

    def read(self, name: str) -> Any:
        """A column as an expression, a vector as an array: Spark takes several times as long to hand over vectors."""
        from pyspark.sql import functions

        whole = functions.col(quoted(name))
        if self.kind != "vector" or name not in self.names:
            return whole
        from pyspark.ml.functions import vector_to_array

        return functions.when(whole.isNotNull(), vector_to_array(whole)).alias(name)

    def as_read(self) -> Columns:
        """The same columns after `read`."""
        return self._replace(kind="array") if self.kind == "vector" else self

    def width_of_one(self, read: Any) -> int:
        """The number of features of a row that has the most of the first few, of columns as they are read."""
        from pyspark.sql import functions

        if self.kind == "columns":
            return len(self.names)
        lengths = functions.size(functions.col(read.columns[self.places[0]]))
        return max([0, *(row[0] for row in read.where(lengths > 0).select(lengths).limit(100).collect())])

    def groups(self, batch: Any) -> Iterator[Group]:
        """The rows that there are, by their number of features; a null in a vector is NaN."""
        if self.kind == "columns":
            yield Group(np.arange(batch.num_rows), self._side_by_side(batch))
            return
        column = batch.column(self.places[0])
        lengths, entries, sparse = _of_vectors(column.flatten()) if self.kind == "vector" else _of_arrays(column)
        starts = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))])
        for length in np.unique(lengths[lengths >= 0]):
            rows = np.flatnonzero(lengths == length)
            if len(rows) == batch.num_rows:
                yield Group(rows, entries.reshape(len(rows), length))
            else:
                yield Group(rows, entries[(starts[rows, None] + np.arange(length))])
        yield from sparse

    def _side_by_side(self, batch: Any) -> np.ndarray:
        wanted = np.float32 if self.single else np.float64
        matrix = np.empty((batch.num_rows, len(self.names)), wanted)
        for at, place in enumerate(self.places):
            matrix[:, at] = batch.column(place).to_numpy(zero_copy_only=False)
        return matrix

    def name_of(self, batch: Any, row: int, partition: int, above: int) -> str:
        """A row of a batch, as messages name it: by its place, and by what stands beside it."""
        beside = ", ".join(f"{name}={batch.column(place)[row].as_py()!r}" for name, place in zip(self.shown, self.shown_places))
        return f"row {above + row + 1} of partition {partition}" + (f" ({beside})" if beside else "")

    def fault(self, row: np.ndarray | None, width: int | None, missing: bool) -> str | None:
        """Why a row cannot be embedded; None if it can."""
        if row is None:
            return f"column {self.names[0]!r} is null"
        if width is not None and len(row) != width:
            return f"column {self.names[0]!r} has {_numbers(len(row))} and the model has {width} features"
        wrong = np.flatnonzero(np.isinf(row) if missing else ~np.isfinite(row))
        if len(wrong) == 0:
            return None
        what = "infinite" if np.isinf(row[wrong[0]]) else "null or NaN"
        where = f"column {self.names[wrong[0]]!r}" if self.kind == "columns" else f"entry {wrong[0]} of column {self.names[0]!r}"
        return f"{where} is {what}"


def _resolved(name: str, names: list[str]) -> str:
    """The column that a name means, in small and capital letters if that is one, as in Spark."""
    found = [one for one in names if one == name] or [one for one in names if one.lower() == name.lower()]
    if not found:
        raise ValueError(f"there is no column {name!r}; the columns are {', '.join(map(repr, names))}")
    if len(found) > 1:
        raise ValueError(f"there are {len(found)} columns {name!r}; rename one of them")
    return found[0]


def quoted(name: str) -> str:
    """The name of a column as expressions take it."""
    return "`" + name.replace("`", "``") + "`"


def plain(dataset: Any) -> Any:
    """A DataFrame whose columns have names without dots and spaces."""
    return dataset.toDF(*(f"column{at}" for at in range(len(dataset.columns))))


def needed(dataset: Any, columns: Any) -> tuple[Any, Any]:
    """The columns that are read of a DataFrame alone, and where they are."""
    names = list(dict.fromkeys(columns.names + columns.shown))
    return plain(dataset.select(*map(columns.read, names))), columns.within(names).as_read()


def way_out(fault: str) -> str:
    """A fault with what can be done about it."""
    missing = ", or use missing='mean' or 'model'" if fault.endswith("NaN") else ""
    return f"{fault}; repair it, use handleInvalid='skip' or 'keep'{missing}"


def _numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"


def _of_arrays(column: Any) -> tuple[np.ndarray, np.ndarray, list[Group]]:
    """The length of every array, -1 where there is none, and the entries of all."""
    there = column.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.where(there, np.diff(column.offsets.to_numpy()), -1)
    entries = column.flatten().to_numpy(zero_copy_only=False)
    if entries.dtype not in (np.float32, np.float64):
        entries = entries.astype(np.float64)
    return lengths, entries, []


def _of_vectors(parts: list[Any]) -> tuple[np.ndarray, np.ndarray, list[Group]]:
    """The same of dense vectors; those that are sparse come as groups."""
    kind, size, indices, values = parts
    kinds = kind.fill_null(-1).to_numpy(zero_copy_only=False)
    lengths, entries, _ = _of_arrays(values)
    is_sparse = kinds == 0
    if not is_sparse.any():
        return lengths, entries, []
    sizes = np.where(is_sparse, size.fill_null(-1).to_numpy(zero_copy_only=False), -1)
    counts = np.maximum(lengths, 0)
    starts = np.concatenate([[0], np.cumsum(counts)])
    places = np.zeros(len(entries), np.int64)
    # Only sparse vectors have indices.
    places[np.repeat(is_sparse, counts)] = indices.flatten().to_numpy(zero_copy_only=False)
    groups = []
    for width in np.unique(sizes[is_sparse]):
        rows = np.flatnonzero(sizes == width)
        matrix = np.zeros((len(rows), width))
        among = np.repeat(np.arange(len(rows)), counts[rows])
        taken = np.concatenate([np.arange(starts[row], starts[row + 1]) for row in rows])
        matrix[among, places[taken]] = entries[taken]
        groups.append(Group(rows, matrix))
    dense = kinds == 1
    return np.where(dense, lengths, -1), entries[np.repeat(dense, counts)], groups


# Vectors as spark.ml keeps them in Arrow.
VECTOR = pa.struct([pa.field("type", pa.int8(), nullable=False), pa.field("size", pa.int32()), pa.field("indices", pa.list_(pa.field("element", pa.int32(), nullable=False))), pa.field("values", pa.list_(pa.field("element", pa.float64(), nullable=False)))])


def field_of(kind: str) -> Any:
    """The type of a column of matrices' rows in a schema."""
    if kind == "vector":
        from pyspark.ml.linalg import VectorUDT

        return VectorUDT()
    return types.ArrayType(types.FloatType() if kind == "array<float>" else types.DoubleType(), False)


def column_of(matrix: np.ndarray, there: np.ndarray | None, kind: str) -> Any:
    """The rows of a matrix as a column; null where a row is not there, which the matrix leaves out."""
    values = pa.array(matrix.ravel().astype(np.float32 if kind == "array<float>" else np.float64, copy=False))
    width = matrix.shape[1]
    if there is None:
        there = np.ones(len(matrix), bool)
    gone = None if there.all() else pa.array(~there)
    offsets = pa.array(np.concatenate([[0], np.cumsum(np.where(there, width, 0))]).astype(np.int32))
    if kind != "vector":
        return pa.ListArray.from_arrays(offsets, values, mask=gone, type=pa.list_(pa.field("element", values.type, nullable=False)))
    lists = pa.ListArray.from_arrays(offsets, values, type=VECTOR.field("values").type)
    count = len(there)
    parts = [pa.array(np.ones(count, np.int8)), pa.nulls(count, pa.int32()), pa.nulls(count, VECTOR.field("indices").type), lists]
    return pa.StructArray.from_arrays(parts, fields=list(VECTOR), mask=gone)
