"""Iterators of batches: the numbers of all rows at once, from a model that is prepared once."""

import tracemalloc
import warnings

import numpy as np
import pyarrow
import pytest

import eigenfold


def in_batches(rows, size):
    return (rows[i : i + size] for i in range(0, len(rows), size))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_have_the_numbers_of_all_rows_at_once(each, few, size):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = each().fit(few)
        new = np.vstack([few[:5], few[5:12] + 0.01, 3 * few[:2]])
        assert np.array_equal(np.vstack(list(fitted.transform(in_batches(new, size)))), fitted.transform(new))


def test_a_reader_of_pyarrow_is_an_iterator_of_batches(few):
    table = pyarrow.table({"v": few.tolist()})
    fitted = eigenfold.PCA().fit(table)
    assert np.array_equal(np.vstack(list(fitted.transform(table.to_reader(max_chunksize=7)))), fitted.transform(table))


def test_standard_deviations_come_in_batches_too(few):
    isomap = eigenfold.Isomap().fit(few)
    new = few[:9] + 0.01
    for held_out in (True, False):
        coordinates, std = isomap.transform(new, return_std=True, held_out=held_out)
        batches = list(isomap.transform(in_batches(new, 4), return_std=True, held_out=held_out))
        assert np.array_equal(np.vstack([batch for batch, _ in batches]), coordinates)
        assert np.array_equal(np.vstack([batch for _, batch in batches]), std)


def test_the_inverse_transform_takes_batches(few):
    isomap = eigenfold.Isomap().fit(few)
    rows = isomap.inverse_transform(isomap.embedding_)
    assert np.array_equal(np.vstack(list(isomap.inverse_transform(in_batches(isomap.embedding_, 7)))), rows)
    assert isomap._model.ways_learned == 1


def test_far_rows_are_counted_over_all_batches(few):
    pca = eigenfold.PCA().fit(few)
    rows = np.vstack([few[:10], few[:1] + 1e3])
    with pytest.warns(UserWarning, match=r"1 row is far from all training points \(10\)"):
        list(pca.transform(in_batches(rows, 4)))


def test_batches_are_read_one_at_a_time_and_forgotten(few):
    pca = eigenfold.PCA().fit(few)
    read = []

    def rows():
        for i in range(200):
            read.append(i)
            yield np.tile(few[:1], (5000, 1))

    answers = pca.transform(rows())
    next(answers)
    assert len(read) == 1
    tracemalloc.start()
    total = sum(len(batch) for batch in answers)
    assert total == 199 * 5000
    assert tracemalloc.get_traced_memory()[1] < 20 * 5000 * few.shape[1] * 8
    tracemalloc.stop()


def test_a_bad_batch_is_an_error_and_the_model_is_as_good_as_before(few):
    isomap = eigenfold.Isomap().fit(few)
    with pytest.raises(ValueError, match="features|columns"):
        list(isomap.transform(iter([few[:3], few[:3, :2]])))
    with pytest.raises(ValueError, match="NaN"):
        list(isomap.transform(iter([few[:3], np.full((2, few.shape[1]), np.nan)])))
    assert len(list(isomap.transform(iter([few[:3]])))) == 1
    assert list(isomap.transform(iter([]))) == []


@pytest.mark.parametrize("missing", ["mean", "model"])
def test_a_row_with_missing_cells_does_not_depend_on_the_rows_beside_it(each, few, missing):
    gaps = few.copy()
    gaps[::7, 1] = gaps[3::11, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = each(missing=missing).fit(gaps)
        together = fitted.transform(gaps)
        assert np.isfinite(together).all()
        for row in (0, 3, 7, 14):
            assert np.array_equal(fitted.transform(gaps[row : row + 1])[0], together[row])
