"""The sample, the model and the embedding have the same bytes for any division of the rows, and those of the Python package."""

import subprocess

import numpy as np
import pandas
import pytest
from conftest import MODE, column, of
from pyspark.sql import functions as F

import eigenfold
from eigenfold import _eigenfold
from eigenfold._classes import CLASSES
from eigenfold.spark import LaplacianEigenmaps, UMAP
from eigenfold.spark._sample import hashes

FEW = dict(inputCol="x", sampleSize=150, outputType="array<double>")


def sampled(X, size, seed=0):
    """The rows with the smallest hashes, in their order."""
    return X[np.argsort(hashes(X, seed)[0])[:size]]


@pytest.mark.cluster
def test_the_number_of_partitions_and_the_order_change_nothing(spark, frame, roll):
    divided = {parts: frame.repartition(parts) for parts in (1, 3, 8, 64)}
    divided["shuffled"] = frame.orderBy(F.xxhash64("id"))
    divided["mostly empty"] = frame.repartition(40).where("id >= 0").union(frame.where("id < 0"))
    models = {name: LaplacianEigenmaps(**FEW).fit(some) for name, some in divided.items()}
    assert len({model.content() for model in models.values()}) == 1
    expected = eigenfold.LaplacianEigenmaps().fit(sampled(roll, 150))
    assert models[1].content() == expected._model.to_bytes() or np.array_equal(models[1].estimator.embedding_, expected.embedding_)
    for name in (8, "mostly empty"):
        assert np.array_equal(column(models[name].transform(divided[name])), expected.transform(roll))


def test_batches_of_one_row_change_nothing(spark, frame, roll):
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    expected = eigenfold.LaplacianEigenmaps().fit(sampled(roll, 150)).transform(roll)
    try:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
        model = LaplacianEigenmaps(**FEW).fit(frame)
        assert np.array_equal(column(model.transform(frame)), expected)
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", before)


@pytest.mark.once
def test_the_sample_is_that_of_the_program(spark, frame, roll, tmp_path):
    import os

    pandas.DataFrame(roll).to_csv(tmp_path / "roll.csv", index=False)
    command = [os.environ["EIGENFOLD_PROGRAM"], "embed", "roll.csv", "-m", "umap", "-k", "10", "--fit-rows", "150", "--seed", "7", "-o", "map.npy", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    model = UMAP(seed=7, **FEW).fit(frame)
    assert np.array_equal(column(model.transform(frame)), np.load(tmp_path / "map.npy"))


@pytest.mark.once
def test_equal_rows_are_counted_and_zero_has_one_sign(spark):
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 10, axis=0)
    X[::20] = 0.0
    X[::40] = -0.0
    model = eigenfold.spark.PCA(sampleSize=100, inputCol="x", exact=False).fit(of(spark, X).repartition(7))
    again = eigenfold.spark.PCA(sampleSize=100, inputCol="x", exact=False).fit(of(spark, X[::-1].copy()).repartition(2))
    assert model.content() == again.content()
    rows, counts = np.unique(model.estimator._model.points, axis=0, return_counts=True)
    assert counts.sum() == 100
    # All rows of a content are taken, but of the last in the order of the hashes.
    whole = [int((X == row).all(axis=1).sum()) for row in rows]
    assert sum(counts != whole) <= 1 and (counts <= whole).all()


@pytest.mark.once
def test_another_seed_is_another_sample(spark, frame):
    first, second = (LaplacianEigenmaps(seed=seed, **FEW).fit(frame).estimator._model.points for seed in (0, 1))
    assert not np.array_equal(first, second)
    # About 150 * 150 / 400 rows are in both.
    both = len(set(map(tuple, first)) & set(map(tuple, second)))
    assert 30 < both < 90


@pytest.mark.once
def test_single_precision_stays_single(spark, frame, roll):
    from pyspark.sql.functions import expr

    single = frame.select("id", expr("transform(x, v -> float(v))").alias("x"))
    model = LaplacianEigenmaps(**FEW).fit(single)
    expected = eigenfold.LaplacianEigenmaps().fit(sampled(roll.astype(np.float32), 150))
    assert np.array_equal(column(model.transform(single)), expected.transform(roll.astype(np.float32)))


@pytest.mark.once
@pytest.mark.parametrize("name", CLASSES)
def test_every_method_is_that_of_python(spark, frame, roll, name, recwarn):
    few = {"max_iter": 3} if name in ("MVU", "GPLVM") else {}
    own = {"maxIter": 3} if few else {}
    exact = {"exact": False} if name in ("PCA", "PPCA", "FactorAnalysis") else {}
    std = {} if name in ("PCA", "ClassicalMDS", "KernelPCA", "PPCO", "PKPCA") else {"stdCol": "sd"}
    model = getattr(eigenfold.spark, name)(inputCol="x", sampleSize=60, outputType="array<double>", heldOut=False, farCol="far", **std, **own, **exact).fit(frame)
    expected = CLASSES[name](**few).fit(sampled(roll, 60))
    few_rows = frame.where("id < 50").withColumn("x", F.expr("transform(x, v -> case when id < 2 then v * 100 else v end)"))
    X = roll[:50].copy()
    X[:2] *= 100
    embedded = model.inverseTransform(model.transform(few_rows)).drop("x") if name != "MVU" else model.transform(few_rows).drop("x")
    rows = sorted(embedded.collect(), key=lambda row: row["id"])
    if std:
        coordinates, deviations = expected.transform(X, return_std=True, held_out=False)
        assert np.array_equal([row["sd"] for row in rows], deviations)
    else:
        coordinates = expected.transform(X)
    assert np.array_equal([row["embedding"] for row in rows], coordinates)
    assert np.flatnonzero([row["far"] for row in rows]).tolist() == expected._model.transform(X, "error", False, None, None)[1]
    if name != "MVU":
        assert np.array_equal([row["reconstruction"] for row in rows], expected.inverse_transform(coordinates))


def test_the_hash_is_of_the_bits_of_the_row():
    # The value that every version must keep: the samples of saved tables depend on it.
    assert _eigenfold.row_hashes(np.array([[1.0, 2.0]]), 0).tolist() == _eigenfold.row_hashes(np.array([[1.0, 2.0]], np.float32), 0).tolist()
    assert MODE and int(_eigenfold.row_hashes(np.array([[1.0, -0.0]]), 3)[0]) == int(_eigenfold.row_hashes(np.array([[1.0, 0.0]]), 3)[0])
