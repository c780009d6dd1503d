"""Quality measures of an embedding of any number of rows: some rows are drawn, and compared with all others by aggregations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import _eigenfold, __version__
from .._functions import dimension as dimension_of
from .._quality import Quality
from ._columns import Columns, Group, needed, quoted
from ._sample import draw, invalid
from ._ship import Shipped, kept, on_workers, ship

NEAREST = "row int, kind int, data double, map double"
COUNTS = "row int, kind int, place int, count long"
# The two ways to order rows: by their distances in the data, and in the embedding.
DATA, MAP = 0, 1
# The most tasks that join the results of all others.
JOINING = 8


class Pair(NamedTuple):
    """The columns of the data and of the embedding, side by side."""

    data: Columns
    map: Columns

    @property
    def names(self) -> tuple[str, ...]:
        return self.data.names + self.map.names

    @property
    def shown(self) -> tuple[str, ...]:
        return self.data.shown

    @property
    def single(self) -> bool:
        return False

    def within(self, names: list[str]) -> Pair:
        """The same columns, found in a batch by their place."""
        return Pair(self.data.within(names), self.map.within(names))

    def read(self, name: str) -> Any:
        """A column as an expression."""
        return (self.data if name in self.data.names else self.map).read(name)

    def as_read(self) -> Pair:
        """The same columns after `read`."""
        return Pair(self.data.as_read(), self.map.as_read())

    def groups(self, batch: Any) -> Iterator[Group]:
        """The rows that have both."""
        maps = list(self.map.groups(batch))
        for rows, data in self.data.groups(batch):
            for others, coordinates in maps:
                both, here, there = np.intersect1d(rows, others, assume_unique=True, return_indices=True)
                if len(both):
                    yield Group(both, np.hstack([data[here].astype(np.float64, copy=False), coordinates[there]]))

    def name_of(self, batch: Any, row: int, partition: int, above: int) -> str:
        return self.data.name_of(batch, row, partition, above)

    def fault(self, row: np.ndarray | None, width: int | None, missing: bool) -> str | None:
        return "a number is null, NaN or infinite, or there is no embedding"


def evaluate(
    dataset: Any, inputCol: str | None = None, inputCols: list[str] | None = None, embeddingCol: str = "embedding", *, rows: int = 200, nNeighbors: int = 10, metric: str = "euclidean", seed: int = 0
) -> Quality:
    """Measure how well an embedding preserves neighborhoods, with all rows of a DataFrame.

    Some rows are drawn by a hash of their content. Their neighbors are searched among all rows, in the data and in the embedding, and
    their ranks are counted among all rows. So the value of each drawn row is exact, and the means have standard errors. Rows without an
    embedding are left out. The result depends neither on partitions nor on the order of the rows. The DataFrame is read four times.

    Parameters
    ----------
    dataset : DataFrame
        The rows, with their embedding.
    inputCol : str, optional
        The column of vectors or arrays that was embedded.
    inputCols : list of str, optional
        The columns of numbers that were embedded, if there are several.
    embeddingCol : str, default='embedding'
        The column of coordinates.
    rows : int, default=200
        The number of rows that are drawn.
    nNeighbors : int, default=10
        The size of the neighborhoods.
    metric : str, default='euclidean'
        The distance between rows of the data, by the names of `eigenfold.knn_graph`.
    seed : int, default=0
        The seed of the sample.

    Returns
    -------
    Quality
        A dict of `trustworthiness`, `continuity` and `neighbors_kept`, as `eigenfold.quality` defines them, with the attributes `errors`
        (standard errors), `pointwise` and `n_neighbors`.

    Raises
    ------
    ValueError
        If there are too few rows, or a column does not exist or has another type.

    See Also
    --------
    eigenfold.quality : The same and more measures of an array.
    """
    if (own := _eigenfold.metric(metric)) is None or own.startswith("mahalanobis"):
        raise ValueError(f"metric is {metric!r}; give one of eigenfold.knn_graph that does not depend on all rows")
    data = Columns.of(dataset.schema, inputCol, inputCols)
    pair = Pair(data, Columns.of(dataset.schema, embeddingCol, None))
    drawn = draw(dataset, pair, rows, seed, False, "skip")
    k, n, count = nNeighbors, drawn.rows, len(drawn.matrix)
    if not 0 < 2 * k <= n:
        raise ValueError(f"{n} rows are too few for neighborhoods of {k}; use nNeighbors={max(1, n // 2)} or less")
    map_name = quoted(embeddingCol)
    dims = len(dataset.select(map_name).where(f"{map_name} is not null").first()[0])
    split = drawn.matrix.shape[1] - dims
    read, pair = needed(dataset, pair)
    plan = Plan(_shipped(dataset, drawn.matrix), drawn.matrix.shape, split, own)

    near = read.mapInArrow(on_workers(__name__, "nearest", __version__, pair, plan, k), NEAREST)
    joined = near.repartition(JOINING, "row").mapInArrow(on_workers(__name__, "nearest_of_all", __version__, k), NEAREST)
    found = joined.toArrow().to_pydict()
    bounds = _neighbors(found, count, k)
    ranks = read.mapInArrow(on_workers(__name__, "counted", __version__, pair, plan, bounds), COUNTS)
    total = ranks.groupBy("row", "kind", "place").agg({"count": "sum"}).toArrow().to_pydict()
    of = np.zeros((count, 2, k), np.int64)
    of[total["row"], total["kind"], total["place"]] = total["sum(count)"]
    # A row counts itself as nearer, so that the count of nearer rows is the rank; ties take the lowest.
    beyond = np.maximum(np.maximum(of, 1) - k, 0)
    most = k * (2.0 * n - 3.0 * k - 1.0) / 2.0
    values = {
        "trustworthiness": 1.0 - beyond[:, DATA].sum(axis=1) / most,
        "continuity": 1.0 - beyond[:, MAP].sum(axis=1) / most,
        "neighbors_kept": (np.maximum(of[:, DATA], 1) <= k).mean(axis=1),
    }
    quality = Quality({name: float(each.mean()) for name, each in values.items()})
    spread = np.sqrt((1.0 - count / n) / count)
    quality.errors = {name: float(spread * each.std(ddof=1)) if count < n else None for name, each in values.items()}
    quality.pointwise, quality.rows, quality.n_neighbors = values, np.arange(count), k
    return quality


def dimension(dataset: Any, inputCol: str | None = None, inputCols: list[str] | None = None, *, sampleSize: int = 20_000, seed: int = 0) -> dict[str, Any]:
    """Estimate the intrinsic dimension of the rows of a DataFrame, by a sample of them.

    Parameters
    ----------
    dataset : DataFrame
        The rows.
    inputCol : str, optional
        The column of vectors or arrays.
    inputCols : list of str, optional
        The columns of numbers, if there are several.
    sampleSize : int, default=20000
        The number of rows that are drawn by a hash of their content.
    seed : int, default=0
        The seed of the sample.

    Returns
    -------
    dict
        What `eigenfold.dimension` returns for the sample: `recommended`, and the `estimates` with their intervals.

    See Also
    --------
    eigenfold.dimension : The same of an array.
    """
    columns = Columns.of(dataset.schema, inputCol, inputCols)
    return dimension_of(draw(dataset, columns, sampleSize, seed, False, "error").matrix)


class Plan(NamedTuple):
    """The drawn rows, which have their features up to `split` and then their coordinates."""

    drawn: Shipped
    shape: tuple[int, ...]
    split: int
    metric: str

    def distances(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distances of the drawn rows to others, in the data and in the embedding."""
        drawn = kept(self.drawn, "drawn", lambda content: np.frombuffer(content).reshape(self.shape))
        split = self.split
        return (
            _eigenfold.distances(drawn[:, :split], matrix[:, :split], self.metric),
            _eigenfold.distances(drawn[:, split:], matrix[:, split:], "euclidean"),
        )


