"""The estimators and models: one pair per class of the Python package, with spark.ml's contract."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyspark.ml import Estimator as SparkEstimator
from pyspark.ml import Model as SparkModel
from pyspark.ml.param import Params
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable, MLReadable, MLWritable
from pyspark.sql.types import BooleanType, StructField, StructType

from .. import __version__, _sklearn
from .._classes import CLASSES as PYTHON
from .._load import of_model
from .._spec import Spec
from . import _file, _linear
from ._columns import Columns, field_of, plain
from ._embed import NO_STD, Plan
from ._params import ColumnParams, SampleParams, camel, converter, getter, of_table, param, setter
from ._sample import Sample, draw
from ._ship import on_workers, ship

EMBED = "eigenfold.spark._embed"
SAMPLE_SIZE = 100_000
# Of methods that are fitted to all rows, and have the sample for the errors of reconstructions alone.
LINEAR_SAMPLE_SIZE = 10_000
# Up to this many rows of the sample, standard deviations come from further fits by default.
HELD_OUT = 1000
LINEAR = ("PCA", "PPCA", "FactorAnalysis")


class _MethodParams(ColumnParams, SampleParams):
    """The parameters of a method; each class below has those of its own."""

    _spec: ClassVar[Spec]

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self._column_defaults("embedding")
        self._setDefault(sampleSize=SAMPLE_SIZE, seed=0, inputCol=None, inputCols=None)
        if self.hasParam("exact"):
            self._setDefault(exact=True, sampleSize=LINEAR_SAMPLE_SIZE)
        self._setDefault(**{camel(name): one.default for name, one in of_table(self._spec).items()})
        for name in given:
            if not self.hasParam(name):
                close = camel(name) if self.hasParam(camel(name)) else None
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; " + (f"it is {close} here" if close else "explainParams() lists them"))
        self._set(**given)

    def _python(self) -> dict[str, Any]:
        """The parameters of the Python class."""
        return {name: self.getOrDefault(camel(name)) for name in of_table(self._spec)}


class Estimator(_MethodParams, SparkEstimator, DefaultParamsReadable, DefaultParamsWritable):
    """A method that is fitted to a sample of the rows of a DataFrame."""

    _model: ClassVar[type]

    def _fit(self, dataset: Any) -> Any:
        columns = Columns.of(dataset.schema, self.getOrDefault("inputCol"), self.getOrDefault("inputCols"))
        _check_new(dataset, [self.getOrDefault(name) for name in ("outputCol", "stdCol", "farCol")])
        estimator = PYTHON[self._spec.name](random_state=self.getSeed(), **self._python())
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                if (kind := self._spec.kind(estimator)) != "points":
                    raise ValueError(self._no_points(kind))
                model = self._of_columns(dataset, columns, estimator)
            except ValueError as refused:
                raise ValueError(self._renamed(str(refused))) from None
        for one in heard:
            own = issubclass(one.category, UserWarning)
            _sklearn.warn(self._renamed(str(one.message)) if own else str(one.message), one.category)
        return model

    def _no_points(self, kind: str) -> str:
        """Why a metric or a kernel cannot be used."""
        if kind == "measured":
            return f"metric is {self.getOrDefault('metric')!r}, which is computed by scipy from all training rows; give one that eigenfold computes, such as 'euclidean' or 'cosine'"
        return "a DataFrame has points, and 'precomputed' stands for their distances or kernels; leave out 'precomputed'"

    def _of_columns(self, dataset: Any, columns: Columns, estimator: Any) -> Any:
        """The model of a sample of the rows."""
        sample = self._draw(dataset, columns)
        return self._fitted(estimator.fit(_named(sample.matrix, columns)), sample)

    def _draw(self, dataset: Any, columns: Columns) -> Sample:
        missing, handle = self.getOrDefault("missing") != "error", self.getOrDefault("handleInvalid")
        return draw(dataset, columns, self.getOrDefault("sampleSize"), self.getSeed(), missing, handle)

    def _fitted(self, estimator: Any, sample: Sample) -> Any:
        if sample.invalid:
            what = "1 row" if sample.invalid == 1 else f"{sample.invalid} rows"
            _sklearn.warn(f"{what} of {sample.rows + sample.invalid} cannot be embedded and had no part in the fit")
        model = self._copyValues(self._model())
        model._resetUid(self.uid)
        return model._holding(estimator, {"rows": sample.rows, "invalid": sample.invalid, "sample": len(sample.matrix)})

    def _renamed(self, message: str) -> str:
        """A message with the names that the parameters have here."""
        for name in of_table(self._spec):
            message = re.sub(rf"\b{name}\b", camel(name), message)
        return message.replace("random_state", "seed")


class LinearParams(Params):
    """The parameter of methods that can be fitted to all rows."""

    exact: Any = param("exact", "whether the model is fitted to all rows, by exact sums over them; otherwise to the sample alone", converter("exact", "bool"))


class LinearEstimator(Estimator, LinearParams):
    """A linear method, which is fitted to all rows of a DataFrame."""

    def _of_columns(self, dataset: Any, columns: Columns, estimator: Any) -> Any:
        if not self.getOrDefault("exact"):
            return super()._of_columns(dataset, columns, estimator)
        ways = ("error",) if self._spec.name == "PCA" else ("error", "model")
        if estimator.missing not in ways:
            way_out = "use exact=False, or PPCA with missing='model'" if self._spec.name == "PCA" else "use missing='model', or exact=False"
            raise ValueError(f"missing is {estimator.missing!r}, and cells are not imputed in a fit of all rows; {way_out}")
        request = self._spec.request(estimator)[0]
        size, handle = self.getOrDefault("sampleSize"), self.getOrDefault("handleInvalid")
        model, sample = _linear.fit(dataset, columns, request, size, handle, estimator._listener())
        return self._fitted(of_model(model), sample)


class Model(_MethodParams, SparkModel, MLReadable, MLWritable):
    """A fitted method, which embeds the rows of a DataFrame."""

    def _holding(self, estimator: Any, summary: dict[str, Any]) -> Any:
        self._estimator, self._summary = estimator, summary
        self._bytes: bytes | None = None
        return self

    @property
    def estimator(self) -> Any:
        """The same fit as an estimator of the Python package, with its attributes, such as `embedding_` of the sample."""
        return self._estimator

    @property
    def summary(self) -> dict[str, Any]:
        """How many rows there were (`rows`), could not be embedded (`invalid`) and were fitted (`sample`), and the `report` of the fit."""
        return {**self._summary, "report": self._estimator.report_}

    @property
    def numFeatures(self) -> int:
        """The number of features."""
        return int(self._estimator.n_features_in_)

    def content(self) -> bytes:
        """The bytes of the model file."""
        if self._bytes is None:
            self._bytes = self._estimator._model.to_bytes()
        return self._bytes

    def copy(self, extra: Any = None) -> Any:
        """A copy with further parameters, of the same fit."""
        other = super().copy(extra)
        return other._holding(self._estimator, self._summary)

    def _transform(self, dataset: Any) -> Any:
        columns = Columns.of(dataset.schema, self.getOrDefault("inputCol"), self.getOrDefault("inputCols"))
        return self._applied("embedded", dataset, columns, self.numFeatures, self.getOrDefault("outputCol"))

    def inverseTransform(self, dataset: Any, inputCol: str | None = None, outputCol: str = "reconstruction", stdCol: str | None = None) -> Any:
        """Add the rows of data that belong to coordinates of the embedding.

        Parameters
        ----------
        dataset : DataFrame
            A DataFrame with a column of coordinates.
        inputCol : str, optional
            The column of coordinates; by default the `outputCol` of the model.
        outputCol : str, default='reconstruction'
            The new column of rows.
        stdCol : str, optional
            A new column of their standard deviations.

        Returns
        -------
        DataFrame
            The DataFrame with the new columns.
        """
        columns = Columns.of(dataset.schema, inputCol or self.getOrDefault("outputCol"), None)
        dims = self._estimator.embedding_.shape[1]
        return self._applied("reconstructed", dataset, columns, dims, outputCol, stdCol)

    def _applied(self, name: str, dataset: Any, columns: Columns, width: int, output: str, std: str | None = None) -> Any:
        """The DataFrame with the columns that workers compute."""
        forward = name == "embedded"
        std = self.getOrDefault("stdCol") if forward else std
        far = self.getOrDefault("farCol") if forward else None
        kind = self.getOrDefault("outputType")
        new = [StructField(one, field_of(kind)) for one in (output, std) if one is not None]
        new += [StructField(far, BooleanType())] if far is not None else []
        _check_new(dataset, [field.name for field in new])
        if forward and std is not None:
            self._check_std()
        model = ship(dataset.sparkSession, self.content())
        columns = columns.within(dataset.columns)
        missing, handle, held_out = (self.getOrDefault(one) for one in ("missing", "handleInvalid", "heldOut"))
        plan = Plan(model, columns, width, missing, handle, kind, std is not None, far is not None, held_out)
        fields = [*dataset.schema.fields, *new]
        numbered = StructType([StructField(f"column{at}", field.dataType, True, field.metadata) for at, field in enumerate(fields)])
        return plain(dataset).mapInArrow(on_workers(EMBED, name, __version__, plan), numbered).toDF(*(field.name for field in fields))

    def _check_std(self) -> None:
        """Refuses standard deviations of a method that has none without further fits."""
        model, held_out = self._estimator._model, self.getOrDefault("heldOut")
        if held_out or held_out is None and len(model.embedding) <= HELD_OUT:
            return
        if model.transform(model.points[:1], self.getOrDefault("missing"), True, False, 1)[2] is None:
            raise ValueError(NO_STD.replace("this method", self._spec.name))

    def write(self) -> Any:
        """Return a writer of the model; `save` is short for ``write().save``."""
        return _file.Writer(self)

    @classmethod
    def read(cls) -> Any:
        """Return a reader of models; `load` is short for ``read().load``."""
        return _file.Reader(cls)


class LinearModel(Model, LinearParams):
    """A linear method that was fitted to all rows."""


def _check_new(dataset: Any, names: list[str | None]) -> None:
    """Refuses names of new columns that are taken."""
    wanted = [name for name in names if name is not None]
    for name in wanted:
        if name in dataset.columns:
            raise ValueError(f"column {name!r} exists already; give another name, or drop the column")
        if wanted.count(name) > 1:
            raise ValueError(f"{wanted.count(name)} new columns have the name {name!r}; give each its own")


def _named(matrix: np.ndarray, columns: Columns) -> Any:
    """A sample as a table, if its features have names."""
    return pa.table({name: matrix[:, at] for at, name in enumerate(columns.names)}) if columns.kind == "columns" else matrix


def _class(name: str, base: type, spec: Spec, bases: dict[str, Any]) -> type:
    """A class with the parameters of a method, their setters and getters."""
    body: dict[str, Any] = {"__module__": "eigenfold.spark", "_spec": spec, **bases}
    for own, one in of_table(spec).items():
        body[camel(own)] = param(camel(own), one.meaning, converter(camel(own), one.type))
    made = type(name, (base,), body)
    shared = [known for known in dir(made) if known in SHARED]
    for known in [*shared, *map(camel, of_table(spec))]:
        for function in (setter(known), getter(known)):
            if not hasattr(made, function.__name__) or function.__name__.startswith("set"):
                function.__qualname__ = f"{name}.{function.__name__}"
                setattr(made, function.__name__, function)
    return made


SHARED = ("exact", "inputCol", "inputCols", "outputCol", "outputType", "stdCol", "farCol", "heldOut", "handleInvalid", "sampleSize", "seed")


def _signature(spec: Spec) -> inspect.Signature:
    names = [name for name in SHARED if name != "exact" or spec.name in LINEAR] + [*map(camel, of_table(spec))]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names])


def pair(spec: Spec, estimator: type = Estimator, model: type = Model) -> tuple[type, type]:
    """The estimator and the model of a class of the Python package."""
    fitted = _class(f"{spec.name}Model", model, spec, {"__doc__": f"A fitted :class:`{spec.name}`, which embeds the rows of a DataFrame."})
    unfitted = _class(spec.name, estimator, spec, {"__doc__": f"{spec.summary}: fitted to a sample of a DataFrame.", "_model": fitted})
    unfitted.__signature__ = _signature(spec)  # type: ignore[attr-defined]
    return unfitted, fitted


CLASSES: dict[str, type] = {}
for known in PYTHON.values():
    linear = (LinearEstimator, LinearModel) if known.__name__ in LINEAR else (Estimator, Model)
    for made in pair(known._spec, *linear):
        CLASSES[made.__name__] = made
