"""
UMAP of a Spark DataFrame
=========================

``eigenfold.spark`` fits a method to a sample of a Spark DataFrame and embeds all
rows of the DataFrame. The same code runs on a cluster.

The example needs pyspark 4 (``pip install ".[spark]"``) and Java 17 or newer.
"""

# %%
# The session runs on two cores of this machine. The DataFrame has one row for
# each of 1,797 digits, and its column ``pixels`` is an array of 64 numbers.

import os
import sys
from importlib.util import find_spec
from shutil import which

import matplotlib.pyplot as plt
import numpy as np

from eigenfold import datasets

if find_spec("pyspark") is None or which("java") is None:
    raise SystemExit("skipped: pyspark or Java is missing; the text above has the command")

from pyspark.sql import SparkSession

from eigenfold.spark import UMAP, evaluate

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.host", "localhost")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "4")
    .getOrCreate()
)
X, y, *_ = datasets.load("digits")
rows = [(number, int(digit), pixels.tolist()) for number, (digit, pixels) in enumerate(zip(y, X))]
digits = spark.createDataFrame(rows, "id long, digit int, pixels array<double>")

# %%
# ``fit`` draws 600 rows by a hash of their content. ``transform`` embeds all
# rows on the workers, and ``farCol`` marks rows that are far from the sample.

umap = UMAP(inputCol="pixels", outputCol="embedding", farCol="far", sampleSize=600, seed=0)
model = umap.fit(digits)
embedded = model.transform(digits).cache()
print(f"{model.summary['sample']} of {model.summary['rows']} rows are fitted")
print(f"{embedded.where('far').count()} rows are far from the sample")

# %%
# ``evaluate`` compares the neighbors of 200 rows among all rows.

print(evaluate(embedded, "pixels"))

# %%
# The sample is the same for any number of partitions, so the model has the same
# bytes.

print("same model:", umap.fit(digits.repartition(7)).content() == model.content())

# %%
# A plot needs only the coordinates and the labels on the driver.

found = embedded.select("digit", "embedding").collect()
spark.stop()
Y = np.array([row["embedding"].toArray() for row in found])

fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.scatter(*model.estimator.embedding_.T, color="lightgrey", s=40, linewidths=0, label="sample")
drawn = ax.scatter(*Y.T, c=[row["digit"] for row in found], cmap="tab10", s=6, linewidths=0)
ax.legend(*drawn.legend_elements(), title="digit", ncols=2, fontsize="small")
ax.set(title="1,797 digits by a UMAP of 600 of them", xticks=[], yticks=[])
ax.set_aspect("equal", adjustable="datalim")
plt.show()
