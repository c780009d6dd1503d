"""Example data: two real data sets, and samples of surfaces whose true coordinates are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import _eigenfold, _input


class Loaded(NamedTuple):
    """A real data set, a named tuple.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The points.
    target : ndarray of int of shape (n_samples,)
        The class of each point, an index into `target_names`.
    target_names : list of str
        The names of the classes.
    feature_names : list of str or None
        The names of the features.

    See Also
    --------
    load : Return a real data set.
    """

    data: np.ndarray
    target: np.ndarray
    target_names: list[str]
    feature_names: list[str] | None


class Drawn(NamedTuple):
    """A sample of a surface or of clusters, a named tuple.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The points.
    truth : ndarray of shape (n_samples, n_true)
        The true coordinates of the points on the surface.
    target : ndarray of float of shape (n_samples,)
        What colors the points: the first coordinate along the surface, or the cluster.

    See Also
    --------
    make : Draw a sample.
    """

    data: np.ndarray
    truth: np.ndarray
    target: np.ndarray


def load(name: str) -> Loaded:
    """Return a real data set that comes with the package.

    Parameters
    ----------
    name : {'digits', 'iris'}
        The data set: 1,797 handwritten digits of 8 x 8 pixels in 10 classes, or 150 flowers with 4 measurements in 3 classes.

    Returns
    -------
    Loaded
        A named tuple of `data`, `target`, `target_names` and `feature_names`.

    Raises
    ------
    ValueError
        If there is no data set of this name.

    See Also
    --------
    make : Draw points of a surface whose true coordinates are known.

    Examples
    --------
    >>> from eigenfold import datasets
    >>> X, y, *_ = datasets.load("digits")
    >>> X.shape, y.shape
    ((1797, 64), (1797,))
    >>> datasets.load("iris").target_names
    ['setosa', 'versicolor', 'virginica']
    """
    if name not in ("digits", "iris"):
        raise ValueError(f"{name!r} is not a data set; give 'digits' or 'iris', or see make")
    return Loaded(*_eigenfold.builtin(name))


def names() -> list[str]:
    """Return the names of the surfaces that `make` draws.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    make : Draw points of one of them.

    Examples
    --------
    >>> from eigenfold import datasets
    >>> datasets.names()[:3]
    ['swiss-roll', 'severed-swiss-roll', 's-curve']
    """
    return list(_eigenfold.samples())


def make(name: str, n: int = 1000, *, noise: float = 0.0, random_state: int = 0) -> Drawn:
    """Draw points of a surface whose true coordinates are known.

    Parameters
    ----------
    name : str
        The surface: 'swiss-roll', 'severed-swiss-roll' (with a hole), 's-curve', 'spiral', 'ring', 'sphere', 'torus',
        'twin-peaks', 'helix', 'grid' or 'blobs' (five Gaussian clusters in ten dimensions).
    n : int, default=1000
        The number of points.
    noise : float, default=0.0
        The standard deviation of the Gaussian noise that is added to every feature.
    random_state : int, RandomState, Generator or None, default=0
        The seed; None is 0.

    Returns
    -------
    Drawn
        A named tuple of `data`, `truth` and `target`.

    Raises
    ------
    ValueError
        If there is no surface of this name, or a number is out of range.

    See Also
    --------
    names : Return the names of all surfaces.
    load : Return a real data set.

    Examples
    --------
    >>> from eigenfold import datasets
    >>> roll = datasets.make("swiss-roll", n=300, noise=0.1)
    >>> roll.data.shape, roll.truth.shape
    ((300, 3), (300, 2))
    """
    return Drawn(*_eigenfold.sample(name, n, noise, _input.seed(random_state)))
