"""Every example runs: those of the docstrings, of the README's section and of the pages about Python; and the stubs are current."""

import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from conftest import ROOT, run

import eigenfold
from eigenfold import datasets

matplotlib.use("Agg")
PAGES = ["crates/py/README.md", "docs/reference/python.md", "docs/reference/coming-from.md"]


@pytest.mark.filterwarnings("error")
def test_the_example_of_every_class_runs(each):
    assert each._spec.paper in each.__doc__ and each._spec.formula
    run(each.__doc__, each.__name__)


def test_the_example_of_the_package_runs():
    run(eigenfold.__doc__, "eigenfold")


def test_the_section_of_the_readme_runs(tmp_path, monkeypatch):
    section = (ROOT / "README.md").read_text().partition("\n## Python")[2].partition("\n## ")[0]
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    found: dict = {}
    exec(block, found)
    assert found["rows"].shape == found["std"].shape == (5, 64) and (tmp_path / "digits.png").exists()


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_run(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    run("\n\n".join(blocks), page)


def test_the_stubs_are_current():
    done = subprocess.run([sys.executable, ROOT / "crates/py/stubs.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_map_is_drawn(tmp_path):
    X, y = datasets.load("iris")[:2]
    axes = eigenfold.plot(eigenfold.PCA().fit_transform(X), y, title="iris")
    axes.figure.savefig(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 5000 and axes.get_title() == "iris"
    eigenfold.plot(X[:, :1], X[:, 0])
    # What has no label is grey, whatever stands for it.
    for missing in (None, np.nan):
        axes = eigenfold.plot(X[:, :2], [missing, missing, *["a", "b"] * 74])
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["missing", "a", "b"]
        matplotlib.pyplot.close(axes.figure)


@pytest.mark.parametrize("labels", [None, "classes", "names", "values"])
def test_without_matplotlib_a_map_is_drawn_as_the_program_draws_it(labels, tmp_path, monkeypatch):
    X, y, names, _ = datasets.load("iris")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    given = {None: None, "classes": y, "names": np.array(names)[y], "values": np.linspace(0, 1, 150)}[labels]
    picture = eigenfold.plot(eigenfold.PCA().fit_transform(X), given, title="four numbers of flowers")
    assert picture._repr_png_().startswith(b"\x89PNG")
    picture.save(tmp_path / "map.svg")
    drawn = (tmp_path / "map.svg").read_text()
    assert "four numbers of flowers" in drawn and "150 points" in drawn
    assert ("setosa" in drawn) == (labels == "names") and drawn.count("#") > 3
    eigenfold.plot(X, given, file=tmp_path / "pairs.png")
    assert (tmp_path / "pairs.png").read_bytes().startswith(b"\x89PNG")
