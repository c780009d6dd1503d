"""Files with columns of vectors, of half precision and of decimals, as pyarrow writes them: `tests/corpus/*`.

Run with the packages of `crates/py/tests/requirements.txt`, in the folder of the corpus.
"""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

ROWS, WIDTH = 12, 4


def written(name, table, **how):
    parquet.write_table(table, f"{name}.parquet", **how)
    with pa.ipc.new_file(f"{name}.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=5)


def entry(i, j):
    """A number that all types of floats hold, and four times it is an integer from 0 to 15."""
    return (7 * i + 3 * j) % 16


numbers = np.array([[entry(i, j) for j in range(WIDTH)] for i in range(ROWS)])


def column(kind, entries, values):
    values = np.asarray(values)
    cells = [row.astype(entries.to_pandas_dtype()) for row in values]
    return pa.array(cells, type={"list": pa.list_(entries), "large": pa.large_list(entries), "fixed": pa.list_(entries, WIDTH)}[kind])


about = {
    "id": pa.array(range(100, 100 + ROWS), pa.int64()),
    "text": pa.array([f"sentence {i}" for i in range(ROWS)]),
    "year": pa.array([2000 + i % 3 for i in range(ROWS)], pa.int32()),
}

# One column of vectors beside what is known of the points.
written("vectors", pa.table({**about, "embedding": column("list", pa.float32(), numbers / 4)}))
feather.write_feather(pa.table({**about, "embedding": column("fixed", pa.float32(), numbers / 4)}), "vectors_lz4.feather", compression="lz4")

# Every kind of list and of number.
kinds = {
    f"{kind}_{entries}": column(kind, entries, numbers if pa.types.is_integer(entries) else numbers / 4)
    for kind in ("list", "large", "fixed")
    for entries in (pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64())
}
written("vector_kinds", pa.table(kinds), data_page_version="2.0", row_group_size=5)

# Two missing vectors, the first row among them, and a missing entry.
holes = [None, *(list(row) for row in numbers[1:] / 4)]
holes[5] = None
holes[7] = [0.25, None, 0.75, 1.0]
written("vector_holes", pa.table({"list": pa.array(holes, pa.list_(pa.float64())), "fixed": pa.array(holes, pa.list_(pa.float64(), WIDTH))}))

# Vectors that break off within a file, in blocks of five rows; `head` has none in the first block and more.
def broken(row, vector):
    return [*(list(row) for row in numbers[:row] / 4), vector, *(list(row) for row in numbers[row + 1 :] / 4)]


breaks = {
    "whole": [list(row) for row in numbers / 4],
    "longer": broken(8, [1.0] * 5),
    "shorter": broken(8, [1.0] * 3),
    "nothing": broken(8, []),
    "null": broken(8, None),
    "hole": broken(8, [1.0, None, 3.0, 4.0]),
    "nan": broken(8, [1.0, np.nan, 3.0, 4.0]),
    "five": [[*row, 1.0] for row in numbers / 4],
    "head": [*[None] * 6, *(list(row) for row in numbers[6:] / 4)],
}
written("vector_breaks", pa.table({name: pa.array(cells, pa.list_(pa.float32())) for name, cells in breaks.items()}), row_group_size=5)

# Columns that are not vectors of one length.
ragged = [list(row) for row in numbers / 4]
ragged[6] = [1.0, 2.0]
longer = [list(row) for row in numbers / 4]
longer[8] = [1.0] * 9
gone = [list(row) for row in numbers / 4]
gone[3] = []
odd = {
    "ragged": pa.array(ragged),
    "longer": pa.array(longer),
    "gone": pa.array(gone),
    "empty": pa.array([[]] * ROWS, pa.list_(pa.float32())),
    "null": pa.array([None] * ROWS, pa.list_(pa.float32())),
    "nested": pa.array([[[1.0], [2.0]]] * ROWS),
    "words": pa.array([["a", "b"]] * ROWS),
    "flags": pa.array([[True, False]] * ROWS),
    "inside": pa.array([{"v": [1.0, 2.0], "n": 1}] * ROWS),
    "map": pa.array([[("a", 1.0)]] * ROWS, pa.map_(pa.string(), pa.float64())),
    "when": pa.array([[1, 2]] * ROWS, pa.list_(pa.timestamp("s"))),
    "plain": pa.array(range(ROWS), pa.float64()),
}
written("vector_odd", pa.table(odd))
written("vector_no_rows", pa.table({"embedding": pa.array([], pa.list_(pa.float32()))}))

# A few hundred bytes that would be gigabytes.
long = {"long": pa.array([np.zeros(3_000_000, np.float32)])}
parquet.write_table(pa.table(long), "vector_long.parquet", compression="zstd")
nulls = {"nulls": pa.array([np.zeros(10_000, np.float32)] + [None] * 1_000_000)}
parquet.write_table(pa.table(nulls), "vector_nulls.parquet", compression="zstd")

# Half precision and decimals; the same under Brotli.
digits = [Decimal(7 * i - 30) / Decimal(100) for i in range(ROWS)]
small = {
    "half": pa.array((numbers[:, 0] / 4).astype(np.float16)),
    "cents": pa.array(digits, pa.decimal128(7, 2)),
    "long": pa.array([Decimal(f"{i}12345678901234567890.123456789") for i in range(1, ROWS + 1)], pa.decimal128(38, 9)),
    "hole": pa.array([None, *digits[1:]], pa.decimal128(12, 2)),
    "when": pa.array([86_400 * i for i in range(ROWS)], pa.timestamp("s")),
}
written("decimals", pa.table(small), store_decimal_as_integer=True)
parquet.write_table(pa.table(small), "decimals_bytes.parquet", store_decimal_as_integer=False, compression="brotli")
