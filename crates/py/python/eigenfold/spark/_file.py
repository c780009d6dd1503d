"""Saved models: metadata as spark.ml has them, and the bytes of the model file in chunks, as a table that any file system of Spark holds.

The model is in a directory that is named by its content, and the metadata name it. The metadata are written last, so that a driver that is
stopped leaves no model that could be taken for a whole one, and an overwritten model is replaced at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter

from .. import __version__, _eigenfold
from .._load import of_model
from ._ship import Shipped, on_workers, ship

# The bytes of a row of the table, the rows of a file, and those that are read at a time: a driver with a heap of 1 GB reads models of 1 GB.
CHUNK = 1_000_000
TOGETHER = 8
AT_A_TIME = 64


class Writer(MLWriter):
    """Writes a model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._fitted = model

    def save(self, path: str) -> None:
        """Write the model; an existing one is replaced only after `overwrite`."""
        mode = "overwrite" if self.shouldOverwrite else "error"
        content, session = self._fitted.content(), self.sparkSession
        digest = hashlib.sha256(content).hexdigest()
        before = _digest(path, session) if self.shouldOverwrite else None
        count = -(-len(content) // CHUNK)
        chunks = session.range(0, count, 1, -(-count // TOGETHER))
        table = chunks.mapInArrow(on_workers(__name__, "chunks", __version__, ship(session, content)), "chunk long, content binary")
        table.write.mode("overwrite").parquet(_place(path, digest))
        more = {"model": {"digest": digest, "bytes": len(content), "chunks": count, "eigenfold": __version__, "summary": self._fitted._summary}}
        metadata = DefaultParamsWriter._get_metadata_to_save(self._fitted, session, more)
        frame = session.createDataFrame([(metadata,)], schema=["value"]).coalesce(1)
        frame.write.mode(mode).text(os.path.join(path, "metadata"))
        if before not in (None, digest):
            # There is no way to remove a directory without the JVM; it is left empty.
            session.createDataFrame([], "chunk long, content binary").write.mode("overwrite").parquet(_place(path, before))


def _place(path: str, digest: str) -> str:
    return os.path.join(path, f"model-{digest[:16]}")


def _digest(path: str, session: Any) -> Any:
    """The digest of the model that is there, if there is one."""
    try:
        return DefaultParamsReader.loadMetadata(path, session)["model"]["digest"]
    except Exception:  # whatever Spark raises where there is nothing, or something else
        return None


def chunks(batches: Iterator[Any], shipped: Shipped) -> Iterator[Any]:
    """The chunks with these numbers; on workers."""
    for batch in batches:
        for at in batch.column(0).to_pylist():
            chunk = shipped.part(at * CHUNK, (at + 1) * CHUNK)
            yield pa.RecordBatch.from_arrays([pa.array([at], pa.int64()), pa.array([chunk], pa.binary())], names=["chunk", "content"])


class Reader(MLReader):
    """Reads a model."""

    def __init__(self, made: type) -> None:
        super().__init__()
        self._class = made

    def load(self, path: str) -> Any:
        """Read a model, from wherever its directory is now."""
        name = f"{self._class.__module__}.{self._class.__name__}"
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession, name)
        about = metadata["model"]
        table = self.sparkSession.read.parquet(_place(path, about["digest"]))
        found: dict[int, bytes] = {}
        for first in range(0, about["chunks"], AT_A_TIME):
            some = table.where(f"chunk >= {first} and chunk < {first + AT_A_TIME}").toArrow()
            found.update(zip(some["chunk"].to_pylist(), some["content"].to_pylist()))
        content = b"".join(found[at] for at in sorted(found))
        if len(found) != about["chunks"] or hashlib.sha256(content).hexdigest() != about["digest"]:
            fact = f"the model in {path} has {len(content)} of {about['bytes']} bytes" if len(content) != about["bytes"] else f"the model in {path} is damaged"
            raise ValueError(f"{fact}; save it again")
        found.clear()
        model = self._class()
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        model._holding(of_model(_eigenfold.Model(content)), about["summary"])
        model._bytes = content
        return model
