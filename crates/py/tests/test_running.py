"""Fits that run: beside each other, watched, stopped, and stopped by Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import eigenfold


def test_fits_in_two_threads_do_not_disturb_each_other(roll):
    expected = eigenfold.TSNE().fit_transform(roll)
    found = {}
    threads = [threading.Thread(target=lambda at=at: found.update({at: eigenfold.TSNE().fit_transform(roll)})) for at in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(found) == 3 and all(np.array_equal(map_, expected) for map_ in found.values())


def test_the_number_of_threads_changes_nothing(roll):
    assert np.array_equal(eigenfold.UMAP(n_jobs=1).fit_transform(roll), eigenfold.UMAP(n_jobs=2).fit_transform(roll))


def test_python_runs_while_a_fit_does():
    X = np.random.default_rng(0).normal(size=(3000, 10))
    ticks, done = [], threading.Event()
    ticker = threading.Thread(target=lambda: [ticks.append(time.sleep(0.005)) for _ in iter(done.is_set, True)])
    ticker.start()
    eigenfold.TSNE(max_iter=200).fit(X)
    done.set()
    ticker.join()
    assert len(ticks) > 3


def test_a_callback_hears_of_progress_and_can_stop_the_fit(capsys):
    from tqdm import tqdm

    X = np.random.default_rng(0).normal(size=(3000, 10))
    heard = []
    with tqdm(total=100, disable=True) as bar:

        def listen(stage, fraction, objective):
            bar.set_description(stage)
            bar.update(100 * fraction - bar.n)
            heard.append((stage, fraction, objective))
            return objective is not None

        with pytest.warns(UserWarning, match="did not converge"):
            tsne = eigenfold.TSNE(max_iter=100_000, tol=0.0, callback=listen, verbose=1).fit(X)
    assert tsne.embedding_.shape == (3000, 2) and not tsne.report_["converged"]
    assert heard and all(0 <= fraction <= 1 for _, fraction, _ in heard)
    assert "[TSNE]" in capsys.readouterr().out


def test_an_error_in_a_callback_ends_the_fit_and_is_raised():
    def fail(*_):
        raise KeyError("mine")

    X = np.random.default_rng(0).normal(size=(3000, 10))
    with pytest.raises(KeyError, match="mine"):
        eigenfold.TSNE(max_iter=100_000, tol=0.0, callback=fail).fit(X)


# Fits that take long by far, of each kind of work: a descent, shortest paths, a factorization, a semidefinite program, a process.
LONG = {
    "TSNE": ("max_iter=1_000_000, tol=0.0", (3000, 10)),
    "Isomap": ("", (20_000, 20)),
    "LocallyLinearEmbedding": ("n_neighbors=40", (30_000, 60)),
    "MVU": ("", (3000, 5)),
    "GPLVM": ("max_iter=1_000_000, tol=0.0", (1500, 20)),
    "MDS": ("max_iter=1_000_000", (6000, 10)),
}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_stops_a_long_fit_and_leaves_python_usable(name):
    arguments, size = LONG[name]
    code = f"""
        import numpy as np, eigenfold, sys
        X = np.random.default_rng(0).normal(size={size})
        try:
            print("started", flush=True)
            eigenfold.{name}({arguments}).fit(X)
        except KeyboardInterrupt:
            print("interrupted", eigenfold.PCA().fit_transform(X[:3000]).shape[1], flush=True)
    """
    started = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None and started.stdout.readline() == "started\n"
    time.sleep(0.7)
    os.kill(started.pid, signal.SIGINT)
    pressed = time.monotonic()
    output, _ = started.communicate(timeout=30)
    assert output == "interrupted 2\n" and started.returncode == 0
    assert time.monotonic() - pressed < 10


def test_a_solver_that_stops_early_warns():
    from sklearn.exceptions import ConvergenceWarning

    X = np.random.default_rng(0).normal(size=(100, 5))
    with pytest.warns(ConvergenceWarning, match="MDS did not converge"):
        eigenfold.MDS(max_iter=2).fit(X)


def test_a_call_costs_less_than_a_millisecond():
    X = np.random.default_rng(0).normal(size=(100, 5))
    pca = eigenfold.PCA()
    took = []
    for _ in range(50):
        began = time.perf_counter()
        pca.fit(X)
        took.append(time.perf_counter() - began - sum(pca.report_["seconds"].values()))
    # The least of many: the machine may be busy with something else.
    assert min(took) < 1e-3
