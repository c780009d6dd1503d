"""The inverse transform is fitted once per model and kept with it, and its numbers are those of one that is fitted anew."""

import copy
import pickle
import threading
import warnings

import numpy as np
from sklearn.base import clone

import eigenfold


def test_it_is_learned_by_the_first_call_that_needs_it_and_never_again(few):
    isomap = eigenfold.Isomap().fit(few)
    isomap.transform(few[:3])
    assert isomap._model.ways_learned == 0
    first = isomap.inverse_transform(isomap.embedding_)
    assert np.array_equal(isomap.inverse_transform(isomap.embedding_), first)
    assert np.array_equal(isomap.inverse_transform(isomap.embedding_[:1]), first[:1])
    isomap.inverse_transform(isomap.embedding_, return_std=True)
    isomap.score(few)
    assert isomap._model.ways_learned == 1


def test_a_kept_way_has_the_numbers_of_one_that_is_learned_anew(each, few):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = each(standardize=True).fit(few)
        places = np.vstack([fitted.embedding_[:5], 3 * fitted.embedding_[:2]])
        fitted.inverse_transform(places)
        anew = pickle.loads(pickle.dumps(fitted))
        for options in ({}, {"return_std": True, "held_out": False}):
            assert np.array_equal(fitted.inverse_transform(places, **options), anew.inverse_transform(places, **options))
    assert fitted._model.ways_learned == anew._model.ways_learned == 1


def test_another_fit_drops_it(roll):
    isomap = eigenfold.Isomap().fit(roll)
    isomap.inverse_transform(isomap.embedding_)
    far = roll + [1000.0, 0.0, 0.0]
    assert isomap.fit(far)._model.ways_learned == 0
    assert np.array_equal(isomap.inverse_transform(isomap.embedding_), eigenfold.Isomap().fit(far).inverse_transform(isomap.embedding_))
    # The columns that were fitted last come back.
    assert np.abs(isomap.inverse_transform(isomap.embedding_) - far).mean() < 1.0


def test_copies_share_it_and_clones_and_pickles_have_none_of_it(few):
    isomap = eigenfold.Isomap().fit(few)
    before = len(pickle.dumps(isomap))
    isomap.inverse_transform(isomap.embedding_[:1])
    assert len(pickle.dumps(isomap)) == before
    assert pickle.loads(pickle.dumps(isomap))._model.ways_learned == 0
    shared = copy.copy(isomap)
    shared.inverse_transform(isomap.embedding_[:1])
    assert shared._model.ways_learned == 1
    assert not hasattr(clone(isomap), "_model")


def test_threads_that_ask_at_the_same_time_get_the_same_numbers(few):
    isomap = eigenfold.Isomap().fit(few)
    expected = pickle.loads(pickle.dumps(isomap)).inverse_transform(isomap.embedding_)
    together, found = threading.Barrier(4), {}

    def ask(at):
        together.wait()
        found[at] = isomap.inverse_transform(isomap.embedding_)

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(found) == 4 and all(np.array_equal(rows, expected) for rows in found.values())
    learned = isomap._model.ways_learned
    isomap.inverse_transform(isomap.embedding_)
    assert 1 <= learned <= 4 and isomap._model.ways_learned == learned
