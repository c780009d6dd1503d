"""The package and the program give the same numbers, bit for bit."""

import subprocess

import numpy as np
import pytest
from conftest import PROGRAM

import eigenfold
from eigenfold._classes import CLASSES

CASES = [(name, value) for name, cls in CLASSES.items() for value in cls._spec.methods]


def program(*args: object) -> None:
    done = subprocess.run([PROGRAM, *map(str, args), "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name, value", CASES)
def test_every_method_gives_the_bytes_of_the_program(name, value, roll, tmp_path):
    cls = CLASSES[name]
    method, implied = cls._spec.methods[value]
    flags = [part for flag, text in implied.items() for part in (f"--{flag}", text)]
    np.save(tmp_path / "x.npy", roll)
    program("embed", tmp_path / "x.npy", "-m", method, *flags, "-o", tmp_path / "y.npy", "--save", tmp_path / "y.model")
    estimator = cls(method=value) if value else cls()
    assert np.array_equal(estimator.fit_transform(roll), np.load(tmp_path / "y.npy"))

    loaded = eigenfold.load(tmp_path / "y.model")
    assert type(loaded) is cls and np.array_equal(loaded.embedding_, estimator.embedding_)
    assert loaded.get_params() == estimator.get_params()
    estimator.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "y.model").read_bytes()


def test_parameters_reach_the_library_by_their_names(roll, tmp_path):
    np.save(tmp_path / "x.npy", roll)
    asked = "--perplexity 12.5 --max-iterations 60 --exaggeration 4 --seed 3 --init random -d 3"
    program("embed", tmp_path / "x.npy", "-m", "tsne", *asked.split(), "-o", tmp_path / "y.npy")
    tsne = eigenfold.TSNE(3, perplexity=12.5, max_iter=60, early_exaggeration=4.0, random_state=3, init="random")
    assert np.array_equal(tsne.fit_transform(roll), np.load(tmp_path / "y.npy"))


def test_new_points_and_the_way_back_are_those_of_the_program(roll, tmp_path):
    new = roll[:7] + 0.01
    isomap = eigenfold.Isomap(n_neighbors=8).fit(roll)
    isomap.save(tmp_path / "m.model")
    np.save(tmp_path / "new.npy", new)
    np.save(tmp_path / "places.npy", isomap.embedding_[:5])
    program("transform", tmp_path / "m.model", tmp_path / "new.npy", "-o", tmp_path / "placed.npy")
    assert np.array_equal(isomap.transform(new), np.load(tmp_path / "placed.npy"))
    outputs = ["-o", tmp_path / "back.npy", "--std", tmp_path / "std.npy"]
    program("reconstruct", tmp_path / "m.model", tmp_path / "places.npy", *outputs)
    back, deviations = isomap.inverse_transform(isomap.embedding_[:5], return_std=True)
    assert np.array_equal(back, np.load(tmp_path / "back.npy"))
    assert np.array_equal(deviations, np.load(tmp_path / "std.npy"))


def test_single_precision_is_widened_and_nothing_else(roll):
    single = roll.astype(np.float32)
    assert np.array_equal(eigenfold.PCA().fit_transform(single), eigenfold.PCA().fit_transform(single.astype(float)))
