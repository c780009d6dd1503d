"""eigenfold on Spark: estimators and models of spark.ml, which fit a sample of a DataFrame and embed all of its rows.

They need pyspark 4.0 or newer and work on Spark Connect, too: they use `mapInArrow` and aggregations, and nothing of the JVM.

>>> from eigenfold.spark import UMAP  # doctest: +SKIP
>>> model = UMAP(inputCol="vector", outputCol="embedding", sampleSize=100_000, seed=0).fit(df)  # doctest: +SKIP
>>> embedded = model.transform(df)  # doctest: +SKIP
>>> model.write().overwrite().save("hdfs:///models/umap")  # doctest: +SKIP
"""

try:
    import pyarrow
    import pyspark
except ImportError as missing:
    raise ImportError(f"eigenfold.spark needs pyspark and pyarrow ({missing}); pip install 'eigenfold[spark]'") from None
if int(pyspark.__version__.partition(".")[0]) < 4:
    raise ImportError(f"eigenfold.spark needs pyspark 4.0 or newer, and this is {pyspark.__version__}; pip install 'eigenfold[spark]'")

from ._classes import CLASSES  # noqa: E402

globals().update(CLASSES)

__all__ = [*CLASSES]
