"""PCA, probabilistic PCA and factor analysis of all rows of a DataFrame.

They depend on the rows by the sums of the columns and of the products of two columns alone. These sums are exact: every task adds in fixed
point, so that neither the order of the rows nor their division changes a byte of the result, and the covariance is rounded once. One pass
over the rows gives the sums and a sample of rows, by which the model tells what is far and how large the errors of reconstructions are.

    S[j] = Σ x[i,j],   Q[j,k] = Σ x[i,j] x[i,k],   covariance = (n Q - S Sᵀ) / n²
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import _eigenfold, __version__
from ._columns import Columns, needed, way_out
from ._sample import hashes, invalid, most_common_width, partition, rows_of
from ._ship import on_workers

PARTIAL = "kind int, width int, slice int, count long, content binary, example string"
FAULT, SUMS, ROW = range(3)
# Sums that travel together, some 100 bytes each, and the most tasks that add those of all others.
SLICE = 16_384
JOINING = 8
# Bytes that a pair of columns takes on the driver: its exact sum, and the numbers of the covariance and of its eigenvectors.
PER_PAIR = 120


class Gathered(NamedTuple):
    """The moments of all rows that can be embedded, a sample of them, and how many cannot."""

    count: int
    mean: np.ndarray
    covariance: np.ndarray
    sample: np.ndarray
    invalid: int


class Task(NamedTuple):
    """What is gathered of the rows."""

    columns: Columns
    # The library's request, which has the logarithm to take.
    request: str
    size: int
    seed: int


def gather(dataset: Any, columns: Columns, request: dict[str, Any], size: int, handle: str) -> Gathered:
    """One pass over the rows of a DataFrame."""
    read, columns = needed(dataset, columns)
    _check_memory(read, columns, request["memory"])
    task = Task(columns, json.dumps(request), size, request["seed"])
    partial = read.mapInArrow(on_workers(__name__, "gathered", __version__, task), PARTIAL)
    joined = partial.repartition(JOINING, "kind", "width", "slice", "content").mapInArrow(on_workers(__name__, "joined", __version__, size), PARTIAL)
    rows = joined.toArrow().to_pylist()
    return _whole(rows, size, handle, np.dtype(np.float32 if columns.single else np.float64))


def _whole(rows: list[dict[str, Any]], size: int, handle: str, dtype: np.dtype) -> Gathered:
    """The results of all tasks as one."""
    faults = [row for row in rows if row["kind"] == FAULT]
    if faults and handle == "error":
        raise ValueError(way_out(min(row["example"] for row in faults)))
    heads = [row for row in rows if row["kind"] == SUMS and row["slice"] == 0]
    width, others = most_common_width([row["width"] for row in heads], [row["count"] for row in heads], [row["example"] for row in heads])
    if others and handle == "error":
        raise ValueError(way_out(others[0]))
    total = sum(row["count"] for row in heads) + sum(row["count"] for row in faults)
    count = sum(row["count"] for row in heads if row["width"] == width)
    if count < 2:
        raise ValueError(f"{count} of {total} rows can be embedded; give a DataFrame of 2 or more")
    moments = _eigenfold.ExactMoments(width)
    contents: dict[bytes, int] = {}
    for row in rows:
        if row["width"] != width:
            continue
        if row["kind"] == SUMS:
            moments.merge(row["slice"] * SLICE, row["content"], row["count"] if row["slice"] == 0 else 0)
        elif row["kind"] == ROW:
            contents[row["content"]] = contents.get(row["content"], 0) + row["count"]
    sample = rows_of(contents, width, size, dtype)
    return Gathered(count, moments.mean(), moments.covariance(), sample, total - count)


def _check_memory(read: Any, columns: Columns, memory: int | None) -> None:
    """Refuses columns whose covariance does not fit into memory, before any task is started."""
    width = len(columns.names)
    if columns.kind != "columns":
        first = read.first()
        width = 0 if first is None or first[0] is None else len(first[0])
    wanted = PER_PAIR * width * (width + 1) // 2
    limit = memory if memory is not None else int(0.9 * _available())
    if wanted > limit:
        fact = f"the covariance of {width} columns takes {wanted / 1e9:.1f} GB on the driver, and {limit / 1e9:.1f} GB may be used"
        raise ValueError(f"{fact}; use exact=False, which fits a sample, or fewer columns")


def _available() -> int:
    try:
        with open("/proc/meminfo") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


class Smallest:
    """The contents of the rows with the smallest hashes so far, each with its count."""

    def __init__(self, size: int) -> None:
        self.size, self.bound, self.counts = size, None, dict[bytes, int]()

    def add(self, content: bytes, count: int) -> None:
        """Count a content."""
        self.counts[content] = self.counts.get(content, 0) + count
        if len(self.counts) > 2 * self.size:
            self.prune()

    def prune(self) -> None:
        """Leave the contents that are needed for a sample."""
        kept, rows = {}, 0
        for content in sorted(self.counts):
            if rows >= self.size:
                break
            kept[content] = self.counts[content]
            rows += kept[content]
        if rows >= self.size:
            self.counts, self.bound = kept, content[:8]


def gathered(batches: Iterator[Any], task: Task) -> Iterator[Any]:
    """The sums and the sample of the rows of a partition."""
    part, above, columns = partition(), 0, task.columns
    moments: dict[int, Any] = {}
    smallest: dict[int, Smallest] = {}
    examples: dict[int, str] = {}
    faults, fault = 0, None
    for batch in batches:
        there = np.zeros(batch.num_rows, bool)
        for rows, matrix in columns.groups(batch):
            there[rows] = good = ~invalid(matrix, False)
            width = matrix.shape[1]
            if fault is None and not good.all():
                first = int(np.flatnonzero(~good)[0])
                fault = f"{columns.name_of(batch, int(rows[first]), part, above)}: {columns.fault(matrix[first], None, False)}"
            if not good.any() or width == 0:
                continue
            matrix = matrix if good.all() else matrix[good]
            if width not in moments:
                moments[width], smallest[width] = _eigenfold.ExactMoments(width), Smallest(task.size)
                examples[width] = f"{columns.name_of(batch, int(rows[0]), part, above)}: column {columns.names[0]!r} has {width}"
            moments[width].add(_eigenfold.logarithms(task.request, matrix.astype(np.float64, copy=False)) if LOG in task.request else matrix)
            _offer(smallest[width], matrix, task.seed)
        faults += int((~there).sum())
        if fault is None and not there.all():
            fault = f"{columns.name_of(batch, int(np.flatnonzero(~there)[0]), part, above)}: {columns.fault(None, None, False)}"
        above += batch.num_rows
    if faults:
        yield _batch([(FAULT, 0, 0, faults, None, fault)])
    for width, own in moments.items():
        for at, first in enumerate(range(0, own.length, SLICE)):
            yield _batch([(SUMS, width, at, own.count, own.to_bytes(first, min(own.length, first + SLICE)), examples[width])])
        yield from _rows(width, smallest[width])


# What a request has that takes a logarithm.
LOG = '"log": "'


def _offer(smallest: Smallest, matrix: np.ndarray, seed: int) -> None:
    found, _ = hashes(matrix, seed)
    bound = 2**64 - 1 if smallest.bound is None else int.from_bytes(smallest.bound, "big")
    chosen = np.flatnonzero(found <= np.uint64(bound))
    if smallest.bound is None and len(chosen) > smallest.size:
        few = np.argpartition(found[chosen], smallest.size - 1)
        chosen = chosen[found[chosen] <= found[chosen][few[smallest.size - 1]]]
    content = (matrix[chosen] + 0.0).astype(matrix.dtype.newbyteorder("<"))
    for key, row in zip(found[chosen].tolist(), content):
        smallest.add(key.to_bytes(8, "big") + row.tobytes(), 1)


def _rows(width: int, smallest: Smallest) -> Iterator[Any]:
    smallest.prune()
    contents = sorted(smallest.counts)
    for first in range(0, len(contents), SLICE):
        yield _batch([(ROW, width, 0, smallest.counts[content], content, None) for content in contents[first : first + SLICE]])


def _batch(rows: list[tuple[Any, ...]]) -> Any:
    kinds = [pa.int32(), pa.int32(), pa.int32(), pa.int64(), pa.binary(), pa.string()]
    columns = [pa.array(values, kind) for values, kind in zip(zip(*rows), kinds)]
    return pa.RecordBatch.from_arrays(columns, names=["kind", "width", "slice", "count", "content", "example"])


def joined(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """The sums of many tasks added, and the smallest of their samples."""
    faults, fault = 0, None
    sums: dict[tuple[int, int], Any] = {}
    counts: dict[tuple[int, int], int] = {}
    examples: dict[tuple[int, int], str] = {}
    smallest: dict[int, Smallest] = {}
    for batch in batches:
        for row in batch.to_pylist():
            width, key = row["width"], (row["width"], row["slice"])
            if row["kind"] == FAULT:
                faults, fault = faults + row["count"], min(row["example"], fault or row["example"])
            elif row["kind"] == ROW:
                smallest.setdefault(width, Smallest(size)).add(row["content"], row["count"])
            else:
                length = min(SLICE, width + width * (width + 1) // 2 - row["slice"] * SLICE)
                sums.setdefault(key, _eigenfold.ExactSums(length)).merge(0, row["content"])
                counts[key] = counts.get(key, 0) + row["count"]
                examples[key] = min(row["example"], examples.get(key, row["example"]))
    if faults:
        yield _batch([(FAULT, 0, 0, faults, None, fault)])
    for (width, at), own in sums.items():
        yield _batch([(SUMS, width, at, counts[width, at], own.to_bytes(0, own.length), examples[width, at])])
    for width, few in smallest.items():
        yield from _rows(width, few)
