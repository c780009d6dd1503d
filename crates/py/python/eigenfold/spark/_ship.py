"""How models travel to the workers: small ones within the function that uses them, large ones as a file that every worker gets once."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

# The most bytes that travel within a function. Spark would make a broadcast of more, and Spark Connect would send more with every query.
WITHIN = 1_000_000
# The most bytes of a file that were tried; a model of more belongs to a smaller sample.
MOST = 2_000_000_000
# The models that a worker keeps, those that were used last.
KEPT = 4

_directory: str | None = None
_sent: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
_models: OrderedDict[tuple[str, Any], Any] = OrderedDict()


class Shipped(NamedTuple):
    """Bytes that workers can get at: by themselves, or in a file of the session."""

    digest: str
    within: bytes | None
    version: str

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"eigenfold-{self.digest}"

    def content(self) -> bytes:
        """What was shipped; on a worker."""
        if self.within is not None:
            return self.within
        from pyspark import SparkFiles

        with open(SparkFiles.get(self.name), "rb") as file:
            return file.read()

    def part(self, first: int, last: int) -> bytes:
        """The bytes from one to before another; on a worker."""
        if self.within is not None:
            return self.within[first:last]
        from pyspark import SparkFiles

        with open(SparkFiles.get(self.name), "rb") as file:
            file.seek(first)
            return file.read(last - first)


def ship(session: Any, content: bytes) -> Shipped:
    """Make bytes available to all workers of a session."""
    from .. import __version__

    digest = hashlib.sha256(content).hexdigest()[:32]
    if len(content) <= WITHIN:
        return Shipped(digest, content, __version__)
    if len(content) > MOST:
        size = f"{len(content) / 1e9:.1f} GB"
        raise ValueError(f"the model has {size}, and models of up to {MOST / 1e9:.0f} GB can be sent to workers; fit it with a smaller sampleSize")
    shipped = Shipped(digest, None, __version__)
    sent = _sent.setdefault(session, set())
    if digest not in sent:
        session.addArtifacts(_file(shipped.name, content), file=True)
        sent.add(digest)
    return shipped


def _file(name: str, content: bytes) -> str:
    """A file of the driver, which lasts as long as its process: workers that start late fetch it then."""
    global _directory
    if _directory is None:
        _directory = tempfile.mkdtemp(prefix="eigenfold-")
        atexit.register(shutil.rmtree, _directory, ignore_errors=True)
    path = os.path.join(_directory, name)
    if not os.path.exists(path):
        with open(path + ".part", "wb") as file:
            file.write(content)
        os.replace(path + ".part", path)
    return path


def kept(shipped: Shipped, use: Any, make: Callable[[bytes], Any]) -> Any:
    """What is made of shipped bytes for a use, made once per worker process."""
    key = (shipped.digest, use)
    if key not in _models:
        _models[key] = make(shipped.content())
        while len(_models) > KEPT:
            _models.popitem(last=False)
    _models.move_to_end(key)
    return _models[key]


def on_workers(module: str, name: str, version: str, *arguments: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for `mapInArrow` that calls one of this package, of which it has the name only: so a worker without it can report that."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        try:
            import importlib

            import eigenfold

            found = eigenfold.__version__
        except ImportError as missing:
            import socket
            import sys

            where = f"{sys.executable} on {socket.gethostname()}"
            raise RuntimeError(f"the worker has no package eigenfold ({where}: {missing}); install eigenfold=={version} on all workers") from None
        if found != version:
            raise RuntimeError(f"the worker has eigenfold {found} and the driver has {version}; install the same version on all workers")
        # In chunks: a worker reads what is left of its input even if the function does not.
        yield from getattr(importlib.import_module(module), name)(batches, *arguments)

    return work
