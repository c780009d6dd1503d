"""Data to try methods on: real sets that come with the package, and sheets whose true coordinates are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import _eigenfold, _input


class Loaded(NamedTuple):
    """Real data: one row per point, the class of each, and what classes and features are called."""

    data: np.ndarray
    target: np.ndarray
    target_names: list[str]
    feature_names: list[str] | None


class Drawn(NamedTuple):
    """A drawn set: its points, their true coordinates on the sheet, and what colors them."""

    data: np.ndarray
    truth: np.ndarray
    target: np.ndarray


def load(name: str) -> Loaded:
    """Real data: "digits" (1797 x 64) or "iris" (150 x 4).

    >>> from eigenfold import datasets
    >>> datasets.load("iris").data.shape
    (150, 4)
    """
    if name not in ("digits", "iris"):
        raise ValueError(f"{name!r} is not a data set; give 'digits' or 'iris', or see make")
    return Loaded(*_eigenfold.builtin(name))


def names() -> list[str]:
    """What `make` can draw."""
    return list(_eigenfold.samples())


def make(name: str, n: int = 1000, *, noise: float = 0.0, random_state: int = 0) -> Drawn:
    """Draws `n` points of a sheet, with Gaussian noise of this standard deviation on every coordinate.

    >>> from eigenfold import datasets
    >>> datasets.make("swiss-roll", n=300).truth.shape
    (300, 2)
    """
    return Drawn(*_eigenfold.sample(name, n, noise, _input.seed(random_state)))