def _shipped(dataset: Any, matrix: np.ndarray) -> Shipped:
    return ship(dataset.sparkSession, np.ascontiguousarray(matrix, np.float64).tobytes())


def _rows(batches: Iterator[Any], pair: Pair) -> Iterator[np.ndarray]:
    for batch in batches:
        for _, matrix in pair.groups(batch):
            good = matrix[~invalid(matrix, False)]
            if len(good):
                yield good


def _least(first: np.ndarray, second: np.ndarray, count: int) -> np.ndarray:
    """The pairs of numbers that come first: by one, and by the other if those are equal."""
    if len(first) > count:
        few = np.flatnonzero(first <= np.partition(first, count - 1)[count - 1])
        first, second = first[few], second[few]
    order = np.lexsort((second, first))[:count]
    return np.column_stack([first[order], second[order]])


def nearest(batches: Iterator[Any], pair: Pair, plan: Plan, k: int) -> Iterator[Any]:
    """The rows of a partition that are nearest to each drawn row, and the row itself: their distances in the data and in the embedding."""
    best: dict[tuple[int, int], np.ndarray] = {}
    for matrix in _rows(batches, pair):
        both = plan.distances(matrix)
        for row in range(plan.shape[0]):
            for kind in (DATA, MAP):
                before = best.get((row, kind), np.empty((0, 2)))
                here, other = both[kind][row], both[1 - kind][row]
                best[row, kind] = _least(np.append(before[:, 0], here), np.append(before[:, 1], other), k + 1)
    yield from _pairs(best)


