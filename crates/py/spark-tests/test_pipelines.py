"""Models within spark.ml: pipelines, cross-validation, copies, files."""

import os
import shutil

import numpy as np
import pandas
import pytest
from conftest import column, of
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import StandardScaler
from pyspark.ml.functions import array_to_vector
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

import eigenfold
from eigenfold import spark as es
from eigenfold.spark import LaplacianEigenmaps, LaplacianEigenmapsModel


@pytest.fixture(scope="module")
def iris(spark):
    X, y, *_ = eigenfold.datasets.load("iris")
    some = spark.createDataFrame(pandas.DataFrame({"id": range(150), "x": list(X), "label": y.astype(float)}))
    return some.withColumn("x", array_to_vector("x"))


def test_a_pipeline_is_fitted_saved_moved_and_loaded(spark, iris, tmp_path):
    stages = [StandardScaler(inputCol="x", outputCol="scaled"), LaplacianEigenmaps(inputCol="scaled", sampleSize=120), LogisticRegression(featuresCol="embedding")]
    fitted = Pipeline(stages=stages).fit(iris)
    expected = fitted.transform(iris)
    fitted.save(str(tmp_path / "first"))
    shutil.move(tmp_path / "first", tmp_path / "second")
    again = PipelineModel.load(str(tmp_path / "second")).transform(iris)
    assert np.array_equal(column(again), column(expected))
    predicted = [row["prediction"] for row in again.orderBy("id").collect()]
    assert np.mean(np.array(predicted) == np.repeat([0, 1, 2], 50)) > 0.7

    Pipeline(stages=stages).save(str(tmp_path / "unfitted"))
    unfitted = Pipeline.load(str(tmp_path / "unfitted")).getStages()[1]
    assert type(unfitted) is LaplacianEigenmaps and unfitted.getSampleSize() == 120


@pytest.mark.classic  # cross-validation of pyspark.ml cannot copy parameter maps over Connect in all versions of 4
def test_cross_validation_chooses_a_parameter(spark, iris):
    map_ = LaplacianEigenmaps(inputCol="x", sampleSize=80, handleInvalid="skip")
    pipeline = Pipeline(stages=[map_, LogisticRegression(featuresCol="embedding")])
    grid = ParamGridBuilder().addGrid(map_.nNeighbors, [4, 12]).build()
    chosen = CrossValidator(estimator=pipeline, estimatorParamMaps=grid, evaluator=MulticlassClassificationEvaluator(), numFolds=2, seed=1).fit(iris)
    assert len(chosen.avgMetrics) == 2 and max(chosen.avgMetrics) > 0.8
    best = chosen.bestModel.stages[0]
    assert best.getNNeighbors() == [4, 12][int(np.argmax(chosen.avgMetrics))]


def test_a_model_is_saved_overwritten_and_loaded(spark, frame, tmp_path):
    path = str(tmp_path / "model")
    model = LaplacianEigenmaps(inputCol="x", outputCol="map", sampleSize=90, nNeighbors=8).fit(frame)
    model.save(path)
    with pytest.raises(Exception, match="[Aa]lready exists"):
        model.save(path)
    again = LaplacianEigenmapsModel.load(path)
    assert again.content() == model.content() and again.uid == model.uid
    assert again.getOutputCol() == "map" and again.getNNeighbors() == 8 and again.summary["rows"] == 400
    assert type(again.estimator) is eigenfold.LaplacianEigenmaps and again.estimator.n_neighbors == 8

    other = LaplacianEigenmaps(inputCol="x", sampleSize=70).fit(frame)
    other.write().overwrite().save(path)
    assert LaplacianEigenmapsModel.load(path).content() == other.content()
    with pytest.raises(Exception, match="UMAPModel"):
        es.UMAPModel.load(path)


def test_a_model_that_was_written_in_part_is_no_model(spark, frame, tmp_path, monkeypatch):
    from pyspark.ml.util import DefaultParamsWriter

    first, second = (LaplacianEigenmaps(inputCol="x", sampleSize=size).fit(frame) for size in (70, 80))

    def stopped(*_):
        raise KeyboardInterrupt

    path = str(tmp_path / "model")
    with monkeypatch.context() as patched:
        patched.setattr(DefaultParamsWriter, "_get_metadata_to_save", stopped)
        with pytest.raises(KeyboardInterrupt):
            first.save(path)
        with pytest.raises(Exception, match="metadata"):
            LaplacianEigenmapsModel.load(path)
    first.write().overwrite().save(path)
    # Where a model is overwritten, the one before is whole until the new one is.
    with monkeypatch.context() as patched:
        patched.setattr(DefaultParamsWriter, "_get_metadata_to_save", stopped)
        with pytest.raises(KeyboardInterrupt):
            second.write().overwrite().save(path)
    assert LaplacianEigenmapsModel.load(path).content() == first.content()

    (place,) = [name for name in os.listdir(path) if name.endswith(first_digest(first))]
    for name in os.listdir(os.path.join(path, place)):
        if name.endswith(".parquet"):
            os.remove(os.path.join(path, place, name))
    with pytest.raises(Exception, match="save it again|[Uu]nable to infer schema|UNABLE_TO_INFER_SCHEMA"):
        LaplacianEigenmapsModel.load(path)


def first_digest(model):
    import hashlib

    return hashlib.sha256(model.content()).hexdigest()[:16]


def test_a_large_model_travels_as_a_file_and_once(spark, frame, roll, monkeypatch):
    from eigenfold.spark import _ship

    monkeypatch.setattr(_ship, "WITHIN", 100)
    sent = []
    add = type(spark).addArtifacts
    monkeypatch.setattr(type(spark), "addArtifacts", lambda self, *paths, **more: (sent.append(paths), add(self, *paths, **more))[1])
    model = LaplacianEigenmaps(inputCol="x", sampleSize=110).fit(frame)
    for _ in range(3):
        assert np.array_equal(column(model.transform(frame)), model.estimator.transform(roll))
    assert len(sent) == 1
    monkeypatch.setattr(_ship, "MOST", 200)
    with pytest.raises(ValueError, match="fit it with a smaller sampleSize"):
        model.transform(frame)


def test_quality_is_that_of_python_and_depends_on_no_partition(spark, roll):
    map_ = eigenfold.PCA().fit_transform(roll)
    some = of(spark, roll, embedding=list(map_))
    known = eigenfold.quality(roll, map_)
    all_rows = es.evaluate(some, "x", rows=400)
    assert all(all_rows[name] == pytest.approx(known[name], abs=1e-12) for name in all_rows) and len(all_rows) == 3
    drawn = [es.evaluate(some.repartition(parts), "x", rows=60) for parts in (1, 6)]
    assert drawn[0] == drawn[1] and drawn[0].errors == drawn[1].errors
    assert all(abs(drawn[0][name] - known[name]) < 4 * drawn[0].errors[name] for name in known.keys() & drawn[0].keys())
    with pytest.raises(ValueError, match="use nNeighbors=200 or less"):
        es.evaluate(some, "x", nNeighbors=300)


@pytest.mark.once
def test_the_dimension_is_estimated_by_a_sample(spark, frame, roll):
    from test_same_bytes import sampled

    assert es.dimension(frame.repartition(5), "x", sampleSize=300) == eigenfold.dimension(sampled(roll, 300))
