"""Statements encoded, keyed and hashed ahead of the store, in columns.

It is most of the work of writing them, and takes no store: processes that parse a source do it
too, and what they hand on is small and plain. It is the sequence of statements too; both stores
write the columns.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple, overload

import orjson

from graph_service.errors import InputError
from graph_service.model.graph import RANK_CODES, RANKS
from graph_service.model.identity import MAX_ID_BYTES, check_text, key64
from graph_service.model.statement import (
    Rank,
    Statement,
    decode_references,
    decode_snaks,
    encode_references,
    encode_snaks,
)
from graph_service.model.values import EntityValue, decode_value, encode_value
from graph_service.store.hashes import RANK_BYTES, Uint64, content_sums, statement_hashes
from graph_service.store.texts import holds_nul


@dataclass(frozen=True, slots=True, eq=False)
class EncodedStatements(Sequence[Statement]):
    """Statements in columns; as a sequence, the statements themselves.

    Attributes:
        ids, keys: Of the statements.
        heads: Keys of the heads.
        relations: Indices into ``relation_ids``.
        tails: Keys of the values that are entities, else None.
        values: Encoded values that are no entities, else None.
        ranks: Codes of the ranks.
        qualifiers, sources: Encoded; None for none.
        contexts: Fourth terms of quads.
        relation_ids: The relations that occur.
        entity_keys: Key by id of every entity that is a head or a value.
        edges, contents: The two hashes of each statement, one after the other, 16 bytes each.
    """

    ids: list[str]
    keys: array[int]
    heads: array[int]
    relations: array[int]
    tails: list[int | None]
    values: list[str | None]
    ranks: array[int]
    qualifiers: list[str | None]
    sources: list[str | None]
    contexts: list[str | None]
    relation_ids: list[str]
    entity_keys: dict[str, int]
    edges: bytes
    contents: bytes
    _id_of: dict[int, str] = field(default_factory=dict, init=False, compare=False, repr=False)
    _indices: dict[int, list[int]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EncodedStatements):
            return NotImplemented
        return all(
            getattr(self, column.name) == getattr(other, column.name)
            for column in fields(self)
            if column.compare
        )

    def __iter__(self) -> Iterator[Statement]:
        entity_ids = self._entity_ids()
        for index in range(len(self.ids)):
            yield self._statement(index, entity_ids)

    @overload
    def __getitem__(self, index: int, /) -> Statement: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[Statement]: ...

    def __getitem__(self, index: int | slice, /) -> Statement | list[Statement]:
        entity_ids = self._entity_ids()
        if isinstance(index, slice):
            return [
                self._statement(row, entity_ids) for row in range(*index.indices(len(self.ids)))
            ]
        return self._statement(range(len(self.ids))[index], entity_ids)

    @property
    def sums(self) -> Uint64:
        """What the statements add to the four words of both fingerprints."""
        return content_sums(self.edges, self.contents)

    def line_of(self, head: int, lines: Sequence[int], /) -> int:
        """Returns the line of an entity's first statement; 0 where none is known.

        Args:
            head: Key of the entity.
            lines: The line of each statement; empty where none is known.
        """
        indices = self.indices_of(head) if len(lines) else ()
        return lines[indices[0]] if indices else 0

    def indices_of(self, head: int, /) -> Sequence[int]:
        """Returns the indices of an entity's statements, by its key, ascending."""
        # Gathered once: a batch asks for each of its documents.
        if not self._indices:
            for index, key in enumerate(self.heads):
                self._indices.setdefault(key, []).append(index)
        return self._indices.get(head, ())

    def at(self, indices: Sequence[int], /) -> EncodedStatements:
        """Returns the statements at some indices alone."""
        tails = [self.tails[index] for index in indices]
        heads = array("q", (self.heads[index] for index in indices))
        id_of = self._entity_ids()
        numbers: dict[int, int] = {}
        relations = array(
            "I", (numbers.setdefault(self.relations[index], len(numbers)) for index in indices)
        )
        return EncodedStatements(
            [self.ids[index] for index in indices],
            array("q", (self.keys[index] for index in indices)),
            heads,
            relations,
            tails,
            [self.values[index] for index in indices],
            array("B", (self.ranks[index] for index in indices)),
            [self.qualifiers[index] for index in indices],
            [self.sources[index] for index in indices],
            [self.contexts[index] for index in indices],
            [self.relation_ids[relation] for relation in numbers],
            {id_of[key]: key for key in dict.fromkeys((*heads, *tails)) if key is not None},
            b"".join([self.edges[16 * index : 16 * index + 16] for index in indices]),
            b"".join([self.contents[16 * index : 16 * index + 16] for index in indices]),
        )

    def _entity_ids(self) -> dict[int, str]:
        """Returns the id of each entity by its key, made once: batches ask for many statements."""
        if not self._id_of:
            self._id_of.update((key, id_) for id_, key in self.entity_keys.items())
        return self._id_of

    def _statement(self, index: int, entity_ids: dict[int, str]) -> Statement:
        tail, value = self.tails[index], self.values[index]
        qualifiers, sources = self.qualifiers[index], self.sources[index]
        return Statement(
            self.ids[index],
            entity_ids[self.heads[index]],
            self.relation_ids[self.relations[index]],
            decode_value(value) if value is not None else EntityValue(entity_ids[tail or 0]),
            RANKS[self.ranks[index]],
            () if qualifiers is None else decode_snaks(qualifiers),
            () if sources is None else decode_references(sources),
            self.contexts[index],
        )


