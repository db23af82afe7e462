"""The walk over Wikidata's whole documents: full statements, with ranks, qualifiers, references.

An entity's own statements come with its document, and lead on by its best ones, as the truthy
triples do. What leads to it only the SPARQL endpoint knows: of each head outside the walked part,
those statements are taken from its document that lead inside, at every rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from graph_service.http.host_client import Traffic
from graph_service.model.statement import Entity, EntityKind, Rank, Statement
from graph_service.model.values import EntityValue, Quantity, Value
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf.values import ENTITY, WIKIDATA, entity_id
from loaders.sparql.dialects import Dialect
from loaders.sparql.earlier import NONE_KNOWN, Earlier
from loaders.sparql.endpoint import Endpoint
from loaders.sparql.options import EndpointOptions
from loaders.sparql.terms import Row
from loaders.sparql.walk import (
    BEYOND_REASON,
    LIMIT_REASON,
    OUTGOING_REASON,
    TERMS_REASON,
    State,
    Walk,
)
from loaders.wikibase.documents import MISSING_REASON, Languages
from loaders.wikibase.entity_data import ENTITIES_PER_REQUEST, EntityData, Fetched
from loaders.wikibase.reader import DocumentReader

_DIRECT = WIKIDATA + "prop/direct/"
HEADS_REASON = "entities outside whose statements that lead inside did not come"
EDITED_REASON = "statements that the endpoint has and the entity's document has not (any more)"
OTHER_KINDS_REASON = "statements of what is neither item nor property (lexemes, media)"
DROPPED_REASON = "statements of relations that were to be left out"
UNCHANGED_REASON = "documents taken from the edition before, since their revision is the same"
DELETED_REASON = "entities of the edition before that were deleted since"
REDIRECTED_REASON = "entities of the edition before that redirect to another since"
OUT_OF_REACH_REASON = "entities of the edition before whose statements lie out of reach now"
# Revisions are told for so many at a time, so that what changed among them comes together.
REVISIONS_AT_ONCE = 250


class DocumentWalk(Walk):
    """The walk over whole documents.

    Args:
        entities: Where documents come from; the rest is as ``Walk`` has it.
        earlier: The edition that documents are taken from where they have not changed.
    """

    def __init__(
        self,
        source: str,
        options: LoadOptions,
        settings: EndpointOptions,
        dialect: Dialect,
        endpoint: Endpoint,
        state: State,
        entities: EntityData,
        earlier: Earlier | None = None,
    ) -> None:
        super().__init__(source, options, settings, dialect, endpoint, state)
        self._entities = entities
        # Names that are the same in all languages are kept once, as mul.
        codes = [code.lower() for code in options.languages] or ["en"]
        selected = frozenset((*codes, "mul"))
        languages = Languages(selected, options.fallback_languages)
        self._reader = DocumentReader(source, languages, None, options.batch_size)
        self._piece_statements = options.batch_size
        self._leading_statements = sum(map(len, state.leading.values()))
        self._earlier = earlier
        revisions = earlier.revisions if earlier is not None else NONE_KNOWN
        # What was left out of those documents is not in the edition.
        self._known = revisions if revisions.dropped == state.dropped else NONE_KNOWN
        self._revision_of: dict[str, int] = {}
        self._begun_at = 0

    def _begin(self, *, terms_only: bool = True) -> None:
        super()._begin(terms_only=terms_only)
        self._begun_at = self._state.done

    def _end(self, stage: str) -> Parsed:
        parsed, state = super()._end(stage), self._state
        if stage == "names" or self._settings.direction != "in":
            # Of entities whose documents were requested each is a record, beside the rows.
            parsed.source_records += min(state.done, len(state.frontier)) - self._begun_at
        return parsed

    def prune_cache(self) -> None:
        """Deletes answers on disk that are past their time; both caches are one folder."""
        self._entities.prune_cache()

    def _traffic(self) -> Traffic:
        triples, documents = self._endpoint.traffic, self._entities.traffic
        return Traffic(
            triples.requests + documents.requests,
            triples.retries + documents.retries,
            triples.from_cache + documents.from_cache,
            triples.bytes_read + documents.bytes_read,
        )

    def pieces(self) -> Iterator[Parsed]:
        """Yields every piece from the state on; the last one counts what lies out of reach now."""
        yield from super().pieces()
        state = self._state
        left = [id_ for id_ in self._known.complete if ENTITY + id_ not in self._taken]
        if left and state.hop == self._settings.hops + 2:
            state.hop += 1
            self._begin()
            self._parsed.skipped[OUT_OF_REACH_REASON] += len(left)
            yield self._end("names")

    def _hop(self) -> Iterator[Parsed]:
        state = self._state
        while state.done < len(state.frontier):
            if self._is_full():
                self._begin(terms_only=False)
                self._leave_rest()
                yield self._end(f"hop {state.hop}")
                return
            batch, fetched = state.frontier[state.done :][:ENTITIES_PER_REQUEST], Fetched()
            if self._settings.direction != "in":
                batch, fetched = self._fetch_next(
                    state.frontier[state.done :], self._known.complete
                )
            pieces = {iri: self._piece(entity_id(iri), fetched) for iri in batch}
            while batch:
                # As many as go into one transaction.
                part, size = batch[:1], len(pieces[batch[0]].statements)
                for iri in batch[1:]:
                    size += len(pieces[iri].statements)
                    if size > self._piece_statements:
                        break
                    part.append(iri)
                batch = batch[len(part) :]
                self._begin(terms_only=False)
                self._take_part(part, pieces, fetched)
                yield self._end(f"hop {state.hop}")

    def _fetch_next(self, left: list[str], known: Mapping[str, int]) -> tuple[list[str], Fetched]:
        """Returns the next entities, and what came of those whose revision is not as known.

        As many documents come as go into one request. The others are ``unchanged``.
        """
        batch = left[: REVISIONS_AT_ONCE if known else ENTITIES_PER_REQUEST]
        ids = [entity_id(iri) for iri in batch]
        unread = [iri for iri in ids if iri in known and iri not in self._revision_of]
        if unread:
            # 0 is no revision: what is missing or redirects has none.
            self._revision_of.update(dict.fromkeys(unread, 0))
            self._revision_of.update(self._entities.revisions(unread))
        changed: list[str] = []
        for index, id_ in enumerate(ids):
            if id_ not in known or self._revision_of[id_] != known[id_]:
                if len(changed) == ENTITIES_PER_REQUEST:
                    ids = ids[:index]
                    break
                changed.append(id_)
        fetched = self._entities.fetch(changed) if changed else Fetched()
        fetched.unchanged = {id_: known[id_] for id_ in set(ids).difference(changed)}
        return batch[: len(ids)], fetched

    def _take_part(
        self, part: Sequence[str], pieces: Mapping[str, Parsed], fetched: Fetched
    ) -> None:
        state = self._state
        incoming: dict[str, list[Row]] = {}
        if self._settings.direction != "out":
            rows = sorted(self._incoming_rows(self._writable(part)))
            self._arrived.take(rows)
            for row in rows:
                incoming.setdefault(row.object.value, []).append(row)
        for index, iri in enumerate(part):
            if self._is_full():
                self._leave_rest()
                for left in part[index:]:
                    self._parsed.counts.passed_over += len(incoming.get(left, ()))
                return
            if self._settings.direction != "in":
                self._take_document(iri, pieces[iri], fetched)
            self._taken.add(iri)
            self._take_incoming(incoming.get(iri, ()))
            state.done += 1

    def _is_full(self) -> bool:
        limit = self._settings.max_statements
        return limit is not None and self._state.statements + self._leading_statements >= limit

    def _leave_rest(self) -> None:
        state = self._state
        left = len(state.frontier) - state.done
        self._parsed.skipped[LIMIT_REASON] += left
        if self._settings.direction != "in":
            self._parsed.counts.passed_over += left
        state.done = len(state.frontier)

    def _piece(self, id_: str, fetched: Fetched) -> Parsed:
        """Returns what an entity's document holds, nothing where it has none."""
        if self._earlier is not None and id_ in fetched.unchanged:
            return self._earlier.piece(id_)
        piece = Parsed()
        if id_ in fetched.documents:
            self._reader.read_piece(fetched.documents[id_], piece, 0, 0)
        if id_ in fetched.redirects and all(entity.id != id_ for entity in piece.entities):
            kind = EntityKind.PROPERTY if id_.startswith("P") else EntityKind.ITEM
            piece.entities.append(Entity(id_, kind, redirect=fetched.redirects[id_]))
        return piece

    def _take_document(self, iri: str, piece: Parsed, fetched: Fetched) -> None:
        id_ = entity_id(iri)
        parsed = self._parsed
        self._count_entity(id_, fetched)
        if id_ in fetched.failed:
            self._incomplete(iri, OUTGOING_REASON, fetched.failed[id_])
            return
        forgotten = self._forget_leading(iri)
        if id_ in fetched.missing:
            parsed.skipped[DELETED_REASON if id_ in self._known.complete else MISSING_REASON] += 1
            if forgotten:
                parsed.skipped[EDITED_REASON] += forgotten
            return
        if id_ in fetched.redirects:
            parsed.kept[REDIRECTED_REASON] += id_ in self._known.complete
            parsed.entities.extend(item for item in piece.entities if item.id == id_)
            self._follow(iri, ENTITY + fetched.redirects[id_])
            return
        selected = [item for item in piece.statements if not self._is_dropped(item)]
        if len(selected) < len(piece.statements):
            parsed.skipped[DROPPED_REASON] += len(piece.statements) - len(selected)
        else:
            # A document that lost statements is no whole one: it must not remove any.
            parsed.documents |= piece.documents
        self._note_revision(id_, piece, fetched, self._state.complete)
        self._add_piece(piece, selected)
        for item in self._best(selected):
            if isinstance(item.value, EntityValue):
                self._reach(ENTITY + item.value.id)

    def _count_entity(self, id_: str, fetched: Fetched) -> None:
        """Counts what became of an entity that was requested."""
        counts = self._parsed.counts
        if id_ in fetched.failed:
            counts.rejected += 1
        elif id_ in fetched.missing:
            counts.passed_over += 1
        else:
            counts.read += 1

    def _note_revision(
        self, id_: str, piece: Parsed, fetched: Fetched, revisions: dict[str, int]
    ) -> None:
        """Keeps the revision of a document of which nothing was rejected."""
        revision = fetched.unchanged.get(id_)
        self._parsed.kept[UNCHANGED_REASON] += revision is not None
        for entity in piece.entities:
            if entity.id == id_ and revision is None:
                revision = entity.revision
        if revision is not None and not piece.rejects:
            revisions[id_] = revision

    def _follow(self, iri: str, target: str) -> None:
        """A redirect is no hop: its target is walked in this one."""
        state = self._state
        if not (target in self._taken or target in state.frontier):
            if target in state.queued:
                state.coming = [queued for queued in state.coming if queued != target]
            state.queued.add(target)
            state.frontier.append(target)
        if iri in state.start_entities:
            state.start_entities.add(target)

    def _take_incoming(self, rows: Sequence[Row]) -> None:
        state, counts = self._state, self._parsed.counts
        for row in rows:
            head, tail = row.subject.value, row.object.value
            if head in self._taken and self._settings.direction != "in":
                counts.passed_over += 1
                continue
            if not self._dialect.walks_through(head):
                self._parsed.skipped[OTHER_KINDS_REASON] += 1
                counts.passed_over += 1
                continue
            if self._is_full():
                self._parsed.skipped[BEYOND_REASON] += 1
                counts.passed_over += 1
                continue
            counts.read += 1
            pairs = state.leading.setdefault(head, set())
            pair = (row.predicate.value.removeprefix(_DIRECT), entity_id(tail))
            if pair not in pairs:
                pairs.add(pair)
                self._leading_statements += 1
            state.relations.add(row.predicate.value)
            self._reach(head)

    def _forget_leading(self, iri: str) -> int:
        count = len(self._state.leading.pop(iri, ()))
        self._leading_statements -= count
        return count

    def _reach(self, iri: str) -> None:
        state = self._state
        if iri not in state.queued and self._dialect.walks_through(iri):
            state.queued.add(iri)
            state.coming.append(iri)

    def _is_dropped(self, statement: Statement) -> bool:
        return self._dialect.drops.holds(_DIRECT + statement.relation)

    def _best(self, statements: Sequence[Statement]) -> Iterator[Statement]:
        """Yields the statements that truthy triples are made of."""
        preferred = {
            statement.relation for statement in statements if statement.rank is Rank.PREFERRED
        }
        for statement in statements:
            best = Rank.PREFERRED if statement.relation in preferred else Rank.NORMAL
            if statement.rank is best:
                yield statement

    def _add_piece(self, piece: Parsed, statements: Sequence[Statement]) -> None:
        parsed, state = self._parsed, self._state
        parsed.entities.extend(piece.entities)
        parsed.statements.extend(statements)
        # Places in one answer of many mean nothing to people: the reason names the entity.
        parsed.rejects.extend(replace(reject, line=0, offset=0) for reject in piece.rejects)
        parsed.skipped.update(piece.skipped)
        parsed.forms |= piece.forms
        state.statements += len(statements)
        for statement in statements:
            for id_ in _mentioned(statement):
                state.known.setdefault(ENTITY + id_)

    def _to_name(self) -> list[str]:
        """Returns the heads outside whose statements are wanted, then what else has names."""
        state = self._state
        complete = self._taken.difference(state.lacks_outgoing)
        if self._settings.direction == "in":
            complete = set()
        met = super()._to_name()
        heads = [iri for iri in met if iri in state.leading]
        return heads + [iri for iri in met if iri not in state.leading and iri not in complete]

    def _names(self) -> Iterator[Parsed]:
        state, dialect = self._state, self._dialect
        # What is queued and not in the frontier has its names from its document.
        seen = state.queued.union(state.frontier)
        while state.done < len(state.frontier):
            heads = list(takewhile(state.leading.__contains__, state.frontier[state.done :]))
            if heads:
                heads, fetched = self._fetch_next(heads, self._known_heads(heads))
            batch = heads or state.frontier[state.done :][:ENTITIES_PER_REQUEST]
            if not heads:
                fetched = self._entities.fetch(
                    [entity_id(iri) for iri in batch], with_statements=False
                )
            self._begin()
            for iri in batch:
                self._take_outside(iri, fetched)
            state.done += len(batch)
            if heads:
                # Their statements may name what was not met before, in qualifiers say.
                new = [iri for iri in state.known if iri not in seen and dialect.has_terms(iri)]
                seen.update(new)
                state.frontier.extend(new)
            yield self._end("names")

    def _known_heads(self, heads: Sequence[str]) -> dict[str, int]:
        """Returns the revisions of those of which the earlier edition has what leads inside."""
        known: dict[str, int] = {}
        if self._earlier is None:
            return known
        revisions = {**self._known.complete, **self._known.parts}
        for iri in heads[:REVISIONS_AT_ONCE]:
            id_ = entity_id(iri)
            if id_ in revisions:
                held = {
                    (statement.relation, _id_of(statement.value))
                    for statement in self._earlier.statements(id_)
                }
                if self._state.leading[iri] <= held:
                    known[id_] = revisions[id_]
        return known

    def _take_outside(self, iri: str, fetched: Fetched) -> None:
        """Takes the names of an entity outside, and those of its statements that lead inside."""
        id_ = entity_id(iri)
        parsed = self._parsed
        pairs = self._state.leading.get(iri)
        self._count_entity(id_, fetched)
        if id_ in fetched.failed:
            if iri not in self._state.lacks_outgoing:
                reason = HEADS_REASON if pairs else TERMS_REASON
                self._incomplete(iri, reason, fetched.failed[id_])
            return
        if id_ in fetched.missing:
            parsed.skipped[MISSING_REASON] += 1
            if pairs:
                parsed.skipped[EDITED_REASON] += len(pairs)
            return
        piece = self._piece(id_, fetched)
        statements = [
            item
            for item in piece.statements
            if pairs
            and isinstance(item.value, EntityValue)
            and (item.relation, item.value.id) in pairs
        ]
        if pairs:
            current = {(item.relation, _id_of(item.value)) for item in statements}
            lost = len(pairs - current)
            if lost:
                parsed.skipped[EDITED_REASON] += lost
            self._forget_leading(iri)
            if id_ not in fetched.redirects:
                self._note_revision(id_, piece, fetched, self._state.parts)
        # Not its whole document: it must not pass for that revision.
        piece.entities = [replace(item, revision=None) for item in piece.entities]
        self._add_piece(piece, statements)


def _id_of(value: Value) -> str:
    return value.id if isinstance(value, EntityValue) else ""


def _mentioned(statement: Statement) -> Iterator[str]:
    """Yields the items and properties that a statement names, in any of its parts."""
    yield statement.relation
    values: list[Value] = [statement.value]
    for snak in statement.qualifiers:
        yield snak.relation
        values.append(snak.value)
    for reference in statement.references:
        for snak in reference.parts:
            yield snak.relation
            values.append(snak.value)
    for value in values:
        if isinstance(value, EntityValue):
            yield value.id
        elif isinstance(value, Quantity) and value.unit is not None:
            yield value.unit
