"""Columns that hold points: vectors, arrays and numbers; and rows that cannot be embedded."""

import re

import numpy as np
import pandas
import pytest
from conftest import column, of
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import Vectors
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

import eigenfold
from eigenfold.spark import UMAP, LaplacianEigenmaps

FEW = dict(sampleSize=100, outputType="array<double>")


@pytest.fixture(scope="module")
def expected(roll):
    from test_same_bytes import sampled

    return eigenfold.LaplacianEigenmaps().fit(sampled(roll, 100)).transform(roll)


@pytest.mark.parametrize("kind", ["array", "vector", "columns"])
def test_all_kinds_of_columns_are_the_same_points(spark, frame, expected, kind):
    some = {
        "array": frame,
        "vector": frame.withColumn("x", array_to_vector("x")),
        "columns": frame.select("id", *(F.col("x")[at].alias(name) for at, name in enumerate("abc"))),
    }[kind]
    given = {"inputCols": ["a", "b", "c"]} if kind == "columns" else {"inputCol": "x"}
    model = LaplacianEigenmaps(**given, **FEW).fit(some)
    assert np.array_equal(column(model.transform(some)), expected)
    if kind == "columns":
        assert model.estimator.feature_names_in_.tolist() == ["a", "b", "c"]


def test_sparse_vectors_are_points_too(spark):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6)) * (rng.random((120, 6)) < 0.4)
    X[3] = 0.0
    cells = [Vectors.sparse(6, np.flatnonzero(row), row[row != 0]) if at % 3 else Vectors.dense(row) for at, row in enumerate(X)]
    some = spark.createDataFrame([(at, cell) for at, cell in enumerate(cells)], ["id", "x"])
    model = eigenfold.spark.PCA(inputCol="x", exact=False, **FEW).fit(some)
    embedded = model.transform(some.repartition(3))
    assert np.array_equal(column(embedded), model.estimator.transform(X))
    # What was sparse stays sparse.
    assert sorted(embedded.collect(), key=lambda row: row["id"])[1]["x"] == cells[1]


@pytest.mark.once
@pytest.mark.parametrize("kind", ["vector", "array<double>", "array<float>"])
def test_the_type_of_the_output_is_chosen(spark, frame, kind):
    model = LaplacianEigenmaps(inputCol="x", sampleSize=100, outputType=kind).fit(frame)
    embedded = model.transform(frame)
    assert embedded.schema["embedding"].dataType.simpleString() == kind
    wanted = model.estimator.embedding_.dtype if kind != "array<float>" else np.float32
    values = model.transform(frame.limit(3)).collect()
    assert all(np.array_equal(np.asarray(list(row["embedding"])), model.estimator.transform(np.array([row["x"]]))[0].astype(wanted)) for row in values)


BROKEN = {
    "null": (None, "column 'x' is null"),
    "nan": ([1.0, float("nan"), 2.0], "entry 1 of column 'x' is null or NaN"),
    "infinite": ([1.0, 2.0, float("inf")], "entry 2 of column 'x' is infinite"),
    "short": ([1.0, 2.0], "2 numbers"),
    "empty": ([], "0 numbers"),
}


@pytest.mark.parametrize("kind", ["null", "short", *(pytest.param(kind, marks=pytest.mark.once) for kind in ("nan", "infinite", "empty"))])
def test_a_row_that_cannot_be_embedded_is_named_skipped_or_kept(spark, frame, roll, kind):
    cell, fault = BROKEN[kind]
    name = pandas.DataFrame({"id": [1000], "x": [cell]})
    some = frame.unionByName(spark.createDataFrame(name, frame.schema)).repartition(1)
    with pytest.raises(ValueError, match=re.escape(fault)) as refused:
        LaplacianEigenmaps(inputCol="x", **FEW).fit(some)
    assert "partition 0 (id=1000)" in str(refused.value) and "handleInvalid" in str(refused.value) and "\n" not in str(refused.value)

    for handle in ("skip", "keep") if kind in ("null", "short") else ():
        with pytest.warns(UserWarning, match="1 row of 401 cannot be embedded"):
            model = LaplacianEigenmaps(inputCol="x", handleInvalid=handle, farCol="far", stdCol="sd", heldOut=False, **FEW).fit(some)
        assert model.summary["rows"] == 400 and model.summary["invalid"] == 1
        found = column(model.transform(some))
        assert np.array_equal(found[:400], model.estimator.transform(roll))
        assert len(found) == 400 + (handle == "keep") and np.isnan(found[400:]).all()
        if handle == "keep":
            (row,) = model.transform(some).where("id = 1000").collect()
            assert row["embedding"] is None and row["far"] is None and row["sd"] is None
    with pytest.raises(Exception, match=re.escape("(id=1000)")):
        LaplacianEigenmaps(inputCol="x", **FEW).fit(frame).transform(some).collect()


