# Written by crates/py/stubs.py from the library's table of parameters; do not edit.

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

class PCA(Estimator):
    n_components: int | str | None
    svd_solver: Any
    copy: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    components_: np.ndarray
    mean_: np.ndarray
    explained_variance_: np.ndarray
    explained_variance_ratio_: np.ndarray
    singular_values_: np.ndarray
    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        svd_solver: Any = 'auto',
        copy: Any = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class ClassicalMDS(Estimator):
    n_components: int | str | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    landmarks: int | None
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        landmarks: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class KernelPCA(Estimator):
    n_components: int | str | None
    kernel: str
    bandwidth: float | str
    degree: int
    coef0: float | None
    scale: float | str | None
    gamma: float | None
    eigen_solver: Any
    tol: Any
    max_iter: Any
    fit_inverse_transform: Any
    copy_X: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        kernel: str = 'gaussian',
        bandwidth: float | str = 'auto',
        degree: int = 3,
        coef0: float | None = None,
        scale: float | str | None = None,
        gamma: float | None = None,
        eigen_solver: Any = 'auto',
        tol: Any = 0,
        max_iter: Any = None,
        fit_inverse_transform: Any = False,
        copy_X: Any = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class Isomap(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    landmarks: int | None
    p: float
    eigen_solver: Any
    tol: Any
    max_iter: Any
    path_method: Any
    neighbors_algorithm: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    @property
    def dist_matrix_(self) -> np.ndarray: ...
    def reconstruction_error(self) -> float: ...
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        landmarks: int | None = None,
        p: float = 2,
        eigen_solver: Any = 'auto',
        tol: Any = 0,
        max_iter: Any = None,
        path_method: Any = 'auto',
        neighbors_algorithm: Any = 'auto',
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class LocallyLinearEmbedding(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    method: str
    reg: float | str | None
    ordering: str
    eigen_solver: Any
    tol: Any
    max_iter: Any
    neighbors_algorithm: Any
    hessian_tol: Any
    modified_tol: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    reconstruction_error_: float
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        method: str = 'standard',
        reg: float | str | None = None,
        ordering: str = 'geodesic',
        eigen_solver: Any = 'auto',
        tol: Any = 1e-06,
        max_iter: Any = 100,
        neighbors_algorithm: Any = 'auto',
        hessian_tol: Any = 0.0001,
        modified_tol: Any = 1e-12,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class LaplacianEigenmaps(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    kernel: str
    bandwidth: float | str
    variant: str
    mutual: str
    affinity: str | Callable[[Any], Any] | None
    gamma: float | None
    eigen_solver: Any
    eigen_tol: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    @property
    def affinity_matrix_(self) -> Any: ...
    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        kernel: str = 'heat',
        bandwidth: float | str = 'auto',
        variant: str = 'normalized',
        mutual: str = 'once',
        affinity: str | Callable[[Any], Any] | None = None,
        gamma: float | None = None,
        eigen_solver: Any = None,
        eigen_tol: Any = 'auto',
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class DiffusionMaps(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    bandwidth: float | str
    time: float
    alpha: float
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        bandwidth: float | str = 'auto',
        time: float = 1.0,
        alpha: float = 1.0,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class MVU(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    constraints: str
    variant: str
    band: float | str
    landmarks: int | None
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    certificate_: dict[str, Any]
    duality_gap_: float
    log_likelihood_: float
    edges_: np.ndarray
    edge_weights_: np.ndarray
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        constraints: str = 'auto',
        variant: str = 'inequality',
        band: float | str = 'auto',
        landmarks: int | None = None,
        tol: float = 0.0001,
        max_iter: int = 300,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class MEU(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    variant: str
    gamma: float
    noise: float | str
    landmarks: int | None
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    duality_gap_: float
    log_likelihood_: float
    edges_: np.ndarray
    edge_weights_: np.ndarray
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        variant: str = 'standard',
        gamma: float = 0.0,
        noise: float | str = 'auto',
        landmarks: int | None = None,
        tol: float = 1e-06,
        max_iter: int = 500,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class Drill(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    penalty: str | float
    ridge: float
    penalize_diagonal: bool
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    duality_gap_: float
    log_likelihood_: float
    edges_: np.ndarray
    edge_weights_: np.ndarray
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        penalty: str | float = 'auto',
        ridge: float = 0.1,
        penalize_diagonal: bool = False,
        tol: float = 1e-06,
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class PPCA(Estimator):
    n_components: int | str | None
    solver: str
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    components_: np.ndarray
    mean_: np.ndarray
    noise_variance_: np.ndarray
    @property
    def covariance_(self) -> np.ndarray: ...
    def score_samples(self, X: Any) -> np.ndarray: ...
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        solver: str = 'direct',
        tol: float = 1e-12,
        max_iter: int = 5000,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class FactorAnalysis(Estimator):
    n_components: int | str | None
    solver: str
    tol: float
    max_iter: int
    svd_method: Any
    copy: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    log_likelihood_: float
    components_: np.ndarray
    mean_: np.ndarray
    noise_variance_: np.ndarray
    @property
    def covariance_(self) -> np.ndarray: ...
    def score_samples(self, X: Any) -> np.ndarray: ...
    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        solver: str = 'direct',
        tol: float = 1e-12,
        max_iter: int = 5000,
        svd_method: Any = 'randomized',
        copy: Any = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class PPCO(Estimator):
    n_components: int | str | None
    kernel: str
    bandwidth: float | str
    degree: int
    coef0: float | None
    scale: float | str | None
    landmarks: int | str
    solver: str
    start: str
    tol: float
    max_iter: int
    gamma: float | None
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        kernel: str = 'gaussian',
        bandwidth: float | str = 'auto',
        degree: int = 3,
        coef0: float | None = None,
        scale: float | str | None = None,
        landmarks: int | str = 'auto',
        solver: str = 'eigen',
        start: str = 'sample',
        tol: float = 1e-08,
        max_iter: int = 1000,
        gamma: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class PKPCA(Estimator):
    n_components: int | str | None
    kernel: str
    bandwidth: float | str
    degree: int
    coef0: float | None
    scale: float | str | None
    landmarks: int | str
    solver: str
    gamma: float | None
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    eigenvalues_: np.ndarray
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        kernel: str = 'gaussian',
        bandwidth: float | str = 'auto',
        degree: int = 3,
        coef0: float | None = None,
        scale: float | str | None = None,
        landmarks: int | str = 'auto',
        solver: str = 'eigen',
        gamma: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class GPLVM(Estimator):
    n_components: int | str | None
    kernel: str
    prior: str
    init: str | ArrayLike
    inducing: int | str
    back_constraints: bool
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        kernel: str = 'gaussian',
        prior: str = 'flat',
        init: str | ArrayLike = 'best',
        inducing: int | str = 'auto',
        back_constraints: bool = False,
        tol: float = 0.001,
        max_iter: int = 500,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class ElasticEmbedding(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    attraction: str
    bandwidth: float | str
    perplexity: str | float
    repulsion: str
    lam: str | float
    accuracy: str
    init: str | ArrayLike
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        attraction: str = 'heat',
        bandwidth: float | str = 'auto',
        perplexity: str | float = 'auto',
        repulsion: str = 'squared',
        lam: str | float = 'auto',
        accuracy: str = 'auto',
        init: str | ArrayLike = 'isomap',
        tol: float = 1e-09,
        max_iter: int = 1000,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class SNE(Estimator):
    n_components: int | str | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    perplexity: str | float
    lam: float
    accuracy: str
    init: str | ArrayLike
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    kl_divergence_: float
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        perplexity: str | float = 'auto',
        lam: float = 1.0,
        accuracy: str = 'fast',
        init: str | ArrayLike = 'pca',
        tol: float = 0.002,
        max_iter: int = 500,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class SymmetricSNE(Estimator):
    n_components: int | str | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    perplexity: str | float
    lam: float
    uniform: float
    accuracy: str
    init: str | ArrayLike
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    kl_divergence_: float
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        perplexity: str | float = 'auto',
        lam: float = 1.0,
        uniform: float = 0.0,
        accuracy: str = 'fast',
        init: str | ArrayLike = 'pca',
        tol: float = 0.002,
        max_iter: int = 500,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class TSNE(Estimator):
    n_components: int | str | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    perplexity: str | float
    early_exaggeration: float
    degrees: float
    accuracy: str
    init: str | ArrayLike
    tol: float
    max_iter: int
    method: str | None
    learning_rate: Any
    n_iter_without_progress: Any
    min_grad_norm: Any
    angle: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    kl_divergence_: float
    log_likelihood_: float
    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        perplexity: str | float = 'auto',
        early_exaggeration: float = 12.0,
        degrees: float = 1.0,
        accuracy: str = 'fast',
        init: str | ArrayLike = 'pca',
        tol: float = 0.005,
        max_iter: int = 500,
        method: str | None = None,
        learning_rate: Any = 'auto',
        n_iter_without_progress: Any = 300,
        min_grad_norm: Any = 1e-07,
        angle: Any = 0.5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class UMAP(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    min_dist: float
    spread: float
    negative_sample_rate: float
    target_weight: float
    accuracy: str
    init: str | ArrayLike
    tol: float
    max_iter: int
    n_epochs: int | None
    repulsion_strength: float
    low_memory: Any
    transform_seed: Any
    learning_rate: Any
    local_connectivity: Any
    set_op_mix_ratio: Any
    densmap: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        min_dist: float = 0.1,
        spread: float = 1.0,
        negative_sample_rate: float = 5.0,
        target_weight: float = 0.5,
        accuracy: str = 'fast',
        init: str | ArrayLike = 'pca',
        tol: float = 0.001,
        max_iter: int = 300,
        n_epochs: int | None = None,
        repulsion_strength: float = 1.0,
        low_memory: Any = True,
        transform_seed: Any = 42,
        learning_rate: Any = 1.0,
        local_connectivity: Any = 1.0,
        set_op_mix_ratio: Any = 1.0,
        densmap: Any = False,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class Sammon(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    distances: str
    landmarks: int | None
    init: str | ArrayLike
    tol: float
    max_iter: int
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    stress_: float
    normalized_stress_: float
    log_likelihood_: float
    def __init__(
        self,
        *,
        n_components: int | str | None = 2,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        distances: str = 'auto',
        landmarks: int | None = None,
        init: str | ArrayLike = 'scaling',
        tol: float = 1e-08,
        max_iter: int = 1000,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

class MDS(Estimator):
    n_components: int | str | None
    n_neighbors: int | str | None
    radius: float | None
    graph: str
    graph_params: dict[str, Any] | None
    approximate: bool | None
    disconnected: str
    rescale: int | None
    metric: str | Callable[[Any, Any], float]
    metric_params: dict[str, Any] | None
    precomputed_knn: Any
    distances: str
    weight: str
    landmarks: int | None
    init: str | ArrayLike
    tol: float
    max_iter: int
    dissimilarity: str | None
    metric_mds: bool
    eps: float | None
    normalized_stress: bool | str
    n_init: Any
    random_state: int | None
    n_jobs: int | None
    missing: str
    vector: str | None
    standardize: bool
    scale_columns: str | None
    log: str | None
    memory: int | None
    dtype: str | type
    likelihood: bool
    verbose: int
    callback: Callable[[str, float, float | None], Any] | None
    stress_: float
    normalized_stress_: float
    log_likelihood_: float
    def fit(self, X: Any, y: Any = None, init: Any = None) -> Self: ...
    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Any: ...
    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        n_neighbors: int | str | None = 10,
        radius: float | None = None,
        graph: str = 'nearest',
        graph_params: dict[str, Any] | None = None,
        approximate: bool | None = None,
        disconnected: str = 'join',
        rescale: int | None = None,
        metric: str | Callable[[Any, Any], float] = 'euclidean',
        metric_params: dict[str, Any] | None = None,
        precomputed_knn: Any = None,
        distances: str = 'auto',
        weight: str = 'one',
        landmarks: int | None = None,
        init: str | ArrayLike = 'scaling',
        tol: float = 1e-08,
        max_iter: int = 1000,
        dissimilarity: str | None = None,
        metric_mds: bool = True,
        eps: float | None = None,
        normalized_stress: bool | str = 'auto',
        n_init: Any = 1,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        missing: str = 'error',
        vector: str | None = None,
        standardize: bool = False,
        scale_columns: str | None = None,
        log: str | None = None,
        memory: int | None = None,
        dtype: str | type = 'float64',
        likelihood: bool = False,
        verbose: int = 0,
        callback: Callable[[str, float, float | None], Any] | None = None,
    ) -> None: ...

SpectralEmbedding = LaplacianEigenmaps
