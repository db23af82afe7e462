"""Loading passages: documents are read, cut, linked and written in batches; then published.

Each batch is committed with the position of its source, so that a load that was killed goes on
where it was when the same command runs again. Readers see all of a source's passages or none.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from graph_service.errors import InputError
from graph_service.model.passage import MAX_PASSAGE_WORDS, Passage, make_passage
from graph_service.store.lease import owner_name
from graph_service.store.passages import MAX_BATCH_PASSAGES, PassageSession, PassageSet
from graph_service.store.protocol import Store
from loaders.items import Reject
from loaders.options import DEFAULT_REJECTS_PATH, EXIT_REJECTS, SHOWN_REJECTS
from loaders.passages.cut import Cutter, count_words
from loaders.passages.reader import Document, Part, PassageFormat, read_documents, recognise
from loaders.rejects import RejectsFile
from loaders.source import STANDARD_INPUT, SourceLimits, open_source

PROGRESS_INTERVAL_S = 0.1
MOST_WORDS = 1_000
_COMMIT_PARTS = 20_000
NO_TEXT = "documents without text"
NOT_IN_GRAPH = "documents whose given entity the graph lacks"
NO_ENTITY = "documents whose title names no entity of the graph"
NOT_TEXT = "files that are no text"


class DocumentLinker(Protocol):
    """Finds the entity that a document is about; ``Passages.linker`` of the service makes one."""

    def given(self, id_: str, /) -> str | None:
        """Returns the entity of an id, redirects followed; None if the graph lacks it."""

    def titled(self, title: str, context: str, /) -> str | None:
        """Returns the entity that a title names, or None.

        Args:
            title: As the source has it.
            context: The document's beginning, which decides between entities of one name.
        """


@dataclass(frozen=True, slots=True)
class PassageOptions:
    """How passages are made.

    Attributes:
        format: ``text``, ``jsonl`` or ``wikipedia``; None to tell by the first bytes.
        title: Title of a text file's document; None to take the file's name.
        max_words: Words of a passage at most, 1 to 1,000.
        link_titles: Whether documents without an entity get the one that their title names.
        strict: Stop at the first piece that can't be read, and publish nothing.
        rejects_path: Where rejected pieces go; None for ``rejects.jsonl``.
        batch_size: Passages a transaction.
        limits: What a source may ask of memory.
    """

    format: str | None = None
    title: str | None = None
    max_words: int = MAX_PASSAGE_WORDS
    link_titles: bool = True
    strict: bool = False
    rejects_path: Path | None = None
    batch_size: int = 1_000
    limits: SourceLimits = field(default_factory=SourceLimits)

    def check(self) -> None:
        """Raises ``InputError`` for a value out of range."""
        if self.format is not None and self.format not in set(PassageFormat):
            raise InputError(
                f"{self.format!r} is no format of documents; known are {', '.join(PassageFormat)}",
                argument="format",
            )
        for name, value, most in (
            ("max_words", self.max_words, MOST_WORDS),
            ("batch_size", self.batch_size, MAX_BATCH_PASSAGES),
        ):
            if not 1 <= value <= most:
                raise InputError(f"{name} must be 1 to {most}, got {value}", argument=name)


@dataclass(frozen=True, slots=True)
class PassageProgress:
    """Where a load stands; bytes as in ``loaders.options.Progress``."""

    file: str
    bytes_read: int
    bytes_total: int
    documents: int
    passages: int
    rejected: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PassageReport:
    """What a load of passages did.

    Attributes:
        set: What was published; None when the load was stopped before its end.
        documents, passages, words: As cut; passages of the same content are kept once.
        linked: Documents that have an entity.
        skipped: What was left out, or left without an entity, by reason.
    """

    source: str
    graph: str
    set: PassageSet | None
    formats: Mapping[str, int]
    documents: int
    passages: int
    words: int
    linked: int
    skipped: Mapping[str, int]
    rejected: int
    rejects: Sequence[Reject]
    rejects_path: str | None
    seconds: float
    resumed: bool

    @property
    def exit_code(self) -> int:
        """3 when anything was rejected, else 0."""
        return EXIT_REJECTS if self.rejected else 0

    def to_json(self) -> dict[str, Any]:
        """Returns the report as the command line's ``--json`` prints it."""
        return {
            "source": self.source,
            "graph": self.graph,
            "status": "published" if self.set else "stopped",
            "set": self.set.number if self.set else None,
            "fingerprint": self.set.fingerprint if self.set else None,
            "formats": dict(self.formats),
            "documents": self.documents,
            "passages": self.passages,
            "kept": self.set.passages if self.set else None,
            "words": self.words,
            "linked": self.linked,
            "skipped": dict(sorted(self.skipped.items())),
            "rejected": self.rejected,
            "rejects": [reject.to_json() for reject in self.rejects],
            "rejects_path": self.rejects_path,
            "seconds": round(self.seconds, 3),
            "resumed": self.resumed,
            "exit_code": self.exit_code,
        }

    def lines(self) -> list[str]:
        """Returns the report as a person reads it."""
        formats = ", ".join(
            name if number == 1 else f"{name} ({number} files)"
            for name, number in sorted(self.formats.items())
        )
        lines = [f"source: {self.source}", f"format: {formats or 'none'}"]
        if self.resumed:
            lines.append("resumed: an interrupted load of the same source went on")
        lines.append(
            f"read: {self.documents:,} documents, {self.linked:,} of them linked, "
            f"{self.words:,} words in {self.passages:,} passages, in {self.seconds:.1f} s"
        )
        lines.extend(f"note: {number:,} {why}" for why, number in sorted(self.skipped.items()))
        if self.rejected:
            lines.append(f"rejected: {self.rejected:,}, all of them in {self.rejects_path}")
            lines.extend(f"  {reject.place}: {reject.reason}" for reject in self.rejects)
            if self.rejected > len(self.rejects):
                lines.append(f"  and {self.rejected - len(self.rejects):,} more")
        if self.set is None:
            lines.append("stopped: nothing is published; the same command goes on from here")
        else:
            lines.append(
                f"passages: {self.set.passages:,} of graph {self.graph}, "
                f"{self.set.linked:,} with an entity"
            )
            lines.append(f"fingerprint: {self.set.fingerprint}")
        return lines


