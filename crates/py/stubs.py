#!/usr/bin/env python3
"""Writes the type stubs of the package from its classes; with --check, says whether they are current.

    PYTHONPATH=target/python python3 crates/py/stubs.py [--check]
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from eigenfold import datasets
from eigenfold._classes import CLASSES

TARGET = Path(__file__).resolve().parent / "python/eigenfold/__init__.pyi"

HEAD = '''# Written by crates/py/stubs.py from the library's table of parameters; do not edit.

from os import PathLike
from typing import Any, Callable, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from typing_extensions import Self

from . import datasets as datasets
from ._eigenfold import EigenfoldError as EigenfoldError
from ._functions import dimension as dimension, gp_likelihood as gp_likelihood, knn_graph as knn_graph, plot as plot
from ._manifold import locally_linear_embedding as locally_linear_embedding
from ._compare import Comparison as Comparison, compare as compare
from ._quality import Quality as Quality, quality as quality
from ._sklearn import ConvergenceWarning as ConvergenceWarning, NotFittedError as NotFittedError

__version__: str

def load(path: str | PathLike[str]) -> Any: ...

class Estimator:
    n_features_in_: int
    feature_names_in_: np.ndarray
    embedding_: np.ndarray
    n_iter_: int
    report_: dict[str, Any]
    center_: np.ndarray
    scale_: np.ndarray
    @property
    def graph_(self) -> Any: ...
    @property
    def precision_(self) -> Any: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def fit_transform(self, X: Any, y: Any = None) -> Any: ...
    @overload
    def transform(self, X: Any, return_std: Literal[False] = False, held_out: bool | None = None) -> Any: ...
    @overload
    def transform(self, X: Any, return_std: Literal[True], held_out: bool | None = None) -> tuple[Any, np.ndarray]: ...
    @overload
    def inverse_transform(self, X: Any, return_std: Literal[False] = False, held_out: bool | None = None) -> np.ndarray: ...
    @overload
    def inverse_transform(self, X: Any, return_std: Literal[True], held_out: bool | None = None) -> tuple[np.ndarray, np.ndarray]: ...
    def score(self, X: Any, y: Any = None) -> float: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray: ...
    def set_output(self, *, transform: str | None = None) -> Self: ...
'''

# The attributes that only some have; `_fitted.py` sets them.
FITTED = {
    "eigenvalues_": "np.ndarray",
    "reconstruction_error_": "float",
    "kl_divergence_": "float",
    "stress_": "float",
    "normalized_stress_": "float",
    "certificate_": "dict[str, Any]",
    "duality_gap_": "float",
    "path_": "list[dict[str, Any]]",
    "log_likelihood_": "float",
    "components_": "np.ndarray",
    "mean_": "np.ndarray",
    "explained_variance_": "np.ndarray",
    "explained_variance_ratio_": "np.ndarray",
    "singular_values_": "np.ndarray",
    "noise_variance_": "np.ndarray",
    "edges_": "np.ndarray",
    "edge_weights_": "np.ndarray",
}


def stub(name: str, cls: type) -> str:
    lines = [f"class {name}(Estimator):"]
    arguments = [] if cls._spec.positional else ["*"]  # type: ignore[attr-defined]
    for parameter, row in cls._spec.parameters.items():  # type: ignore[attr-defined]
        lines.append(f"    {parameter}: {row.type}")
        arguments.append(f"{parameter}: {row.type} = {row.default!r}")
        if parameter == "n_components" and "*" not in arguments:
            arguments.append("*")
    fitted = cls(max_iter=2) if name in ("MVU", "GPLVM") else cls()  # type: ignore[call-arg]
    X = datasets.load("iris").data[::5]
    known = vars(fitted.fit(X))
    lines += [f"    {attribute}: {kind}" for attribute, kind in FITTED.items() if attribute in known]
    if hasattr(cls, "score_samples"):
        lines += ["    @property", "    def covariance_(self) -> np.ndarray: ..."]
        lines.append("    def score_samples(self, X: Any) -> np.ndarray: ...")
    if name == "Isomap":
        lines += ["    @property", "    def dist_matrix_(self) -> np.ndarray: ...", "    def reconstruction_error(self) -> float: ..."]
    if name == "LaplacianEigenmaps":
        lines += ["    @property", "    def affinity_matrix_(self) -> Any: ..."]
    if name == "MDS":
        lines += [f"    def {call}(self, X: Any, y: Any = None, init: Any = None) -> {out}: ..." for call, out in (("fit", "Self"), ("fit_transform", "Any"))]
    inside = "\n".join(f"        {argument}," for argument in arguments)
    return "\n".join(lines) + f"\n    def __init__(\n        self,\n{inside}\n    ) -> None: ...\n"


def main() -> int:
    import warnings

    warnings.simplefilter("ignore")
    assert all(inspect.isclass(cls) for cls in CLASSES.values())
    text = HEAD + "\n" + "\n".join(stub(name, cls) for name, cls in CLASSES.items()) + "\nSpectralEmbedding = LaplacianEigenmaps\n"
    if "--check" not in sys.argv:
        TARGET.write_text(text)
        return 0
    if not TARGET.exists() or TARGET.read_text() != text:
        print(f"{TARGET} is not current; run crates/py/stubs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
