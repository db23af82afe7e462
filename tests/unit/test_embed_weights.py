"""The model's files: found, checked, fetched from a local server that misbehaves."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from error_texts import check_text, raises
from jumping_clock import JumpingClock

from graph_service.embed import weights
from graph_service.embed.weights import ModelFile, fetch_model, find_model, verify_file
from graph_service.errors import ModelFileError, SetupError

CONTENT = {
    "config.json": b'{"layers": 6}',
    "tokenizer.json": b"words " * 500,
    "model.safetensors": bytes(range(256)) * 4000,
}


@dataclass
class Hub:
    """A file server, and how it is to misbehave: one entry of ``faults`` a request, then none.

    Attributes:
        dripped: Bytes after which a connection that drips is cut; None for never.
        taken: Released by whoever has taken a byte that dripped, so that the next one comes.
    """

    address: str = ""
    content: dict[str, bytes] = field(default_factory=lambda: dict(CONTENT))
    faults: list[str] = field(default_factory=list)
    dripped: int | None = None
    taken: threading.Semaphore | None = None
    requests: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.path.rsplit("/", 1)[-1]
            asked = self.headers.get("Range", "")
            hub.requests.append((name, asked))
            fault = hub.faults.pop(0) if hub.faults else ""
            data = hub.content.get(name)
            if fault.isdigit():
                self.answer(int(fault), b"", {"Retry-After": "0"})
            elif data is None:
                self.answer(404, b"not here", {})
            elif fault == "redirect":
                self.answer(302, b"", {"Location": f"/elsewhere/{name}"})
            else:
                start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
                if asked and fault != "no ranges":
                    place = 7 if fault == "other range" else start
                    self.answer(
                        206,
                        data[place:],
                        {"Content-Range": f"bytes {place}-{len(data) - 1}/{len(data)}"},
                        cut=fault == "cut",
                        drip=fault == "drip",
                    )
                else:
                    self.answer(200, data, {}, cut=fault == "cut", drip=fault == "drip")

        def answer(
            self,
            status: int,
            body: bytes,
            headers: dict[str, str],
            *,
            cut: bool = False,
            drip: bool = False,
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for key, value in headers.items():
                self.send_header(key, value)
            if drip:
                self.send_header("Connection", "close")
            self.end_headers()
            if drip:
                self.drip(body)
                return
            self.wfile.write(body[: len(body) // 2] if cut else body)
            if cut:
                self.wfile.flush()
                self.close_connection = True

        def drip(self, body: bytes) -> None:
            """Sends a byte now and then until the client goes, or hub.dripped of them."""
            self.close_connection = True
            with contextlib.suppress(OSError):
                for at in range(len(body))[: hub.dripped]:
                    self.wfile.write(body[at : at + 1])
                    if hub.taken is not None:
                        hub.taken.acquire()
                    elif ended.wait(0.05):
                        return

        def log_message(self, *_: object) -> None:
            pass

    ended = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_address[1]}/model"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield hub
    ended.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = {
        name: ModelFile(name, len(data), hashlib.sha256(data).hexdigest())
        for name, data in CONTENT.items()
    }
    monkeypatch.setattr(weights, "FILES", tuple(files.values()))
    monkeypatch.setattr(weights, "_READ", (files["tokenizer.json"], files["model.safetensors"]))
    monkeypatch.delenv(weights.MODEL_DIR_VARIABLE, raising=False)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *_: tmp_path / "user data")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "user cache")


def fetch(hub: Hub, target: Path, **options: Any) -> Path:
    return fetch_model(target=target, base_url=hub.address, pause_s=0, **options)


def whole(folder: Path) -> bool:
    return all((folder / name).read_bytes() == data for name, data in CONTENT.items()) and not list(
        folder.glob("*.part")
    )


def test_fetch_once(hub: Hub, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    folder = fetch_model(
        target=tmp_path / "m", base_url=hub.address, progress=lambda *at: seen.append(at)
    )
    assert whole(folder)
    assert {name for name, _, _ in seen} == set(CONTENT)
    assert seen[-1] == ("model.safetensors", 1_024_000, 1_024_000)
    asked = len(hub.requests)
    assert fetch(hub, folder) == folder
    assert len(hub.requests) == asked == 3


def test_default_target_is_found_afterwards(hub: Hub) -> None:
    folder = fetch_model(base_url=hub.address)
    found = find_model()
    assert (found.path, found.origin) == (folder, "fetched")


@pytest.mark.parametrize(
    "faults",
    [
        ["cut"],
        ["cut", "cut", "cut", "cut", "cut", "cut", "cut"],
        ["503", "429", "500"],
        ["redirect", "", "redirect"],
        ["", "", "cut", "no ranges"],
        ["", "", "cut", "other range"],
        ["", "", "cut", "416"],
    ],
)
def test_fetch_in_spite_of(hub: Hub, tmp_path: Path, faults: list[str]) -> None:
    hub.faults = faults
    assert whole(fetch(hub, tmp_path / "m"))


def test_cut_download_goes_on_where_it_stopped(hub: Hub, tmp_path: Path) -> None:
    hub.faults = ["", "", "cut"]
    assert whole(fetch(hub, tmp_path / "m"))
    assert hub.requests[2:] == [
        ("model.safetensors", ""),
        ("model.safetensors", "bytes=512000-"),
    ]


def test_next_call_goes_on_too(hub: Hub, tmp_path: Path) -> None:
    hub.faults = ["", "", "cut", "500", "500"]
    with pytest.raises(ModelFileError, match=r"500.*graph-service model fetch"):
        fetch(hub, tmp_path / "m", attempts=2)
    assert not (tmp_path / "m" / "model.safetensors").exists()
    assert whole(fetch(hub, tmp_path / "m"))
    assert hub.requests[-1] == ("model.safetensors", "bytes=512000-")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> JumpingClock:
    """The clock of fetches."""
    clock = JumpingClock()
    for module in ("embed.weights", "http.connection"):
        monkeypatch.setattr(f"graph_service.{module}.time", clock)
    return clock


def test_a_server_that_drips_is_given_up_and_gone_on_from(
    hub: Hub, tmp_path: Path, clock: JumpingClock
) -> None:
    """Every byte comes in time, the file never would; what came of it is kept."""
    hub.faults = ["", "", "drip", "drip"]

    def pass_time(name: str, received: int, size: int) -> None:
        if received < size:
            clock.jump()

    with raises(ModelFileError) as caught:
        fetch(hub, tmp_path, attempts=2, timeout_s=600, progress=pass_time)
    check_text(str(caught.value))
    kept = (tmp_path / "model.safetensors.part").stat().st_size
    assert 2 <= kept < 10_240
    assert whole(fetch(hub, tmp_path))
    assert hub.requests[-1] == ("model.safetensors", f"bytes={kept}-")


def test_a_server_that_cuts_after_a_byte_is_given_up(hub: Hub, tmp_path: Path) -> None:
    """A byte is no progress: else a fetch would go on for a million tries."""
    hub.faults, hub.dripped = ["", "", *["drip"] * 9], 1
    with raises(ModelFileError):
        fetch(hub, tmp_path, attempts=3)
    assert len(hub.requests) == 5


def test_a_slow_file_takes_longer_than_an_attempt_may(
    hub: Hub, tmp_path: Path, clock: JumpingClock
) -> None:
    """Each 1% of it moves the end of the attempt: here a byte, and between two half of its time."""
    hub.faults, hub.taken = ["drip"], threading.Semaphore(0)
    taken = hub.taken

    def pass_time(name: str, received: int, size: int) -> None:
        if name == "config.json":
            clock.jump(300)
            taken.release()

    began = clock.monotonic()
    assert whole(fetch(hub, tmp_path, attempts=1, timeout_s=600, progress=pass_time))
    assert clock.monotonic() - began > 600


@pytest.mark.parametrize("left", [b"something else", CONTENT["model.safetensors"] + b"more"])
def test_what_another_left_is_replaced(hub: Hub, tmp_path: Path, left: bytes) -> None:
    (tmp_path / "model.safetensors.part").write_bytes(left)
    assert whole(fetch(hub, tmp_path))


def test_wrong_file_under_the_name_is_replaced(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(b"old")
    assert whole(fetch(hub, tmp_path))


@pytest.mark.parametrize(
    "other", [b"short", b"x" * len(CONTENT["tokenizer.json"]), CONTENT["tokenizer.json"] + b"!"]
)
def test_other_content_is_refused(hub: Hub, tmp_path: Path, other: bytes) -> None:
    hub.content["tokenizer.json"] = other
    with raises(ModelFileError):
        fetch(hub, tmp_path)
    assert not (tmp_path / "tokenizer.json").exists()
    assert not (tmp_path / "tokenizer.json.part").exists()


def test_missing_file_is_an_error_at_once(hub: Hub, tmp_path: Path) -> None:
    del hub.content["tokenizer.json"]
    with pytest.raises(ModelFileError, match="404"):
        fetch(hub, tmp_path)
    assert len(hub.requests) == 2


def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="GRAPH_SERVICE_MODEL_DIR"):
        fetch_model(target=tmp_path, base_url="http://127.0.0.1:9/m", pause_s=0, attempts=2)


def test_folder_that_cannot_be_made(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SetupError, match="cannot be written"):
        fetch(hub, tmp_path / "file" / "m")


@pytest.mark.skipif(sys.platform == "win32", reason="no flock there")
def test_one_fetch_at_a_time(hub: Hub, tmp_path: Path) -> None:
    with weights._exclusive(tmp_path), pytest.raises(SetupError, match="another process"):
        fetch(hub, tmp_path)
    assert whole(fetch(hub, tmp_path))


def fill(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, data in CONTENT.items():
        (folder / name).write_bytes(data)
    return folder


def test_order_of_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = fill(tmp_path / "site" / "some_weights" / "model").parent
    (packaged / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(weights, "_PACKAGE", "some_weights")
    assert find_model().origin == "package"
    assert "some_weights" not in sys.modules
    fill(weights.fetched_folder())
    assert find_model().origin == "fetched"
    named = fill(tmp_path / "named")
    monkeypatch.setenv(weights.MODEL_DIR_VARIABLE, str(named))
    assert (find_model().path, find_model().origin) == (named, "given")
    assert find_model(packaged / "model").path == packaged / "model"


def test_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(weights, "_PACKAGE", "no_such_package_of_weights")
    with raises(ModelFileError):
        find_model()
    with raises(ModelFileError):
        find_model(tmp_path)


def test_a_changed_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read for its hash once, and again when its time or size has changed."""
    read: list[Path] = []

    def counted(path: Path) -> str:
        read.append(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(weights, "_sha256", counted)
    path = tmp_path / "f"
    path.write_bytes(b"right")
    file = ModelFile("f", 5, hashlib.sha256(b"right").hexdigest())
    verify_file(path, file)
    verify_file(path, file)
    assert len(read) == 1
    path.write_bytes(b"wrong")
    for _ in range(2):
        with raises(ModelFileError):
            verify_file(path, file)
    assert len(read) == 3
    path.write_bytes(b"longer than that")
    with pytest.raises(ModelFileError, match="16 bytes"):
        verify_file(path, file)


def test_memory_of_checks_may_be_spoilt(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"right")
    file = ModelFile("f", 5, hashlib.sha256(b"right").hexdigest())
    memory = tmp_path / "checked.json"
    memory.write_text("not json")
    verify_file(path, file, checked=memory)
    assert str(path) in memory.read_text()
    memory.write_text("[1]")
    verify_file(path, file, checked=memory)
    verify_file(path, file, checked=path / "impossible" / "checked.json")
