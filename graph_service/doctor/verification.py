"""``graph-service verify``: whether a store still holds what its fingerprints claim.

Everything is read from end to end and computed anew: both fingerprints of each graph, what its
indexes should hold, its snapshot, views, scorers and passages, and the journals of loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from graph_service.artifacts.candidate_scorers import CandidateScorerStore
from graph_service.artifacts.rankers import RankerStore
from graph_service.artifacts.view_records import repeated_names
from graph_service.artifacts.views import ViewStore
from graph_service.embed.vector_file import VectorFile
from graph_service.errors import GraphNotFoundError, GraphServiceError, InputError, StoreError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.hashing import fingerprint, sum_hashes
from graph_service.model.passage import make_passage
from graph_service.model.request import ViewRef
from graph_service.model.stored_view import ViewState
from graph_service.model.values import EntityValue
from graph_service.store.fingerprinter import Fingerprinter, edges_of_arrays
from graph_service.store.page_views import read_page_views
from graph_service.store.passages import passage_hash
from graph_service.store.protocol import Inspected, Store
from graph_service.views.codec import encode_delta

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Verified:
    """One part of a store that was verified.

    Attributes:
        graph: Name of the graph; "" for what belongs to none.
        part: What was checked.
        fault: What is wrong with it; "" for nothing.
        fix: What mends it; "" where nothing is wrong.
    """

    graph: str
    part: str
    fault: str = ""
    fix: str = ""


def verify_store(
    store: Store, /, *, graph: str | None = None, progress: Progress | None = None
) -> Iterator[Verified]:
    """Yields every part of a store as it was found.

    Args:
        store: The store.
        graph: The one graph to verify; all of them, and what belongs to none, if None.
        progress: Told what is being read.

    Raises:
        GraphNotFoundError: There is no such graph.
        StoreUnavailableError: The store does not answer.
    """
    tell = progress or (lambda _: None)
    tell("the store's own structure")
    yield from _inspected("", store.inspect_all(), "Restore a backup.")
    for info in [store.graph(graph)] if graph is not None else store.graphs():
        yield from _while_published(store, info, tell)
    if graph is None:
        yield from _rankers(store)


def verify_vectors(path: Path, /) -> Verified:
    """Returns the file of text vectors as it was found: each row is read with its checksum."""
    part = f"vectors of texts in {path}"
    fix = "Remove the file; its vectors are computed again."
    try:
        with VectorFile(path) as file:
            damaged = file.count_damaged()
    except GraphServiceError as error:
        return Verified("", part, error.message, error.hint or fix)
    if damaged is None:
        return Verified("", f"{part}, which has no checksums and can't be given any")
    return Verified("", part, f"{damaged:,} are damaged", fix) if damaged else Verified("", part)


def _while_published(store: Store, info: GraphInfo, tell: Progress) -> Iterator[Verified]:
    """Yields the parts of a graph: of its next edition too, where that takes its place meanwhile.

    What an edition lacks that is being deleted is no fault of the store.
    """
    while True:
        try:
            for part in _graph(store, info, tell):
                if part.fault and not _is_published(store, info):
                    break
                yield part
            else:
                return
        except InputError:
            if _is_published(store, info):
                raise
        try:
            info = store.graph(info.name)
        except GraphNotFoundError:
            tell(f"{info.name}: deleted while it was read")
            return
        tell(f"{info.name}: another edition took its place while it was read")


def _is_published(store: Store, info: GraphInfo) -> bool:
    return any(published.edition == info.edition for published in store.graphs())


def _graph(store: Store, info: GraphInfo, tell: Progress) -> Iterator[Verified]:
    name = info.name
    again = "Restore a backup, or load the graph again with --replace."
    tell(f"{name}: statements and entities")
    yield from _content(store, info, again)
    tell(f"{name}: indexes")
    yield from _inspected(name, store.inspect(info), again)
    tell(f"{name}: snapshot")
    yield from _snapshot(store, info)
    tell(f"{name}: views")
    yield from _views(store, info)
    yield from _scorers(store, info)
    yield from _candidate_scorers(store, name)
    with _Noting(name, "page views") as page_views:
        read_page_views(store, name)
    yield page_views.verified
    tell(f"{name}: passages")
    yield from _passages(store, name)


def _content(store: Store, info: GraphInfo, fix: str) -> Iterator[Verified]:
    fingerprinter = Fingerprinter()
    relations: set[str] = set()
    literals = 0
    try:
        for entities in store.scan_entities(info.edition):
            fingerprinter.add_entities(entities)
        for statements in store.scan_statements(info.edition, in_order=False):
            fingerprinter.add_statements(statements)
            relations.update(statement.relation for statement in statements)
            literals += sum(type(statement.value) is not EntityValue for statement in statements)
    except StoreError as error:
        yield Verified(info.name, "content", error.message, fix)
        return
    prints, counts = fingerprinter.fingerprints(), info.counts
    for part, expected, seen in (
        ("edges fingerprint", info.fingerprints.edges, prints.edges),
        ("content fingerprint", info.fingerprints.content, prints.content),
    ):
        fault = "" if seen == expected else f"{expected} is claimed, and {seen} is there"
        yield Verified(info.name, part, fault, fix if fault else "")
    # How many entities there are is a part of the content fingerprint.
    claimed = (counts.statements, counts.relations, counts.literals)
    seen_counts = (fingerprinter.statements, len(relations), literals)
    fault = "" if claimed == seen_counts else f"{claimed} are claimed, and {seen_counts} are there"
    yield Verified(info.name, "counts", fault, fix if fault else "")


def _snapshot(store: Store, info: GraphInfo) -> Iterator[Verified]:
    delete = "Delete the file: it is built again from the store."
    try:
        if store.verify_snapshot(info) is None:
            return
        edges = edges_of_arrays(store.snapshot(info))
    except StoreError as error:
        yield Verified(info.name, "snapshot", error.message, delete)
        return
    expected = info.fingerprints.edges
    fault = "" if edges == expected else f"edges {expected} are claimed, and {edges} are there"
    yield Verified(info.name, "snapshot", fault, delete if fault else "")


def _views(store: Store, info: GraphInfo) -> Iterator[Verified]:
    views = ViewStore(store)
    edges = info.fingerprints.edges
    try:
        stored = views.list(info.name, edges=edges)
    except StoreError as error:
        yield Verified(info.name, "views", error.message, error.hint or "")
        return
    for name, ids in repeated_names(stored).items():
        yield Verified(
            info.name,
            f"view name {name}",
            f"{len(ids)} views have it: {', '.join(ids)}",
            f"Give all but one another name: graph-service view update {ids[-1]} "
            f"--graph {info.name} --name NAME",
        )
    for view in stored:
        part = f"view {view.name or view.id}"
        if view.state is not ViewState.DONE:
            continue
        if view.spec.identity(view.edges) != view.id:
            yield Verified(
                info.name, part, "its id is not that of its specification", _again(view.id)
            )
            continue
        if view.stale:
            yield Verified(info.name, part)
            continue
        try:
            graph = store.snapshot(info)
            applied = views.apply(graph, ViewRef(id=view.id))
            repeated = ViewStore(store).lay_spec(graph, view.spec)
            assert applied is not None
            same = encode_delta(graph, applied.delta) == encode_delta(graph, repeated.delta)
        except (StoreError, InputError) as error:
            yield Verified(info.name, part, error.message, _again(view.id))
            continue
        fault = "" if same else "its changes are not those that its specification draws"
        yield Verified(info.name, part, fault, _again(view.id) if fault else "")


def _again(view_id: str) -> str:
    return f"Delete it and make it anew: graph-service view delete {view_id}"


def _scorers(store: Store, info: GraphInfo) -> Iterator[Verified]:
    views = ViewStore(store)
    edges = info.fingerprints.edges
    try:
        stored = views.scorers.list(info.name, edges=edges)
    except StoreError as error:
        yield Verified(info.name, "scorers", error.message, error.hint or "")
        return
    for scorer in stored:
        if scorer.edges == edges:
            with _Noting(info.name, f"scorer {scorer.name}") as noting:
                views.prepared(store.snapshot(info), scorer.name)
            yield noting.verified


def _rankers(store: Store) -> Iterator[Verified]:
    rankers = RankerStore(store)
    try:
        stored = rankers.list()
    except StoreError as error:
        yield Verified("", "relation rankers", error.message, error.hint or "")
        return
    for ranker in stored:
        with _Noting("", f"relation ranker {ranker.name}") as noting:
            rankers.check(ranker.name)
        yield noting.verified


def _candidate_scorers(store: Store, graph: str) -> Iterator[Verified]:
    scorers = CandidateScorerStore(store)
    try:
        stored = scorers.list(graph=graph)
    except StoreError as error:
        yield Verified(graph, "trained retriever", error.message, error.hint or "")
        return
    for scorer in stored:
        with _Noting(graph, "trained retriever") as noting:
            scorers.open(graph, embedder=scorer.embedder)
        yield noting.verified


def _passages(store: Store, graph: str) -> Iterator[Verified]:
    fix = "Load the passages again: graph-service passages load"
    for set_ in store.passages.sets(graph=graph):
        if not set_.published:
            continue
        part, count, sums = f"passages {set_.source}", 0, np.zeros(2, dtype=np.uint64)
        try:
            for chunk in store.passages.scan(set_.number):
                made = [
                    make_passage(
                        passage.text,
                        title=passage.title,
                        source=passage.source,
                        entity=passage.entity,
                    )
                    for passage in chunk
                ]
                sums = sums + sum_hashes(b"".join(map(passage_hash, made)))
                count += len(chunk)
        except StoreError as error:
            yield Verified(graph, part, error.message, fix)
            continue
        same = fingerprint(sums, count) == set_.fingerprint
        fault = "" if same else "they are not those that were loaded"
        yield Verified(graph, part, fault, "" if same else fix)


def _inspected(graph: str, parts: Iterator[Inspected], fix: str) -> Iterator[Verified]:
    try:
        for inspected in parts:
            yield Verified(graph, inspected.part, inspected.fault, fix if inspected.fault else "")
    except StoreError as error:
        yield Verified(graph, "indexes", error.message, fix)


class _Noting:
    """Runs its block and keeps what an error of it says of a part."""

    def __init__(self, graph: str, part: str) -> None:
        self.verified = Verified(graph, part)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> bool:
        if not isinstance(error, StoreError | InputError):
            return False
        self.verified = replace(self.verified, fault=error.message, fix=error.hint or "")
        return True
