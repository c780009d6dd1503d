#!/usr/bin/env python3
"""Speed and memory of `eigenfold.spark` on this machine, as a table: run it in an environment with eigenfold, pyspark and pandas.

    python scripts/spark_benchmarks.py [--rows 2000000] [--pca-rows 20000000] [--parts overhead,rates,pca,memory]

Data are 50 columns, made in the job or written to a directory of temporary files. CPU seconds are those of all processes of the session.
"""

import argparse
import glob
import json
import os
import resource
import tempfile
import time
import warnings

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import eigenfold
import eigenfold.spark as spark_classes

COLUMNS = 50
FILES = 8


def cpu_seconds():
    """The CPU seconds of this process and of all that descend from it."""
    of = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                text = file.read()
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        of[int(text.split()[0])] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def ours(process):
        while process in of and process != os.getpid():
            process = of[process][0]
        return process == os.getpid()

    return sum(seconds for process, (_, seconds) in of.items() if ours(process))


def timed(work):
    """The result of some work, and its seconds by the clock and of the CPU."""
    cpu, began = cpu_seconds(), time.perf_counter()
    result = work()
    return result, time.perf_counter() - began, cpu_seconds() - cpu


def run(dataset):
    dataset.write.format("noop").mode("overwrite").save()


def clusters(folder, rows):
    """Files of points in 40 clusters."""
    rng = np.random.default_rng(0)
    centers = 3 * rng.normal(size=(40, COLUMNS))
    for at in range(FILES):
        points = centers[rng.integers(0, 40, rows // FILES)] + rng.normal(size=(rows // FILES, COLUMNS))
        lists = pa.ListArray.from_arrays(np.arange(0, points.size + 1, COLUMNS, dtype=np.int32), pa.array(points.ravel()))
        pa.parquet.write_table(pa.table({"x": lists}), f"{folder}/part{at}.parquet", compression="none")


def overhead(session, folder, rows):
    """UMAP's transform on Spark, against the same model through pandas in one process."""
    data = session.read.parquet(folder)
    model = spark_classes.UMAP(inputCol="x", sampleSize=20_000, outputType="array<double>").fit(data)
    vectors = data.select(array_to_vector("x").alias("x"))
    run(model.transform(data.limit(50_000)))
    frames = [pandas.read_parquet(path) for path in sorted(glob.glob(f"{folder}/*.parquet"))]
    _, alone, cpu_alone = timed(lambda: [model.estimator.transform(frame["x"]) for frame in frames])
    del frames
    for name, some in (("arrays", data), ("arrays that are not kept", None), ("vectors", vectors)):
        kept = model.transform(some) if some is not None else model.transform(data).select("embedding")
        _, clock, cpu = timed(lambda kept=kept: run(kept))
        yield {"part": "overhead", "column": name, "rows": rows, "seconds": clock, "cpu": cpu, "pandas": alone, "pandas_cpu": cpu_alone, "ratio": clock / alone, "cpu_ratio": cpu / cpu_alone}


def rates(session, folder, rows):
    """Rows per second and core."""
    data = session.read.parquet(folder).limit(rows).repartition(FILES).persist()
    data.count()
    _, _, nothing = timed(lambda: run(data))
    for name, size, most in (("PCA", 10_000, rows), ("UMAP", 20_000, rows), ("TSNE", 20_000, rows), ("Isomap", 5_000, rows)):
        model = getattr(spark_classes, name)(inputCol="x", sampleSize=size, outputType="array<double>").fit(data)
        some = data.limit(most)
        run(model.transform(some.limit(20_000)))
        _, clock, cpu = timed(lambda some=some, model=model: run(model.transform(some)))
        yield {"part": "rates", "method": name, "sample": size, "rows": most, "per_cpu_second": most / (cpu - nothing), "bytes_per_row": 8 * (COLUMNS + COLUMNS + 2), "seconds": clock, "model_mb": len(model.content()) / 1e6}
        if name in ("PCA", "UMAP"):
            few = model.transform(data).select("embedding").limit(most // 4).persist()
            few.count()
            run(model.inverseTransform(few.limit(5_000)))
            _, clock, cpu = timed(lambda few=few, model=model: run(model.inverseTransform(few)))
            yield {"part": "rates", "method": f"{name} inverse", "sample": size, "rows": most // 4, "per_cpu_second": most / 4 / cpu, "bytes_per_row": 8 * (2 + 2 + COLUMNS), "seconds": clock}
    data.unpersist()


def pca(session, rows):
    """PCA of all rows, which are made in the job, against pyspark's."""
    from pyspark.ml.feature import PCA

    cells = [((F.col("id") * F.lit(7919 * (j + 1) + j * j)) % F.lit(10007 + 2 * j)) * F.lit((1.0 + j / 10) / 7000) for j in range(COLUMNS)]
    arrays = session.range(0, rows, 1, 16).select(F.array(*cells).alias("x"))
    vectors = arrays.select(array_to_vector("x").alias("x"))
    spark_classes.PCA(inputCol="x").fit(arrays.limit(20_000))
    PCA(k=2, inputCol="x", outputCol="y").fit(vectors.limit(20_000))
    theirs, clock, cpu = timed(lambda: PCA(k=2, inputCol="x", outputCol="y").fit(vectors))
    yield {"part": "pca", "what": "pyspark", "rows": rows, "seconds": clock, "cpu": cpu}
    for name, some in (("arrays", arrays), ("vectors", vectors)):
        ours, clock, cpu = timed(lambda some=some: spark_classes.PCA(inputCol="x").fit(some))
        apart = np.abs(np.abs(ours.estimator.components_) - np.abs(theirs.pc.toArray().T)).max()
        yield {"part": "pca", "what": name, "rows": rows, "seconds": clock, "cpu": cpu, "difference": float(apart)}


def memory(session, folder, rows):
    """The memory of the driver for a sample of 100,000 rows."""
    data = session.read.parquet(folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    spark_classes.UMAP(inputCol="x", maxIter=20).fit(data)
    yield {"part": "memory", "rows": rows, "driver_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, "before_gb": before}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--pca-rows", type=int, default=20_000_000)
    parser.add_argument("--parts", default="memory,overhead,rates,pca")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    session = builder.config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        wanted = given.parts.split(",")
        if set(wanted) - {"pca"}:
            clusters(folder, given.rows)
        parts = {"memory": lambda: memory(session, folder, given.rows), "overhead": lambda: overhead(session, folder, given.rows), "rates": lambda: rates(session, folder, given.rows // 5), "pca": lambda: pca(session, given.pca_rows)}
        for part in wanted:
            for row in parts[part]():
                print(json.dumps(row), flush=True)
        session.stop()


if __name__ == "__main__":
    main()
