"""What the tests share: small data, every class, the program, and how examples are run."""

import doctest
import os
from pathlib import Path

import numpy as np
import pytest

import eigenfold
from eigenfold._classes import CLASSES

ROOT = Path(__file__).resolve().parents[3]
# EIGENFOLD_PROGRAM names another one, as for the tests of a wheel.
PROGRAM = Path(os.environ.get("EIGENFOLD_PROGRAM", Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "eigenfold"))


def run(text: str, name: str) -> None:
    """Runs the examples of a text."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert test.examples, name
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    out: list[str] = []
    runner.run(test, out=out.append)
    assert runner.failures == 0, "".join(out)


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
