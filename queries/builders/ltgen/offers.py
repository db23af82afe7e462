"""What a sample offers: facts about an entity, and its relations, one question each (L3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.pageviews import LongTailLevel
from graph_service.model.result import EntityRef, Triple
from graph_service.model.serialise import from_plain
from graph_service.model.values import EntityValue
from queries.builders.draws import in_draw_order
from queries.datasets.records import Record, read_cases
from queries.rank.steps import by_relation

QA, CONVERSATION = "qa", "conversation"


@dataclass(frozen=True, slots=True)
class SampledEntity:
    """A line of a sample: an entity, its long-tail level and its triples."""

    id: str
    entity: EntityRef
    level: LongTailLevel
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """Facts that something is written from.

    Attributes:
        id: ``Q1/P50`` of a relation's question, ``Q1`` of a conversation.
        relation: Signed id of the relation that is asked for; empty of a conversation.
        relation_words: What the relation is called; empty of a conversation.
        triples: The facts, in the order of their numbers.
        left_out: Facts that there are and that were not offered.
    """

    id: str
    entity: EntityRef
    level: LongTailLevel
    relation: str
    relation_words: str
    triples: tuple[Triple, ...]
    left_out: int


def read_sample(path: str | Path, /) -> tuple[SampledEntity, ...]:
    """Returns the entities of a file that ``sample --out`` wrote.

    Raises:
        InputError: The file can't be read, or a line is none of a sample; names it.
    """

    def entity_of(record: Record) -> SampledEntity:
        try:
            entity = from_plain(EntityRef, record.fields.get("entity"))
            level = LongTailLevel(record.text("level"))
            triples = from_plain(_Triples, {"triples": record.fields.get("triples")}).triples
        except (InputError, ValueError) as error:
            message = error.message if isinstance(error, InputError) else error
            raise InputError(
                f"{record.where}: a line that `sample --out` wrote was expected; {message}",
                argument="sample",
            ) from error
        return SampledEntity(entity.id, entity, level, triples)

    return read_cases(path, entity_of)


@dataclass(frozen=True, slots=True)
class _Triples:
    triples: tuple[Triple, ...]


def question_offers(
    sample: Sequence[SampledEntity], /, *, most: int, random_seed: int = 0
) -> tuple[Offer, ...]:
    """Returns what questions are written from: some signed relations of each entity.

    They are drawn by a keyed hash, so that a larger draw holds a smaller one. The facts of a
    relation are all that there are.

    Args:
        sample: The entities.
        most: Relations of an entity at most.
        random_seed: Of the draw.
    """
    offers: list[Offer] = []
    for triple in sample:
        statements, relations = by_relation(triple.id, triple.triples)
        named = {relation.key: relation for relation in relations}
        keys = in_draw_order(
            [f"{triple.id}/{key}" for key in statements], "questions", random_seed=random_seed
        )
        for id_ in keys[:most]:
            relation = named[id_.removeprefix(f"{triple.id}/")]
            relation_words = relation.words
            if relation.reverse:
                relation_words = f"what has it as its {relation_words}"
            facts = tuple(sorted(statements[relation.key], key=lambda t: t.statement_id))
            offers.append(
                Offer(id_, triple.entity, triple.level, relation.key, relation_words, facts, 0)
            )
    return tuple(offers)


def conversation_offers(
    sample: Sequence[SampledEntity], /, *, most_facts: int, random_seed: int = 0
) -> tuple[Offer, ...]:
    """Returns what conversations are written from: the facts of each entity, or a draw of them.

    Args:
        sample: The entities.
        most_facts: Of an entity at most.
        random_seed: Of the draw.
    """
    offers: list[Offer] = []
    for statement in sample:
        by_id = {triple.statement_id: triple for triple in statement.triples}
        chosen = in_draw_order(by_id, "facts", random_seed=random_seed)[:most_facts]
        facts = tuple(by_id[id_] for id_ in sorted(chosen))
        left_out = len(by_id) - len(facts)
        offers.append(
            Offer(statement.id, statement.entity, statement.level, "", "", facts, left_out)
        )
    return tuple(offers)


def other_end(triple: Triple, id_: str, /) -> tuple[str, str]:
    """Returns id and label of the end of a triple that is not an entity; no id for a literal."""
    value = triple.value
    if triple.head.id == id_:
        return (value.id if isinstance(value, EntityValue) else "", triple.value_label)
    return triple.head.id, triple.head.label
