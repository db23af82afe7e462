"""Who holds a load: the name of a process, and whether that process is gone.

A lease runs out by itself, but whoever re-runs a killed command should not have to wait for it.
So both stores let a lease go at once whose holder was a process of this machine and runs no more.
A name of another form, or of another machine, is taken for that of one still running.
"""

from __future__ import annotations

import os
import socket
import uuid
from hashlib import blake2b
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_SPACE = "/proc/self/ns/pid"


def owner_name(pid: int | None = None, /) -> str:
    """Returns the name under which a process of this machine, by default this one, holds a lease.

    ``host/space:pid``. The space stands for the running system and the numbering of processes in
    it: machines may share a host name, and containers number their processes alike.
    """
    try:
        machine = _BOOT_ID.read_text(encoding="ascii")
    except OSError:
        machine = str(uuid.getnode())
    try:
        numbering = os.readlink(_PROCESS_SPACE)
    except OSError:
        numbering = ""
    space = blake2b(f"{machine}{numbering}".encode(), digest_size=4).hexdigest()
    return f"{socket.gethostname()}/{space}:{os.getpid() if pid is None else pid}"


def is_gone(owner: str, /) -> bool:
    """Returns whether an owner was a process of this machine that runs no more."""
    pid = owner.rpartition(":")[2]
    # Elsewhere signal 0 is no question but ends the process.
    if os.name != "posix" or not pid.isdecimal() or owner != owner_name(int(pid)):
        return False
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return _has_ended(int(pid))


def _has_ended(pid: int) -> bool:
    """Returns whether a process has ended, and is listed only until its parent asks how."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    # The name before it is in brackets, and may hold any.
    return status.rpartition(")")[2].split()[:1] in (["Z"], ["X"])
