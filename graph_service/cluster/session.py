"""A session of Spark Connect: with a cluster, with Sail in this process, or with Spark here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from graph_service.errors import InputError, SetupError

SAIL = "sail"
"""The engine Sail, started in this process: it needs no Java."""
_LOCAL = "local["
_LOCAL_MEMORY = "2g"


@contextmanager
def open_session(remote: str, /) -> Iterator[Any]:
    """Gives a session; whatever was started for it is stopped at the end.

    Args:
        remote: ``sc://host:port`` of a Spark Connect server, ``sail``, or ``local[N]`` for Spark
            with N threads on this machine, which needs Java and the package pyspark.

    Raises:
        InputError: The address is none of these.
        SetupError: A package is not installed, or no server answers.
    """
    if not (remote == SAIL or remote.startswith(("sc://", _LOCAL))):
        raise InputError(
            f"{remote!r} is no engine; expected sc://host:port, {SAIL} or local[N]",
            argument="remote",
        )
    builder = _builder()
    with ExitStack() as stack:
        try:
            session = _start(builder, remote, stack)
        except _errors(remote) as error:
            raise SetupError(
                f"no session with {remote}: {str(error)[:300]}",
                hint="Check the address; local[N] needs Java 17 and the package pyspark.",
            ) from error
        yield session


_LOCAL_CONFIGURATION = {
    "spark.driver.memory": _LOCAL_MEMORY,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    "spark.log.level": "ERROR",
}


def _start(builder: Any, remote: str, stack: ExitStack) -> Any:
    """Returns a session, which the stack stops."""
    address = _start_sail(stack) if remote == SAIL else remote
    is_local = address.startswith(_LOCAL)
    if is_local:
        # Functions in Python run in this environment, not in the first python3 of the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in _LOCAL_CONFIGURATION.items() if is_local else ():
        builder = builder.config(name, value)
    builder = builder.remote(address)
    session = builder.getOrCreate() if is_local else builder.create()
    stack.callback(session.stop)
    # Sums and products of hashes wrap around, and so do numpy's.
    session.conf.set("spark.sql.ansi.enabled", "false")
    return session


def _errors(remote: str) -> tuple[type[Exception], ...]:
    """Returns the errors by which an engine says that it does not start, or does not answer.

    Sail and sockets raise ``OSError``, and what reads addresses raises ``ValueError``. Spark on this
    machine has errors of Java too, by a package that clients of other servers lack.
    """
    import grpc
    from pyspark.errors import PySparkException

    errors = (PySparkException, grpc.RpcError, OSError, ValueError)
    if not remote.startswith(_LOCAL):
        return errors
    try:
        from py4j.protocol import Py4JError
    except ImportError:
        return errors
    return (*errors, Py4JError)


def _builder() -> Any:
    try:
        from pyspark.sql import SparkSession
        from pyspark.sql.connect.session import SparkSession as _  # noqa: F401
    except ImportError as error:
        raise SetupError(
            f"work on a cluster needs Spark's client, which is not installed ({error})",
            hint='Run pip install "graph-service[cluster]".',
        ) from error
    return SparkSession.builder


def _start_sail(stack: ExitStack) -> str:
    """Starts Sail in this process; returns its address."""
    # It writes what it does on stderr, and that it passes over hints; it looks when it is imported.
    os.environ.setdefault("RUST_LOG", "error")
    try:
        from pysail.spark import SparkConnectServer
    except ImportError as error:
        raise SetupError(
            "Sail is not installed",
            hint="Run pip install pysail, or name a server: sc://host:port.",
        ) from error
    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    stack.callback(server.stop)
    _, port = server.listening_address
    return f"sc://127.0.0.1:{port}"
