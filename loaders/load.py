"""One pipeline for every source: read, write in batches, publish, and say what was done.

Each batch is committed together with the position of its source, so a load that was killed goes
on where it was when the same command runs again (``begin_load`` recognises it by source and
options). What the report counts travels with the position.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import replace as with_fields
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.http.faults import EndpointError
from graph_service.model.graph_info import GraphInfo
from graph_service.store.lease import owner_name
from graph_service.store.protocol import MAX_BATCH_STATEMENTS, LoadSession, Store
from loaders.batch import PendingBatch
from loaders.effects import check_effects
from loaders.equal_entities import count_equal_entities
from loaders.files import SourceFile, UnreadableFileError, source_files
from loaders.formats import Format, recognise
from loaders.items import Parsed, Reject
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.rdf.mapping import NODE_REASON
from loaders.readers import record_counter
from loaders.records import RecordCounter
from loaders.rejects import check_rejects_path, conflict_reject
from loaders.remote import check as check_remote
from loaders.remote import read as read_remote
from loaders.repeats import Repeats
from loaders.report import UNRECOGNISED_REASON, LoadReport
from loaders.run import Run
from loaders.source import STANDARD_INPUT, ByteSource
from loaders.sparql.earlier import (
    NONE_KNOWN,
    Earlier,
    Revisions,
    forget_other_revisions,
    open_earlier,
)
from loaders.subset.first_pass import check_filters, check_single_pass, select
from loaders.subset.selection import Selection
from loaders.tables.dialect import check_encoding
from loaders.tables.header import check_columns
from loaders.tables.json_rows import is_json_table
from loaders.tables.mapping import AUTO, TablesRequest
from loaders.tables.plan import plan_tables, request_of
from loaders.tables.row_meaning import rows_are_things
from loaders.tables.rows import ColumnsError
from loaders.tally import GraphTally
from loaders.truthy import BothFormsError, HeldTruthy, begins_full
from loaders.workers import read_selected

__all__ = ["Format", "LoadOptions", "LoadReport", "Progress", "load", "recognise"]

LOST_REJECTS_REASON = "rejects of an interrupted run, whose file is gone or was written to"
# What came from an endpoint is committed this often, since it was slow to come.
ENDPOINT_COMMIT_INTERVAL_S = 5.0
# Longer than an endpoint's longest pause, within which nothing is written.
LEASE_S, ENDPOINT_LEASE_S = 60.0, 3_600.0


def load(
    source: str | Path,
    /,
    *,
    store: Store,
    graph: str,
    replace: bool = False,
    refresh: bool = False,
    options: LoadOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> LoadReport:
    """Loads a file, a folder of files or standard input (``-``) into a graph and publishes it.

    Run again after it was killed or stopped, with the same source and options, it goes on where
    it was. What can't be read is rejected, written to ``options.rejects_path`` and counted; it
    stops nothing unless ``options.strict``.

    Args:
        source: Path, or ``-``.
        store: Where to.
        graph: Name of the graph.
        replace: Whether the graph is to hold this source alone; else it is added to.
        refresh: Whether the graph, which was loaded from this source alone, is to hold what the
            source has now, as with ``replace``. Documents that have not changed do not come
            again. Without any difference nothing is published.
        options: How to read it; of a refresh those of the graph's load decide.
        progress: Called with the state, at most ten times a second and at each batch.
        stop: When set, the load ends after what it is reading, to be resumed later.

    Raises:
        InputError: The source or an option is wrong, nothing in it could be read, or something
            was rejected and ``options.strict``.
        LoadInProgressError: The graph is being loaded by another process.
        StoreError: The store failed; the load can be resumed.
    """
    options = options or LoadOptions()
    if not 1 <= options.batch_size <= MAX_BATCH_STATEMENTS:
        raise InputError(
            f"a batch of {options.batch_size} statements; expected 1 to {MAX_BATCH_STATEMENTS}",
            argument="batch_size",
        )
    options.check()
    check_rejects_path(options.rejects_path)
    earlier = None
    if refresh:
        if replace:
            raise InputError(
                "give refresh, which reads what has changed, or replace, which reads everything; not both",
                argument="refresh",
            )
        earlier = open_earlier(store, graph, str(source))
        options = earlier.options(options)
        check_remote(str(source), options, earlier=earlier)
    request = request_of(options)
    if request is not None:
        options = with_fields(options, tables=plan_tables(source, request, options))
    elif rows_are_things(source, options):
        options = _as_things(source, options)
    files = source_files(source, options)
    check_columns(options.columns)
    check_encoding(options.encoding)
    check_filters(files, options)
    check_effects(files, options)
    base = None if replace or refresh else _published(store, graph)
    decisive = {**options.to_json(), "files": [file.identity for file in files]}
    if earlier is not None:
        decisive["refreshes"] = earlier.info.edition
    hold_truthy = False
    while True:
        session = store.begin_load(
            graph,
            replace=replace or refresh,
            owner=owner_name(),
            source=str(source),
            lease_s=ENDPOINT_LEASE_S if files[0].endpoint else LEASE_S,
            options=decisive,
        )
        try:
            with (
                session,
                _Load(
                    str(source), graph, store, session, files, options, base, earlier,
                    progress, stop,
                ) as run,
            ):  # fmt: skip
                return run.run(hold_truthy=hold_truthy)
        except BothFormsError:
            hold_truthy = True


def _as_things(source: str | Path, options: LoadOptions) -> LoadOptions:
    """Returns the options with what tables of things become; as they are if no column names rows."""
    things = with_fields(options, row=AUTO)
    try:
        plan = plan_tables(source, TablesRequest(row=AUTO), things)
    except InputError as error:
        # JSON whose objects are no documents has no other reading.
        if error.argument != "row" or is_json_table(source):
            raise
        return options
    return with_fields(things, tables=plan)


def _published(store: Store, graph: str) -> GraphInfo | None:
    return next((info for info in store.graphs() if info.name == graph), None)


class _Load(Run[GraphTally, SourceFile]):
    """One run of a graph's load."""

    _session: LoadSession

    def __init__(
        self,
        source: str,
        graph: str,
        store: Store,
        session: LoadSession,
        files: list[SourceFile],
        options: LoadOptions,
        base: GraphInfo | None,
        earlier: Earlier | None,
        progress: Callable[[Progress], None] | None,
        stop: threading.Event | None,
    ) -> None:
        super().__init__(
            session,
            source=source,
            files=files,
            tally=GraphTally,
            strict=options.strict,
            rejects_path=options.rejects_path,
            progress=progress,
            stop=stop,
        )
        self._graph, self._store = graph, store
        self._options = options
        self._base, self._earlier = base, earlier
        self._forms = set() if base is None else set(base.report.get("wikidata_forms", ()))
        self._revisions = NONE_KNOWN
        self._selection: Selection | None = None
        # Of a source that is packed; else it is as large as what it takes.
        self._repeats: Repeats | None = None
        self._held = HeldTruthy() if self.checkpoint.get("hold_truthy") else None
        if self.rejects.lost:
            self.tally.skipped[LOST_REJECTS_REASON] = self.tally.rejected
        self._names_only = False
        self._counter: RecordCounter | None = None
        self._is_damaged = False
        self._pending = PendingBatch(options.batch_size)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self._held is not None:
            self._held.close()

    def run(self, *, hold_truthy: bool) -> LoadReport:
        if hold_truthy and self._held is None:
            self._held = HeldTruthy()
        try:
            return self._run()
        except BothFormsError:
            self._session.abort()
            if self.files[0].path == STANDARD_INPUT:
                raise InputError(
                    "Wikidata's truthy statements come before full ones, of which they may be "
                    "copies; that takes two passes, and standard input can be read once",
                    argument="source",
                    hint="Write it to a file and load that.",
                ) from None
            raise

    def _run(self) -> LoadReport:
        self._selection = select(
            self.files,
            self._options,
            show=self._show_first_pass,
            stop=self.stop,
            hold_truthy=self._held is not None,
        )
        if self.is_stopped:
            return self._report("stopped")
        for index, file in enumerate(self.files):
            # What was held back of a file that was read before an interruption is held anew.
            if index >= self.resumed_file or self._held is not None:
                stopped = self._read_file(index, file)
                self._flush()
                if stopped:
                    return self._report("stopped")
            if index >= self.resumed_file:
                self.end_file(index)
                self.reject(
                    self.tally.end_file(
                        file.path,
                        self._counter,
                        is_damaged=self._is_damaged,
                        is_remote=file.endpoint,
                    )
                )
        if self._add_held():
            return self._report("stopped")
        if not (self.tally.statements or self.tally.entities):
            raise self.nothing_loaded("holds nothing that can be loaded")
        return self._conclude()

    def _show_first_pass(
        self, source: ByteSource, file: SourceFile, format_: Format, line: int
    ) -> None:
        self.progress.show(
            self.files.index(file),
            source.consumed_bytes,
            file=source.name,
            format_=format_.value,
            line=line,
            note="first pass",
        )

    def _conclude(self) -> LoadReport:
        counts = self._session.finish()
        for conflicts in self._session.conflicts():
            self.reject([conflict_reject(conflict) for conflict in conflicts])
            # A statement that was left out is missing in a document that counts as whole.
            self._revisions = NONE_KNOWN
        self.rejects.flush()
        earlier = self._earlier
        if earlier is not None and self._session.fingerprints() == earlier.info.fingerprints:
            self._session.abort()
            self._revisions.save(self._store, self._graph, earlier.info.edition)
            return with_fields(self._report("unchanged"), graph=earlier.info)
        self._session.finish(report=self._report("published").to_json())
        counts = with_fields(counts, duplicates=counts.duplicates + self.tally.repeated)
        if self._base is None and self._revisions != NONE_KNOWN:
            # Before the edition is there: it is never without them.
            self._revisions.save(self._store, self._graph, self._session.edition)
        info = self._session.publish()
        forget_other_revisions(self._store, self._graph, info.edition)
        return with_fields(
            self._report("published"),
            graph=info,
            counts=counts,
            equal=count_equal_entities(self._store, info.edition),
        )

    def _add_held(self) -> bool:
        """Adds the truthy statements that no full one repeats; returns whether it was stopped."""
        if self._held is None:
            return False
        done = 0
        if self.resumed_file == len(self.files):
            done = int(self.resumed_position.get("pieces", 0))
        for index, parsed in enumerate(self._held.pieces(self._selection), start=1):
            if index > done:
                parsed.position = {"pieces": index}
                self._add(parsed)
                if self.is_stopped:
                    self._flush()
                    return True
        self._flush()
        return False

    def _read_file(self, index: int, file: SourceFile) -> bool:
        """Reads one file; returns whether the load was stopped in it."""
        start = self.start_in(index)
        # Read once more for what was held back, all else of it is written.
        again = index < self.resumed_file
        self._counter = None
        if not again:
            self.file_index = index
        if file.endpoint:
            return self._read_endpoint(file, start)
        with self.open(file, start, limits=self._options.limits) as source:
            try:
                format_ = file.format_of(source)
            except UnreadableFileError as error:
                if not again:
                    self._add(Parsed(rejects=[Reject(source.name, 0, 0, str(error))]))
                return False
            self._names_only = format_ is Format.SAME_AS or (
                format_ in (Format.LABELS, Format.DESCRIPTIONS)
                and not self._options.entities_from_labels
            )
            if format_ is None:
                if not again:
                    self.tally.pass_over(source.name, UNRECOGNISED_REASON)
                return False
            check_single_pass(file, format_, self._options)
            if not (start or again):
                self.tally.formats[format_.value] += 1
            if self._held is None and begins_full(format_, source):
                self._hold_truthy()
            self._repeats = Repeats() if source.compression else None
            counter = record_counter(format_, source.head)
            if counter is not None:
                source.watch(counter.feed)
            with closing(self._pieces(source, format_, file, start, again=again)) as pieces:
                try:
                    for parsed in pieces:
                        self._add(parsed)
                        self.progress.show(
                            index,
                            source.consumed_bytes,
                            file=source.name,
                            format_=format_.value,
                            line=parsed.line,
                            note=parsed.note,
                        )
                        if self.is_stopped:
                            return True
                except ColumnsError as error:
                    # One table among files that can be read is a reject, told like any other.
                    if not file.optional:
                        raise
                    if not again:
                        self._add(Parsed(rejects=[Reject(source.name, 1, 0, str(error))]))
                    return False
                self._counter, self._is_damaged = counter, source.is_damaged
        # Where all of what was read is written already, nothing above says so.
        return self._held is not None and self.is_stopped

    def _pieces(
        self,
        source: ByteSource,
        format_: Format,
        file: SourceFile,
        start: Mapping[str, Any],
        *,
        again: bool,
    ) -> Generator[Parsed, None, None]:
        """Yields what is selected of a file and not written yet."""
        selection = self._selection if file.selected else None
        if self._held is None:
            yield from read_selected(format_, source, self._options, start, selection=selection)
            return
        # All of it is read, whatever is written already, and pieces are the same each time.
        pieces = read_selected(
            format_, source, self._options, {}, selection=selection, hold_truthy=True
        )
        done = int(start.get("pieces", 0))
        with closing(pieces):
            for index, parsed in enumerate(pieces, start=1):
                self._held.take(parsed)
                if not again and index > done:
                    parsed.position = {"pieces": index}
                    yield parsed
                elif self.is_stopped:
                    break

    def _hold_truthy(self) -> None:
        """Holds truthy statements back from here on; raises if some may have been written."""
        if self.tally.forms or self.tally.skipped[NODE_REASON]:
            raise BothFormsError
        self._held = HeldTruthy()

    def _read_endpoint(self, file: SourceFile, start: Mapping[str, Any]) -> bool:
        if not start:
            self.tally.formats.update(check_remote(file.path, self._options))
        committed = time.monotonic()
        (format_, *_) = check_remote(file.path, self._options)
        try:
            for parsed in read_remote(
                file.path, self._options, start, stop=self.stop, earlier=self._earlier
            ):
                self._add(parsed)
                self.progress.show(
                    0,
                    parsed.bytes_read,
                    file=file.path,
                    format_=format_,
                    line=parsed.line,
                    note=parsed.note,
                )
                if time.monotonic() - committed >= ENDPOINT_COMMIT_INTERVAL_S:
                    self._flush()
                    committed = time.monotonic()
        except EndpointError:
            self._flush()
            if not (start or self.position):
                # Nothing came: there is nothing to go on with.
                self._session.abort()
            raise
        self._revisions = Revisions.of_position(self.position or start)
        return self.is_stopped

    def _add(self, parsed: Parsed) -> None:
        parsed.mark(0)
        statements, lines, records = parsed.all_statements, parsed.lines, parsed.records
        read = len(statements)
        if self._repeats is not None:
            if parsed.documents:
                # A document's statements replace others, and are told by being in its batch.
                self._repeats.forget()
            else:
                statements, lines, repeated = self._repeats.without(statements, lines)
                self.tally.repeated += repeated
        if not self._pending.takes(parsed, records, len(statements)):
            self._flush()
        self.position = parsed.position
        if parsed.forms or parsed.statement_nodes:
            self._check_forms(parsed)
        self.tally.count(parsed, read)
        self.reject(parsed.rejects)
        self._pending.add(parsed, records, statements, lines)
        if self._pending.is_full:
            self._flush()

    def _check_forms(self, parsed: Parsed) -> None:
        tally, forms = self.tally, parsed.forms
        tally.forms |= forms
        if (
            self._held is None
            and not self.files[0].endpoint
            and (parsed.statement_nodes or len(tally.forms) > 1)
        ):
            raise BothFormsError
        if self._options.mix_truthy or not self._forms or len(self._forms | forms) < 2:
            return
        self._session.abort()
        there, new = ("full", "truthy") if "truthy" in forms else ("truthy", "full")
        raise InputError(
            f"{self.source} has {new} statements of Wikidata, and {there} ones are in the graph; "
            "truthy statements are copies of full ones under other ids",
            argument="mix_truthy",
            hint="Load it into another graph, or say --mix-truthy to have both.",
        )

    def _batch_source(self) -> str:
        """Returns the file of the batch; "" where truthy statements of several are written last."""
        files = self.files[self.file_index :] or self.files
        return files[0].path if self.file_index < len(self.files) or len(files) == 1 else ""

    def _flush(self) -> None:
        if not self._pending.is_begun:
            return
        self._session.write(
            self._pending.batch(names_only=self._names_only, source=self._batch_source()),
            checkpoint={**self.next_checkpoint(), "hold_truthy": self._held is not None},
        )
        self._pending.clear()

    def _report(self, status: str) -> LoadReport:
        tally, filters, tables = self.tally, self._options.filters, self._options.tables
        return LoadReport(
            **self.report_fields(),
            graph_name=self._graph,
            graph=None,
            status=status,
            read_statements=tally.statements,
            read_entities=tally.entities,
            counts=None,
            kept={reason: count for reason, count in tally.kept.items() if count},
            incomplete=dict(tally.incomplete),
            filters=filters.to_json(),
            filter_lines=filters.lines(),
            wikidata_forms=sorted(self._forms | tally.forms),
            records=tally.records,
            source_records=tally.source_records,
            keys={} if tables is None else tables.key_columns(),
            rows=0 if tables is None else tables.rows,
            references={} if tables is None else tables.references(),
            unrecognised=tuple(tally.unrecognised),
            adds_to=None if self._base is None else self._base.edition,
            refreshes=None if self._earlier is None else self._earlier.info.edition,
        )
