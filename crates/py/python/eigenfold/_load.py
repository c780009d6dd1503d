"""Models from files: those of the program and those of `save` are the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _eigenfold
from ._classes import CLASSES
from ._spec import TABLE, Spec


def load(path: Any) -> Any:
    """Read a fitted estimator from a model file.

    The method `save` of every estimator and the option ``--save`` of the command-line program write the same files.

    Parameters
    ----------
    path : str or path-like
        The model file.

    Returns
    -------
    Estimator
        The fitted estimator, of the class of the method and with its parameters. The seconds of `report_` are 0, and
        ``report_["chosen"]`` is empty.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not a model file, is damaged, or has another format version.

    See Also
    --------
    Isomap.save : Write a fitted estimator to a model file.

    Examples
    --------
    >>> import eigenfold
    >>> X = eigenfold.datasets.make("swiss-roll", n=200).data
    >>> isomap = eigenfold.Isomap(n_neighbors=12).fit(X)
    >>> isomap.save("roll.model")
    >>> again = eigenfold.load("roll.model")
    >>> again
    Isomap(n_neighbors=12)
    >>> bool((again.transform(X[:3]) == isomap.transform(X[:3])).all())
    True
    """
    with open(path, "rb"):  # for Python's own errors of files that are not there or not ours
        model = _eigenfold.Model.load(path)
    return of_model(model)


def of_model(model: Any) -> Any:
    """A fitted estimator from the library's model."""
    recipe = json.loads(model.recipe)
    changed = dict(recipe["parameters"])
    estimator, method = next(_standing_for(recipe["method"], changed))
    values: dict[str, Any] = {
        "n_components": recipe["dims"],
        "n_neighbors": recipe["neighbors"],
        "random_state": recipe["seed"],
        "memory": recipe["memory"],
        "log": recipe["log"],
        "scale_columns": None if recipe["scale"] == "none" else recipe["scale"],
        **{name: recipe[name] for name in ("radius", "graph", "metric", "approximate", "disconnected", "rescale")},
    }
    if recipe["graph"] == "within":
        values["graph"] = "nearest"  # which a radius alone makes of it
    if recipe["learned"]:
        words = {row["name"]: row["python"] for row in TABLE["drill"]["parameters"]}
        values["graph_params"] = {words[name]: _read(value) for name, value in recipe["learned"]}
    if recipe["kind"] != "points":
        values["kernel" if recipe["kind"] == "similarities" else "metric"] = "precomputed"
    spec: Spec = estimator._spec
    for name, parameter in spec.parameters.items():
        if parameter.library in changed:
            values[name] = _read(changed[parameter.library])
    if spec.name == "MDS":
        values["metric_mds"] = changed.get("variant", "metric") == "metric"
    if len(spec.methods) > 1:
        values["method"] = method
    fitted = estimator(**{name: value for name, value in values.items() if name in spec.parameters})
    fitted._model, fitted._train = model, None
    fitted.n_features_in_ = len(model.embedding) if model.points is None else model.points.shape[1]
    if model.names is not None:
        fitted.feature_names_in_ = np.asarray(model.names, dtype=object)
    fitted._keep({**json.loads(model.report), "chosen": {}})
    return fitted


def _standing_for(method: str, changed: dict[str, str]) -> Any:
    """The classes that stand for a method, and the value of their `method`; one of a variant comes first."""
    found = [
        (len(implied), estimator, value)
        for estimator in CLASSES.values()
        for value, (name, implied) in estimator._spec.methods.items()
        if name == method and all(changed.get(name) == value for name, value in implied.items())
    ]
    return ((estimator, value) for _, estimator, value in sorted(found, key=lambda one: -one[0]))


def _read(text: str) -> Any:
    """A value as Python has it."""
    try:
        value = json.loads(text)
    except ValueError:
        return None if text == "none" else text
    return value if isinstance(value, (int, float, bool)) else text