class StatementRow(NamedTuple):
    """A statement whose parts are encoded already.

    Attributes:
        tail: The value's id if it is an entity, else None.
        value: The value, encoded, also of an entity.
        qualifiers, references: Encoded; None for none.
    """

    id: str
    head: str
    relation: str
    tail: str | None
    value: str
    rank: Rank
    qualifiers: str | None
    references: str | None
    context: str | None

    def statement(self) -> Statement:
        """Returns the row as a statement, its values decoded."""
        return Statement(
            self.id,
            self.head,
            self.relation,
            decode_value(self.value) if self.tail is None else EntityValue(self.tail),
            self.rank,
            () if self.qualifiers is None else decode_snaks(self.qualifiers),
            () if self.references is None else decode_references(self.references),
            self.context,
        )


def row_of_statement(item: Statement, /) -> StatementRow:
    """Returns a statement with its parts encoded.

    Raises:
        TypeError: It holds a lone surrogate.
    """
    value = item.value
    return StatementRow(
        item.id,
        item.head,
        item.relation,
        value.id if type(value) is EntityValue else None,
        encode_value(value),
        item.rank,
        encode_snaks(item.qualifiers) if item.qualifiers else None,
        encode_references(item.references) if item.references else None,
        item.context,
    )


def encode_statements(statements: Iterable[Statement | StatementRow], /) -> EncodedStatements:
    """Returns statements encoded.

    Raises:
        InputError: One holds text that no store can hold.
    """
    if isinstance(statements, EncodedStatements):
        return statements
    ids: list[str] = []
    keys, heads, relations, ranks = array("q"), array("q"), array("I"), array("B")
    tails: list[int | None] = []
    values: list[str | None] = []
    qualifier_column: list[str | None] = []
    source_column: list[str | None] = []
    contexts: list[str | None] = []
    relation_indices: dict[str, int] = {}
    entity_keys: dict[str, int] = {}
    edge_hashes: list[bytes] = []
    content_hashes: list[bytes] = []
    for item in statements:
        try:
            row = item if type(item) is StatementRow else row_of_statement(item)  # type: ignore[arg-type]
            id_, head, relation, tail_id, encoded, rank, qualifiers, sources, context = row
            edge, content = statement_hashes(
                id_, head, relation, encoded, RANK_BYTES[rank], qualifiers, sources, context
            )
        except (UnicodeEncodeError, TypeError) as error:
            raise _unfit(item.id, error) from error
        if (
            "\x00" in id_
            or "\x00" in head
            or "\x00" in relation
            or (context is not None and "\x00" in context)
            or "\\u0000" in encoded
            or (qualifiers is not None and "\\u0000" in qualifiers)
            or (sources is not None and "\\u0000" in sources)
        ):
            _refuse_nul(row)
        edge_hashes.append(edge)
        content_hashes.append(content)
        ids.append(id_)
        keys.append(id_key(id_))
        head_key = entity_keys.get(head)
        if head_key is None:
            head_key = entity_keys[head] = id_key(head)
        heads.append(head_key)
        index = relation_indices.get(relation)
        if index is None:
            index = relation_indices[relation] = len(relation_indices)
        relations.append(index)
        if tail_id is not None:
            tail = entity_keys.get(tail_id)
            if tail is None:
                tail = entity_keys[tail_id] = id_key(tail_id)
            tails.append(tail)
            values.append(None)
        else:
            tails.append(None)
            values.append(encoded)
        ranks.append(RANK_CODES[rank])
        qualifier_column.append(qualifiers)
        source_column.append(sources)
        contexts.append(context)
    return EncodedStatements(
        ids,
        keys,
        heads,
        relations,
        tails,
        values,
        ranks,
        qualifier_column,
        source_column,
        contexts,
        list(relation_indices),
        entity_keys,
        b"".join(edge_hashes),
        b"".join(content_hashes),
    )


