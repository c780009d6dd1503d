"""eigenfold on Spark: estimators and models of spark.ml, which fit a sample of a DataFrame and embed all of its rows.

They need pyspark 4.0 or newer and work on Spark Connect, too: they use `mapInArrow` and aggregations, and nothing of the JVM.

>>> from eigenfold.spark import UMAP  # doctest: +SKIP
>>> model = UMAP(inputCol="vector", outputCol="embedding", sampleSize=100_000, seed=0).fit(df)  # doctest: +SKIP
>>> embedded = model.transform(df)  # doctest: +SKIP
>>> model.write().overwrite().save("hdfs:///models/umap")  # doctest: +SKIP
"""

from typing import Any

from .._classes import CLASSES

try:
    import pyarrow  # noqa: F401
    import pyspark
except ImportError as missing:
    raise ImportError(f"eigenfold.spark needs pyspark and pyarrow ({missing}); pip install 'eigenfold[spark]'") from None
if int(pyspark.__version__.partition(".")[0]) < 4:
    raise ImportError(f"eigenfold.spark needs pyspark 4.0 or newer, and this is {pyspark.__version__}; pip install 'eigenfold[spark]'")

FUNCTIONS = ("dimension", "evaluate")
__all__ = [*FUNCTIONS, *(name + kind for name in CLASSES for kind in ("", "Model"))]


# The classes are made on demand: a worker needs none of them, and pyspark.ml takes half a second to import.
def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        from . import _quality

        return getattr(_quality, name)
    if name in __all__:
        from . import _classes

        return _classes.CLASSES[name]
    raise AttributeError(f"module 'eigenfold.spark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
