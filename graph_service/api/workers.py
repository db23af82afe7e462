"""The threads that run operations, and those that wait for one: each client in its turn.

Look-ups have a few threads of their own, so that none waits behind retrievals. In each lane the
clients that wait are served one after another, and each client's own in the order that they came.
Some threads for retrievals are kept for clients that have none: what runs can't be interrupted.

Waiting counts towards an operation's time limit, and a client that goes away gives its place up.
Who would wait too long to be answered in time is refused at once, by what those before it cost and
by how long such a cost took until now.
What runs keeps its thread until it ends, also where nobody waits for it any more, so that there
are never more at work than there are threads.
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
KEPT_SHARE = 4
"""One thread of so many is kept for clients that have none."""
WAIT_SHARE = 1 / 4
"""The part of the time it has left that an operation may be expected to wait."""
RUN_SHARE = 1 / 4
"""The part of its time limit that one is expected to run at most: what costs much may wait too."""
ROUGHLY = 3.0
"""So many times as long as expected some run."""
_MEMORY = 0.9
"""How much of what was known of the time of a cost is kept with each operation that ends."""


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
        client: Whose it is.
        is_lookup: Whether it runs in the lane of look-ups.
        cost: In retrievals; of a look-up, what one of them costs as a rule.
        is_own: Whether it is the server's own work, whose end no client waits for.
        stop: Asks it to end when nobody waits for its answer any more.
        began: ``time.monotonic()`` of when a thread took it; None while it waits.
    """

    name: str
    limit_s: float
    client: str = ""
    is_lookup: bool = False
    cost: float = 1.0
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
        self.stop.asked = True
        if self._turn is not None and not self._turn.done():
            self._turn.set_exception(error or BusyError("the query was given up"))

    def abandon(self) -> None:
        """Lets nobody wait any longer for what runs."""
        if self._answer is not None:
            self._answer.cancel()