def join_statements(parts: Sequence[Sequence[Statement]], /) -> Sequence[Statement]:
    """Returns parts as one sequence, encoded where all of them are."""
    if len(parts) == 1:
        return parts[0]
    encoded = [part for part in parts if isinstance(part, EncodedStatements)]
    if not encoded or len(encoded) < len(parts):
        return [statement for part in parts for statement in part]
    keys, heads, relations, ranks = array("q"), array("q"), array("I"), array("B")
    indices: dict[str, int] = {}
    entity_keys: dict[str, int] = {}
    for part in encoded:
        keys.extend(part.keys)
        heads.extend(part.heads)
        ranks.extend(part.ranks)
        numbers = [indices.setdefault(id_, len(indices)) for id_ in part.relation_ids]
        relations.extend(map(numbers.__getitem__, part.relations))
        entity_keys.update(part.entity_keys)
    return EncodedStatements(
        [item for part in encoded for item in part.ids],
        keys,
        heads,
        relations,
        [item for part in encoded for item in part.tails],
        [item for part in encoded for item in part.values],
        ranks,
        [item for part in encoded for item in part.qualifiers],
        [item for part in encoded for item in part.sources],
        [item for part in encoded for item in part.contexts],
        list(indices),
        entity_keys,
        b"".join([part.edges for part in encoded]),
        b"".join([part.contents for part in encoded]),
    )


def id_key(id_: str, /) -> int:
    """Returns the key of an id that a store can hold; raises ``InputError`` for another."""
    if len(id_) * 4 > MAX_ID_BYTES:
        check_text(id_, what="an id")
    if not id_:
        raise InputError("an id is empty")
    return key64(id_)


def _refuse_nul(row: StatementRow) -> None:
    for text in (row.id, row.head, row.relation, row.context or ""):
        check_text(text, what=f"statement {row.id[:80]!r}")
    for encoded in (row.value, row.qualifiers or "[]", row.references or "[]"):
        if holds_nul(orjson.loads(encoded)):
            raise InputError(f"a value of statement {row.id[:80]!r} holds a NUL character")


def _unfit(id_: str, error: Exception) -> InputError:
    return InputError(f"statement {id_[:80]!r} holds text that cannot be stored: {error}")
