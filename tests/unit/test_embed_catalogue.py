"""Models known by name: fetched from a local server, their hashes written down and compared."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import platformdirs
import pytest
from error_texts import check_line, check_text, raises
from made_encoders import ENCODERS, make_encoder

from graph_service.cli import main
from graph_service.embed import catalogue, open_embedder
from graph_service.embed.catalogue import CATALOGUE, check_known, fetch_known, folder_of
from graph_service.embed.prompts import PromptedEmbedder, Prompts
from graph_service.errors import InputError, ModelFileError


@dataclass
class Hub:
    """A server of one folder, as the hub has it: by state, with the newest one's name told."""

    folder: Path
    address: str = ""
    commit: str = "c0ffee"
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    made = make_encoder(tmp_path / "hub", ENCODERS["distilbert"])
    (made / "config_sentence_transformers.json").unlink()
    hub = Hub(made)

    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            hub.asked.append(f"{self.command} {path}")
            found = path.split("/resolve/", 1)[-1].split("/", 1)[-1]
            return str(hub.folder / found)

        def end_headers(self) -> None:
            self.send_header("X-Repo-Commit", hub.commit)
            super().end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(made)))
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr(catalogue, "_HUB", hub.address)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *_: tmp_path / "user data")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "user cache")
    yield hub
    server.shutdown()
    server.server_close()
    thread.join()


def gets(hub: Hub) -> list[str]:
    return [line.removeprefix("GET ") for line in hub.asked if line.startswith("GET")]


def test_the_first_fetch_writes_hashes_down(hub: Hub) -> None:
    fetched = fetch_known("e5-small")
    assert fetched.is_first
    assert fetched.folder == folder_of("e5-small")
    assert {file.name for file in fetched.files} == {
        "modules.json",
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "tokenizer_config.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
        "2_Dense/config.json",
        "2_Dense/model.safetensors",
    }
    assert all(len(file.sha256) == 64 for file in fetched.files)
    # All but the question for the state are asked of that state.
    newest, *others = hub.asked
    assert newest == "HEAD /intfloat/e5-small-v2/resolve/main/modules.json"
    assert all("/intfloat/e5-small-v2/resolve/c0ffee/" in line for line in others)
    assert check_known("e5-small").files == fetched.files


def test_a_later_fetch_compares(hub: Hub) -> None:
    first = fetch_known("gte-small")
    hub.asked.clear()
    hub.commit = "beef"
    again = fetch_known("gte-small")
    assert (again.files, again.is_first, hub.asked) == (first.files, False, [])
    (first.folder / "tokenizer.json").write_bytes(b"spoilt")
    with raises(ModelFileError) as raised:
        check_known("gte-small")
    check_text(raised.value.hint)
    fetch_known("gte-small")
    assert gets(hub) == ["/thenlper/gte-small/resolve/c0ffee/tokenizer.json"]
    assert check_known("gte-small").files == first.files
    # Another file of that state on the server is refused, and what is there stays.
    (hub.folder / "tokenizer.json").write_bytes(b"another")
    (first.folder / "tokenizer.json").unlink()
    with raises(ModelFileError) as raised:
        fetch_known("gte-small", pause_s=0)
    assert "graph-service model fetch gte-small" in (raised.value.hint or "")


def test_a_fetch_that_broke_off_is_a_first_one_again(hub: Hub) -> None:
    """What lies there without a hash may be of another state."""
    tokenizer = hub.folder / "tokenizer.json"
    tokenizer.rename(hub.folder / "away.json")
    with pytest.raises(ModelFileError, match=r"tokenizer\.json answered 404"):
        fetch_known("gte-small")
    folder = folder_of("gte-small")
    assert not (folder / catalogue.RECORD).exists()
    (folder / "model.safetensors.part").write_bytes(b"of another state")
    (hub.folder / "away.json").rename(tokenizer)
    assert fetch_known("gte-small").is_first
    assert (folder / "model.safetensors").read_bytes() == (
        hub.folder / "model.safetensors"
    ).read_bytes()


def test_a_name_is_an_embedder_once_it_is_fetched(hub: Hub) -> None:
    """With the prompts that its authors tell, where none are saved with it."""
    with raises(ModelFileError) as raised:
        open_embedder("e5-small")
    check_text(raised.value.hint)
    fetch_known("e5-small")
    embedder = open_embedder("e5-small")
    assert embedder.name.startswith("e5-small-v2@")
    assert isinstance(embedder, PromptedEmbedder)
    assert embedder.prompts == Prompts("query: ", "passage: ")


def test_a_mirror(hub: Hub, tmp_path: Path) -> None:
    mirror = f"{hub.address}/resolve/any"
    fetched = fetch_known("leaf-ir", target=tmp_path / "m", base_url=mirror)
    assert (fetched.folder, fetched.revision) == (tmp_path / "m", "")
    assert all(line.split(" ")[1].startswith("/resolve/any/") for line in hub.asked)


@pytest.mark.parametrize("path", ["../1_Pooling", "/tmp/x", "a/b"])
def test_a_server_does_not_choose_where_files_go(hub: Hub, path: str, tmp_path: Path) -> None:
    modules = json.loads((hub.folder / "modules.json").read_text())
    modules[1]["path"] = path
    (hub.folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelFileError, match=r"modules\.json is damaged"):
        fetch_known("gte-small", target=tmp_path / "there" / "m")
    assert {one.name for one in (tmp_path / "there").rglob("*")} == {
        "m",
        "modules.json",
        ".fetching",
    }


def test_no_server(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_HUB", "http://127.0.0.1:9")
    with raises(ModelFileError) as raised:
        fetch_known("bge-small")
    check_text(raised.value.hint)


def test_a_record_that_is_spoilt(hub: Hub) -> None:
    folder = fetch_known("bge-small").folder
    (folder / catalogue.RECORD).write_text("{}")
    with raises(ModelFileError):
        check_known("bge-small")
    shutil.rmtree(folder)
    with pytest.raises(ModelFileError, match="was not fetched"):
        check_known("bge-small")


def test_another_name() -> None:
    with raises(InputError):
        fetch_known("e6")
    assert len(CATALOGUE) >= 5


def test_on_the_command_line(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "fetch", "e5-small"]) == 0
    shown = capsys.readouterr()
    check_line(shown.out, "No hash", "known")
    assert "export GRAPH_SERVICE_EMBEDDER=e5-small" in shown.out
    assert main(["model", "fetch", "e5-small"]) == 0
    assert "No hash" not in capsys.readouterr().out
    assert main(["model", "check", "e5-small", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["revision"], printed["is_first"]) == ("c0ffee", False)
    assert main(["model", "fetch", "e6"]) == 2
