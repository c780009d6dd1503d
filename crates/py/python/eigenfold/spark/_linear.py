"""PCA, probabilistic PCA and factor analysis of all rows of a DataFrame.

They depend on complete rows by the sums of the columns and of the products of two columns alone. One pass gives these sums, which are exact,
and a sample of rows, by which the model tells what is far and how large the errors of reconstructions are:

    S[j] = Σ x[i,j],   Q[j,k] = Σ x[i,j] x[i,k],   covariance = (n Q - S Sᵀ) / n²

With missing cells the likelihood of probabilistic PCA and of factor analysis is maximized, and each of its evaluations is a pass.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .. import _eigenfold
from ._columns import Columns, needed
from ._sample import Sample
from ._sums import Pass, summed

# Bytes that a pair of columns takes on the driver: its exact sum, and the numbers of the covariance and of its eigenvectors.
PER_PAIR = 120


def fit(dataset: Any, columns: Columns, request: dict[str, Any], size: int, handle: str, listener: Any) -> tuple[Any, Sample]:
    """The library's model of all rows, and the sample that it has."""
    names = list(columns.names) if columns.kind == "columns" else None
    read, columns = needed(dataset, columns)
    _check_memory(read, columns, request["memory"])
    missing = request["missing"] == "model"
    over = Pass(columns, json.dumps(request), request["log"] is not None, size, request["seed"], missing)
    if missing:
        return _by_passes(read, over, request, handle, names, listener)
    found = summed(read, over, handle)
    _fill_dims(request, found)
    moments = (found.rows, found.sums.mean(), found.sums.covariance())
    model = _eigenfold.fit_moments(json.dumps(request), moments, found.sample, names, None, listener)
    return model, Sample(found.sample, found.rows, found.invalid)


def _by_passes(read: Any, over: Pass, request: dict[str, Any], handle: str, names: list[str] | None, listener: Any) -> tuple[Any, Sample]:
    """The fit of rows with missing cells: two passes for the start, and one for every evaluation of the likelihood."""
    read = read.persist()
    try:
        first = summed(read, over._replace(what="observed"), handle)
        _fill_dims(request, first)
        width, values = first.width, first.sums.values()
        sums, counts, empty = values[:width], values[width : 2 * width], int(values[-1])
        if not counts.all():
            name = over.columns.names[int(np.argmin(counts))] if names else over.columns.names[0]
            raise ValueError(f"column {name!r} has no observed cell{'' if names else f' in entry {int(np.argmin(counts))}'}; leave it out")
        means = sums / counts
        second = summed(read, over._replace(what="centered", about=means.tobytes(), size=0), "skip", width)

        def evaluate(latent: bytes) -> np.ndarray:
            return np.asarray(summed(read, over._replace(what="terms", about=latent, size=0), "skip", width).sums.values())

        statistics = (first.rows, [int(count) for count in counts], means, second.sums.covariance(), empty)
        model = _eigenfold.fit_latent_by_passes(json.dumps(request), statistics, evaluate, first.sample, names, None, listener)
    finally:
        read.unpersist()
    return model, Sample(first.sample, first.rows, first.invalid)


def _fill_dims(request: dict[str, Any], found: Any) -> None:
    if request["dims"] is None:
        request["dims"] = min(found.rows - 1, found.width)


def _check_memory(read: Any, columns: Columns, memory: int | None) -> None:
    """Refuses columns whose covariance does not fit into memory, before any task is started."""
    width = columns.width_of_one(read)
    wanted = PER_PAIR * width * (width + 1) // 2
    limit = memory if memory is not None else int(0.9 * _available())
    if wanted > limit:
        fact = f"the covariance of {width} columns takes {wanted / 1e9:.1f} GB on the driver and in every task, and {limit / 1e9:.1f} GB may be used"
        raise ValueError(f"{fact}; use exact=False, which fits a sample, or fewer columns")


def _available() -> int:
    try:
        with open("/proc/meminfo") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
