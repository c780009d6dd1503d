"""Tasks that fail, executors that die, and workers without the package: every row once, and errors of one line."""

import os
import signal
import sys
import time

import numpy as np
import pandas
import pytest
from conftest import MODE, column
from pyspark import TaskContext

import eigenfold
from eigenfold.spark import LaplacianEigenmaps

FEW = dict(inputCol="x", sampleSize=100, outputType="array<double>")


def failing():
    """A function for `mapInArrow` that fails in the first attempt at every odd partition."""

    def work(batches):
        yield from batches
        if TaskContext.get().partitionId() % 2 and TaskContext.get().attemptNumber() == 0:
            raise RuntimeError("once")

    return work


def deadly(mark):
    """A function for `mapInArrow` that kills its executor, once."""

    def work(batches):
        yield from batches
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        # The parent of the daemon of Python is the executor.
        with open(f"/proc/{os.getppid()}/stat") as file:
            os.kill(int(file.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
        time.sleep(30)

    return work


@pytest.mark.cluster
def test_a_task_that_fails_is_repeated_and_every_row_comes_once(spark, frame, roll):
    model = LaplacianEigenmaps(**FEW).fit(frame)
    shaky = frame.repartition(4).mapInArrow(failing(), frame.schema)
    assert LaplacianEigenmaps(**FEW).fit(shaky).content() == model.content()
    embedded = model.transform(shaky)
    assert np.array_equal(column(embedded), model.estimator.transform(roll))
    assert sorted(row["id"] for row in embedded.select("id").collect()) == list(range(400))


@pytest.mark.cluster
@pytest.mark.skipif(not MODE.startswith("local-cluster"), reason="the only executor is the driver")
def test_an_executor_that_dies_costs_no_row(spark, frame, roll, tmp_path):
    model = LaplacianEigenmaps(**FEW).fit(frame)
    dying = frame.repartition(2).mapInArrow(deadly(str(tmp_path / "mark")), frame.schema)
    embedded = model.transform(dying).select("id", "embedding").collect()
    assert (tmp_path / "mark").exists()
    assert sorted(row["id"] for row in embedded) == list(range(400))
    expected = model.estimator.transform(roll)
    assert all(np.array_equal(row["embedding"], expected[row["id"]]) for row in embedded)


@pytest.mark.once
@pytest.mark.cluster
def test_slow_tasks_that_run_twice_give_every_row_once(spark, frame):
    # Speculation is on; in a cluster the second copy of a slow task runs on the other executor.
    def slow(batches):
        yield from batches
        if TaskContext.get().partitionId() == 0 and TaskContext.get().attemptNumber() == 0:
            time.sleep(1.5)

    model = LaplacianEigenmaps(**FEW).fit(frame.repartition(4).mapInArrow(slow, frame.schema))
    assert model.content() == LaplacianEigenmaps(**FEW).fit(frame).content()
    assert model.transform(frame.repartition(4).mapInArrow(slow, frame.schema)).count() == 400


@pytest.mark.once
def test_a_worker_without_the_package_or_with_another_version_is_reported(spark, frame, monkeypatch):
    from eigenfold.spark import _ship

    work = _ship.on_workers("eigenfold.spark._embed", "embedded", "99.0")
    with pytest.raises(RuntimeError, match="the worker has eigenfold 0.1.0 and the driver has 99.0; install the same version"):
        list(work(iter([])))
    # The function travels by its code, so that it runs where the package cannot be imported.
    import pyspark.cloudpickle as cloudpickle
    import subprocess

    code = f"import sys, pickle; sys.modules['eigenfold'] = None; list(pickle.loads(bytes.fromhex('{cloudpickle.dumps(work).hex()}'))(iter([])))"
    import pyspark

    path = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(pyspark.__file__))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=path)
    last = done.stderr.strip().splitlines()[-1]
    assert "RuntimeError: the worker has no package eigenfold" in last and "install eigenfold==99.0 on all workers" in last


@pytest.mark.once
def test_rows_that_change_between_two_passes_are_refused(spark, frame):
    from pyspark.sql import functions as F

    changing = frame.withColumn("x", F.array(F.rand(), F.rand(), F.rand()).cast("array<double>"))

    def anew(batches):
        import pyarrow as pa

        for batch in batches:
            cells = np.random.default_rng().normal(size=(batch.num_rows, 3)).tolist()
            yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(cells, pa.list_(pa.float64()))], names=["id", "x"])

    for size in (5, 100, 400, 1000):
        with pytest.raises(ValueError, match="the rows changed between two passes over them; write the DataFrame to a table first"):
            LaplacianEigenmaps(inputCol="x", sampleSize=size).fit(changing.mapInArrow(anew, changing.schema))


@pytest.mark.once
def test_one_task_takes_one_thread(spark, frame):
    model = LaplacianEigenmaps(**FEW).fit(frame)

    def threads(batches):
        yield from batches
        import pyarrow as pa  # noqa: F401

        with open("/proc/self/status") as file:
            (count,) = [int(line.split()[1]) for line in file if line.startswith("Threads:")]
        assert count < 40, count

    assert model.transform(frame).mapInArrow(threads, model.transform(frame).schema).count() == 400


@pytest.mark.once
def test_nothing_of_the_jvm_is_used():
    folder = os.path.dirname(eigenfold.spark.__file__)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name)) as file:
                text = file.read()
            assert not [word for word in ("_jvm", ".rdd", "sparkContext", "_jdf", "py4j") if word in text], name
    assert pandas.__version__
