"""What the tests share: small data, every class, and the program."""

import os
from pathlib import Path

import numpy as np
import pytest

import eigenfold
from eigenfold._classes import CLASSES

ROOT = Path(__file__).resolve().parents[3]
# EIGENFOLD_PROGRAM names another one, as for the tests of a wheel.
PROGRAM = Path(os.environ.get("EIGENFOLD_PROGRAM", Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "eigenfold"))


@pytest.fixture(scope="session")
def roll() -> np.ndarray:
    return eigenfold.datasets.make("swiss-roll", n=120).data


@pytest.fixture(scope="session")
def few(roll: np.ndarray) -> np.ndarray:
    """For the inverse transform, whose cost grows with the rows: still more of them than one point is predicted from."""
    return roll[:50]


@pytest.fixture(params=CLASSES.values(), ids=CLASSES.keys())
def each(request: pytest.FixtureRequest) -> type:
    return request.param
