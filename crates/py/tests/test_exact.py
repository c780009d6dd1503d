"""Exact sums and moments: the correctly rounded values of fractions, and the same bytes in every order."""

from fractions import Fraction

import numpy as np
import pytest

from eigenfold._eigenfold import ExactMoments, ExactSums


def all_bytes(exact):
    return exact.to_bytes(0, exact.length)


def moments_of(*batches):
    moments = ExactMoments(batches[0].shape[1])
    for batch in batches:
        moments.add(batch)
    return moments


def tables():
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((150, 3)) * 10.0 ** rng.uniform(-150, 150, (150, 3))
    return {
        "normal": rng.standard_normal((300, 4)),
        "offset": 1e8 + rng.standard_normal((300, 3)) * 1e-6,
        "one row": rng.standard_normal((1, 4)),
        "one column": rng.uniform(size=(300, 1)),
        "wide": wide,
        "tiny": rng.uniform(size=(150, 2)) * 1e-310,
        "huge": rng.uniform(size=(150, 2)) * 1e154,
        "single": rng.standard_normal((300, 4)).astype(np.float32),
        "integers": rng.integers(-9, 10, (300, 4)).astype(float),
    }


@pytest.mark.parametrize("name", tables())
def test_mean_and_covariance_are_the_nearest_numbers_to_the_fractions(name):
    table = tables()[name]
    columns = [[Fraction(float(x)) for x in column] for column in table.T]
    n, moments = len(table), moments_of(table)
    mean, covariance = moments.mean(), moments.covariance()
    assert moments.count == n
    for j, a in enumerate(columns):
        assert mean[j] == float(sum(a) / n)
        for k, b in enumerate(columns):
            exact = sum(x * y for x, y in zip(a, b)) / n - sum(a) * sum(b) / n**2
            assert covariance[j, k] == float(exact)


@pytest.mark.parametrize("name", tables())
def test_order_layout_and_parts_change_no_byte(name):
    rng = np.random.default_rng(2)
    table = tables()[name]
    whole = all_bytes(moments_of(table))
    assert all_bytes(moments_of(np.asfortranarray(table))) == whole
    assert all_bytes(moments_of(np.repeat(table, 2, axis=1)[:, ::2])) == whole
    assert all_bytes(moments_of(table.astype(float))) == whole
    total = ExactMoments(table.shape[1])
    for rows in np.array_split(rng.permutation(len(table)), 7):
        part = moments_of(table[rows])
        middle = part.length // 2
        total.merge(middle, part.to_bytes(middle, part.length), 0)
        total.merge(0, part.to_bytes(0, middle), part.count)
    assert all_bytes(total) == whole and total.count == len(table)


def test_covariance_of_a_large_offset_is_right_where_two_passes_are_not():
    rng = np.random.default_rng(3)
    steps = rng.integers(0, 64, (1000, 1))
    table = 1e8 + steps * 2.0**-26
    exact = (Fraction(int((steps**2).sum()), 1000) - Fraction(int(steps.sum()), 1000) ** 2) / 2**52
    assert moments_of(table).covariance()[0, 0] == float(exact)
    one_pass = (table**2).mean() - table.mean() ** 2
    assert abs(one_pass - float(exact)) > float(exact)


def test_sums_are_the_nearest_numbers_to_the_fractions_in_every_order():
    rng = np.random.default_rng(4)
    values = rng.standard_normal((200, 5)) * 10.0 ** rng.uniform(-300, 300, (200, 5))
    sums, backward = ExactSums(5), ExactSums(5)
    sums.add(values)
    for row in values[::-1]:
        backward.add(row[None])
    assert all_bytes(sums) == all_bytes(backward)
    assert sums.values().tolist() == [float(sum(map(Fraction, column))) for column in values.T.tolist()]


def test_large_terms_cancel():
    sums = ExactSums(1)
    sums.add(np.array([[1e16], [1.0], [-1e16]]))
    assert sums.values()[0] == 1.0
    sums.add(np.array([[-1.0]], dtype=np.float32))
    assert all_bytes(sums) == all_bytes(ExactSums(1))


def test_what_cannot_be_added_is_a_value_error():
    moments, sums = ExactMoments(2), ExactSums(2)
    with pytest.raises(ValueError, match="not finite"):
        moments.add(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="not finite"):
        sums.add(np.array([[1.0, np.inf]]))
    with pytest.raises(ValueError, match="has 3 columns and 2 are expected"):
        moments.add(np.zeros((1, 3)))
    with pytest.raises(TypeError):
        moments.add(np.zeros((1, 2), dtype=int))
    with pytest.raises(ValueError, match="no rows"):
        moments.mean()
    with pytest.raises(ValueError):
        ExactMoments(0)
    with pytest.raises(ValueError, match="needs about"):
        ExactMoments(10**8)
    with pytest.raises(ValueError, match="needs about"):
        ExactSums(10**15)
    with pytest.raises(ValueError):
        sums.to_bytes(1, 3)
    for broken in (b"\x00", b"\x05\x01abc", bytes(100), b"\xff" * 100):
        with pytest.raises(ValueError):
            sums.merge(0, broken)
        with pytest.raises(ValueError):
            moments.merge(0, broken, 1)
    assert moments.count == 0 and sums.values().tolist() == [0, 0]
