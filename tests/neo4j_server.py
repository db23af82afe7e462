"""A real Neo4j for the tests: no Docker, no plug-ins, the jars of Maven Central and a JDK.

``start_server`` starts one of its own. ``lease_server`` shares one between the processes of a
test run (pytest-xdist): the first starts it, the last stops it, and it ends with the run in any
case. Where ``GRAPH_SERVICE_TEST_NEO4J`` holds ``bolt://user:password@host:port``, that server is used
instead, and is neither started nor stopped.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from platformdirs import user_cache_path

HERE = Path(__file__).parent / "neo4j"
ENVIRONMENT = "GRAPH_SERVICE_TEST_NEO4J"
# Only a server that hangs waits for it: one that ends is seen at once. A busy machine takes minutes.
START_TIMEOUT_S = 600.0
STOP_TIMEOUT_S = 60.0
# A server of the tests lives for minutes. Compiling its code a second time and collecting garbage
# in several threads took more work than they saved: 25 s to start, and 18 s so.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_OPENED = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch", "java.base/java.util.concurrent")  # fmt: skip


class Neo4jMissingError(Exception):
    """No Neo4j can be had here; the message is the reason, in words."""


@dataclass(slots=True)
class Neo4jServer:
    """A running server. ``home`` is None where it is not ours to stop."""

    url: str
    username: str | None
    password: str | None
    database: str = "neo4j"
    home: str | None = None
    port: int = 0
    pid: int = 0
    watched_pid: int = 0
    heap: str = "1g"
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def owned(self) -> bool:
        """Whether this run started it, and may kill and restart it."""
        return self.home is not None

    def stop(self) -> None:
        """Stops the server and removes its home, at once: an orderly stop takes it 10 s."""
        if self.home is None:
            return
        self._end(signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)

    def kill(self) -> None:
        """Kills the server as a power cut would; ``restart`` brings it back."""
        self._require_owned()
        self._end(signal.SIGKILL)

    def shutdown(self) -> None:
        """Stops the server in an orderly way and keeps its data; ``restart`` brings it back."""
        self._require_owned()
        self._end(signal.SIGTERM)

    def restart(self, *, set_password: bool = False) -> None:
        """Starts it again on the same port with the data that are there; without any, sets the
        password anew.
        """
        self._require_owned()
        _launch(self, set_password=set_password)

    def _require_owned(self) -> None:
        if self.home is None:
            raise Neo4jMissingError(f"the server of {ENVIRONMENT} is not ours to stop")

    def _end(self, number: signal.Signals) -> None:
        if not self.pid or not _alive(self.pid):
            self.pid = 0
            return
        os.kill(self.pid, number)
        limit = time.monotonic() + STOP_TIMEOUT_S
        while _alive(self.pid):
            if time.monotonic() > limit:
                os.kill(self.pid, signal.SIGKILL)
                limit += STOP_TIMEOUT_S
            time.sleep(0.05)
        self.pid = 0


def start_server(
    *,
    auth: bool = True,
    heap: str = "1g",
    own: bool = False,
    settings: dict[str, str] | None = None,
    watched_pid: int | None = None,
    prepare: Callable[[Path], None] | None = None,
) -> Neo4jServer:
    """Returns a running server, empty unless it is the one of ``GRAPH_SERVICE_TEST_NEO4J``.

    Args:
        auth: Whether it asks for a password (a random one, in the result).
        heap: The Java heap, as ``-Xmx`` takes it.
        own: Whether to start one even if ``GRAPH_SERVICE_TEST_NEO4J`` is set, to be killed at will.
        settings: Further lines of its ``neo4j.conf``.
        watched_pid: The process whose end ends the server; this one by default.
        prepare: Called with the empty home before the server starts on it.

    Raises:
        Neo4jMissingError: Java 17, Maven or its downloads are missing.
        RuntimeError: It does not start; holds the end of its log.
    """
    given = os.environ.get(ENVIRONMENT)
    if given and not own:
        return _given_server(given)
    require_java()
    fetch_jars()
    home = Path(tempfile.mkdtemp(prefix="graph-service-neo4j-"))
    server = Neo4jServer(
        url="",
        username="neo4j" if auth else None,
        password=secrets.token_hex(8) if auth else None,
        home=str(home),
        watched_pid=watched_pid or os.getpid(),
        heap=heap,
        settings=settings or {},
    )
    try:
        if prepare is not None:
            prepare(home)
        # Another process may take the free port before the server does, so it is tried again.
        for attempt in range(3):
            server.port = _free_port()
            server.url = f"bolt://127.0.0.1:{server.port}"
            try:
                _launch(server, set_password=True)
                break
            except RuntimeError as error:
                if attempt == 2 or "in use" not in str(error):
                    raise
    except BaseException:
        server.stop()
        raise
    return server


@contextmanager
def lease_server(root: Path) -> Iterator[Neo4jServer]:
    """Gives the one server that all processes with the same ``root`` folder share.

    Under pytest-xdist ``root`` is ``tmp_path_factory.getbasetemp().parent``, and the server is
    watched over by the controlling process.
    """
    state = root / "neo4j-server.json"
    root.mkdir(parents=True, exist_ok=True)
    worker = "PYTEST_XDIST_WORKER" in os.environ
    with _locked(root / "neo4j-server.lock"):
        users, server = _read_state(state)
        if server is None:
            users = 0
            server = start_server(watched_pid=os.getppid() if worker else os.getpid())
        state.write_text(json.dumps({"users": users + 1, "server": asdict(server)}))
    try:
        yield server
    finally:
        with _locked(root / "neo4j-server.lock"):
            users = _read_state(state)[0] - 1
            state.write_text(json.dumps({"users": users, "server": asdict(server)}))
            if users <= 0:
                server.stop()


def _read_state(state: Path) -> tuple[int, Neo4jServer | None]:
    if not state.exists():
        return 0, None
    fields = json.loads(state.read_text())
    server = Neo4jServer(**fields["server"])
    if fields["users"] <= 0 or (server.owned and not _alive(server.pid)):
        return 0, None
    return fields["users"], server


def require_java() -> str:
    """Returns the java command; raises ``Neo4jMissingError`` without a JDK of 17 or later."""
    java = shutil.which("java")
    if java is None:
        raise Neo4jMissingError("Java is missing; the Neo4j tests need a JDK 17 or later")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    if found is None or int(found[1]) < 17:
        version = found[1] if found else "unknown"
        raise Neo4jMissingError(f"Java is {version}; the Neo4j tests need a JDK 17 or later")
    return java


def fetch_jars() -> Path:
    """Returns the folder of the server's jars, in the user's cache; fetched by Maven once."""
    pom = HERE / "pom.xml"
    found = re.search(r"<neo4j.version>([\w.-]+)</neo4j.version>", pom.read_text())
    if found is None:
        raise RuntimeError(f"{pom} names no neo4j.version")
    # What is fetched follows from the file, so another file gets a folder of its own.
    digest = hashlib.sha256(pom.read_bytes()).hexdigest()[:8]
    folder = user_cache_path("graph-service") / f"neo4j-{found[1]}-{digest}"
    jars = folder / "lib"
    if jars.is_dir():
        return jars
    maven = shutil.which("mvn")
    if maven is None:
        raise Neo4jMissingError("Maven is missing; it fetches the jars of the Neo4j that is tested")
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        if jars.is_dir():
            return jars
        partial = Path(tempfile.mkdtemp(prefix="partial-", dir=folder))
        try:
            command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
            command += [f"-DoutputDirectory={partial}", "-DincludeScope=runtime"]
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
            if answer.returncode:
                raise Neo4jMissingError(
                    f"Maven could not fetch Neo4j: {answer.stdout[-400:].strip()}"
                )
            # The rename is the sign that the folder is whole.
            partial.rename(jars)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return jars


def run_import(home: Path, arguments: Sequence[str], /, *, heap: str = "1g") -> str:
    """Runs Neo4j's bulk import on a home without a running server; returns what it printed.

    Args:
        home: The server's home.
        arguments: Those of ``neo4j-admin database import full``.
        heap: The Java heap, as ``-Xmx`` takes it.
    """
    command = [require_java(), *_SHORT_LIVED, f"-Xmx{heap}", "-Dlog4j2.disable.jmx=true"]
    for module in _OPENED:
        command += ["--add-opens", f"{module}=ALL-UNNAMED"]
    command += ["-cp", str(fetch_jars() / "*"), str(HERE / "Neo4jImport.java"), str(home)]
    (home / "conf").mkdir(parents=True, exist_ok=True)
    # The tool leaves a report in the folder it runs in.
    answer = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, cwd=home
    )
    if answer.returncode:
        raise RuntimeError(f"the import failed: {(answer.stdout + answer.stderr)[-3000:]}")
    return answer.stdout


def _given_server(address: str) -> Neo4jServer:
    parts = urlsplit(address)
    if not parts.hostname:
        raise RuntimeError(f"{ENVIRONMENT} must be bolt://user:password@host:port")
    return Neo4jServer(
        url=f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}",
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        database=parts.path.strip("/") or "neo4j",
        port=parts.port or 7687,
    )


def _launch(server: Neo4jServer, *, set_password: bool = False) -> None:
    if server.home is None:
        raise RuntimeError("only a server of our own is launched")
    home = Path(server.home)
    (home / "conf").mkdir(parents=True, exist_ok=True)
    settings = {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{server.port}",
        "dbms.security.auth_enabled": "true" if server.password else "false",
        "dbms.usage_report.enabled": "false",
        "server.memory.pagecache.size": "256m",
        "db.tx_log.preallocate": "false",
        **server.settings,
    }
    lines = "".join(f"{name}={value}\n" for name, value in settings.items())
    (home / "conf" / "neo4j.conf").write_text(lines)
    command = [require_java(), *_SHORT_LIVED, f"-Xmx{server.heap}", "-Dlog4j2.disable.jmx=true"]
    for module in _OPENED:
        command += ["--add-opens", f"{module}=ALL-UNNAMED"]
    command += ["-cp", str(fetch_jars() / "*"), str(HERE / "Neo4jServer.java")]
    command += [str(home), str(server.watched_pid)]
    environment = dict(os.environ)
    environment.pop("GRAPH_SERVICE_TEST_PASSWORD", None)
    if set_password and server.password:
        environment["GRAPH_SERVICE_TEST_PASSWORD"] = server.password
    log = home / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment
        )
    server.pid = process.pid
    limit = time.monotonic() + START_TIMEOUT_S
    while True:
        text = log.read_text(errors="replace")
        if re.search(r"^ready$", text, re.MULTILINE):
            # It outlives this object, is followed by its id, and may be stopped by another process.
            process.returncode = 0
            return
        if process.poll() is not None or time.monotonic() > limit:
            server._end(signal.SIGKILL)
            process.returncode = 1
            raise RuntimeError(f"Neo4j did not start: {text[-3000:]}")
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        # Our own child stays a zombie until it is waited for.
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        # Another worker's child stays one until that worker ends.
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True
    return state not in ("Z", "X")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    running = start_server()
    print(json.dumps(asdict(running)), flush=True)
    print("end the input to stop it", file=sys.stderr)
    sys.stdin.read()
    running.stop()
