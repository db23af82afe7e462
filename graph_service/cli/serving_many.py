"""serve --workers N: several processes on one address, over one store."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import shutil
import signal
import socket
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graph_service.cli.serve_options import ServeOptions
from graph_service.errors import GraphServiceError, SetupError
from graph_service.settings import Settings

if TYPE_CHECKING:
    from graph_service.server.connections import ConnectionLimits
    from graph_service.server.options import ServerOptions
    from graph_service.service import Service


@dataclass(frozen=True, slots=True)
class _Task:
    """What each process needs to serve.

    Attributes:
        state: The file of what all processes know together.
        traces: Whether each traces what it does.
    """

    log_format: str
    log_level: str
    settings: Settings
    allowed: ServerOptions
    limits: ConnectionLimits
    state: Path
    traces: bool


def serve_many(
    options: ServeOptions,
    settings: Settings,
    allowed: ServerOptions,
    limits: ConnectionLimits,
    listening: socket.socket,
) -> int:
    """Serves by several processes until it is stopped; returns the exit code.

    What limits a server limits all its processes together.

    Args:
        options: Of the verb.
        settings: As the store was opened with them.
        allowed: How the server may be used.
        limits: Of connections.
        listening: A bound socket.
    """
    from graph_service.server.processes import Processes
    from graph_service.server.shared_folder import SharedFolder
    from graph_service.server.shared_state import SharedState

    with SharedFolder() as shared:
        task = _Task(
            options.log_format,
            options.log_level,
            replace(settings, memory_gb=settings.memory_gb / options.workers),
            replace(allowed, processes=options.workers),
            limits,
            shared.state,
            options.traces,
        )
        processes = Processes(
            listening,
            options.workers,
            limits,
            run=partial(_run, task),
            shared=SharedState(shared.state, options.workers),
            worker_timeout_s=settings.worker_timeout_s,
            shutdown_timeout_s=settings.shutdown_timeout_s,
            drain_s=options.drain_s,
        )
        return asyncio.run(processes.serve())


def require_processes() -> None:
    """Raises ``SetupError`` where connections can't be handed from process to process."""
    if not hasattr(socket, "send_fds"):
        raise SetupError(
            "--workers needs a system that hands connections from process to process, such as "
            "Linux or macOS.",
            hint="Serve by one process: --workers 1",
        )


def _run(task: _Task, number: int, channel: int) -> None:
    """Serves in one of the processes until the one that began it says so, or has gone."""
    from graph_service.byte_budget import use_one_arena
    from graph_service.server.processes import ENDINGS

    use_one_arena()
    # They come to all processes at once, and the one that listens passes them on in their turn.
    for ending in ENDINGS:
        signal.signal(ending, signal.SIG_IGN)
    # They were held back until now, and what this process begins must hear its own.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    parent = os.getppid()
    try:
        code = _serve(task, number, channel)
    except GraphServiceError as error:
        print(f"process {number}: {error}", file=sys.stderr)
        code = 1
    faulthandler.cancel_dump_traceback_later()
    if os.getppid() != parent:
        # It was killed and could not tidy up.
        shutil.rmtree(task.state.parent, ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    # Python would wait for ever for the threads of what was abandoned.
    os._exit(code)


def _serve(task: _Task, number: int, channel: int) -> int:
    from graph_service.server.app import make_app
    from graph_service.server.request_log import set_up_logging
    from graph_service.server.server import described
    from graph_service.server.shared_state import SharedState
    from graph_service.server.traces import traced
    from graph_service.server.worker_server import WorkerServer
    from graph_service.service import open_service

    set_up_logging(task.log_format, task.log_level)
    shared = SharedState(task.state, task.allowed.processes)
    shared.set_warm(number, False)
    with ExitStack() as ended:
        service = ended.enter_context(open_service(settings=task.settings))
        allowed = task.allowed
        if task.traces:
            traces = ended.enter_context(traced(service, documents=allowed.log_queries))
            allowed = replace(allowed, traces=traces)
        server = WorkerServer(
            make_app(service, allowed, shared=shared),
            task.limits,
            channel=socket.socket(fileno=channel),
            shared=shared,
            number=number,
            shutdown_timeout_s=task.settings.shutdown_timeout_s,
            share=partial(_share_weights, service, task.state.parent),
        )
        server.run()
        for job in server.abandoned:
            print(f"abandoned: {described(job)}", file=sys.stderr)
        if server.abandoned:
            return 1
    return 0


def _share_weights(service: Service, folder: Path) -> None:
    from graph_service.embed.protocol import Shareable

    embedder = service.vectors.embedder
    if isinstance(embedder, Shareable):
        try:
            embedder.share(folder)
        except OSError as error:
            # The folder's disk is full: each process keeps what it has read.
            print(f"the processes can't share the embedder's weights: {error}", file=sys.stderr)
