"""Several options at once: the package and the program give the same recipe and the same numbers, bit for bit.

EIGENFOLD_COMBINATIONS is the number of combinations, 48 if not set; EIGENFOLD_SEED draws others.
"""

import os
import subprocess
import warnings
from typing import Any

import numpy as np
import pytest
from conftest import PROGRAM

import eigenfold

COUNT = int(os.environ.get("EIGENFOLD_COMBINATIONS", "48"))
SEED = int(os.environ.get("EIGENFOLD_SEED", "0"))

# A class, the method that it stands for, and one parameter that may be set: by its flag and by its keyword.
METHODS: list[tuple[str, str, list[tuple[list[str], dict[str, Any]]]]] = [
    ("PCA", "pca", []),
    ("PPCA", "ppca", []),
    ("ClassicalMDS", "mds", []),
    ("KernelPCA", "kernel-pca", [(["--kernel", "polynomial", "--degree", "2"], {"kernel": "poly", "degree": 2})]),
    ("Isomap", "isomap", [(["--landmarks", "20"], {"landmarks": 20})]),
    ("LocallyLinearEmbedding", "lle", [(["--regularization", "0.01"], {"reg": 0.01})]),
    ("LaplacianEigenmaps", "laplacian-eigenmaps", [(["--bandwidth", "0.75"], {"bandwidth": 0.75})]),
    ("DiffusionMaps", "diffusion-maps", []),
    ("MEU", "meu", [(["--gamma", "0.01"], {"gamma": 0.01})]),
    ("TSNE", "tsne", [(["--perplexity", "7.5", "--max-iterations", "40"], {"perplexity": 7.5, "max_iter": 40})]),
    ("UMAP", "umap", [(["--min-dist", "0.25", "--max-iterations", "30"], {"min_dist": 0.25, "max_iter": 30})]),
]
METRICS = ["euclidean", "manhattan", "cosine", "correlation", "chebyshev", "minkowski:3", "canberra", "mahalanobis"]
# What may be done to the columns.
PREPARATIONS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--standardize"], {"standardize": True}),
    (["--scale-columns", "robust"], {"scale_columns": "robust"}),
    (["--scale-columns", "unit", "--log"], {"scale_columns": "unit", "log": "log1p"}),
    (["--log", "log"], {"log": "log"}),
    (["--standardize", "--log", "log1p"], {"standardize": True, "log": "log1p"}),
]


class Combination:
    """A request by flags and by keywords, drawn at random."""

    def __init__(self, number: int) -> None:
        self.random = np.random.default_rng([SEED, number])
        name, method, parameters = self.one(METHODS)
        self.cls = getattr(eigenfold, name)
        self.flags, self.words = ["-m", method], dict[str, Any]()
        if method == "lle" and self.random.random() < 0.4:
            self.flags, self.words, parameters = ["-m", "ltsa"], {"method": "ltsa"}, []
        dims, seed = int(self.random.integers(1, 4)), int(self.random.integers(0, 5))
        self.add(["-d", dims, "--seed", seed], {"n_components": dims, "random_state": seed})
        if parameters and self.random.random() < 0.6:
            self.add(*self.one(parameters))
        if self.cls._spec.graph:
            self.add_graph(dims)
        if "metric" in self.cls._spec.parameters:
            self.add_metric()
        self.add(*self.one(PREPARATIONS))
        missing = self.one([None, None, "mean", "model"])
        if missing is not None:
            self.add(["--missing", missing], {"missing": missing})
        if self.random.random() < 0.3:
            self.add(["--likelihood"], {"likelihood": True})
        self.data = self.points(missing is not None)

    def one(self, choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def add(self, flags: list[Any], words: dict[str, Any]) -> None:
        self.flags += [str(flag) for flag in flags]
        self.words |= words

    def add_graph(self, dims: int) -> None:
        kind, k = self.one(["nearest", "nearest", "mutual", "within", "all", "learned"]), int(self.random.integers(6, 16))
        if kind == "within":
            radius = float(self.random.uniform(1.0, 4.0))
            self.add(["--radius", repr(radius)], {"n_neighbors": None, "radius": radius})
        elif kind == "all":
            self.add(["--graph", "all"], {"graph": "all"})
        elif kind == "learned":
            self.add(["--graph", "learned", "-k", k], {"graph": "learned", "n_neighbors": k})
            if "penalty" not in self.cls._spec.parameters and self.random.random() < 0.5:
                self.add(["--penalty", "0.05"], {"graph_params": {"penalty": 0.05}})
        else:
            self.add(["--graph", kind, "-k", k], {"graph": kind, "n_neighbors": k})
        disconnected, approximate = self.one([None, "join", "separate", "error"]), self.one([None, None, True, False])
        if disconnected is not None:
            self.add(["--disconnected", disconnected], {"disconnected": disconnected})
        if approximate is not None:
            self.add([f"--approximate={'yes' if approximate else 'no'}"], {"approximate": approximate})
        if self.random.random() < 0.25:
            self.add(["--rescale", dims + 2], {"rescale": dims + 2})

    def add_metric(self) -> None:
        metric = self.one(METRICS)
        words = {"metric": "minkowski", "metric_params": {"p": 3}} if metric == "minkowski:3" else {"metric": metric}
        self.add(["--metric", metric], words)

    def points(self, holes: bool) -> np.ndarray:
        X = eigenfold.datasets.load("iris").data[::2] * [1.0, 10.0, 0.1, 1.0] + 0.5
        X += 0.01 * self.random.random(X.shape)
        if holes:
            X[self.random.random(X.shape) < 0.05] = np.nan
        return X


@pytest.mark.parametrize("number", range(COUNT))
def test_options_together_give_the_bytes_of_the_program(number, tmp_path):
    drawn = Combination(number)
    np.save(tmp_path / "x.npy", drawn.data)
    outputs = ["-o", tmp_path / "y.npy", "--save", tmp_path / "y.model", "--quiet"]
    done = subprocess.run([PROGRAM, "embed", tmp_path / "x.npy", *drawn.flags, *outputs], capture_output=True, text=True)
    estimator = drawn.cls(**drawn.words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if done.returncode != 0:
            # What one refuses, the other refuses too.
            assert done.returncode == 2, f"{drawn.flags}: {done.stderr}"
            with pytest.raises(ValueError):
                estimator.fit(drawn.data)
            return
        estimator.fit(drawn.data)
    assert np.array_equal(estimator.embedding_, np.load(tmp_path / "y.npy")), drawn.flags
    estimator.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "y.model").read_bytes(), drawn.flags


def test_most_combinations_are_fitted(tmp_path):
    """The test above would be idle if most of what it draws were refused."""
    fitted = 0
    for number in range(40):
        drawn = Combination(number)
        np.save(tmp_path / "x.npy", drawn.data)
        done = subprocess.run([PROGRAM, "embed", tmp_path / "x.npy", *drawn.flags, "-q", "-o", tmp_path / "y.npy"], capture_output=True)
        fitted += done.returncode == 0
    assert fitted >= 28, fitted
