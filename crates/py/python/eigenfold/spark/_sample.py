"""Samples of rows that depend on the content of the rows and on the seed alone: not on partitions, on batches or on the order.

Every row has a hash of its numbers; the rows with the smallest hashes are the sample, in the order of the hashes, as with
``eigenfold embed --fit-rows``. The first pass counts the rows by the leading digits of their hashes. The second one fetches the rows below
the bound that this gives, each content once with its count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import _eigenfold, __version__
from ._columns import Columns, needed, way_out
from ._ship import on_workers

COUNTED = "width int, bin int, count long, check long, example string"
FETCHED = "content binary, count long"
# Bits of a hash, as a number of double precision, that a bin leaves out: 64 bins between a power of two and the next.
LEFT_OUT = 46
# The digits of hashes that are summed to tell whether the rows of two passes are the same.
CHECKED = 2**24 - 1
# Contents that are sent together.
TOGETHER = 4096
# The bin of rows that cannot be embedded.
INVALID = -1


class Sample(NamedTuple):
    """A sample, and what was found on the way."""

    matrix: np.ndarray
    # All rows that can be embedded, and those that cannot.
    rows: int
    invalid: int


def draw(dataset: Any, columns: Any, size: int, seed: int, missing: bool, handle: str) -> Sample:
    """The rows of a DataFrame with the smallest hashes."""
    if size < 2:
        raise ValueError(f"sampleSize is {size}; give 2 or more")
    read, columns = needed(dataset, columns)
    count = on_workers(__name__, "counted", __version__, columns, seed, missing)
    found = read.mapInArrow(count, COUNTED).groupBy("width", "bin").agg({"count": "sum", "check": "sum", "example": "min"})
    table = found.toArrow().to_pydict()
    widths, bins, counts, checks, examples = (np.asarray(table[name]) for name in ("width", "bin", "sum(count)", "sum(check)", "min(example)"))
    invalid = bins == INVALID
    if invalid.any() and handle == "error":
        raise ValueError(way_out(min(examples[invalid])))
    width, others = most_common_width(widths[~invalid], counts[~invalid], examples[~invalid])
    if others and handle == "error":
        raise ValueError(way_out(others[0]))
    valid = ~invalid & (widths == width)
    rows = int(counts[valid].sum())
    if rows < 2:
        raise ValueError(f"{rows} of {int(counts.sum())} rows can be embedded; give a DataFrame of 2 or more")
    order = np.argsort(bins[valid])
    running = np.cumsum(counts[valid][order])
    enough = np.searchsorted(running, min(size, rows))
    bound, expected = int(bins[valid][order][enough]), int(running[enough])
    check = int(checks[valid][order][: enough + 1].sum())
    fetch = on_workers(__name__, "fetched", __version__, columns, seed, missing, width, bound)
    below = read.mapInArrow(fetch, FETCHED).groupBy("content").agg({"count": "sum"}).toArrow()
    contents = dict(zip(below["content"].to_pylist(), below["sum(count)"].to_pylist()))
    again = sum(count * (int.from_bytes(content[:8], "big") & CHECKED) for content, count in contents.items())
    if (sum(contents.values()), again) != (expected, check):
        raise ValueError("the rows changed between two passes over them; write the DataFrame to a table first, or persist it")
    matrix = rows_of(contents, width, size, np.dtype(np.float32 if columns.single else np.float64))
    return Sample(matrix, rows, int(counts.sum()) - rows)


def most_common_width(widths: Any, counts: Any, examples: Any) -> tuple[int, list[str]]:
    """The number of features of most rows, and examples of rows that have another."""
    totals: dict[int, int] = {}
    shown: dict[int, str] = {}
    for width, count, example in zip(map(int, widths), map(int, counts), examples):
        totals[width] = totals.get(width, 0) + count
        if example is not None:
            shown[width] = min(example, shown.get(width, example))
    most = max(totals, key=lambda width: (totals[width], width), default=0)
    return most, [f"{shown[width]} numbers, and most rows have {most}" for width in totals if width != most]


def rows_of(contents: dict[bytes, int], width: int, size: int, dtype: np.dtype) -> np.ndarray:
    """The first rows in the order of hash and content."""
    pairs = sorted(contents.items())
    counts = [count for _, count in pairs]
    flat = np.frombuffer(b"".join(content for content, _ in pairs), np.uint8).reshape(len(pairs), 8 + width * dtype.itemsize)
    values = np.ascontiguousarray(flat[:, 8:]).view(dtype.newbyteorder("<"))
    return np.repeat(values, counts, axis=0)[:size].astype(dtype, copy=False)


def hashes(matrix: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The hash of every row, and the bin of the hash."""
    found = _eigenfold.row_hashes(matrix, seed)
    return found, found.astype(np.float64).view(np.int64) >> LEFT_OUT


