"""The one class behind all estimators: from parameters to a recipe, and from a model to fitted attributes."""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from . import _eigenfold, _input, _sklearn, _vectors
from ._fitted import attributes, laplacian, symmetric
from ._functions import knn_graph_of
from ._spec import Spec


# The kinds of warnings about a solver that ended before it met its tolerance.
EARLY = ("not_converged", "stopped")
# What the report has as the search of neighbors that were given.
GIVEN = "given neighbors"


class Estimator(_sklearn.Alone):
    """A scikit-learn-compatible estimator; `_spec` is its method."""

    _spec: ClassVar[Spec]
    missing: str
    vector: str | None
    dtype: Any
    n_jobs: int | None
    verbose: int
    callback: Any
    embedding_: np.ndarray
    n_features_in_: int
    report_: dict[str, Any]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        # What help, notebooks and autodoc show; else it would be the signature of `__new__`.
        if "__init__" in vars(cls):
            own = inspect.signature(cls.__init__)
            cls.__signature__ = own.replace(parameters=list(own.parameters.values())[1:])  # type: ignore[attr-defined]

    def __new__(cls, *args: Any, **params: Any) -> Any:
        _sklearn.join(Estimator)
        return super().__new__(cls)

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit the method.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            The points: an array, a pandas or polars DataFrame, a pyarrow table, or a scipy sparse matrix, which is converted to a dense
            array. A column that has a vector in every row may be given by itself, as in ``df["embedding"]``; of a table, the
            parameter `vector` names it. With ``metric="precomputed"`` a square matrix of distances, or a sparse matrix as a graph of edge lengths.
            With ``kernel="precomputed"`` a kernel matrix.
        y : None
            Ignored.

        Returns
        -------
        Estimator
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If the input or a parameter is not valid; the message has the row, column or parameter and what to do.
        EigenfoldError
            If the fit fails although input and parameters are valid.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it met its tolerance.

        See Also
        --------
        fit_transform : Fit and return the coordinates.
        transform : Embed new points.

        Examples
        --------
        >>> from eigenfold import Isomap, datasets
        >>> X = datasets.make("swiss-roll", n=200).data
        >>> Isomap(n_neighbors=8).fit(X).embedding_.shape
        (200, 2)
        """
        return self._fit(X, y, None)

    def _fit(self, X: Any, y: Any, init: Any) -> Any:
        """A fit whose optimization starts from `init`, or else as the parameters define."""
        self._dtype()
        X, names = _vectors.unpacked(X, _vectors.Choice(self.vector))
        data = self._spec.data(self, X)
        request, kind, start = self._spec.request(self)
        given = _input.read(self, data, kind, least=2, names=names)
        train = given.data if given.kind == "measured" else None
        given = self._measured(given, train)
        rows = len(given.data[0]) - 1 if given.kind == "graph" else given.data.shape[0]
        if request["dims"] is None:
            request["dims"] = min(rows - 1, given.features)
        if given.kind == "points" and given.features == 1 and self._spec.linear:
            self._refuse_one_feature(request["dims"])
        labels = self._labels(y, rows, request)
        model, chosen = _eigenfold.fit(
            given.kind,
            given.data,
            json.dumps(request),
            None if start is None and init is None else _input.matrix(start if init is None else init),
            labels,
            given.names,
            _input.knn(getattr(self, "precomputed_knn", None), rows),
            _input.threads(self.n_jobs),
            self._listener(),
        )
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, name)
        self._model, self._train = model, train
        self.n_features_in_ = given.features
        if given.names is not None:
            self.feature_names_in_ = np.asarray(given.names, dtype=object)
        self._keep({**json.loads(model.report), "chosen": json.loads(chosen)})
        return self

    def _refuse_one_feature(self, dims: Any) -> None:
        """What scikit-learn's users expect to read where one feature is too few."""
        if self._spec.latent:
            raise ValueError(f"Found array with 1 feature(s), which leave {type(self).__name__} no noise; give 2 or more")
        if dims not in (1, "auto"):
            raise ValueError(f"{dims} components were requested of points with 1 feature(s); use n_components=1")

    def _keep(self, report: dict[str, Any]) -> None:
        """The attributes of a fit, and what the user should know of it."""
        self.report_ = report
        for name, value in attributes(self._spec.method(self)[0], self._model, report).items():
            setattr(self, name, value)
        self.embedding_ = self._typed(self.embedding_)
        wish = getattr(self, "normalized_stress", False)
        by_order = ["variant", "nonmetric"] in json.loads(self._model.recipe)["parameters"]
        if wish is True or wish == "auto" and by_order:
            setattr(self, "stress_", getattr(self, "normalized_stress_"))
        warnings = list(zip(report["warnings"], report["warning_kinds"]))
        early = [warning for warning, kind in warnings if kind in EARLY]
        if not report["converged"]:
            fact = f"{type(self).__name__} did not converge ({report['solver']}, {report['iterations']} iterations)"
            early = [f"{fact}; " + ("; ".join(early) or "the map is what it had by then")]
        for warning in early:
            _sklearn.warn(warning, _sklearn.exception(_sklearn.ConvergenceWarning))
        for warning in [warning for warning, kind in warnings if kind not in EARLY] + self._idle():
            _sklearn.warn(warning)

    def _idle(self) -> list[str]:
        """Warnings about parameters that were set and do nothing here."""
        unset = lambda value: value is None or isinstance(value, tuple) and all(one is None for one in value)  # noqa: E731
        names: dict[str, list[str]] = {}
        for name, (default, why) in self._spec.idle.items():
            value = getattr(self, name)
            if not (default is None and unset(value)) and not _sklearn.same(value, default):
                names.setdefault(why, []).append(name)
        return [f"{', '.join(some)} had no effect: {why.format(type(self).__name__)}" for why, some in names.items()]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the method and return the coordinates of the points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            The points, distances, graph or kernel matrix, as in `fit`.
        y : array-like of shape (n_samples,), optional
            The classes of the points. UMAP alone uses them.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates; a DataFrame after `set_output`.

        See Also
        --------
        fit : Fit without returning the coordinates; lists the errors and warnings.

        Examples
        --------
        >>> from eigenfold import Isomap, datasets
        >>> X = datasets.make("swiss-roll", n=200).data
        >>> Isomap(n_neighbors=8).fit_transform(X).shape
        (200, 2)
        """
        return self._contained(self.fit(X, y).embedding_, X)

    def transform(self, X: Any, return_std: bool = False, held_out: bool | None = None) -> Any:
        """Embed new points without changing the embedding.

        Each row is embedded independently of the others. A training row gets its fitted coordinates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features) or (n_new, n_samples)
            The new points, with the columns of the fit. After a fit to distances, each row has the distances of a new point to all
            training points. An iterator of such batches, for example a generator, returns a generator of their coordinates: the
            model is prepared once, and the memory does not depend on the number of batches.
        return_std : bool, default=False
            Whether to return the standard deviations of the coordinates too.
        held_out : bool, optional
            Whether the standard deviations include the variability of the embedding itself, which takes five more fits without
            a fifth of the rows; by default up to 1,000 training rows. With False they are those of the extension alone.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            The coordinates; a DataFrame after `set_output`. A generator of these for an iterator of batches.
        std : ndarray of shape (n_new, n_components)
            The half-widths of 68 % intervals, only if `return_std` is True. PPCA and FactorAnalysis return the posterior standard
            deviations of the latent coordinates.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the columns differ from those of the fit, the fit was to a graph or a kernel matrix, or standard deviations are
            requested after a fit to distances.

        Warns
        -----
        UserWarning
            If rows are far from all training points, so that their coordinates are extrapolated.

        See Also
        --------
        inverse_transform : Return data rows for coordinates.

        Examples
        --------
        >>> from eigenfold import Isomap, datasets
        >>> X = datasets.make("swiss-roll", n=300).data
        >>> isomap = Isomap(n_neighbors=8).fit(X[:250])
        >>> coordinates, std = isomap.transform(X[250:], return_std=True)
        >>> coordinates.shape, std.shape
        ((50, 2), (50, 2))

        Batches from a generator:

        >>> batches = (X[i : i + 10] for i in range(250, 300, 10))
        >>> [batch.shape for batch in isomap.transform(batches)]
        [(10, 2), (10, 2), (10, 2), (10, 2), (10, 2)]
        """
        if isinstance(X, Iterator):
            self._fitted()
            return self._batches(X, return_std, held_out)
        model, given = self._again(X)
        jobs = _input.threads(self.n_jobs)
        placed, far, deviations = model.transform(given.data, self.missing, return_std, held_out, jobs)
        return self._embedded(X, placed, far, deviations, return_std, 0)

    def _batches(self, batches: Iterator[Any], return_std: bool, held_out: bool | None) -> Iterator[Any]:
        """The coordinates of one batch after the other, by a model that is prepared once."""
        transformer = self._model.transformer(return_std, held_out, _input.threads(self.n_jobs))
        above = 0
        for X in batches:
            _, given = self._again(X)
            placed, far, deviations = transformer.transform(given.data, self.missing)
            yield self._embedded(X, placed, far, deviations, return_std, above)
            above += len(placed)

    def _embedded(self, X: Any, placed: Any, far: list[int], deviations: Any, return_std: bool, above: int) -> Any:
        """Coordinates as they are returned, with a warning about far rows; `above` rows were in batches before."""
        if return_std and deviations is None:
            raise ValueError(self._without_deviations())
        if len(far) > 0:
            shown = ", ".join(str(above + row) for row in far[:5]) + (", ..." if len(far) > 5 else "")
            what = "1 row is" if len(far) == 1 else f"{len(far)} rows are"
            _sklearn.warn(f"{what} far from all training points ({shown}); their coordinates are extrapolated and mean little")
        placed = self._contained(self._typed(placed), X)
        return (placed, self._typed(deviations)) if return_std else placed

    def _dtype(self) -> np.dtype:
        """The type of what is returned."""
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            dtype = None
        if dtype is None or dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype is {self.dtype!r}; give 'float64' or 'float32'")
        return dtype

    def _typed(self, values: Any) -> Any:
        """Numbers as they are returned."""
        return values.astype(self._dtype(), copy=False)

    def _without_deviations(self) -> str:
        """Why there is no uncertainty of new rows, and the way out."""
        name = type(self).__name__
        if self._model.points is None:
            return f"this {name} was fitted to distances, of which none can be held out; fit it to points"
        return f"the extension of {name} does not depend on nearby rows, which leaves no uncertainty to compute; use held_out=True"

    def inverse_transform(self, X: Any, return_std: bool = False, held_out: bool | None = None) -> Any:
        """Return data rows for coordinates of the embedding.

        Parameters
        ----------
        X : array-like of shape (n_points, n_components)
            Coordinates, of training points or of any others. An iterator of batches returns a generator.
        return_std : bool, default=False
            Whether to return the standard deviations of the data rows too.
        held_out : bool, optional
            Whether rows that were held out of the embedding calibrate the standard deviations; by default up to 1,000 training
            rows.

        Returns
        -------
        rows : ndarray of shape (n_points, n_features)
            The reconstructed data, in the units of the data.
        std : ndarray of shape (n_points, n_features)
            The half-widths of 68 % intervals, only if `return_std` is True.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If `X` has another number of columns than the embedding, or the fit was not to points.

        Warns
        -----
        UserWarning
            If coordinates are far from all points of the embedding.

        See Also
        --------
        transform : Return coordinates for data rows.
        score : Return the share of variance that both together preserve.

        Examples
        --------
        >>> from eigenfold import Isomap, datasets
        >>> X = datasets.make("swiss-roll", n=100).data
        >>> isomap = Isomap(n_neighbors=8).fit(X)
        >>> points = isomap.embedding_[:5]
        >>> rows, std = isomap.inverse_transform(points, return_std=True)
        >>> rows.shape, std.shape
        ((5, 3), (5, 3))
        """
        self._fitted()
        if isinstance(X, Iterator):
            return (self.inverse_transform(batch, return_std, held_out) for batch in X)
        points = _input.matrix(X)
        rows, deviations, _, _, warnings = self._model.reconstruct(points, return_std, held_out, _input.threads(self.n_jobs))
        for warning in warnings:
            _sklearn.warn(warning)
        return (self._typed(rows), self._typed(deviations)) if return_std else self._typed(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of variance that `transform` and then `inverse_transform` preserve.

        It is 1 minus the squared reconstruction error of `X`, divided by its squared distance from the mean of the training points.
        Larger is better, so that `GridSearchCV` can choose parameters by held-out rows.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points, with the columns of the fit.
        y : None
            Ignored.

        Returns
        -------
        float
            The share; 1 is perfect, 0 no better than the mean.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the fit was not to points.

        See Also
        --------
        quality : Measure an embedding by neighborhoods, distances and labels.

        Examples
        --------
        >>> from eigenfold import PCA, datasets
        >>> X = datasets.load("iris").data
        >>> print(f"{PCA(2).fit(X[::2]).score(X[1::2]):.3f}")
        0.980
        """
        model, given = self._again(X)
        train = model.points
        if train is None:
            raise ValueError("score needs a reconstruction, which a map of distances cannot; fit it to points")
        jobs = _input.threads(self.n_jobs)
        placed, _, _ = model.transform(given.data, self.missing, False, None, jobs)
        rows, _, _, _, _ = model.reconstruct(placed, False, None, jobs)
        lost = np.nansum((given.data - rows) ** 2)
        return float(1.0 - lost / np.nansum((given.data - train.mean(axis=0)) ** 2))

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a model file.

        `eigenfold.load` and the command-line program read it. Parameters that do not change the model, such as `n_jobs` and
        `callback`, are not in the file.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced if it exists.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        OSError
            If the file cannot be written.

        See Also
        --------
        eigenfold.load : Read a model file.

        Examples
        --------
        >>> import eigenfold
        >>> X = eigenfold.datasets.load("iris").data
        >>> eigenfold.PCA().fit(X).save("iris.model")
        >>> eigenfold.load("iris.model")
        PCA()
        """
        self._fitted()
        self._model.save(path)

    @property
    def graph_(self) -> Any:
        """The neighborhood graph, a sparse matrix: of the fitted weights if there are any, else of edge lengths."""
        self._require("graph_", self._spec.graph)
        if hasattr(self, "edges_"):
            return symmetric(self.edges_, getattr(self, "edge_weights_"), len(self.embedding_))
        return self._edges()

    def _edges(self, disconnected: str | None = None) -> Any:
        """The graph of the fit, made again; with another treatment of its connected components if one is named."""
        points = self._model.seen
        if points is None:
            raise AttributeError("the graph of distances is not kept; eigenfold.knn_graph makes it")
        request = self._spec.request(self, seed=json.loads(self._model.recipe)["seed"])[0]
        names = ("neighbors", "radius", "graph", "graph_parameters", "metric", "approximate", "disconnected", "seed")
        request = {name: request[name] for name in names} | ({} if disconnected is None else {"disconnected": disconnected})
        known = _input.knn(getattr(self, "precomputed_knn", None), len(points))
        if known is None and self.report_.get("graph_route") == GIVEN:
            raise AttributeError("the graph of given neighbors is not kept in a model file; set precomputed_knn to them again")
        return knn_graph_of("points", points, request, _input.threads(self.n_jobs), known)

    @property
    def precision_(self) -> Any:
        """The fitted precision matrix, sparse: the Laplacian of the weights plus `gamma` on the diagonal. MEU only."""
        self._require("precision_", self._spec.name == "MEU")
        return laplacian(self.graph_, float(getattr(self, "gamma")))

    def _require(self, attribute: str, there_is: bool) -> None:
        if not there_is or not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the coordinates.

        Parameters
        ----------
        input_features : object, optional
            Ignored; it is there for scikit-learn.

        Returns
        -------
        ndarray of str
            The name of the class in lower case with a number: `isomap0`, `isomap1`, and so on.

        See Also
        --------
        set_output : Return DataFrames with these column names.

        Examples
        --------
        >>> from eigenfold import PCA, datasets
        >>> PCA().fit(datasets.load("iris").data).get_feature_names_out().tolist()
        ['pca0', 'pca1']
        """
        self._fitted()
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{at}" for at in range(self.embedding_.shape[1])], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {'default', 'pandas', 'polars'}, optional
            Arrays, or DataFrames with the names of `get_feature_names_out`; None changes nothing.

        Returns
        -------
        Estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If `transform` has another value.

        See Also
        --------
        get_feature_names_out : Return the names of the columns.

        Examples
        --------
        >>> from eigenfold import PCA, datasets
        >>> pca = PCA().set_output(transform="pandas")
        >>> pca.fit_transform(datasets.load("iris").data).columns.tolist()
        ['pca0', 'pca1']
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(f"set_output(transform={transform!r}); give 'default', 'pandas' or 'polars'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def _contained(self, values: np.ndarray, X: Any) -> Any:
        """Coordinates in the requested container."""
        container = getattr(self, "_sklearn_output_config", {}).get("transform") or _sklearn.output_config()
        if container == "pandas":
            import pandas

            index = X.index if hasattr(X, "iloc") else None
            return pandas.DataFrame(values, columns=self.get_feature_names_out(), index=index, copy=False)
        if container == "polars":
            import polars

            return polars.DataFrame(values, schema=list(self.get_feature_names_out()), orient="row")
        return values

    def _fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            name = type(self).__name__
            raise _sklearn.exception(_sklearn.NotFittedError)(
                f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
            )

    def _again(self, X: Any) -> tuple[Any, _input.CheckedInput]:
        """The model, and rows that have its columns."""
        self._fitted()
        X, names = _vectors.unpacked(X, _vectors.of_fitted(self))
        given = _input.read(self, X, self._spec.kind(self), names=names)
        if given.kind == "graph":
            raise TypeError("new points of a sparse matrix cannot be placed; give dense rows")
        _input.check_again(self, given)
        return self._model, self._measured(given, self._train)

    def _measured(self, given: _input.CheckedInput, train: Any) -> _input.CheckedInput:
        """Points as their distances to the training points, by a metric of scipy; others as they are."""
        if given.kind != "measured":
            return given
        from scipy.spatial.distance import cdist, pdist, squareform

        metric, more = getattr(self, "metric"), getattr(self, "metric_params") or {}
        more = {"p": getattr(self, "p"), **more} if metric == "minkowski" and hasattr(self, "p") else more
        try:
            if metric == "mahalanobis" and "V" in more:  # scikit-learn's word; scipy wants the inverse
                more = {"VI": np.linalg.inv(more["V"])}
            new = squareform(pdist(train, metric, **more)) if given.data is train else cdist(given.data, train, metric, **more)
        except (TypeError, ValueError) as refused:
            raise ValueError(f"metric is {metric!r}; give precomputed, or one that eigenfold or scipy knows ({refused})") from None
        return given._replace(kind="distances", data=new)

    def _labels(self, y: Any, rows: int, request: dict[str, Any]) -> list[int | None] | None:
        """The class of every point, for a method that looks at them."""
        return None

    def _listener(self) -> Any:
        """What hears of the progress of a fit, if anyone wants to."""
        callback, verbose, name = self.callback, self.verbose, type(self).__name__
        if callback is None and not verbose:
            return None
        began, last = time.monotonic(), [""]

        def listen(stage: str, fraction: float, objective: float | None, notes: list[str]) -> Any:
            if verbose:
                for note in notes:
                    print(f"[{name}] {note}")
                if stage != last[0] or verbose > 1:
                    value = "" if objective is None else f", objective {objective:.6g}"
                    print(f"[{name}] {time.monotonic() - began:.1f} s: {stage} {100 * fraction:.0f} %{value}")
                    sys.stdout.flush()
                last[0] = stage
            return callback is not None and callback(stage, fraction, objective)

        return listen

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        _sklearn.join(Estimator)
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        kind = self._spec.kind(self)
        tags.input_tags.pairwise = kind not in ("points", "measured")
        tags.input_tags.sparse = kind != "similarities"
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = [self._dtype().name]
        tags.non_deterministic = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


class LatentEstimator(Estimator):
    """A method with a density over the data."""

    components_: np.ndarray
    noise_variance_: np.ndarray

    @property
    def covariance_(self) -> np.ndarray:
        """The covariance of the features by the model, W Wᵀ + Ψ; computed on access."""
        self._require("covariance_", True)
        return self.components_.T @ self.components_ + np.diag(self.noise_variance_)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of rows under the fitted model.

        Larger is better, so that `GridSearchCV` can choose parameters by held-out rows.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points, with the columns of the fit; missing cells are integrated out unless `missing` is 'error'.
        y : None
            Ignored.

        Returns
        -------
        float
            The mean log density (natural logarithm).

        See Also
        --------
        score_samples : Return the log density of every row.

        Examples
        --------
        >>> from eigenfold import PPCA, datasets
        >>> X = datasets.load("iris").data
        >>> print(f"{PPCA().fit(X[::2]).score(X[1::2]):.2f}")
        -2.69
        """
        return float(np.mean(self.score_samples(X)))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of every row under the fitted model.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points, with the columns of the fit; missing cells are integrated out unless `missing` is 'error'.

        Returns
        -------
        ndarray of shape (n_new,)
            The log densities (natural logarithm).

        See Also
        --------
        score : Return their mean.

        Examples
        --------
        >>> from eigenfold import PPCA, datasets
        >>> X = datasets.load("iris").data
        >>> PPCA().fit(X).score_samples(X[:3]).shape
        (3,)
        """
        model, given = self._again(X)
        return model.log_densities(given.data, self.missing, _input.threads(self.n_jobs))
