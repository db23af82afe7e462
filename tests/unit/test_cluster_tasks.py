"""Tasks of a load that run in one process (B19)."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from graph_service.cluster.load_tasks import errors_of
from graph_service.errors import StoreError


def test_a_process_runs_no_more_tasks_at_once_than_it_has_cores() -> None:
    """Sail begins all of them at once; what each holds would be in memory together."""
    cores = os.cpu_count() or 1
    lock = threading.Lock()
    running = most = 0

    def work(index: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        if index == 3:
            raise StoreError("task 3 failed")

    tasks = 6 * cores
    with ThreadPoolExecutor(tasks) as threads:
        rows = list(threads.map(lambda index: errors_of(work, [index]).num_rows, range(tasks)))
    assert most <= cores
    # An error gives its slot back.
    assert rows == [int(index == 3) for index in range(tasks)]
