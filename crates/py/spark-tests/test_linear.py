"""PCA, PPCA and factor analysis of all rows: the fits of one machine, with the same bytes for any division of the rows."""

import re

import numpy as np
import pytest
from conftest import column, of
from pyspark.ml.functions import array_to_vector
from pyspark.sql import functions as F

import eigenfold
from eigenfold import spark as es
from test_same_bytes import sampled

METHODS = ["PCA", "PPCA", "FactorAnalysis"]


@pytest.fixture(scope="module")
def table():
    """Six columns with three directions, offsets and units of their own."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 3)) @ rng.normal(size=(3, 6)) + 0.3 * rng.normal(size=(700, 6))
    return X * [1.0, 10.0, 0.1, 3.0, 1.0, 100.0] + [0.0, 1e4, 5.0, -7.0, 0.0, 1e6]


@pytest.fixture(scope="module")
def rows(spark, table):
    return of(spark, table)


def apart(one, other):
    """The largest difference relative to the spread, with signs that agree."""
    one = one * np.sign((one * other).sum(axis=0))
    return np.abs(one - other).max() / other.std()


@pytest.mark.parametrize("name", [pytest.param("PCA", marks=pytest.mark.cluster), *(pytest.param(name, marks=pytest.mark.once) for name in METHODS[1:])])
def test_partitions_and_order_change_no_byte(spark, rows, name):
    estimator = getattr(es, name)(inputCol="x", sampleSize=60)
    divided = [rows.repartition(1), rows.repartition(7), rows.repartition(64).where("id >= 0"), rows.orderBy(F.xxhash64("id"))]
    models = [estimator.fit(some) for some in divided]
    assert len({model.content() for model in models}) == 1


@pytest.mark.once
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("standardize", [False, True])
def test_the_fit_is_that_of_all_rows_on_one_machine(spark, rows, table, name, standardize):
    model = getattr(es, name)(inputCol="x", sampleSize=60, standardize=standardize, outputType="array<double>").fit(rows)
    expected = getattr(eigenfold, name)(standardize=standardize).fit(table)
    found = column(model.transform(rows))
    # The columns have offsets of 1e4 standard deviations, of which sums on one machine lose digits. Factor analysis stops where steps
    # gain little, and its likelihood is flat there.
    assert apart(found, expected.transform(table)) < {"PCA": 1e-11, "PPCA": 1e-9, "FactorAnalysis": 2e-3}[name]
    if name != "PCA":
        assert model.estimator.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-7)
    assert np.array_equal(found, model.estimator.transform(table))
    assert np.array_equal(model.estimator._model.points, sampled(table, 60))
    assert model.summary["rows"] == 700 and model.summary["sample"] == 60
    assert model.estimator.report_["fitted_rows"] == 700
    if name == "PCA":
        for attribute in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
            assert np.allclose(getattr(model.estimator, attribute), getattr(expected, attribute), rtol=1e-10)
        assert np.allclose(np.abs(model.estimator.components_), np.abs(expected.components_), atol=1e-9)


@pytest.mark.once
def test_centered_data_agree_with_one_machine_to_twelve_digits(spark, table):
    X = (table - table.mean(axis=0)) / table.std(axis=0)
    some = of(spark, X)
    found = column(es.PCA(inputCol="x", outputType="array<double>", sampleSize=70).fit(some).transform(some))
    assert apart(found, eigenfold.PCA().fit_transform(X)) < 1e-12


@pytest.mark.once
@pytest.mark.classic
def test_the_directions_are_those_of_pyspark(spark, table):
    from pyspark.ml.feature import PCA

    X = (table - table.mean(axis=0)) / table.std(axis=0)
    some = of(spark, X).withColumn("x", array_to_vector("x"))
    theirs = PCA(k=2, inputCol="x", outputCol="theirs").fit(some)
    ours = es.PCA(inputCol="x", sampleSize=70).fit(some)
    assert np.allclose(np.abs(ours.estimator.components_), np.abs(theirs.pc.toArray().T), atol=1e-10)
    assert np.allclose(ours.estimator.explained_variance_ratio_, theirs.explainedVariance.toArray(), rtol=1e-10)


@pytest.mark.once
def test_single_precision_and_logarithms(spark, table):
    X = np.abs(table).astype(np.float32)
    some = of(spark, X.astype(float)).select("id", F.expr("transform(x, v -> float(v))").alias("x"))
    for more in ({}, {"log": "log1p"}):
        model = es.PCA(inputCol="x", outputType="array<double>", sampleSize=50, **more).fit(some)
        expected = eigenfold.PCA(**more).fit(X)
        assert apart(column(model.transform(some)), expected.transform(X)) < 1e-10


@pytest.mark.once
def test_more_columns_than_rows_and_a_constant_column(spark):
    X = np.random.default_rng(3).normal(size=(20, 300))
    X[:, 7] = 5.0
    some = of(spark, X)
    model = es.PCA(inputCol="x", nComponents=4, outputType="array<double>").fit(some.repartition(4))
    assert apart(column(model.transform(some)), eigenfold.PCA(4).fit(X).transform(X)) < 1e-12


@pytest.mark.once
@pytest.mark.parametrize("name", METHODS)
def test_the_inverse_transform_has_deviations(spark, rows, table, name):
    model = getattr(es, name)(inputCol="x", sampleSize=300).fit(rows)
    back = model.inverseTransform(model.transform(rows), stdCol="sd")
    errors = np.abs(column(back, "reconstruction") - table)
    inside = (errors < column(back, "sd")).mean()
    assert 0.55 < inside < 0.8


@pytest.mark.once
def test_rows_that_cannot_be_embedded_are_named_or_left_out(spark, rows, table):
    from pyspark.sql.types import ArrayType, DoubleType, LongType, StructField, StructType

    schema = StructType([StructField("id", LongType()), StructField("x", ArrayType(DoubleType()))])
    bad = spark.createDataFrame([(1000, None), (1001, [1.0, 2.0]), (1002, [float("nan")] * 6)], schema)
    some = rows.unionByName(bad).repartition(1)
    with pytest.raises(ValueError, match=re.escape("(id=100")) as refused:
        es.PCA(inputCol="x").fit(some)
    assert "\n" not in str(refused.value)
    with pytest.warns(UserWarning, match="3 rows of 703 cannot be embedded"):
        model = es.PCA(inputCol="x", handleInvalid="skip", sampleSize=60, outputType="array<double>").fit(some)
    assert model.content() == es.PCA(inputCol="x", handleInvalid="skip", sampleSize=60, outputType="array<double>").fit(rows).content()
    assert len(column(model.transform(some))) == 700
    with pytest.raises(ValueError, match="1 of 1 rows can be embedded"):
        es.PCA(inputCol="x").fit(rows.where("id = 3"))


def test_a_covariance_that_does_not_fit_is_refused_before_any_task(spark):
    wide = spark.range(10).select(F.array_repeat(F.lit(1.0), 30_000).alias("x"))
    first_is_null = wide.withColumn("x", F.expr("case when rand(1) < 2 then x end"))
    for some in (wide, first_is_null.unionByName(wide), wide.withColumn("x", array_to_vector("x"))):
        with pytest.raises(ValueError, match="the covariance of 30000 columns takes 54.0 GB on the driver and in every task.*use exact=False"):
            es.PCA(inputCol="x", memory=10**9).fit(some)


def test_a_saved_model_is_as_good(spark, rows, table, tmp_path):
    model = es.PCA(inputCol="x", sampleSize=60).fit(rows)
    model.save(str(tmp_path / "model"))
    again = es.PCAModel.load(str(tmp_path / "model"))
    assert np.array_equal(column(again.transform(rows)), column(model.transform(rows)))
    assert again.estimator.report_["fitted_rows"] == 700
    assert np.array_equal(again.estimator.explained_variance_, model.estimator.explained_variance_)


@pytest.mark.once
@pytest.mark.parametrize("name", ["PPCA", "FactorAnalysis"])
def test_missing_cells_are_integrated_out_as_on_one_machine(spark, name):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 5)) + 0.4 * rng.normal(size=(300, 5)) + [1.0, 2.0, 3.0, 4.0, 5.0]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[7] = [np.nan, 1.0, np.nan, np.nan, 2.0]
    some = of(spark, X).select("id", F.expr("transform(x, v -> case when isnan(v) then null else v end)").alias("x"))
    tolerance = 1e-4  # each evaluation is a pass, and at 1e-12 there are hundreds
    estimator = getattr(es, name)(inputCol="x", missing="model", sampleSize=60, outputType="array<double>", tol=tolerance)
    models = [estimator.fit(some.repartition(parts)) for parts in ((1, 3) if name == "PPCA" else (2,))]
    assert len({model.content() for model in models}) == 1
    expected = getattr(eigenfold, name)(missing="model", tol=tolerance).fit(X)
    found = column(models[0].transform(some))
    assert apart(found, expected.transform(X)) < 1e-2
    assert models[0].estimator.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-4)
    assert np.isfinite(column(models[0].transform(some.repartition(60)))).all()


@pytest.mark.once
def test_ways_to_treat_missing_cells_that_no_pass_can_follow_are_refused(spark, rows):
    for name, missing, fault in (("PCA", "model", "use exact=False, or PPCA with missing='model'"), ("PPCA", "mean", "use missing='model', or exact=False")):
        with pytest.raises(ValueError, match=re.escape(fault)):
            getattr(es, name)(inputCol="x", missing=missing).fit(rows)
    with pytest.raises(ValueError, match="column 'x' has no observed cell in entry 1; leave it out"):
        es.PPCA(inputCol="x", missing="model").fit(rows.select("id", F.expr("array(x[0], null, x[2])").alias("x")))