def invalid(matrix: np.ndarray, missing: bool) -> np.ndarray:
    """Which rows cannot be embedded."""
    return (np.isinf(matrix) if missing else ~np.isfinite(matrix)).any(axis=1)


def partition() -> int:
    """The number of the partition that a worker works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def counted(batches: Iterator[Any], columns: Columns, seed: int, missing: bool) -> Iterator[Any]:
    """The rows of a partition, counted by width and bin."""
    counts: dict[tuple[int, int], int] = {}
    checks: dict[tuple[int, int], int] = {}
    examples: dict[tuple[int, int], str] = {}
    part, above = partition(), 0

    def add(key: tuple[int, int], count: int, example: str | None, check: int = 0) -> None:
        counts[key], checks[key] = counts.get(key, 0) + count, checks.get(key, 0) + check
        if example is not None:
            examples.setdefault(key, example)

    for batch in batches:
        def named(row: int) -> str:
            return columns.name_of(batch, row, part, above)

        seen = np.zeros(batch.num_rows, bool)
        for rows, matrix in columns.groups(batch):
            seen[rows] = True
            width, wrong = matrix.shape[1], invalid(matrix, missing)
            if wrong.any():
                first = int(np.flatnonzero(wrong)[0])
                add((width, INVALID), int(wrong.sum()), f"{named(int(rows[first]))}: {columns.fault(matrix[first], None, missing)}")
                matrix, rows = matrix[~wrong], rows[~wrong]
            keys, bins = hashes(matrix, seed)
            found, first_of, amounts = np.unique(bins, return_inverse=True, return_counts=True)
            sums = np.bincount(first_of, (keys & np.uint64(CHECKED)).astype(np.float64), len(found))
            for at, (one, count, check) in enumerate(zip(found.tolist(), amounts.tolist(), sums.tolist())):
                new = at == 0 and width not in {key[0] for key in examples if key[1] != INVALID}
                add((width, one), count, f"{named(int(rows[0]))}: column {columns.names[0]!r} has {width}" if new else None, int(check))
        if not seen.all():
            add((0, INVALID), int((~seen).sum()), f"{named(int(np.flatnonzero(~seen)[0]))}: {columns.fault(None, None, missing)}")
        above += batch.num_rows
    known = list(counts)
    if known:
        whole, text = pa.int32(), [examples.get(key) for key in known]
        yield pa.RecordBatch.from_arrays(
            [pa.array([key[0] for key in known], whole), pa.array([key[1] for key in known], whole), pa.array(list(counts.values()), pa.int64()), pa.array(list(checks.values()), pa.int64()), pa.array(text, pa.string())],
            names=["width", "bin", "count", "check", "example"],
        )


def fetched(batches: Iterator[Any], columns: Columns, seed: int, missing: bool, width: int, bound: int) -> Iterator[Any]:
    """The contents of rows whose hashes are below a bound, each with its count."""
    found: dict[bytes, int] = {}
    for batch in batches:
        for rows, matrix in columns.groups(batch):
            if matrix.shape[1] != width:
                continue
            matrix = matrix[~invalid(matrix, missing)]
            keys, bins = hashes(matrix, seed)
            chosen = np.flatnonzero(bins <= bound)
            # One zero and one NaN, as the hash has them; the hash first, with its largest digits in front.
            content = (matrix[chosen] + 0.0).astype(matrix.dtype.newbyteorder("<"))
            content[np.isnan(content)] = np.nan
            for key, row in zip(keys[chosen].tolist(), content):
                whole = key.to_bytes(8, "big") + row.tobytes()
                found[whole] = found.get(whole, 0) + 1
    contents = list(found)
    for first in range(0, len(contents), TOGETHER):
        some = contents[first : first + TOGETHER]
        yield pa.RecordBatch.from_arrays([pa.array(some, pa.binary()), pa.array([found[one] for one in some], pa.int64())], names=["content", "count"])