def _pairs(best: dict[tuple[int, int], np.ndarray]) -> Iterator[Any]:
    for (row, kind), pairs in best.items():
        data, other = (pairs[:, 0], pairs[:, 1]) if kind == DATA else (pairs[:, 1], pairs[:, 0])
        count = len(pairs)
        columns = [pa.array(np.full(count, row, np.int32)), pa.array(np.full(count, kind, np.int32)), pa.array(data), pa.array(other)]
        yield pa.RecordBatch.from_arrays(columns, names=["row", "kind", "data", "map"])


def nearest_of_all(batches: Iterator[Any], k: int) -> Iterator[Any]:
    """The nearest of those of all partitions."""
    best: dict[tuple[int, int], np.ndarray] = {}
    for batch in batches:
        row, kind, data, other = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("row", "kind", "data", "map"))
        key = 2 * row.astype(np.int64) + kind
        for one in np.unique(key):
            its, at = key == one, (int(one) // 2, int(one) % 2)
            first, second = (data[its], other[its]) if at[1] == DATA else (other[its], data[its])
            before = best.get(at, np.empty((0, 2)))
            best[at] = _least(np.append(before[:, 0], first), np.append(before[:, 1], second), k + 1)
    yield from _pairs(best)


def _neighbors(found: dict[str, list[Any]], count: int, k: int) -> np.ndarray:
    """For each drawn row the distances in the data of its neighbors in the embedding, and the other way around; itself left out."""
    row, kind, data, other = (np.asarray(found[name]) for name in ("row", "kind", "data", "map"))
    bounds = np.empty((count, 2, k))
    for at in range(count):
        for way in (DATA, MAP):
            its = np.flatnonzero((row == at) & (kind == way))
            by, across = (data, other) if way == DATA else (other, data)
            order = its[np.lexsort((across[its], by[its]))][1:]
            bounds[at, 1 - way] = across[order]
    return bounds


def counted(batches: Iterator[Any], pair: Pair, plan: Plan, bounds: np.ndarray) -> Iterator[Any]:
    """How many rows of a partition are nearer to each drawn row than its neighbors."""
    counts = np.zeros(bounds.shape, np.int64)
    for matrix in _rows(batches, pair):
        both = plan.distances(matrix)
        for row in range(len(bounds)):
            for kind in (DATA, MAP):
                counts[row, kind] += (both[kind][row][:, None] < bounds[row, kind]).sum(axis=0)
    rows, kinds, places = (part.ravel().astype(np.int32) for part in np.indices(counts.shape))
    yield pa.RecordBatch.from_arrays([pa.array(rows), pa.array(kinds), pa.array(places), pa.array(counts.ravel())], names=["row", "kind", "place", "count"])
