"""Views made in the background: a job with state, progress and cancel."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from graph_service.artifacts.views import ViewStore
from graph_service.errors import GraphServiceError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.stored_view import StoredView, ViewState
from graph_service.model.view_spec import ViewSpec

BEAT_S = 2.0
"""Longest silence of a job that does something."""

AT_ONCE = 2
"""Jobs that run at a time; more wait their turn."""

_log = logging.getLogger(__name__)


class _CancelledError(Exception):
    """Ends a job that was cancelled or whose view was deleted."""


@dataclass(frozen=True, slots=True)
class _JobDeadline(Deadline):
    """Never comes; every check is a chance to notice that the job was cancelled."""

    tick: Callable[[], None] = lambda: None

    def check(self, _what: str, /) -> None:
        """Raises when the job was cancelled."""
        self.tick()

    def passed(self) -> bool:
        """Returns False; raises when the job was cancelled."""
        self.tick()
        return False


class _Job:
    """One view under way, in a thread of its own."""

    def __init__(
        self, views: ViewStore, view: StoredView, graph: Callable[[], KnowledgeGraph]
    ) -> None:
        self._views = views
        self._view = view
        self._graph = graph
        self._cancelled = threading.Event()
        self._beaten = time.monotonic()
        self._progress = 0.0
        self.thread = threading.Thread(target=self._run, name=f"view-{view.id[:8]}", daemon=True)
        self._turns: threading.Semaphore | None = None

    def start(self, turns: threading.Semaphore) -> None:
        self._turns = turns
        self.thread.start()

    def cancel(self) -> None:
        self._cancelled.set()

    def _tick(self) -> None:
        if self._cancelled.is_set():
            raise _CancelledError
        if time.monotonic() - self._beaten > BEAT_S:
            self._say(self._progress)

    def _say(self, progress: float) -> None:
        self._progress, self._beaten = progress, time.monotonic()
        if self._cancelled.is_set() or not self._views.advance(self._view, progress=progress):
            raise _CancelledError

    def _run(self) -> None:
        assert self._turns is not None
        view = self._view
        try:
            while not self._turns.acquire(timeout=BEAT_S / 2):
                self._tick()
            try:
                self._tick()
                graph = self._graph()
                self._say(0.2)
                deadline = _JobDeadline(tick=self._tick)
                self._views.create(graph, view.spec, deadline=deadline, progress=self._say)
            finally:
                self._turns.release()
        except _CancelledError:
            self._views.advance(view, state=ViewState.CANCELLED)
        except GraphServiceError as error:
            # Clients read it: where the store is stays in the log.
            if error.about_server:
                _log.warning("making view %s has failed: %s", view.id, error)
            message = error.about_server or str(error)
            self._views.advance(view, state=ViewState.FAILED, error=message)
        except Exception:
            _log.exception("making view %s has failed", view.id)
            self._views.advance(
                view, state=ViewState.FAILED, error="an internal error; the log says which"
            )


class ViewJobs:
    """Makes views in threads; the store says how far each has come.

    Args:
        views: Where they are made and kept.
    """

    def __init__(self, views: ViewStore, /) -> None:
        self._views = views
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(AT_ONCE)

    def start(
        self,
        graph: str,
        spec: ViewSpec,
        /,
        *,
        edges: str,
        arrays: Callable[[], KnowledgeGraph],
        name: str | None = None,
        note: str = "",
    ) -> StoredView:
        """Begins a view and returns it as it is now; one that is there is not made again.

        Args:
            graph: Name of the base.
            spec: What is asked.
            edges: The base's ``edges`` fingerprint.
            arrays: Opens the base; called in the job.
            name: A person's name for it.
            note: Anything a person wants to remember.

        Raises:
            InputError: As ``ViewStore.create``.
        """
        begun, begins = self._views.begin(graph, spec, edges=edges, name=name, note=note)
        if not begins:
            return begun
        job = _Job(self._views, begun, arrays)
        with self._lock:
            self._jobs = {id_: job for id_, job in self._jobs.items() if job.thread.is_alive()}
            self._jobs[f"{graph}/{begun.id}"] = job
        job.start(self._turns)
        return begun

    def cancel(self, graph: str, reference: str, /, *, edges: str) -> StoredView:
        """Cancels the making of a view, in whichever process it is; one that is done stays.

        Raises:
            ViewNotFoundError: There is none.
        """
        view = self._views.get(graph, reference, edges=edges)
        with self._lock:
            job = self._jobs.get(f"{graph}/{view.id}")
        if job is not None:
            job.cancel()
        if view.state is ViewState.RUNNING:
            self._views.advance(view, state=ViewState.CANCELLED)
        return self._views.get(graph, view.id, edges=edges)

    def count(self) -> int:
        """Returns how many views this process makes, those that wait their turn included."""
        with self._lock:
            return sum(job.thread.is_alive() for job in self._jobs.values())

    def close(self) -> None:
        """Cancels what is under way and waits for it to stop."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.thread.join()
