"""Loading passages: documents are read, cut, linked and written in batches; then published.

Each batch is committed with the position of its source, so that a load that was killed goes on
where it was when the same command runs again. Readers see all of a source's passages or none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from graph_service.errors import InputError
from graph_service.model.passage import MAX_PASSAGE_WORDS, Passage, make_passage
from graph_service.store.lease import owner_name
from graph_service.store.passages import MAX_BATCH_PASSAGES, PassageSession, PassageSet
from graph_service.store.protocol import Store
from loaders.files import file_status, source_paths
from loaders.passages.cut import Cutter, count_words
from loaders.passages.reader import Document, Part, PassageFormat, read_documents, recognise
from loaders.progress import Progress
from loaders.report import RunReport
from loaders.run import Run
from loaders.source import STANDARD_INPUT, SourceLimits
from loaders.tally import Tally

MOST_WORDS = 1_000
_COMMIT_PARTS = 20_000
NO_TEXT = "documents without text"
NOT_IN_GRAPH = "documents whose given entity the graph lacks"
NO_ENTITY = "documents whose title names no entity of the graph"
NOT_TEXT = "files that are no text"


class DocumentLinker(Protocol):
    """Finds the entity that a document is about; ``Passages.linker`` of the service makes one."""

    def by_id(self, id_: str, /) -> str | None:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageReport(RunReport):
    """What a load of passages did.

    Attributes:
        graph: Name of the graph.
        set: What was published; None when the load was stopped before its end.
        documents, passages, words: As cut; passages of the same content are stored once.
        linked: Documents that have an entity.
    """

    graph: str
    set: PassageSet | None
    documents: int
    passages: int
    words: int
    linked: int

    def to_json(self) -> dict[str, Any]:
        """Returns the report as the command line's ``--json`` prints it."""
        set_ = self.set
        return RunReport.to_json(self) | {
            "status": "published" if set_ else "stopped",
            "set": set_.number if set_ else None,
            "fingerprint": set_.fingerprint if set_ else None,
            "kept": set_.passages if set_ else None,
        }

    def lines(self) -> list[str]:
        """Returns the report as a person reads it."""
        lines = [*self.source_lines("none"), *self.resumed_lines()]
        lines.append(
            f"read: {self.documents:,} documents, {self.linked:,} of them linked, "
            f"{self.words:,} words in {self.passages:,} passages, in {self.seconds:.1f} s"
        )
        lines.extend(f"note: {count:,} {reason}" for reason, count in sorted(self.skipped.items()))
        lines.extend(self.reject_lines())
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
    progress: Callable[[Progress], None] | None = None,
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
    with (
        store.passages.begin(
            graph, source=str(source), options=identity, owner=owner_name()
        ) as session,
        _Load(str(source), graph, session, files, linker, options, progress, stop) as run,
    ):
        return run.run()


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    size: int
    identity: list[Any]


def _files(source: str | Path) -> list[_File]:
    if str(source) == STANDARD_INPUT:
        return [_File(STANDARD_INPUT, 0, [STANDARD_INPUT, 0, 0])]
    folder = Path(source)
    files = []
    for path in source_paths(folder):
        name = path.name if path == folder else path.relative_to(folder).as_posix()
        status = file_status(path)
        files.append(_File(str(path), status.st_size, [name, status.st_size, status.st_mtime_ns]))
    return files


@dataclass(slots=True)
class PassageTally(Tally):
    """Counts of documents, passages, words and linked documents so far."""

    documents: int = 0
    passages: int = 0
    words: int = 0
    linked: int = 0

    def read(self) -> Mapping[str, int]:
        """Returns the counts of documents and passages."""
        return {"documents": self.documents, "passages": self.passages}


class _Load(Run[PassageTally, _File]):
    """One run of a load of passages."""

    _session: PassageSession

    def __init__(
        self,
        source: str,
        graph: str,
        session: PassageSession,
        files: list[_File],
        linker: DocumentLinker,
        options: PassageOptions,
        progress: Callable[[Progress], None] | None,
        stop: threading.Event | None,
    ) -> None:
        super().__init__(
            session,
            source=source,
            files=files,
            tally=PassageTally,
            strict=options.strict,
            rejects_path=options.rejects_path,
            progress=progress,
            stop=stop,
        )
        self._graph = graph
        self._linker, self._options = linker, options
        pending = self.checkpoint.get("pending", "")
        self._cutter = Cutter(max_words=options.max_words, pending=pending)
        # Of the document being read; None as long as nothing of it was cut.
        self._linked: list[str | None] | None = self.checkpoint.get("linked")
        self._batch: list[Passage] = []
        self._parts = 0

    def run(self) -> PassageReport:
        for index, file in enumerate(self.files):
            if index < self.resumed_file:
                continue
            if self._read_file(index, file):
                self._commit()
                return self._report(None)
            self.end_file(index)
        self._commit()
        if not self.tally.passages:
            raise self.nothing_loaded("holds no text")
        # The set itself says what it became; it has no id before this.
        report = self._report(None).to_json()
        for name in ("status", "set", "fingerprint", "kept"):
            del report[name]
        return self._report(self._session.publish(report=report))

    def _read_file(self, index: int, file: _File) -> bool:
        """Reads one file; returns whether the load was stopped in it."""
        options, start = self._options, self.start_in(index)
        self.file_index = index
        with self.open(file, start, limits=options.limits) as source:
            try:
                format_ = PassageFormat(options.format) if options.format else recognise(source)
            except InputError:
                # In a folder, a picture is no reason to stop; a single file is.
                if len(self.files) == 1:
                    raise
                self.tally.skipped[NOT_TEXT] += 1
                return False
            if not start:
                self.tally.formats[format_.value] += 1
            for part in read_documents(source, format_, start, title=options.title):
                self._take(part)
                self.progress.show(
                    index, source.consumed_bytes, file=source.name, format_=format_.value
                )
                if self.is_stopped:
                    return True
        return False

    def _take(self, part: Part) -> None:
        self.reject(part.rejects)
        if part.is_first:
            self._linked = None
        for text in self._cutter.add(part.text):
            self._emit(part.document, text)
        if part.is_last:
            for text in self._cutter.end():
                self._emit(part.document, text)
            if self._linked is None:
                self.tally.skipped[NO_TEXT] += 1
            self._linked = None
        self.position = part.position
        self._parts += 1
        if len(self._batch) >= self._options.batch_size or self._parts >= _COMMIT_PARTS:
            self._commit()

    def _emit(self, document: Document, text: str) -> None:
        tally = self.tally
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
            entity = self._linker.by_id(document.entity)
            if entity is None:
                self.tally.skipped[NOT_IN_GRAPH] += 1
            return entity
        if not self._options.link_titles or not document.title:
            return None
        entity = self._linker.titled(document.title, context)
        if entity is None:
            self.tally.skipped[NO_ENTITY] += 1
        return entity

    def _commit(self) -> None:
        checkpoint = {
            **self.next_checkpoint(),
            "pending": self._cutter.pending,
            "linked": self._linked,
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

    def _report(self, published: PassageSet | None) -> PassageReport:
        tally = self.tally
        return PassageReport(
            **self.report_fields(),
            graph=self._graph,
            set=published,
            documents=tally.documents,
            passages=tally.passages,
            words=tally.words,
            linked=tally.linked,
        )
