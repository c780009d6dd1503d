"""Many methods on the same points: evaluated alike, ranked, and shown on one page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _eigenfold, _input


class Comparison:
    """What `compare` found: `ranking`, `table`, `maps`, `status`, and the page by `report`."""

    def __init__(self, found: Any, columns: list[str] | None, image: tuple[int, int] | None, title: str) -> None:
        self._found, self._columns, self._image, self._title = found, columns, image, title
        about = json.loads(found.about())
        self.methods: list[dict[str, Any]] = about["methods"]
        self.rule: str = about["rule"]

    @property
    def ranking(self) -> list[str]:
        """The names of those that have a map, best first, by `rule`."""
        return list(self._found.ranking())

    @property
    def maps(self) -> dict[str, np.ndarray]:
        """The maps by name, best first, each turned onto the best one."""
        return {name: self._found.map(name) for name in self.ranking}

    @property
    def status(self) -> dict[str, str]:
        """`done`, or `stopped`, `failed` or `skipped` with the reason, by name."""
        said = lambda one: one["status"] if one["reason"] is None else f"{one['status']}: {one['reason']}"  # noqa: E731
        return {one["name"]: said(one) for one in self.methods}

    @property
    def table(self) -> Any:
        """One row per method, best first, with its quality measures: a pandas DataFrame if pandas is installed, else a list of dicts."""
        rows = []
        for one in self.methods:
            row = {name: one[name] for name in ("name", "status", "seconds", "memory_mb")}
            row.update({key: measure["value"] for key, measure in one["quality"].items()})
            rows.append(row)
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows).set_index("name")

    def html(self, *, title: str | None = None, names: Sequence[str] | None = None) -> str:
        """The page as text: one HTML file that needs no network."""
        said = None if names is None else [str(name) for name in names]
        return self._found.html(title or self._title, self._columns, said, self._image)

    def report(self, file: str | Path, *, title: str | None = None, names: Sequence[str] | None = None) -> None:
        """Writes the page to a file; `names` are what the rows are called on it."""
        Path(file).write_text(self.html(title=title, names=names), encoding="utf-8")

    def _repr_html_(self) -> str:
        # A page in a frame of its own, so that it and the notebook do not touch each other.
        from html import escape

        page = escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 800px; border: 0" sandbox="allow-scripts"></iframe>'

    def __repr__(self) -> str:
        lines = [f"Comparison of {len(self.methods)} maps, {self.rule}"]
        for one in self.methods:
            area = one["quality"].get("rnx_auc", {}).get("value")
            lines.append(f"  {one['name']:<24} " + (f"{area:.3f}" if area is not None else self.status[one["name"]]))
        return "\n".join(lines)


def compare(
    X: Any,
    methods: Iterable[str] | str | None = None,
    *,
    labels: Any = None,
    n_components: int = 2,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    sweep: Mapping[str, Sequence[Any]] | None = None,
    seconds: float = 60.0,
    image: tuple[int, int] | None = None,
    title: str = "data",
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[..., Any] | None = None,
    **parameters: Any,
) -> Comparison:
    """Maps of the same points by several methods, evaluated alike and ranked.

    `methods` are names (`"all"` for all, a dozen if none are given); `parameters` such as `perplexity=50` reach the methods that
    have them; `sweep={"neighbors": [5, 10, 20]}` makes a map per value. Each method has `seconds`; one that fails or is stopped
    is reported in `status`, and the others go on.

    >>> from eigenfold import compare, datasets
    >>> iris = datasets.load("iris")
    >>> found = compare(iris.data, ["pca", "umap"], labels=iris.target)
    >>> sorted(found.ranking)
    ['pca', 'umap']
    >>> found.maps["pca"].shape
    (150, 2)
    """
    names = [methods] if isinstance(methods, str) else list(methods or [])
    if sweep is not None and len(sweep) != 1:
        raise ValueError(f"sweep has {len(sweep)} parameters; give one, as in {{'neighbors': [5, 10, 20]}}")
    swept = None if sweep is None else next((name, [str(value) for value in values]) for name, values in sweep.items())
    if swept is not None:
        swept = (swept[0].removeprefix("n_").replace("_", "-"), swept[1])
    request = {
        "parameters": {name.replace("_", "-"): str(value) for name, value in parameters.items()},
        "dims": n_components,
        "neighbors": n_neighbors,
        "metric": metric,
        "seed": _input.seed(random_state),
    }
    data = _input.matrix(X)
    listener = None if callback is None else lambda stage, fraction, objective, _notes: callback(stage, fraction, objective)
    found = _eigenfold.compare(
        data, names, json.dumps(request), swept, _labeled(labels, len(data)), float(seconds), _input.threads(n_jobs), listener
    )
    columns = getattr(X, "columns", None)
    return Comparison(found, None if columns is None else [str(name) for name in columns], image, title)


def _labeled(labels: Any, rows: int) -> tuple[str, list[str] | None, list[float]] | None:
    """The name of the labels, those of the classes, and a number per row."""
    if labels is None:
        return None
    name, values = str(getattr(labels, "name", None) or "label"), np.asarray(labels)
    if values.shape != (rows,):
        raise ValueError(f"labels have the shape {values.shape}; give one per row, {rows} of them")
    if values.dtype.kind == "f" and len(np.unique(values)) > 30:
        return name, None, [float(value) for value in values]
    known = np.array([value is not None and value == value for value in values])
    classes, of = np.unique(values[known].astype(str) if values.dtype.kind == "O" else values[known], return_inverse=True)
    numbers = np.full(rows, -1.0)
    numbers[known] = of
    return name, [str(one) for one in classes], numbers.tolist()
