"""A Spark session of the kind that EIGENFOLD_SPARK names: `local[2]`, `local-cluster[2,1,1024]`, or `connect` for a server of Spark Connect."""

import os
import warnings

import numpy as np
import pandas
import pytest
from pyspark.sql import SparkSession

import eigenfold

MODE = os.environ.get("EIGENFOLD_SPARK", "local[2]")
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "3",
    "spark.task.maxFailures": "3",
    # Queries of a few hundred rows are over before their code is compiled.
    "spark.sql.codegen.wholeStage": "false",
    "spark.log.level": "OFF",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "100ms",
}


def pytest_configure(config):
    config.addinivalue_line("markers", "once: runs in one kind of session, since another would tell nothing new")
    config.addinivalue_line("markers", "cluster: runs in a cluster too, since it is about several processes")
    config.addinivalue_line("markers", "classic: Spark Connect has no such thing")


def pytest_collection_modifyitems(items):
    unwanted = {"connect": ("once", "classic")}.get(MODE, ())
    for item in items:
        if any(item.get_closest_marker(name) for name in unwanted):
            item.add_marker(pytest.mark.skip("not with Spark Connect"))
        if MODE.startswith("local-cluster") and not item.get_closest_marker("cluster"):
            item.add_marker(pytest.mark.skip("not about several processes"))


@pytest.fixture(scope="session", autouse=True)
def few_tasks():
    """Every task takes a moment to start; two join what many have computed."""
    from eigenfold.spark import _quality, _sums

    _sums.JOINING = _quality.JOINING = 2


@pytest.fixture(scope="session")
def spark():
    warnings.simplefilter("ignore")
    builder = SparkSession.builder.remote("local[2,3]") if MODE == "connect" else SparkSession.builder.master(MODE.replace("local[2]", "local[2,3]"))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def roll() -> np.ndarray:
    return eigenfold.datasets.make("swiss-roll", n=400).data


@pytest.fixture(scope="session")
def frame(spark, roll):
    """The roll as arrays, with an id."""
    return of(spark, roll)


def of(session, X, **more):
    """A DataFrame of rows, with an id."""
    return session.createDataFrame(pandas.DataFrame({"id": np.arange(len(X)), "x": list(X), **more}))


def column(dataset, name="embedding"):
    """A column of arrays or vectors in the order of the ids, NaN where it is null."""
    rows = sorted(dataset.select("id", name).collect(), key=lambda row: row["id"])
    width = max(len(row[name]) for row in rows if row[name] is not None)
    return np.array([np.full(width, np.nan) if row[name] is None else np.asarray(list(row[name])) for row in rows])
