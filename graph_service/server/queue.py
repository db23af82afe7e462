"""The threads that run operations, and the queue of each kind: clients take turns.

Look-ups have a few threads of their own, so that none waits behind retrievals. In each lane the
clients that wait are served one after another, and each client's jobs in the order in which they
came. Some threads for retrievals are reserved for clients that have none: what runs can't be
interrupted.

A queue is bounded. When it is full, the client with the most jobs in it loses its newest one, so
that no client fills the queue for the others. No job is refused for how long it may have to wait:
waiting counts towards its time limit, and when that is over it leaves the queue. So does the job
of a client that disconnects. What runs keeps its thread until it ends, also if nobody waits for it
any more, so that there are never more jobs at work than threads.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from graph_service.errors import DeadlineError, GraphServiceError, LimitError
from graph_service.model.limits import Deadline, Stop

T = TypeVar("T")

LOOKUP_THREADS = 2
RESERVED_SHARE = 4
"""One thread of so many is reserved for clients that have none."""
MAX_WAITING = 64
"""Jobs that wait in each lane of one process. Behind so many retrievals a client still has most of
the default time limit left on a busy machine; what is refused at once can be sent elsewhere."""


class BusyError(LimitError):
    """The queue is full, or the server is stopping: trying again later helps."""

    retryable = True


class WaitedError(DeadlineError):
    """The time limit ran out before a thread came free."""

    retryable = True


@dataclass(slots=True, eq=False)
class Job:
    """One operation that waits for a thread or runs in one.

    Attributes:
        name: Its name in the log.
        limit_s: Seconds that waiting and running may take together.
        client: Whose it is.
        is_lookup: Whether it runs in the lane of look-ups.
        is_own: Whether it is the server's own work, whose end no client waits for.
        stop: Asks it to end when nobody waits for its answer any more.
        began: ``time.monotonic()`` of when a thread took it; None while it waits.
    """

    name: str
    limit_s: float
    client: str = ""
    is_lookup: bool = False
    is_own: bool = False
    stop: Stop = field(default_factory=Stop)
    began: float | None = None
    _came: float = field(default_factory=time.monotonic)
    _turn: asyncio.Future[None] | None = None
    _answer: asyncio.Future[Any] | None = None

    @property
    def left_s(self) -> float:
        """Seconds until its time limit."""
        return max(0.0, self._came + self.limit_s - time.monotonic())

    def give_up(self, error: GraphServiceError | None = None, /) -> None:
        """Leaves the queue with an error, or asks what runs to end."""
        self.stop.requested = True
        if self._turn is not None and not self._turn.done():
            self._turn.set_exception(error or BusyError("the query was given up"))

    def abandon(self) -> None:
        """Lets nobody wait any longer for what runs."""
        if self._answer is not None:
            self._answer.cancel()


class _Lane:
    """Threads for one kind of work, and the queue for them.

    Args:
        threads: How many.
        reserved: Of them, for clients that have none.
        name: Of the threads.
    """

    def __init__(self, threads: int, reserved: int, name: str) -> None:
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self.running: dict[Job, None] = {}
        self.free = threads
        self.threads = threads
        self._reserved = reserved
        self._held: Counter[str] = Counter()
        self._urgent: deque[Job] = deque()
        self._queues: OrderedDict[str, deque[Job]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.waiting()) + len(self.running)

    def waiting(self) -> list[Job]:
        """Returns the jobs that wait."""
        return [*self._urgent, *(job for queue in self._queues.values() for job in queue)]

    def add(self, job: Job, *, urgent: bool) -> None:
        """Queues a job behind its client's others, or first if it is urgent.

        Raises:
            BusyError: The queue is full, and no other client has more jobs in it.
        """
        if urgent:
            self._urgent.appendleft(job)
            return
        if not job.is_own and sum(map(len, self._queues.values())) >= MAX_WAITING:
            self._make_room(job.client)
        self._queues.setdefault(job.client, deque()).append(job)

    def _make_room(self, client: str) -> None:
        """Refuses the newest job of the client that has most, unless that is the one who comes."""
        longest = max(self._queues.values(), key=len, default=deque[Job]())
        if len(longest) <= len(self._queues.get(client, ())) + 1:
            raise queue_full()
        newest = longest[-1]
        self.remove(newest)
        newest.give_up(queue_full())

    def remove(self, job: Job) -> bool:
        """Takes a job out of the queue; returns whether it was there."""
        if job in self._urgent:
            self._urgent.remove(job)
            return True
        queue = self._queues.get(job.client)
        if queue is None or job not in queue:
            return False
        queue.remove(job)
        if not queue:
            del self._queues[job.client]
        return True

    def take(self, job: Job, *, urgent: bool = False) -> bool:
        """Takes a thread for a job if it may have one; returns whether it did."""
        if not self.free or not (urgent or self._may(job.client)):
            return False
        self.free -= 1
        self._held[job.client] += 1
        return True

    def give_back(self, job: Job) -> None:
        """Gives the thread of a job to those that wait."""
        self.free += 1
        self._held[job.client] -= 1
        if not self._held[job.client]:
            del self._held[job.client]
        self.call()

    def call(self) -> None:
        """Gives free threads to jobs that wait and may have one, each client in its turn."""
        while self.free and self._urgent:
            self._give(self._urgent.popleft(), urgent=True)
        while self.free:
            client = next((client for client in self._queues if self._may(client)), None)
            if client is None:
                return
            queue = self._queues.pop(client)
            job = queue.popleft()
            if queue:
                # Behind all others that wait.
                self._queues[client] = queue
            self._give(job, urgent=False)

    def _give(self, job: Job, *, urgent: bool) -> None:
        turn = job._turn
        if turn is not None and not turn.done() and self.take(job, urgent=urgent):
            turn.set_result(None)

    def _may(self, client: str) -> bool:
        return self.free > self._reserved or not self._held[client]


class Workers:
    """Some threads, and a queue before them. Used from one event loop.

    Args:
        threads: Operations that run at once, beside look-ups.

    Attributes:
        is_draining: Whether the server is about to stop: it still answers, and is not ready.
    """

    def __init__(self, threads: int, /) -> None:
        self.is_draining = False
        self._lookups = _Lane(LOOKUP_THREADS, 0, "lookup")
        self._operations = _Lane(threads, threads // RESERVED_SHARE, "operation")
        self._stopping = self._own_stopping = False

    def __len__(self) -> int:
        """Returns how many jobs wait or run."""
        return len(self._lookups) + len(self._operations)

    @property
    def running(self) -> list[Job]:
        """What the threads work on now, the oldest first."""
        both = [*self._lookups.running, *self._operations.running]
        return sorted(both, key=lambda job: job.began or 0.0)

    @property
    def are_all_busy(self) -> bool:
        """Whether no thread is free for a retrieval, or none for a look-up."""
        return not (self._operations.free and self._lookups.free)

    @property
    def has_leisure(self) -> bool:
        """Whether no retrieval waits, and more than half of their threads are free."""
        lane = self._operations
        return not lane.waiting() and 2 * lane.free > lane.threads

    async def run(self, job: Job, work: Callable[[Deadline], T], /, *, first: bool = False) -> T:
        """Returns the result of some work, done in a thread when it is this job's turn.

        Args:
            job: Its deadline is given to the work.
            work: Runs in a thread.
            first: Whether it goes before the jobs that wait.

        Raises:
            WaitedError: No thread came free in time.
            BusyError: The server is stopping, or the queue is full.
        """
        lane = self._lookups if job.is_lookup else self._operations
        await self._wait(job, lane, first)
        job.began = time.monotonic()
        waited = job.began - job._came
        deadline = Deadline(job._came + job.limit_s, job.stop, waited)
        lane.running[job] = None
        done = asyncio.get_running_loop().run_in_executor(lane.pool, work, deadline)
        done.add_done_callback(lambda _: _leave(lane, job))
        answer = asyncio.shield(done)
        job._answer = answer
        try:
            return await answer
        except asyncio.CancelledError:
            if self._stopping and answer.cancelled():
                raise _stopped() from None
            raise

    def stop(self) -> None:
        """Takes no more jobs, gives up those that wait, and asks those that run to end."""
        self._stopping = True
        for job in (*self._lookups.waiting(), *self._operations.waiting(), *self.running):
            job.give_up(_stopped())

    def stop_own(self) -> None:
        """Does the same with the server's own work alone."""
        self._own_stopping = True
        for job in (*self._lookups.waiting(), *self._operations.waiting(), *self.running):
            if job.is_own:
                job.give_up(_stopped())

    def abandon(self) -> None:
        """Lets nobody wait any longer for what runs."""
        for job in self.running:
            job.abandon()

    async def _wait(self, job: Job, lane: _Lane, first: bool) -> None:
        """Waits for a thread; when it returns, the job has one."""
        if self._stopping or (job.is_own and self._own_stopping):
            raise _stopped()
        if lane.take(job, urgent=first):
            return
        loop = asyncio.get_running_loop()
        turn = job._turn = loop.create_future()
        lane.add(job, urgent=first)
        late = WaitedError(
            f"the query waited {job.limit_s:g} s for a free worker, all the time it is allowed",
            hint="Try again later.",
        )
        timer = loop.call_later(job.left_s, job.give_up, late)
        try:
            await turn
        except BaseException:
            has_turn = turn.done() and not turn.cancelled() and turn.exception() is None
            if not lane.remove(job) and has_turn:
                lane.give_back(job)
            raise
        finally:
            timer.cancel()


def _leave(lane: _Lane, job: Job) -> None:
    del lane.running[job]
    lane.give_back(job)


def queue_full() -> BusyError:
    """Returns the error of a query for which the queue has no room."""
    return BusyError("too many queries are waiting; try again later")


def _stopped() -> BusyError:
    return BusyError("the server is stopping", hint="Ask another one, or try again later.")