class _Lane:
    """Threads for one kind of work, and those that wait for one of them.

    Args:
        threads: How many.
        kept: Of them, for clients that have none.
        name: Of the threads.
    """

    def __init__(self, threads: int, kept: int, name: str) -> None:
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self.running: dict[Place, None] = {}
        self.free = threads
        self._threads = threads
        self._kept = kept
        self._held: Counter[str] = Counter()
        self._ran_s = 0.0
        self._ran_cost = 0.0
        self._urgent: deque[Place] = deque()
        self._queues: OrderedDict[str, deque[Place]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.waiting()) + len(self.running)

    def waiting(self) -> list[Place]:
        """Returns those that wait."""
        return [*self._urgent, *(place for queue in self._queues.values() for place in queue)]

    def add(self, place: Place, urgent: bool) -> None:
        """Lets one wait, behind those of its client or before all."""
        if urgent:
            self._urgent.appendleft(place)
        else:
            self._queues.setdefault(place.client, deque()).append(place)

    def remove(self, place: Place) -> bool:
        """Takes one out of those that wait; returns whether it was there."""
        if place in self._urgent:
            self._urgent.remove(place)
            return True
        queue = self._queues.get(place.client, ())
        if place not in queue:
            return False
        self._queues[place.client].remove(place)
        if not queue:
            del self._queues[place.client]
        return True

    def run_s(self, place: Place) -> float:
        """Returns how long one is expected to run: as long as others of its cost."""
        return min(place.cost * self._s_per_cost(), RUN_SHARE * place.limit_s)

    def _s_per_cost(self) -> float:
        """Returns the time of a cost of 1; 0 where nothing is known of it.

        What still runs counts too: where all takes longer than before, nothing that has ended
        tells of it yet.
        """
        if not self._ran_cost:
            return 0.0
        known, now = self._ran_s / self._ran_cost, time.monotonic()
        ran_s, ran_cost = self._ran_s, self._ran_cost
        for place in self.running:
            if not place.is_own and place.began is not None:
                ran_s += now - place.began
                ran_cost += min(place.cost, (now - place.began) / known) if known else 0.0
        return ran_s / ran_cost

    def wait_s(self, place: Place) -> float:
        """Returns how long one that comes now is expected to wait for its turn."""
        own = self._queues.get(place.client, ())
        before = [*self._urgent, *own]
        # Threads are kept for clients that have none: none that has one goes before them there.
        has_kept = self._kept and not self._held[place.client]
        for client, queue in self._queues.items():
            if client != place.client and not (has_kept and self._held[client]):
                before += [*queue][: len(own) + 1]
        cost: float = sum(one.cost for one in before)
        return cost * self._s_per_cost() / self._threads

    def note(self, place: Place, ran_s: float) -> None:
        """Notes how long one has run."""
        if not place.is_own:
            self._ran_s = _MEMORY * self._ran_s + ran_s
            self._ran_cost = _MEMORY * self._ran_cost + place.cost

    def take(self, place: Place, urgent: bool = False) -> bool:
        """Takes a thread for one if it may have one; returns whether it did."""
        if not self.free or not (urgent or self._may(place.client)):
            return False
        self.free -= 1
        self._held[place.client] += 1
        return True

    def give_back(self, place: Place) -> None:
        """Gives the thread of one to those that wait."""
        self.free += 1
        self._held[place.client] -= 1
        if not self._held[place.client]:
            del self._held[place.client]
        self.call()

    def call(self) -> None:
        """Gives free threads to those that wait and may have one, each client in its turn."""
        while self.free and self._urgent:
            self._give(self._urgent.popleft(), True)
        while self.free:
            client = next((one for one in self._queues if self._may(one)), None)
            if client is None:
                return
            queue = self._queues.pop(client)
            place = queue.popleft()
            if queue:
                # Behind all others that wait.
                self._queues[client] = queue
            self._give(place, False)

    def _give(self, place: Place, urgent: bool) -> None:
        turn = place._turn
        if turn is not None and not turn.done() and self.take(place, urgent):
            turn.set_result(None)

    def _may(self, client: str) -> bool:
        return self.free > self._kept or not self._held[client]


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
        self._operations = _Lane(threads, threads // KEPT_SHARE, "operation")
        self._stopping = False

    def __len__(self) -> int:
        """Returns how many operations wait or run."""
        return len(self._lookups) + len(self._operations)

    def count(self, *, lookups: bool) -> int:
        """Returns how many wait or run in one lane."""
        return len(self._lookups if lookups else self._operations)

    @property
    def running(self) -> list[Place]:
        """What the threads work on now, the oldest first."""
        both = [*self._lookups.running, *self._operations.running]
        return sorted(both, key=lambda place: place.began or 0.0)

    @property
    def are_all_busy(self) -> bool:
        """Whether no thread is free for a retrieval, or none for a look-up."""
        return not (self._operations.free and self._lookups.free)

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
            BusyError: The server is stopping, or too many are before it.
        """
        lane = self._lookups if place.is_lookup else self._operations
        if await self._wait(place, lane, first) and place.left_s < (ROUGHLY * lane.run_s(place)):
            # It waited longer than was expected: its answer would come too late.
            lane.give_back(place)
            raise _too_many()
        place.began = time.monotonic()
        waited = place.began - place._came
        deadline = Deadline(place._came + place.limit_s, place.stop, waited)
        lane.running[place] = None
        done = asyncio.get_running_loop().run_in_executor(lane.pool, work, deadline)
        done.add_done_callback(lambda _: _leave(lane, place))
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
        for place in (*self._lookups.waiting(), *self._operations.waiting(), *self.running):
            place.give_up(_stopped())

    def stop_own(self) -> None:
        """Asks the server's own work to end, and gives up that which waits."""
        for place in (*self._lookups.waiting(), *self._operations.waiting(), *self.running):
            if place.is_own:
                place.give_up(_stopped())

    def abandon(self) -> None:
        """Lets nobody wait any longer for what runs."""
        for place in self.running:
            place.abandon()

    async def _wait(self, place: Place, lane: _Lane, first: bool) -> bool:
        """Waits for a thread; returns whether there was none at once."""
        if self._stopping:
            raise _stopped()
        if lane.take(place, first):
            return False
        left_s = place.left_s
        most_s = min(WAIT_SHARE * left_s, left_s - ROUGHLY * lane.run_s(place))
        if not first and lane.wait_s(place) > max(0.0, most_s):
            raise _too_many()
        loop = asyncio.get_running_loop()
        turn = place._turn = loop.create_future()
        lane.add(place, first)
        late: GraphServiceError = WaitedError(
            f"the query waited {place.limit_s:g} s for a free worker, all the time it is allowed",
            hint="Try again later.",
        )
        needed_s = ROUGHLY * lane.run_s(place)
        if needed_s and not first:
            # After that its answer would come too late.
            late = _too_many()
            left_s -= needed_s
        timer = loop.call_later(max(0.0, left_s), place.give_up, late)
        try:
            await turn
        except BaseException:
            has_turn = turn.done() and not turn.cancelled() and turn.exception() is None
            if not lane.remove(place) and has_turn:
                lane.give_back(place)
            raise
        finally:
            timer.cancel()
        return True


def _leave(lane: _Lane, place: Place) -> None:
    del lane.running[place]
    if place.began is not None:
        lane.note(place, time.monotonic() - place.began)
    lane.give_back(place)


def _too_many() -> BusyError:
    return BusyError("too many queries are waiting; try again later")


def _stopped() -> BusyError:
    return BusyError("the server is stopping", hint="Ask another one, or try again later.")
