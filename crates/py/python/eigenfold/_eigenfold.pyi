"""The compiled half of the package; src/lib.rs lists it."""

from os import PathLike
from typing import Any, Callable

import numpy as np

class EigenfoldError(RuntimeError): ...

class Model:
    def __init__(self, bytes: bytes) -> None: ...
    embedding: np.ndarray
    points: np.ndarray | None
    seen: np.ndarray | None
    prepared: tuple[np.ndarray, np.ndarray] | None
    names: list[str] | None
    report: str
    recipe: str
    latent: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    axes: tuple[np.ndarray, np.ndarray] | None
    weights: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None
    def transform(
        self, rows: np.ndarray, missing_cells: str, deviations: bool, held_out: bool | None, threads: int | None
    ) -> tuple[np.ndarray, list[int], np.ndarray | None]: ...
    def reconstruct(
        self, places: np.ndarray, intervals: bool, held_out: bool | None, threads: int | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int], list[str]]: ...
    def transformer(self, deviations: bool, held_out: bool | None, threads: int | None) -> Transformer: ...
    ways_learned: int
    def log_densities(self, rows: np.ndarray, missing_cells: str, threads: int | None) -> np.ndarray: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def to_bytes(self) -> bytes: ...

class Transformer:
    def transform(self, rows: np.ndarray, missing_cells: str) -> tuple[np.ndarray, list[int], np.ndarray | None]: ...

class Comparison:
    def ranking(self) -> list[str]: ...
    def about(self) -> str: ...
    def map(self, name: str) -> np.ndarray | None: ...
    def html(
        self, title: str, columns: list[str] | None, names: list[str] | None, image: tuple[int, int] | None
    ) -> str: ...

def compare(
    data: np.ndarray,
    methods: list[str],
    request: str,
    sweep: tuple[str, list[str]] | None,
    labels: tuple[str, list[str] | None, list[float]] | None,
    seconds: float,
    threads: int | None,
    listener: Callable[[str, float, float | None, list[str]], Any] | None,
) -> Comparison: ...
def methods() -> str: ...
def fit(
    kind: str,
    data: Any,
    request: str,
    start: np.ndarray | None,
    labels: list[int | None] | None,
    names: list[str] | None,
    neighbors: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
    threads: int | None,
    listener: Callable[[str, float, float | None, list[str]], Any] | None,
) -> tuple[Model, str]: ...
def fit_moments(
    request: str,
    moments: tuple[int, np.ndarray, np.ndarray],
    sample: np.ndarray,
    names: list[str] | None,
    threads: int | None,
    listener: Callable[[str, float, float | None, list[str]], Any] | None,
) -> Model: ...
def logarithms(request: str, rows: np.ndarray) -> np.ndarray: ...
def graph(
    kind: str, data: Any, request: str, neighbors: tuple[np.ndarray, np.ndarray, np.ndarray] | None, threads: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]: ...
def dimension(
    data: np.ndarray, neighbors: int | None, quick: bool, pointwise: bool, seed: int, threads: int | None
) -> str: ...
def gp_likelihood(
    data: np.ndarray, map: np.ndarray, length_rule: str, one_start: bool, inducing: int | None, threads: int | None
) -> str: ...
def metric(name: str) -> str | None: ...
def quality(
    kind: str,
    data: np.ndarray,
    map: np.ndarray,
    labels: list[int | None] | None,
    truth: np.ndarray | None,
    neighbors: int | None,
    rows: int | None,
    metric: str,
    seed: int,
    threads: int | None,
) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]: ...
def measures() -> str: ...
def samples() -> list[str]: ...
def sample(name: str, n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
def builtin(name: str) -> tuple[np.ndarray, np.ndarray, list[str], list[str] | None]: ...
def picture(
    map: np.ndarray, classes: tuple[list[str], list[int | None]] | None, values: list[float] | None, title: str, file: str | PathLike[str]
) -> bytes: ...
