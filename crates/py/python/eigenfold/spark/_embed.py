"""What workers do with a model: embed the rows of a partition, or reconstruct them from coordinates, one Arrow batch after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import _eigenfold
from ._columns import Columns, column_of, way_out
from ._sample import invalid, partition
from ._ship import Shipped, kept

# A task of Spark has one core.
THREADS = 1


class Plan(NamedTuple):
    """What is computed of the rows of a DataFrame, and where it goes."""

    model: Shipped
    columns: Columns
    width: int
    # How missing cells are treated, as in Python.
    missing: str
    handle: str
    kind: str
    # Whether there is a column of standard deviations, and one of rows that are far.
    std: bool
    far: bool
    held_out: bool | None


def embedded(batches: Iterator[Any], plan: Plan) -> Iterator[Any]:
    """The batches with the coordinates of their rows."""

    def prepared(content: bytes) -> Any:
        return _eigenfold.Model(content).transformer(plan.std, plan.held_out, THREADS)

    transformer = kept(plan.model, ("transform", plan.std, plan.held_out), prepared)

    def compute(rows: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray | None]:
        coordinates, far, std = transformer.transform(rows, plan.missing)
        if plan.std and std is None:
            raise ValueError(NO_STD)
        return coordinates, far, std

    yield from _with_columns(batches, plan, plan.missing != "error", compute)


NO_STD = "the extension of this method does not depend on nearby rows, which leaves no uncertainty to compute; use heldOut=True, or leave out stdCol"


def reconstructed(batches: Iterator[Any], plan: Plan) -> Iterator[Any]:
    """The batches with the rows of data that belong to their coordinates."""
    model = kept(plan.model, "inverse", _eigenfold.Model)

    def compute(points: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
        rows, std, _, far, _ = model.reconstruct(points, plan.std, plan.held_out, THREADS)
        return rows, far, std

    yield from _with_columns(batches, plan, False, compute)


def _with_columns(batches: Iterator[Any], plan: Plan, missing: bool, compute: Any) -> Iterator[Any]:
    part, above = partition(), 0
    for batch in batches:
        matrix, there = _rows(batch, plan, missing, part, above)
        above += batch.num_rows
        results: list[Any] = [np.empty((0, 1)), [], np.empty((0, 1))]
        if len(matrix):
            results = list(compute(matrix))
        whole = None if there.all() else there
        columns = [*batch.columns, column_of(results[0], whole, plan.kind)]
        if plan.std:
            columns.append(column_of(results[2], whole, plan.kind))
        if plan.far:
            columns.append(_flags(results[1], there))
        wide = pa.RecordBatch.from_arrays(columns, names=[f"column{at}" for at in range(len(columns))])
        yield wide.filter(pa.array(there)) if plan.handle == "skip" and whole is not None else wide


def _flags(far: list[int], there: np.ndarray) -> Any:
    flags = np.zeros(len(there), bool)
    flags[np.flatnonzero(there)[far]] = True
    return pa.array(flags, mask=~there)


def _rows(batch: Any, plan: Plan, missing: bool, part: int, above: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that the model can take, and which rows of the batch these are."""
    groups = list(plan.columns.groups(batch))
    if len(groups) == 1 and groups[0].matrix.shape == (batch.num_rows, plan.width):
        matrix = groups[0].matrix
        there = ~invalid(matrix, missing)
        if there.all():
            return matrix, there
    there, found = np.zeros(batch.num_rows, bool), None
    of: dict[int, np.ndarray] = {}
    for rows, some in groups:
        of.update(zip(rows.tolist(), some))
        if some.shape[1] == plan.width:
            good = ~invalid(some, missing)
            there[rows[good]] = True
            if found is None:
                found = np.empty((batch.num_rows, plan.width), some.dtype)
            found[rows[good]] = some[good]
    if plan.handle == "error" and not there.all():
        first = int(np.flatnonzero(~there)[0])
        fault = plan.columns.fault(of.get(first), plan.width, missing)
        raise ValueError(way_out(f"{plan.columns.name_of(batch, first, part, above)}: {fault}"))
    return (np.empty((0, plan.width)) if found is None else found[there]), there
