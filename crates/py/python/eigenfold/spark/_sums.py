"""Exact sums over all rows of a DataFrame: every task adds the rows of its partition in fixed point, and some tasks add the sums of all others.

Neither the order of the rows nor their division into partitions and batches changes a byte of the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import _eigenfold, __version__
from ._columns import Columns, way_out
from ._sample import hashes, invalid, most_common_width, partition, rows_of
from ._ship import on_workers

PARTIAL = "kind int, width int, slice int, length int, count long, content binary, example string"
FAULT, SUMS, ROW = range(3)
# Sums that travel together, some 100 bytes each, and the most tasks that add those of all others.
SLICE = 16_384
JOINING = 8


class Pass(NamedTuple):
    """What is summed over the rows."""

    columns: Columns
    # The library's request as JSON, which has the logarithm to take; and the size and the seed of a sample, without one if the size is 0.
    request: str
    has_logarithm: bool
    size: int
    seed: int
    # Whether cells may be missing.
    missing: bool
    # `moments`, or for missing cells `observed`, `centered` and `terms`, and what they are about.
    what: str = "moments"
    about: bytes = b""


class Summed(NamedTuple):
    """The sums over the rows that can be embedded, a sample of these, and how many rows cannot."""

    width: int
    rows: int
    invalid: int
    sums: Any
    sample: np.ndarray


class Observed:
    """The sums of the observed cells of every column, their counts, and the count of rows without any."""

    def __init__(self, width: int) -> None:
        self.sums = _eigenfold.ExactSums(2 * width + 1)

    def add(self, rows: np.ndarray) -> None:
        """Add rows."""
        there = ~np.isnan(rows)
        self.sums.add(np.hstack([np.where(there, rows, 0.0), there, ~there.any(axis=1)[:, None]]))


class Centered:
    """The moments of rows without the means of the columns; a missing cell is the mean."""

    def __init__(self, width: int, about: bytes) -> None:
        self.sums, self.means = _eigenfold.ExactMoments(width), np.frombuffer(about)

    def add(self, rows: np.ndarray) -> None:
        """Add rows."""
        away = rows - self.means
        away[np.isnan(away)] = 0.0
        self.sums.add(away)


class Terms:
    """The gradient of the log likelihood of a latent model, and what belongs to it."""

    def __init__(self, width: int, about: bytes) -> None:
        self.about = about
        self.sums = _eigenfold.ExactSums(_eigenfold.latent_terms(about, np.empty((0, width))).shape[1])

    def add(self, rows: np.ndarray) -> None:
        """Add rows."""
        self.sums.add(_eigenfold.latent_terms(self.about, rows))


class Moments:
    """The sums of the columns and of the products of two columns."""

    def __init__(self, width: int) -> None:
        self.sums = _eigenfold.ExactMoments(width)

    def add(self, rows: np.ndarray) -> None:
        """Add rows."""
        self.sums.add(rows)


def sums_of(what: str, width: int, about: bytes) -> Any:
    """Empty sums of rows of this number of features."""
    return {"moments": lambda: Moments(width), "observed": lambda: Observed(width), "centered": lambda: Centered(width, about), "terms": lambda: Terms(width, about)}[what]()


def summed(read: Any, over: Pass, handle: str, known: int | None = None) -> Summed:
    """One pass over the rows; `known` is the number of features, if it is known."""
    partial = read.mapInArrow(on_workers(__name__, "partial", __version__, over), PARTIAL)
    # Terms are few: one task adds those of all others.
    keys = ["kind", "width", "slice", "content"]
    spread = partial.repartition(1) if over.what == "terms" else partial.repartition(JOINING, *keys)
    rows = spread.mapInArrow(on_workers(__name__, "joined", __version__, over.size), PARTIAL).toArrow().to_pylist()
    faults = [row for row in rows if row["kind"] == FAULT]
    if faults and handle == "error":
        raise ValueError(way_out(min(row["example"] for row in faults)))
    heads = [row for row in rows if row["kind"] == SUMS and row["slice"] == 0]
    width, others = most_common_width([row["width"] for row in heads], [row["count"] for row in heads], [row["example"] for row in heads])
    width = width if known is None else known
    if others and handle == "error":
        raise ValueError(way_out(others[0]))
    total = sum(row["count"] for row in heads) + sum(row["count"] for row in faults)
    count = sum(row["count"] for row in heads if row["width"] == width)
    if count < 2:
        raise ValueError(f"{count} of {total} rows can be embedded; give a DataFrame of 2 or more")
    whole = sums_of(over.what, width, over.about).sums
    contents: dict[bytes, int] = {}
    for row in rows:
        if row["kind"] == SUMS and row["width"] == width:
            more = [row["count"] if row["slice"] == 0 else 0] if hasattr(whole, "covariance") else []
            whole.merge(row["slice"] * SLICE, row["content"], *more)
        elif row["kind"] == ROW and row["width"] == width:
            contents[row["content"]] = contents.get(row["content"], 0) + row["count"]
    sample = rows_of(contents, width, over.size, np.dtype(np.float32 if over.columns.single else np.float64))
    return Summed(width, count, total - count, whole, sample)


class Smallest:
    """The contents of the rows with the smallest hashes so far, each with its count."""

    def __init__(self, size: int) -> None:
        self.size, self.bound = size, 2**64 - 1
        self.counts: dict[bytes, int] = {}

    def offer(self, matrix: np.ndarray, seed: int) -> None:
        """Offer rows."""
        found, _ = hashes(matrix, seed)
        chosen = np.flatnonzero(found <= np.uint64(self.bound))
        if len(chosen) > self.size:
            least = np.partition(found[chosen], self.size - 1)[self.size - 1]
            chosen = chosen[found[chosen] <= least]
        content = (matrix[chosen] + 0.0).astype(matrix.dtype.newbyteorder("<"))
        content[np.isnan(content)] = np.nan
        for key, row in zip(found[chosen].tolist(), content):
            self.add(key.to_bytes(8, "big") + row.tobytes(), 1)

    def add(self, content: bytes, count: int) -> None:
        """Count a content."""
        self.counts[content] = self.counts.get(content, 0) + count
        if len(self.counts) > 2 * self.size:
            self.prune()

    def prune(self) -> None:
        """Leave the contents that are needed for a sample."""
        kept: dict[bytes, int] = {}
        rows = 0
        for content in sorted(self.counts):
            if rows >= self.size:
                break
            kept[content] = self.counts[content]
            rows += kept[content]
        if rows >= self.size > 0:
            self.counts, self.bound = kept, int.from_bytes(max(kept)[:8], "big")

    def batches(self, width: int) -> Iterator[Any]:
        """The contents, as they travel."""
        self.prune()
        contents = sorted(self.counts)
        for first in range(0, len(contents), SLICE):
            yield _batch([(ROW, width, 0, 0, self.counts[content], content, None) for content in contents[first : first + SLICE]])


def partial(batches: Iterator[Any], over: Pass) -> Iterator[Any]:
    """The sums and the sample of the rows of a partition."""
    part, above, columns = partition(), 0, over.columns
    sums: dict[int, Any] = {}
    counts: dict[int, int] = {}
    smallest: dict[int, Smallest] = {}
    examples: dict[int, str] = {}
    faults, fault = 0, None
    for batch in batches:
        there = np.zeros(batch.num_rows, bool)
        for rows, matrix in columns.groups(batch):
            there[rows] = good = ~invalid(matrix, over.missing)
            width = matrix.shape[1]
            if fault is None and not good.all():
                first = int(np.flatnonzero(~good)[0])
                fault = f"{columns.name_of(batch, int(rows[first]), part, above)}: {columns.fault(matrix[first], None, over.missing)}"
            matrix = matrix if good.all() else matrix[good]
            if len(matrix) == 0 or width == 0:
                there[rows] = False
                fault = fault or f"{columns.name_of(batch, int(rows[0]), part, above)}: column {columns.names[0]!r} has 0 numbers"
                continue
            if width not in sums:
                sums[width], counts[width], smallest[width] = sums_of(over.what, width, over.about), 0, Smallest(over.size)
                examples[width] = f"{columns.name_of(batch, int(rows[0]), part, above)}: column {columns.names[0]!r} has {width}"
            plain = over.what == "moments" and not over.has_logarithm
            sums[width].add(matrix if plain else _eigenfold.logarithms(over.request, matrix.astype(np.float64, copy=False)))
            counts[width] += len(matrix)
            if over.size:
                smallest[width].offer(matrix, over.seed)
        faults += int((~there).sum())
        if fault is None and not there.all():
            fault = f"{columns.name_of(batch, int(np.flatnonzero(~there)[0]), part, above)}: {columns.fault(None, None, over.missing)}"
        above += batch.num_rows
    if faults:
        yield _batch([(FAULT, 0, 0, 0, faults, None, fault)])
    for width, own in sums.items():
        yield from _slices(width, own.sums, counts[width], examples[width])
        yield from smallest[width].batches(width)


def _slices(width: int, own: Any, count: int, example: str) -> Iterator[Any]:
    for at, first in enumerate(range(0, own.length, SLICE)):
        last = min(own.length, first + SLICE)
        yield _batch([(SUMS, width, at, last - first, count, own.to_bytes(first, last), example)])


def _batch(rows: list[tuple[Any, ...]]) -> Any:
    kinds = [pa.int32(), pa.int32(), pa.int32(), pa.int32(), pa.int64(), pa.binary(), pa.string()]
    columns = [pa.array(values, kind) for values, kind in zip(zip(*rows), kinds)]
    return pa.RecordBatch.from_arrays(columns, names=["kind", "width", "slice", "length", "count", "content", "example"])


def joined(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """The sums of many tasks added, and the smallest of their samples."""
    faults, fault = 0, None
    sums: dict[tuple[int, int], Any] = {}
    counts: dict[tuple[int, int], int] = {}
    examples: dict[tuple[int, int], str] = {}
    smallest: dict[int, Smallest] = {}
    for batch in batches:
        for row in batch.to_pylist():
            key = row["width"], row["slice"]
            if row["kind"] == FAULT:
                faults, fault = faults + row["count"], min(row["example"], fault or row["example"])
            elif row["kind"] == ROW:
                smallest.setdefault(row["width"], Smallest(size)).add(row["content"], row["count"])
            else:
                if key not in sums:
                    sums[key] = _eigenfold.ExactSums(row["length"])
                sums[key].merge(0, row["content"])
                counts[key] = counts.get(key, 0) + row["count"]
                examples[key] = min(row["example"], examples.get(key, row["example"]))
    if faults:
        yield _batch([(FAULT, 0, 0, 0, faults, None, fault)])
    for (width, at), own in sums.items():
        yield _batch([(SUMS, width, at, own.length, counts[width, at], own.to_bytes(0, own.length), examples[width, at])])
    for width, few in smallest.items():
        yield from few.batches(width)
