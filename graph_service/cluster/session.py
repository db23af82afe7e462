"""A session of Spark Connect: with a cluster, with Sail in this process, or with Spark here."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

from graph_service.errors import InputError, SetupError, StoreError

SAIL = "sail"
"""The engine Sail, started in this process: it needs no Java."""
_LOCAL = ("local[", "local-cluster[")
"""Spark with threads of one process, and with executors in processes of their own."""
_LOCAL_MEMORY = "2g"


@contextmanager
def open_session(remote: str, /) -> Iterator[Any]:
    """Gives a session; whatever was started for it is stopped at the end.

    Args:
        remote: ``sc://host:port`` of a Spark Connect server, ``sail``, or ``local[N]`` for Spark
            with N threads on this machine, which needs Java and the package pyspark.
            ``local-cluster[N,cores,MiB]`` is Spark with N executors here, each a process.

    Raises:
        InputError: The address is none of these.
        SetupError: A package is not installed, or no server answers.
        StoreError: The engine could not do what it was given, for want of memory or of disk.
    """
    with ExitStack() as stack:
        address = stack.enter_context(start_engine(remote))
        builder = _builder()
        with _as_setup_errors(remote):
            session = builder.remote(address).create()
            stack.callback(session.stop)
            # Sums and products of hashes wrap around, and so do numpy's.
            session.conf.set("spark.sql.ansi.enabled", "false")
        with _as_store_errors(remote):
            yield session


@contextmanager
def start_engine(remote: str, /) -> Iterator[str]:
    """Gives the ``sc://`` address of an engine; one of this machine runs until the end.

    Several processes may run one each: its port is free, and its key is in the address alone.

    Args:
        remote: As for ``open_session``. An address of a server is given back as it is.

    Raises:
        InputError: The address is none of these.
        SetupError: A package is not installed, or the engine does not start.
    """
    if not (remote == SAIL or remote.startswith(("sc://", *_LOCAL))):
        raise InputError(
            f"{remote!r} is no engine; expected sc://host:port, {SAIL} or local[N]",
            argument="remote",
        )
    _builder()
    with ExitStack() as stack:
        address = remote
        with _as_setup_errors(remote):
            if remote == SAIL:
                address = _start_sail(stack)
            elif remote.startswith(_LOCAL):
                address = _start_spark(remote, stack)
        yield address


def name_of_engine(remote: str, /) -> str:
    """Returns an engine's address without its parameters, one of which may be a key."""
    return remote.partition("/;")[0]


_LOCAL_CONFIGURATION = {
    "spark.driver.memory": _LOCAL_MEMORY,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    # What fails is an exception here; at ERROR each end of a session is a page of Java on stderr.
    "spark.log.level": "FATAL",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.artifact.isolation.enabled": "true",
    "spark.sql.artifact.isolation.alwaysApplyClassloader": "true",
}
_KEY_VARIABLE = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService$"


def _start_spark(master: str, stack: ExitStack) -> str:
    """Starts Spark and its Connect server, which the stack stops; returns its address.

    ``SparkSession.builder.remote("local[N]")`` would do so on port 15002, once a machine.
    """
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.sql.session import SparkSession
    except ImportError as error:
        raise SetupError(
            "Spark with its server is not installed",
            hint="Run pip install pyspark[connect] in place of pyspark-client.",
        ) from error
    # Functions in Python run in this environment, not in the first python3 of the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # An earlier session of this process leaves that, and Spark does not start beside it.
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
    configuration = SparkConf().setMaster(master).setAppName("graph-service")
    configuration.setAll(list(_LOCAL_CONFIGURATION.items()))
    key = _key()
    earlier = os.environ.get(_KEY_VARIABLE)
    os.environ[_KEY_VARIABLE] = key
    try:
        context: Any = SparkContext(conf=configuration)
    finally:
        # Else clients of other servers would send it.
        if earlier is None:
            del os.environ[_KEY_VARIABLE]
    # Its end clears what a later start in this process would take for its own.
    stack.callback(SparkSession(context).stop)
    port = getattr(getattr(context._jvm, _SERVICE), "MODULE$").localPort()
    # The client sends a key without TLS to this name alone.
    return f"sc://localhost:{port}/;token={key}"


@cache
def _key() -> str:
    """Returns the key of the servers that this process starts; Java reads it once, at its start.

    It goes by the environment: other users of this machine can read settings of a command.
    """
    return os.environ.get(_KEY_VARIABLE) or secrets.token_urlsafe(32)


@contextmanager
def _as_setup_errors(remote: str) -> Iterator[None]:
    """Raises ``SetupError`` where an engine does not start or answer."""
    try:
        yield
    except _errors(remote) as error:
        name = name_of_engine(remote)
        raise SetupError(
            f"no session with {name}: {str(error)[:300]}",
            hint="Check the address; local[N] needs Java 17 and the package pyspark.",
        ) from error


@contextmanager
def _as_store_errors(remote: str) -> Iterator[None]:
    """Raises ``StoreError`` where an engine ends the work."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        first = str(error).strip().partition("\n")[0]
        raise StoreError(
            f"{name_of_engine(remote)} could not go on: {first[:300]}",
            hint="If it lacks memory: Sail holds a side of each join in it, and takes as much as "
            f"{_POOL_SIZE} says. Spark writes what does not fit to disk.",
        ) from error


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


_POOL_SIZE = "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE"


def _memory_of_machine() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _start_sail(stack: ExitStack) -> str:
    """Starts Sail in this process; returns its address."""
    # It writes what it does on stderr, and that it passes over hints; it looks when it is imported.
    os.environ.setdefault("RUST_LOG", "error")
    # Without a bound it takes memory until the kernel ends it, or another process.
    os.environ.setdefault("SAIL_RUNTIME__MEMORY_POOL__TYPE", "fair")
    os.environ.setdefault(_POOL_SIZE, str(_memory_of_machine() // 2))
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