@pytest.mark.once
def test_missing_cells_are_left_to_the_model_where_it_treats_them(spark, frame):
    gaps = frame.withColumn("x", F.expr("case when id % 7 = 0 then array(null, x[1], x[2]) else x end"))
    with pytest.raises(ValueError, match="or use missing='mean' or 'model'"):
        LaplacianEigenmaps(inputCol="x", **FEW).fit(gaps)
    model = LaplacianEigenmaps(inputCol="x", missing="mean", **FEW).fit(gaps)
    assert np.isfinite(column(model.transform(gaps))).all()


@pytest.mark.once
@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"inputCol": "y"}, "there is no column 'y'; the columns are 'id', 'x'"),
        ({}, "give inputCol, a column of vectors or arrays, or inputCols"),
        ({"inputCol": "x", "inputCols": ["id"]}, "give inputCol"),
        ({"inputCols": []}, "inputCols is empty"),
        ({"inputCols": ["x"]}, "column 'x' is of type array<double>, which is not a number"),
        ({"inputCol": "id"}, "column 'id' is of type bigint; give vectors"),
        ({"inputCol": "x", "outputCol": "id"}, "column 'id' exists already"),
        ({"inputCol": "x", "sampleSize": 1}, "sampleSize is 1; give 2 or more"),
        ({"inputCol": "x", "nNeighbors": 0}, "nNeighbors is 0; give an integer >= 1"),
        ({"inputCol": "x", "stdCol": "embedding"}, "2 new columns have the name 'embedding'; give each its own"),
        ({"inputCol": "x", "metric": "sqeuclidean"}, "metric is 'sqeuclidean', which is computed by scipy"),
        ({"inputCol": "x", "metric": "precomputed"}, "leave out 'precomputed'"),
        ({"inputCol": "x", "metric": "no such"}, "metric is 'no such'"),
    ],
)
def test_wrong_columns_are_refused_in_a_line(spark, frame, given, fault):
    with pytest.raises(ValueError, match=re.escape(fault)) as refused:
        UMAP(**given).fit(frame)
    assert "\n" not in str(refused.value)


@pytest.mark.once
def test_too_few_rows_are_refused(spark, frame):
    with pytest.raises(ValueError, match="1 of 1 rows can be embedded; give a DataFrame of 2 or more"):
        UMAP(inputCol="x").fit(frame.where("id = 3"))
    empty = spark.createDataFrame([], StructType([StructField("a", StringType())]))
    with pytest.raises(ValueError, match="0 of 0 rows"):
        UMAP(inputCol="x").fit(frame.where("id < 0"))
    with pytest.raises(ValueError, match="no column 'x'"):
        UMAP(inputCol="x").fit(empty)


def test_names_with_dots_and_spaces_are_names(spark, roll):
    some = of(spark, roll).withColumnRenamed("x", "my.vector of x").withColumnRenamed("id", "the.id")
    model = LaplacianEigenmaps(inputCol="my.vector of x", outputCol="a.map", **FEW).fit(some)
    assert model.transform(some).columns == ["the.id", "my.vector of x", "a.map"]
    assert model.transform(some).count() == 400


@pytest.mark.once
@pytest.mark.parametrize(("given", "fault"), [({"n_neighbors": 3}, "it is nNeighbors here"), ({"nNeighbours": 3}, "explainParams"), ({"nNeighbors": 2.5}, "give int or str"), ({"handleInvalid": "drop"}, "'error', 'skip' or 'keep'"), ({"outputType": "list"}, "array<float>")])
def test_wrong_parameters_are_refused(given, fault):
    with pytest.raises(TypeError, match=re.escape(fault)):
        UMAP(**given)


@pytest.mark.once
def test_names_in_capitals_and_twice_are_as_in_spark(spark, frame, roll):
    twice = frame.select("id", "x", frame["id"].alias("id"))
    model = LaplacianEigenmaps(inputCol="X", **FEW).fit(twice)
    assert len(model.transform(twice).columns) == 4
    with pytest.raises(ValueError, match="there are 2 columns 'x'; rename one of them"):
        UMAP(inputCol="x").fit(frame.select("x", frame["x"].alias("x")))


@pytest.mark.once
def test_warnings_have_the_names_of_parameters_here(spark, frame):
    with pytest.warns(UserWarning, match="maxIter"):
        UMAP(inputCol="x", maxIter=3, **FEW).fit(frame)


@pytest.mark.once
def test_standard_deviations_that_there_are_not_are_refused_before_any_task(spark, frame):
    model = eigenfold.spark.PCA(inputCol="x", stdCol="sd", heldOut=False).fit(frame)
    with pytest.raises(ValueError, match="the extension of PCA does not depend on nearby rows.*use heldOut=True, or leave out stdCol"):
        model.transform(frame)