def load_passages(
    source: str | Path,
    /,
    *,
    store: Store,
    graph: str,
    linker: DocumentLinker,
    options: PassageOptions | None = None,
    progress: Callable[[PassageProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> PassageReport:
    """Loads the documents of a file, a folder or standard input (``-``) as passages of a graph.

    What an earlier load of the same source brought is replaced, at the end and at once; passages
    of other sources stay.

    Args:
        source: Path, or ``-``.
        store: Where to.
        graph: A published graph.
        linker: Says which entity a document is about.
        options: How they are cut.
        progress: Called with the state, at most ten times a second.
        stop: When set, the load ends soon, to be resumed later.

    Raises:
        InputError: The source or an option is wrong, there is no text in it, or something was
            rejected and ``options.strict``.
        GraphNotFoundError: There is no such graph.
        LoadInProgressError: Another process is loading the same source.
        StoreError: The store failed; the load can be resumed.
    """
    options = options or PassageOptions()
    options.check()
    info = store.graph(graph)
    files = _files(source)
    identity = {
        "format": options.format,
        "title": options.title,
        "max_words": options.max_words,
        # Another state of the graph has other entities to link to.
        "graph": info.fingerprints.content if options.link_titles else None,
        "files": [file.identity for file in files],
    }
    with store.passages.begin(
        graph, source=str(source), options=identity, owner=owner_name()
    ) as session:
        run = _Load(str(source), graph, session, files, linker, options, progress, stop)
        try:
            return run.run()
        finally:
            run.close()


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    size: int
    identity: list[Any]


def _files(source: str | Path) -> list[_File]:
    if str(source) == STANDARD_INPUT:
        return [_File(STANDARD_INPUT, 0, [STANDARD_INPUT, 0, 0])]
    path = Path(source)
    try:
        if not path.is_dir():
            return [_file(path, path.name)]
        found = sorted(
            ((one.relative_to(path).as_posix(), one) for one in path.rglob("*") if one.is_file()),
            key=lambda pair: pair[0].encode("utf-8", "surrogateescape"),
        )
        if not found:
            raise InputError(f"the folder {path} holds no files", argument="source")
        return [_file(one, name) for name, one in found]
    except OSError as error:
        raise InputError(
            f"{source} can't be read ({error.strerror or error}); give the path of a file, of a "
            "folder of files, or - for standard input",
            argument="source",
        ) from error


def _file(path: Path, name: str) -> _File:
    status = path.stat()
    return _File(str(path), status.st_size, [name, status.st_size, status.st_mtime_ns])


@dataclass(slots=True)
class _Tally:
    """What the report counts; it travels in the checkpoint."""

    documents: int = 0
    passages: int = 0
    words: int = 0
    linked: int = 0
    rejected: int = 0
    first_rejects: list[Reject] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "first_rejects": [reject.to_json() for reject in self.first_rejects],
            "skipped": dict(self.skipped),
            "formats": dict(self.formats),
        }

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> _Tally:
        return cls(
            **{name: payload[name] for name in _COUNTS},
            first_rejects=[Reject(**reject) for reject in payload["first_rejects"]],
            skipped=Counter(payload["skipped"]),
            formats=Counter(payload["formats"]),
        )


_COUNTS = ("documents", "passages", "words", "linked", "rejected")


class _Load:
    """One run of a load."""

    def __init__(
        self,
        source: str,
        graph: str,
        session: PassageSession,
        files: list[_File],
        linker: DocumentLinker,
        options: PassageOptions,
        progress: Callable[[PassageProgress], None] | None,
        stop: threading.Event | None,
    ) -> None:
        self._source, self._graph = source, graph
        self._session, self._files = session, files
        self._linker, self._options = linker, options
        self._progress, self._stop = progress, stop
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._resumed = session.checkpoint is not None
        checkpoint = session.checkpoint or {}
        self._tally = _Tally.from_json(checkpoint["tally"]) if checkpoint else _Tally()
        self._place = int(checkpoint.get("file", 0))
        self._position: Mapping[str, Any] = checkpoint.get("position", {})
        self._head = str(checkpoint.get("head", ""))
        self._cutter = Cutter(max_words=options.max_words, pending=checkpoint.get("pending", ""))
        # Of the document being read; None as long as nothing of it was cut.
        self._linked: list[str | None] | None = checkpoint.get("linked")
        self._batch: list[Passage] = []
        self._parts = 0
        self._bytes_before = 0
        self._rejects = RejectsFile(
            options.rejects_path or DEFAULT_REJECTS_PATH, committed=checkpoint.get("rejects", {})
        )

    def close(self) -> None:
        self._rejects.close()

    def run(self) -> PassageReport:
        for place, file in enumerate(self._files):
            if place < self._place:
                self._bytes_before += file.size
                continue
            if self._read_file(place, file):
                self._commit()
                return self._report(None)
            self._bytes_before += file.size
            self._place, self._position = place + 1, {}
        self._commit()
        if not self._tally.passages:
            self._session.abort()
            raise InputError(self._nothing(), argument="source")
        # What it became is said by the set itself, which has no number before this.
        became = ("status", "set", "fingerprint", "kept")
        report = self._report(None).to_json()
        published = self._session.publish(
            report={name: value for name, value in report.items() if name not in became}
        )
        return self._report(published)

    def _nothing(self) -> str:
        said = [f"{number} {why}" for why, number in sorted(self._tally.skipped.items())]
        if self._tally.rejected:
            first = self._tally.first_rejects[0]
            said.append(
                f"{self._tally.rejected} rejected, all in {self._rejects.path}; the first at "
                f"{first.place}: {first.reason}"
            )
        return f"{self._source} holds no text" + (f" ({'; '.join(said)})" if said else "")

    def _read_file(self, place: int, file: _File) -> bool:
        """Reads one file; returns whether the load was stopped in it."""
        options = self._options
        start = dict(self._position) if place == self._place else {}
        self._place = place
        with open_source(file.path, limits=options.limits) as source:
            head = blake2b(source.head, digest_size=16).hexdigest()
            if start and head != self._head:
                self._session.abort()
                raise InputError(
                    f"{file.path} is not what was read when its load was interrupted; that load "
                    "is thrown away, nothing of it was published",
                    argument="source",
                    hint="Run the same command again to load what is there now.",
                )
            self._head = head
            try:
                format_ = PassageFormat(options.format) if options.format else recognise(source)
            except InputError:
                # In a folder, a picture is no reason to stop; a single file is.
                if len(self._files) == 1:
                    raise
                self._tally.skipped[NOT_TEXT] += 1
                return False
            if not start:
                self._tally.formats[format_.value] += 1
            for part in read_documents(source, format_, start, title=options.title):
                self._take(part)
                self._show(source.name, source.consumed_bytes)
                if self._stop is not None and self._stop.is_set():
                    return True
        return False

    def _take(self, part: Part) -> None:
        if part.rejects:
            self._reject(part.rejects)
        if part.begins:
            self._linked = None
        for text in self._cutter.add(part.text):
            self._emit(part.document, text)
        if part.ends:
            for text in self._cutter.end():
                self._emit(part.document, text)
            if self._linked is None:
                self._tally.skipped[NO_TEXT] += 1
            self._linked = None
        self._position = part.position
        self._parts += 1
        if len(self._batch) >= self._options.batch_size or self._parts >= _COMMIT_PARTS:
            self._commit()

    def _emit(self, document: Document, text: str) -> None:
        tally = self._tally
        if self._linked is None:
            entity = self._entity_of(document, text)
            self._linked = [entity]
            tally.documents += 1
            tally.linked += entity is not None
        tally.passages += 1
        tally.words += count_words(text)
        self._batch.append(
            make_passage(text, title=document.title, source=document.source, entity=self._linked[0])
        )

    def _entity_of(self, document: Document, context: str) -> str | None:
        if document.entity is not None:
            found = self._linker.given(document.entity)
            if found is None:
                self._tally.skipped[NOT_IN_GRAPH] += 1
            return found
        if not self._options.link_titles or not document.title:
            return None
        found = self._linker.titled(document.title, context)
        if found is None:
            self._tally.skipped[NO_ENTITY] += 1
        return found

    def _reject(self, rejects: Sequence[Reject]) -> None:
        tally = self._tally
        tally.rejected += len(rejects)
        tally.first_rejects.extend(rejects[: max(0, SHOWN_REJECTS - len(tally.first_rejects))])
        self._rejects.add(rejects)
        if self._options.strict:
            self._rejects.flush()
            self._session.abort()
            raise InputError(
                f"{rejects[0].place}: {rejects[0].reason}",
                argument="strict",
                hint="Nothing was published. Mend the source, or load it without --strict.",
            )

    def _commit(self) -> None:
        # Rejects are on disk before the checkpoint that counts them is.
        self._rejects.flush()
        checkpoint = {
            "file": self._place,
            "position": dict(self._position),
            "head": self._head,
            "pending": self._cutter.pending,
            "linked": self._linked,
            "tally": self._tally.to_json(),
            "rejects": self._rejects.state(),
        }
        for start in range(0, max(1, len(self._batch)), MAX_BATCH_PASSAGES):
            # A document's passages of one part may be more than a batch: written again if the
            # last of them did not make it, which is harmless.
            last = start + MAX_BATCH_PASSAGES >= len(self._batch)
            self._session.write(
                self._batch[start : start + MAX_BATCH_PASSAGES],
                checkpoint=checkpoint if last else self._session.checkpoint or {},
            )
        self._batch, self._parts = [], 0

    def _show(self, name: str, bytes_read: int) -> None:
        now = time.monotonic()
        if self._progress is None or now - self._shown_at < PROGRESS_INTERVAL_S:
            return
        self._shown_at = now
        sizes = [file.size for file in self._files]
        self._progress(
            PassageProgress(
                file=name,
                bytes_read=self._bytes_before + bytes_read,
                bytes_total=sum(sizes) if all(sizes) else 0,
                documents=self._tally.documents,
                passages=self._tally.passages,
                rejected=self._tally.rejected,
                seconds=now - self._started,
            )
        )

    def _report(self, published: PassageSet | None) -> PassageReport:
        tally = self._tally
        return PassageReport(
            source=self._source,
            graph=self._graph,
            set=published,
            formats=dict(tally.formats),
            documents=tally.documents,
            passages=tally.passages,
            words=tally.words,
            linked=tally.linked,
            skipped=dict(tally.skipped),
            rejected=tally.rejected,
            rejects=tuple(tally.first_rejects),
            rejects_path=str(self._rejects.path) if tally.rejected else None,
            seconds=time.monotonic() - self._started,
            resumed=self._resumed,
        )
