"""What the processes of a server hold, looked at again and again."""

from __future__ import annotations

import os
import re
import threading
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.serving import processor_s
from benchmarks.soak.records import Records


@dataclass(frozen=True, slots=True)
class Held:
    """What some processes hold together.

    Attributes:
        anonymous: Bytes of memory that are of no file: what programs allocate.
        resident: Bytes of memory, those shared by several processes in each.
        sockets: Open connections, and those among the processes.
        files: Other open descriptors.
        threads: Of all.
        mappings: Of files and memory into the processes.
        processor_s: Seconds of processor time so far.
        processes: How many there are.
    """

    anonymous: int
    resident: int
    sockets: int
    files: int
    threads: int
    mappings: int
    processor_s: float
    processes: int


def held_by(pids: Sequence[int], /) -> Held:
    """Returns what processes hold."""
    anonymous = resident = sockets = files = threads = mappings = 0
    for pid in pids:
        folder = Path(f"/proc/{pid}")
        said = (folder / "smaps_rollup").read_text(encoding="ascii")
        sizes = {name: int(kib) for name, kib in re.findall(r"(\w+):\s+(\d+) kB", said)}
        anonymous += 1024 * sizes["Anonymous"]
        resident += 1024 * sizes["Rss"]
        for name in os.listdir(folder / "fd"):
            # It may be closed meanwhile.
            with suppress(OSError):
                is_socket = os.readlink(folder / "fd" / name).startswith("socket:")
                sockets += is_socket
                files += not is_socket
        threads += len(os.listdir(folder / "task"))
        mappings += (folder / "maps").read_bytes().count(b"\n")
    taken = processor_s(pids)
    return Held(anonymous, resident, sockets, files, threads, mappings, taken, len(pids))


def cached_bytes(port: int, key: str, /) -> int:
    """Returns what the caches of a server hold, as ``/metrics`` says it."""
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics")
    if key:
        asked.add_header("authorization", f"Bearer {key}")
    with urllib.request.urlopen(asked, timeout=60) as answer:
        page = answer.read().decode()
    found = re.findall(r"^graph_service_cache_bytes\{[^}]*\} (\S+)$", page, re.MULTILINE)
    return int(sum(map(float, found)))


def watch(
    pids: Callable[[], Sequence[int]],
    cached: Callable[[], int],
    records: Records,
    stop: threading.Event,
    /,
    *,
    every_s: float,
) -> None:
    """Writes down what processes hold until it is stopped.

    Args:
        pids: Of the server, asked anew each time.
        cached: What its caches hold.
        records: Where a line for each look goes.
        stop: Ends it.
        every_s: Seconds between two looks.
    """
    while not stop.wait(every_s):
        try:
            records.add("held", **asdict(held_by(pids())), cached=cached())
        except (OSError, KeyError) as error:
            # A process ended between two steps; the verdict counts how many there are.
            records.add("unseen", note=repr(error))
