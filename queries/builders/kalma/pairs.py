"""Related pairs: names with a relation between them, and the entities that they stand for (K9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_service.model.result import EntityRef, Triple
from graph_service.model.values import EntityValue
from queries.builders.material import GraphMaterial
from queries.builders.stages import RefusedError
from queries.datasets.records import Record, read_cases
from queries.generate.citations import one_line


@dataclass(frozen=True, slots=True)
class NamedPair:
    """Two names and the relation between what they name.

    Attributes:
        head, value: The names.
        relation: Id of the relation from the first to the second.
        sentence: What a person wrote of both; empty where nobody did.
    """

    id: str
    head: str
    relation: str
    value: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Pool:
    """Two related entities and what the graph says of them: the knowledge pool.

    Attributes:
        pair: The statement between both.
        triples: All that may be cited, the pair's statement among them, by statement id.
        passed_over: Statements that inform nobody, print like another one, or are the pair's read
            the other way, as of spouses.
    """

    id: str
    head: EntityRef
    value: EntityRef
    pair: Triple
    triples: tuple[Triple, ...]
    passed_over: int
    sentence: str = ""


def read_pairs(path: str | Path, /) -> tuple[NamedPair, ...]:
    """Returns the pairs of a file of JSON lines.

    A line has ``head``, ``relation`` (an id) and ``value``, and may have ``id`` and ``sentence``.

    Raises:
        InputError: The file can't be read, or a line is wrong; names it.
    """

    def pair_of(record: Record) -> NamedPair:
        return NamedPair(
            record.text("id", default=str(record.number)),
            one_line(record.text("head")),
            record.text("relation"),
            one_line(record.text("value")),
            one_line(record.text("sentence", default="", filled=False)),
        )

    return read_cases(path, pair_of)


def name_pairs(sample: Sequence[Triple], /) -> tuple[NamedPair, ...]:
    """Returns the names of pairs that were drawn; their ids are those of the statements."""
    return tuple(
        NamedPair(
            triple.statement_id,
            one_line(triple.head.label),
            triple.relation.id,
            one_line(triple.value_label),
        )
        for triple in sample
    )


def disambiguate(pair: NamedPair, material: GraphMaterial, /) -> Pool:
    """Returns the entities of a pair: those of its names that the relation joins (appendix A.2).

    Raises:
        RefusedError: A name is unknown, no two of its entities are joined, or more than two are.
    """
    heads = material.namesakes(pair.head)
    values = {entity.id: entity for entity in material.namesakes(pair.value)}
    for name, entities in ((pair.head, heads), (pair.value, tuple(values.values()))):
        if not entities:
            raise RefusedError("unknown name", f"the graph names nothing {name!r}")
    joined: dict[tuple[str, str], Triple] = {}
    for head in heads:
        for triple in material.statements_of(head.id, relation_id=pair.relation):
            value = triple.value
            if isinstance(value, EntityValue) and value.id in values and value.id != head.id:
                joined.setdefault((head.id, value.id), triple)
    if not joined:
        raise RefusedError(
            "not related", f"no {pair.head!r} has {pair.relation} to any {pair.value!r}"
        )
    if len(joined) > 1:
        shown = ", ".join(f"{head} and {value}" for head, value in sorted(joined)[:3])
        raise RefusedError("ambiguous names", f"{pair.relation} joins {len(joined)} pairs: {shown}")
    ((head_id, value_id), stated), *_ = joined.items()
    by_id = {entity.id: entity for entity in heads}
    return make_pool(pair, by_id[head_id], values[value_id], stated, material)


def make_pool(
    pair: NamedPair, head: EntityRef, value: EntityRef, stated: Triple, material: GraphMaterial, /
) -> Pool:
    """Returns the knowledge pool of two entities: what each says of itself, once a print."""
    printed = {_print(stated): stated}
    passed_over = 0
    for entity in (head, value):
        for triple in material.statements_of(entity.id):
            if triple.statement_id == stated.statement_id:
                continue
            is_inverse = triple.relation.id == stated.relation.id and _endpoints(triple) == (
                value.id,
                head.id,
            )
            if is_inverse or not material.informs(triple) or _print(triple) in printed:
                passed_over += 1
                continue
            printed[_print(triple)] = triple
    ordered = tuple(sorted(printed.values(), key=lambda pair: pair.statement_id))
    return Pool(pair.id, head, value, stated, ordered, passed_over, pair.sentence)


def _endpoints(triple: Triple) -> tuple[str, str]:
    return triple.head.id, triple.value.id if isinstance(triple.value, EntityValue) else ""


def _print(triple: Triple) -> tuple[str, ...]:
    """What a citation of a statement says, letter case aside: two of one print can't be told apart."""
    parts = (triple.head.id, triple.relation.label, triple.value_label)
    return tuple(one_line(part).casefold() for part in parts)
