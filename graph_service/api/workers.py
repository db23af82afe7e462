"""The threads that run operations, and those that wait for one: first come, first served.

Waiting counts towards an operation's time limit, and a client that goes away gives its place up.
What runs keeps its thread until it ends, also where nobody waits for it any more, so that there
are never more at work than there are threads.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from graph_service.errors import DeadlineError, GraphServiceError, LimitError
from graph_service.model.limits import Deadline, Stop

T = TypeVar("T")


class BusyError(LimitError):
    """No thread came free, or none will: trying again later helps."""

    retryable = True


class WaitedError(DeadlineError):
    """The time limit ran out before a thread came free."""

    retryable = True


@dataclass(slots=True, eq=False)
class Place:
    """One operation's place among those that wait or run.

    Attributes:
        name: Names it in the log.
        limit_s: Seconds that waiting and running may take together.
        stop: Asks it to end when nobody waits for its answer any more.
        began: ``time.monotonic()`` of when a thread took it; None while it waits.
    """

    name: str
    limit_s: float
    stop: Stop = field(default_factory=Stop)
    began: float | None = None
    _came: float = field(default_factory=time.monotonic)
    _turn: asyncio.Future[None] | None = None
    _answer: asyncio.Future[Any] | None = None

    def give_up(self, error: GraphServiceError | None = None, /) -> None:
        """Leaves the queue with an error, or asks what runs to end."""
        self.stop.asked = True
        if self._turn is not None and not self._turn.done():
            self._turn.set_exception(error or BusyError("the query was given up"))

    def abandon(self) -> None:
        """Lets nobody wait any longer for what runs."""
        if self._answer is not None:
            self._answer.cancel()


class Workers:
    """Some threads, and a queue before them. Used from one event loop.

    Args:
        threads: Operations that run at once.
    """

    def __init__(self, threads: int, /) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="operation")
        self._free = threads
        self._queue: deque[Place] = deque()
        self._running: dict[Place, None] = {}
        self._stopping = False

    def __len__(self) -> int:
        """Returns how many operations wait or run."""
        return len(self._queue) + len(self._running)

    @property
    def running(self) -> list[Place]:
        """What the threads work on now, the oldest first."""
        return list(self._running)

    @property
    def are_all_busy(self) -> bool:
        """Whether no thread is free."""
        return self._free == 0

    async def run(
        self, place: Place, work: Callable[[Deadline], T], /, *, first: bool = False
    ) -> T:
        """Returns what a thread makes of some work, once it is this place's turn.

        Args:
            place: Of the operation; its deadline is given to the work.
            work: Runs in a thread.
            first: Whether it goes before those that wait.

        Raises:
            WaitedError: No thread came free in time.
            BusyError: The server is stopping.
        """
        await self._wait(place, first)
        place.began = time.monotonic()
        waited = place.began - place._came
        deadline = Deadline(place._came + place.limit_s, place.stop, waited)
        self._running[place] = None
        done = asyncio.get_running_loop().run_in_executor(self._pool, work, deadline)
        done.add_done_callback(lambda _: self._leave(place))
        answer = asyncio.shield(done)
        place._answer = answer
        try:
            return await answer
        except asyncio.CancelledError:
            if self._stopping and answer.cancelled():
                raise _stopped() from None
            raise

    def stop(self) -> None:
        """Takes no more operations, gives up those that wait, and asks those that run to end."""
        self._stopping = True
        for place in (*self._queue, *self._running):
            place.give_up(_stopped())

    def abandon(self) -> None:
        """Lets nobody wait any longer for what runs."""
        for place in self.running:
            place.abandon()

    async def _wait(self, place: Place, first: bool) -> None:
        if self._stopping:
            raise _stopped()
        if self._free:
            self._free -= 1
            return
        loop = asyncio.get_running_loop()
        turn = place._turn = loop.create_future()
        if first:
            self._queue.appendleft(place)
        else:
            self._queue.append(place)
        late = WaitedError(
            f"the query waited {place.limit_s:g} s for a free worker, all the time it is allowed",
            hint="Try again later.",
        )
        timer = loop.call_later(place.limit_s, place.give_up, late)
        try:
            await turn
        except BaseException:
            if place in self._queue:
                self._queue.remove(place)
            elif turn.done() and not turn.cancelled() and turn.exception() is None:
                self._call_next()
            raise
        finally:
            timer.cancel()

    def _leave(self, place: Place) -> None:
        del self._running[place]
        self._call_next()

    def _call_next(self) -> None:
        while self._queue:
            turn = self._queue.popleft()._turn
            if turn is not None and not turn.done():
                turn.set_result(None)
                return
        self._free += 1


def _stopped() -> BusyError:
    return BusyError("the server is stopping", hint="Ask another one, or try again later.")
