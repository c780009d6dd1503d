#!/usr/bin/env python3
"""Runs scikit-learn's own tests of its manifold methods with our classes in the place of theirs.

    bash scripts/python.sh --co -q > /dev/null       # makes the environment and the package
    PYTHONPATH=target/python target/python-venv/bin/python scripts/sklearn_tests.py

It counts the tests that fit one of our classes; the others test private helpers of scikit-learn and say nothing of us. The names in
`sklearn.manifold` are exchanged before the tests are imported; helpers that are private there stay theirs. It prints
every failure with its message, and the counts by file. docs/reference/benchmarks.md has the last run, every failure explained.
"""

import collections
import pathlib
import sys

import pytest
import sklearn
import sklearn.manifold

import eigenfold
from eigenfold._base import Estimator

OURS = ["Isomap", "LocallyLinearEmbedding", "SpectralEmbedding", "ClassicalMDS", "MDS", "TSNE"]
FILES = ["test_isomap.py", "test_locally_linear.py", "test_spectral_embedding.py", "test_classical_mds.py", "test_mds.py", "test_t_sne.py"]


class Counted:
    """Counts outcomes by file and keeps the first line of every failure."""

    def __init__(self) -> None:
        self.outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.failed: list[str] = []
        self.fitted = False
        fit = Estimator._fit

        def counted(estimator, *args, **more):
            self.fitted = True
            return fit(estimator, *args, **more)

        Estimator._fit = counted

    def pytest_runtest_setup(self) -> None:
        self.fitted = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            file, _, name = report.nodeid.rpartition("/")[2].partition("::")
            if report.when == "call" and (self.fitted or report.outcome == "failed"):
                self.outcomes[file][report.outcome] += 1
            if report.outcome == "failed":
                crash = getattr(report.longrepr, "reprcrash", None)
                self.failed.append(f"{file}::{name}: {crash.message.splitlines()[0] if crash else report.longrepr}")


def main() -> int:
    for name in OURS:
        theirs = getattr(sklearn.manifold, name)
        for module in (sklearn.manifold, sys.modules[theirs.__module__]):
            setattr(module, name, getattr(eigenfold, name))
    folder = pathlib.Path(sklearn.manifold.__file__).parent / "tests"
    files = [str(folder / file) for file in FILES if (folder / file).exists()]
    counted = Counted()
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", "-W", "ignore", "--rootdir", str(folder), "-c", "/dev/null", *files, *sys.argv[1:]], [counted])
    print(f"\nscikit-learn {sklearn.__version__}")
    for file, outcomes in counted.outcomes.items():
        print(f"  {file}: {outcomes['passed']} passed, {outcomes['failed']} failed")
    print("\n".join(counted.failed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
