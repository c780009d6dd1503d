"""Many methods on the same points, from Python: the ranking, the maps, the page, and what is refused."""

import json
import re
import subprocess

import numpy as np
import pytest
from conftest import PROGRAM

import eigenfold

IRIS = eigenfold.datasets.load("iris")
X, KINDS = IRIS.data[::3], IRIS.target[::3]


@pytest.fixture(scope="module")
def found() -> eigenfold.Comparison:
    return eigenfold.compare(X, ["pca", "isomap", "umap"], labels=KINDS, title="flowers")


def test_maps_are_ranked_and_turned_onto_the_best(found):
    areas = [one["quality"]["rnx_auc"]["value"] for one in found.methods]
    assert found.ranking == [one["name"] for one in found.methods] and areas == sorted(areas, reverse=True)
    assert set(found.maps) == {"pca", "isomap", "umap"} and all(map.shape == (50, 2) for map in found.maps.values())
    assert found.status == {name: "done" for name in found.ranking}
    assert found.table["memory_mb"].between(0.001, 1000).all()
    assert list(found.table.index) == found.ranking and found.table["knn_accuracy"].between(0.9, 1).all()
    # Turned, not changed: the distances are those of the estimator.
    own = eigenfold.PCA().fit_transform(X)
    lengths = lambda map: np.linalg.norm(map - map.mean(0), axis=1)  # noqa: E731
    np.testing.assert_allclose(lengths(found.maps["pca"]), lengths(own), rtol=1e-9)
    assert "isomap" in repr(found)


def test_the_page_is_one_file_and_shows_in_a_notebook(found, tmp_path):
    found.report(tmp_path / "page.html", names=[f"flower {i}" for i in range(50)])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S).group(1))
    assert data["title"] == "flowers" and data["names"][3] == "flower 3" and len(data["maps"]) == 3
    assert not re.search(r'(src|href)="(https?:)?//', text)
    shown = found._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<script" not in shown


def test_columns_sweeps_and_parameters_have_pythons_words():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    found = eigenfold.compare(frame, ["isomap", "tsne"], sweep={"n_neighbors": [6, 12]}, perplexity=12, max_iterations=60)
    assert set(found.ranking) == {"isomap neighbors=6", "isomap neighbors=12", "tsne"}
    assert '"name":"a"' in found.html().replace(" ", "")


def test_one_that_fails_says_why_and_labels_may_be_anything():
    labels = np.array(["a", None, "b"] * 17, dtype=object)[:50]
    found = eigenfold.compare(X, ["pca", "hessian-lle"], labels=labels, n_neighbors=3)
    assert found.ranking == ["pca"] and found.status["hessian-lle"].startswith("failed: ")
    numbers = eigenfold.compare(X, "pca", labels=np.linspace(0, 1, 50))
    assert "knn_accuracy" not in numbers.methods[0]["quality"]


def test_what_cannot_be_compared_is_a_value_error():
    for wrong in (
        {"methods": ["isomab"]},
        {"methods": ["pca"], "perplexity": 5},
        {"methods": ["pca"], "labels": [1, 2]},
        {"methods": ["isomap"], "sweep": {"n_neighbors": [5], "perplexity": [5]}},
        {"methods": ["hessian-lle"], "n_neighbors": 3},
    ):
        with pytest.raises(ValueError):
            eigenfold.compare(X, **wrong)


def test_the_atlas_has_nested_neighbors(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    args = ["compare", "iris", "--methods", "pca,umap", "--atlas", tmp_path / "atlas.parquet", "-q"]
    subprocess.run([PROGRAM, *map(str, args)], check=True, capture_output=True)
    table = parquet.read_table(tmp_path / "atlas.parquet")
    assert table.column_names[:2] == ["projection_x", "projection_y"] and table.num_rows == 150
    first = table["neighbors"][0].as_py()
    assert len(first["ids"]) == len(first["distances"]) == 10 and first["distances"] == sorted(first["distances"])
    near = np.linalg.norm(IRIS.data - IRIS.data[0], axis=1)
    np.testing.assert_allclose(first["distances"], np.sort(near)[1:11])
