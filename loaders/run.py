"""One run of a load, which goes on where an earlier run of it was killed or stopped.

Each batch is committed together with a checkpoint: the file, the position in it, what was counted
and how far the file of rejects is. A run begins at the checkpoint of the last batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from graph_service.errors import InputError
from graph_service.model.serialise import from_plain, to_plain
from loaders.items import Reject
from loaders.progress import Progress, ProgressReporter, SizedFile
from loaders.rejects import RejectsFile
from loaders.source import ByteSource, SourceLimits, open_source
from loaders.tally import Tally

T = TypeVar("T", bound=Tally)
F = TypeVar("F", bound="RunFile")


class Session(Protocol):
    """What a run needs of the store's session of a load."""

    @property
    def checkpoint(self) -> Mapping[str, Any] | None:
        """The checkpoint of the last batch; None for a load that is not resumed."""

    def abort(self) -> None:
        """Throws away what was written."""


class RunFile(SizedFile, Protocol):
    """A file of a source."""

    @property
    def path(self) -> str:
        """The path that is opened, ``-`` for standard input."""


class Run(Generic[T, F]):
    """The state of a run; a context manager.

    Args:
        session: The store's session, which holds the checkpoint of an interrupted run.
        source: What is loaded, as the user named it.
        files: What is read, in order.
        tally: The counts' type.
        strict: Whether the first reject ends the load.
        rejects_path: Where rejects go; None for ``rejects.jsonl``.
        progress: Called with the state, at most ten times a second.
        stop: When set, the run ends soon, to be resumed later.

    Attributes:
        checkpoint: The checkpoint that this run goes on from; empty for a first run.
        is_resumed: Whether there was one.
        resumed_file, resumed_position: Index of its file, and the position in that.
        file_index, position: The same of what was read last.
        tally: What was counted, of all runs.
        rejects: The file of rejects.
        progress: Reports how far the run is.
    """

    def __init__(
        self,
        session: Session,
        /,
        *,
        source: str,
        files: Sequence[F],
        tally: type[T],
        strict: bool,
        rejects_path: Path | None,
        progress: Callable[[Progress], None] | None,
        stop: threading.Event | None,
    ) -> None:
        self._session = session
        self.source, self.files = source, files
        self._strict = strict
        self.stop = stop
        self.is_resumed = session.checkpoint is not None
        self.checkpoint = checkpoint = session.checkpoint or {}
        self.tally = from_plain(tally, checkpoint.get("tally", {}))
        self.file_index = self.resumed_file = int(checkpoint.get("file", 0))
        self.position: Mapping[str, Any] = checkpoint.get("position", {})
        self.resumed_position = self.position
        self._head = self._resumed_head = str(checkpoint.get("head", ""))
        self.rejects = RejectsFile(rejects_path, committed=checkpoint.get("rejects", {}))
        self.progress = ProgressReporter(progress, files, self.tally)

    def __enter__(self) -> Self:
        """Returns the run, whose file of rejects closes with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file of rejects."""
        self.rejects.close()

    @property
    def is_stopped(self) -> bool:
        """Whether the run is to end."""
        return self.stop is not None and self.stop.is_set()

    def start_in(self, index: int, /) -> dict[str, Any]:
        """Returns the position in a file at which reading begins; empty for its beginning."""
        return dict(self.resumed_position) if index == self.resumed_file else {}

    @contextmanager
    def open(
        self, file: F, start: Mapping[str, Any], /, *, limits: SourceLimits
    ) -> Iterator[ByteSource]:
        """Opens a file.

        Raises:
            InputError: It can't be read, or is not the file in which ``start`` is a position;
                then the load is thrown away.
        """
        with open_source(file.path, limits=limits) as source:
            head = blake2b(source.head, digest_size=16).hexdigest()
            if start and head != self._resumed_head:
                self._session.abort()
                raise InputError(
                    f"{file.path} is not what was read when its load was interrupted; that load "
                    "is thrown away, nothing of it was published",
                    argument="source",
                    hint="Run the same command again to load what is there now.",
                )
            self._head = head
            yield source

    def end_file(self, index: int, /) -> None:
        """Moves on to the beginning of the next file."""
        self.file_index, self.position = index + 1, {}

    def reject(self, rejects: Sequence[Reject], /) -> None:
        """Counts rejects and writes them to their file.

        Raises:
            InputError: The load is strict; it is thrown away.
        """
        if not rejects:
            return
        self.tally.reject(rejects)
        self.rejects.add(rejects)
        if self._strict:
            self._session.abort()
            raise self.rejects.strict_error(rejects[0], nothing="published", mend="source")

    def next_checkpoint(self) -> dict[str, Any]:
        """Returns the checkpoint of the batch that is written next.

        Rejects are on disk before the checkpoint that counts them is.
        """
        self.rejects.flush()
        return {
            "file": self.file_index,
            "position": dict(self.position),
            "head": self._head,
            "tally": to_plain(self.tally),
            "rejects": self.rejects.state(),
        }

    def nothing_loaded(self, problem: str, /) -> InputError:
        """Throws the load away, and returns the error that says why nothing of it is loaded."""
        self._session.abort()
        reasons = self.tally.reasons(self.rejects.path)
        return InputError(f"{self.source} {problem}{reasons}", argument="source")

    def report_fields(self) -> dict[str, Any]:
        """Returns the fields of a ``RunReport``."""
        tally = self.tally
        return {
            "source": self.source,
            "formats": dict(tally.formats),
            "skipped": {reason: count for reason, count in tally.skipped.items() if count},
            "rejected": tally.rejected,
            "rejects": tuple(tally.first_rejects),
            "rejects_path": str(self.rejects.path) if tally.rejected else None,
            "seconds": self.progress.seconds,
            "resumed": self.is_resumed,
        }
