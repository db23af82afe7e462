"""What the processes of one server know together: buckets and who is warm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graph_service.server import shared_state
from graph_service.server.rates import Buckets, OwnBuckets, Rates
from graph_service.server.shared_state import SharedState

SETS = 64
ROOM = SETS * 8


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "state"
    SharedState.make(path)
    return path


@pytest.fixture(params=["own", "shared"])
def buckets(request: pytest.FixtureRequest) -> Buckets:
    if request.param == "own":
        return OwnBuckets()
    return SharedState(request.getfixturevalue("path"), 2)


def test_a_bucket_empties_and_fills(buckets: Buckets) -> None:
    now = 100.0
    rates = Rates(2.0, 10.0, clock=lambda: now, buckets=buckets)
    assert rates.take("a", 8.0) == 0.0
    assert rates.take("a", 4.0) == pytest.approx(1.0)
    assert rates.take("b", 10.0) == 0.0
    now = 101.0
    assert rates.take("a", 4.0) == 0.0
    rates.settle("a", 1.5, 0.0)
    assert rates.status("a") == {
        "maximumAvailable": 10.0, "currentlyAvailable": 1.5, "restoreRate": 2.0,
    }  # fmt: skip
    # A clock that was read before another's adds nothing, and takes nothing away.
    now = 50.0
    assert rates.status("a")["currentlyAvailable"] == 1.5
    now = 1e6
    assert rates.status("a")["currentlyAvailable"] == 10.0
    # Clients of other limits are others.
    other = Rates(2.0, 5.0, clock=lambda: now, buckets=buckets)
    assert other.take("a", 5.0) == 0.0
    assert rates.status("a")["currentlyAvailable"] == 10.0


def test_threads_take_no_more_than_there_is(buckets: Buckets) -> None:
    rates = Rates(1e-9, 100.0, buckets=buckets)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: rates.take("a", 1.0) == 0.0, range(400)))
    assert sum(taken) == 100


def test_one_bucket_over_all_processes(path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from graph_service.server.rates import Rates\n"
        "from graph_service.server.shared_state import SharedState\n"
        "rates = Rates(1e-9, 1000.0, buckets=SharedState(pathlib.Path(sys.argv[1]), 2))\n"
        "print(sum(rates.take('a', 1.0) == 0.0 for _ in range(800)))\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    taken = [int(one.communicate(timeout=600)[0]) for one in started]
    assert sum(taken) == 1000


def test_a_process_that_is_killed_leaves_no_lock(path: Path) -> None:
    program = (
        "import sys, pathlib, time\n"
        "from graph_service.server.shared_state import SharedState\n"
        "state = SharedState(pathlib.Path(sys.argv[1]), 2)\n"
        "with state.held('1e-09 10 a', 10.0, 0.0):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    rates = Rates(1e-9, 10.0, buckets=SharedState(path, 2))
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(rates.take, "a", 1.0)
        time.sleep(0.05)
        assert not asked.done()
        os.kill(holder.pid, signal.SIGKILL)
        assert asked.result(timeout=600) == 0.0
    holder.communicate()


def test_of_more_clients_than_there_is_room_the_one_away_longest_begins_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_state, "_SETS", SETS)
    state = SharedState(path, 1)
    now = 0.0

    def clock() -> float:
        return now

    rates = Rates(1e-9, 10.0, clock=clock, buckets=state)
    for number in range(2 * ROOM):
        now += 1.0
        assert rates.take(f"client {number}", 10.0) == 0.0
    # The last ones are all known, and the first ones are forgotten.
    last = [rates.take(f"client {2 * ROOM - 1 - back}", 10.0) for back in range(SETS)]
    assert sum(wait > 0.0 for wait in last) > 0.99 * len(last)
    first = [rates.take(f"client {number}", 10.0) == 0.0 for number in range(SETS)]
    assert sum(first) > 0.9 * len(first)


def test_who_is_warm(path: Path) -> None:
    one, two = SharedState(path, 2), SharedState(path, 2)
    assert one.count_cold() == 2
    one.set_warm(0, True)
    assert two.count_cold() == 1
    two.set_warm(1, True)
    assert one.count_cold() == 0
    one.set_warm(1, False)
    assert two.count_cold() == 1


def test_names_are_embedded_by_one_process_at_a_time(path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from graph_service.server.shared_state import SharedState\n"
        "state = SharedState(pathlib.Path(sys.argv[1]), 2)\n"
        "with state.embedding_turn() as is_ours:\n"
        "    print(is_ours, flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    state = SharedState(path, 2)
    with subprocess.Popen(
        [sys.executable, "-c", program, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        with state.embedding_turn() as is_ours:
            assert not is_ours
        # One that is killed leaves the turn to the others.
        other.kill()
        other.wait(600)
        with state.embedding_turn() as is_ours:
            assert is_ours
    state.close()
