"""Models that ``graph-service model fetch NAME`` knows by name, and fetching one.

No hash of their files is known here. The first download writes down the hash of each file beside
them, with the state that the server had; a later one fetches that state and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson
import platformdirs

from graph_service.embed.weights import (
    CONFIG,
    FETCH_HINT,
    TOKENIZER,
    WEIGHTS,
    ModelFile,
    Progress,
    fetch_files,
    remembered_sha256,
)
from graph_service.errors import InputError, ModelFileError

if TYPE_CHECKING:
    import httpx

RECORD = "fetched.json"
"""What is written down beside the files: where they are from, their hashes, and the prompts."""
_MODULES = "modules.json"
_HUB = "https://huggingface.co"
_REQUEST_TIMEOUT_S = 30.0
_MAX_REPLY_BYTES = 1 << 16
_NEWEST = "main"
_SEARCH = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model by name.

    Attributes:
        repository: Where it is on the model hub.
        prompts: Those that its authors tell to use, as not all of them are saved with it.
    """

    repository: str
    prompts: Mapping[str, str] = field(default_factory=dict)


CATALOGUE: Mapping[str, KnownModel] = {
    "arctic-embed-s": KnownModel("Snowflake/snowflake-arctic-embed-s", {"query": _SEARCH}),
    "bge-small": KnownModel("BAAI/bge-small-en-v1.5", {"query": _SEARCH}),
    "e5-small": KnownModel("intfloat/e5-small-v2", {"query": "query: ", "passage": "passage: "}),
    "gte-small": KnownModel("thenlper/gte-small"),
    "leaf-ir": KnownModel("MongoDB/mdbr-leaf-ir", {"query": _SEARCH}),
    "multilingual-e5-small": KnownModel(
        "intfloat/multilingual-e5-small", {"query": "query: ", "passage": "passage: "}
    ),
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched, or was there.

    Attributes:
        folder: Where it is.
        files: With their hashes.
        revision: The state that the server had; empty where it did not say.
        is_first: Whether the hashes were written down now, and compared with none.
    """

    folder: Path
    files: tuple[ModelFile, ...]
    revision: str
    is_first: bool


def folder_of(name: str, /) -> Path:
    """Returns the folder that ``fetch_known`` fills unless told otherwise."""
    repository = known_model(name).repository
    return platformdirs.user_data_path("graph-service") / "models" / repository.rpartition("/")[2]


def known_model(name: str, /) -> KnownModel:
    """Returns a model by name; raises ``InputError`` for another name."""
    if name not in CATALOGUE:
        raise InputError(
            f"there is no model {name!r} to fetch; there are {', '.join(CATALOGUE)}, and without "
            "a name all-MiniLM-L6-v2",
            argument="name",
        )
    return CATALOGUE[name]


def fetch_known(
    name: str,
    /,
    *,
    target: Path | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
    pause_s: float = 1.0,
) -> Fetched:
    """Downloads the files of a model, and returns what is there now.

    Files that are there and have the hash written down are left alone.

    Args:
        name: A name of ``CATALOGUE``.
        target: The folder to fill; ``folder_of(name)`` by default.
        base_url: Where the files are, by name; the model hub by default.
        progress: Called as bytes come in.
        pause_s: Seconds before the second attempt; doubled each time.

    Raises:
        InputError: There is no such name.
        ModelFileError: The server lacks a file, has another than the first time, or fails.
        SetupError: The folder cannot be written, or another fetch is filling it.
    """
    model = known_model(name)
    folder = target or folder_of(name)
    try:
        record = read_record(folder)
        if record is not None:
            files = tuple(ModelFile(**file) for file in record["files"])
            source = base_url or _resolved(model, record["revision"])
            fetch_files(files, folder, base_url=source, progress=progress, pause_s=pause_s)
            return Fetched(folder, files, record["revision"], is_first=False)
        return _fetch_first(model, folder, base_url, progress, pause_s)
    except ModelFileError as error:
        hint = (error.hint or FETCH_HINT).replace(FETCH_HINT[5:], f"{FETCH_HINT[5:]} {name}")
        raise ModelFileError(error.message, hint=hint) from error


def check_known(name: str, /, *, folder: Path | None = None) -> Fetched:
    """Returns what is there of a model, after comparing it with the hashes written down.

    Raises:
        InputError: There is no such name.
        ModelFileError: It was not fetched, or a file has another hash.
    """
    known_model(name)
    target = folder or folder_of(name)
    hint = f"{FETCH_HINT} {name}"
    record = read_record(target)
    if record is None:
        raise ModelFileError(f"the model {name} was not fetched into {target}", hint=hint)
    files = tuple(ModelFile(**file) for file in record["files"])
    for file in files:
        path = target / file.name
        if not path.is_file() or remembered_sha256(path) != file.sha256:
            raise ModelFileError(f"{path} is not the file that was fetched", hint=hint)
    return Fetched(target, files, record["revision"], is_first=False)


def read_record(folder: Path, /) -> dict[str, Any] | None:
    """Returns what was written down when a folder was fetched; None where nothing was.

    Raises:
        ModelFileError: It can't be read.
    """
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        record = orjson.loads(path.read_bytes())
        if not isinstance(record, dict) or not {"files", "revision", "prompts"} <= record.keys():
            raise ValueError("a part is missing")
        return record
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path} can't be read: {error}", hint="Remove its folder.") from error


def _fetch_first(
    model: KnownModel,
    folder: Path,
    base_url: str | None,
    progress: Progress | None,
    pause_s: float,
) -> Fetched:
    from graph_service.http.connection import open_client

    with open_client(timeout_s=_REQUEST_TIMEOUT_S, max_bytes=_MAX_REPLY_BYTES) as client:
        revision = ""
        if base_url is None:
            # All files of one state, whatever is put there meanwhile.
            reply = _request(client, f"{_resolved(model, _NEWEST)}/{_MODULES}")
            states = [each.headers.get("X-Repo-Commit", "") for each in [*reply.history, reply]]
            revision = next(filter(None, states), _NEWEST)
        source = (base_url or _resolved(model, revision)).rstrip("/")
        first = _sized(client, source, [_MODULES])
        fetch_files(first, folder, base_url=source, progress=progress, pause_s=pause_s)
        required, optional = _names(folder / _MODULES)
        sized = _sized(client, source, required)
        sized += _sized(client, source, optional, is_optional=True)
    for file in sized:
        (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
    fetch_files(sized, folder, base_url=source, progress=progress, pause_s=pause_s)
    files = tuple(
        ModelFile(file.name, file.size, remembered_sha256(folder / file.name))
        for file in (*first, *sized)
    )
    record = {
        "repository": model.repository,
        "revision": revision,
        "prompts": dict(model.prompts),
        "files": [asdict(file) for file in files],
    }
    (folder / RECORD).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2))
    return Fetched(folder, files, revision, is_first=True)


def _names(modules: Path) -> tuple[list[str], list[str]]:
    """Returns the files that a model consists of, and those that it may have."""
    required: list[str] = []
    optional = ["config_sentence_transformers.json"]
    try:
        for kind, path in _modules(modules):
            inside = [str(PurePosixPath(path) / name) for name in (CONFIG.name, WEIGHTS.name)]
            if kind == "Transformer":
                required += [*inside, str(PurePosixPath(path) / TOKENIZER.name)]
                names = ("sentence_bert_config.json", "tokenizer_config.json")
                optional += [str(PurePosixPath(path) / name) for name in names]
            elif kind == "Dense":
                required += inside
            elif kind == "Pooling":
                required.append(inside[0])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{modules} is damaged: {error!r}") from error
    return required, optional


def _modules(path: Path) -> Iterator[tuple[str, str]]:
    for line in orjson.loads(path.read_bytes()):
        module_path = PurePosixPath(line["path"])
        # A server must not choose where on this machine a file is written.
        if module_path.is_absolute() or ".." in module_path.parts or len(module_path.parts) > 1:
            raise ValueError(f"a module lies in {line['path']!r}")
        yield str(line["type"]).rpartition(".")[2], line["path"]


def _resolved(model: KnownModel, revision: str) -> str:
    return f"{_HUB}/{model.repository}/resolve/{revision or _NEWEST}"


def _sized(
    client: httpx.Client, source: str, names: Sequence[str], *, is_optional: bool = False
) -> list[ModelFile]:
    """Returns files with the sizes that a server tells, less optional ones that it lacks."""
    files = []
    for name in names:
        reply = _request(client, f"{source}/{name}")
        if reply.status_code == 404 and is_optional:
            continue
        size = reply.headers.get("Content-Length", "")
        if reply.status_code != 200 or not size.isdigit():
            raise ModelFileError(
                f"{source}/{name} answered {reply.status_code} {reply.reason_phrase}, "
                f"{'with' if size else 'without'} a size",
                hint=f"Try another source. {FETCH_HINT} --base-url URL",
            )
        files.append(ModelFile(name, int(size), ""))
    return files


def _request(client: httpx.Client, url: str) -> httpx.Response:
    import httpx

    try:
        # Sizes are told of files as they are, not packed.
        return client.head(url, headers={"Accept-Encoding": "identity"})
    except httpx.HTTPError as error:
        raise ModelFileError(
            f"{url} could not be reached: {error or type(error).__name__}",
            hint=f"Run it again. {FETCH_HINT}",
        ) from error
