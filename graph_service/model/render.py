"""A result in the two other shapes it is served in: text for prompts, columns for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from graph_service.model.answer import AnswerKind
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.result import (
    Answer,
    PathsResult,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Step,
    Triple,
)
from graph_service.model.values import EntityValue, plain_value


class TextFormat(StrEnum):
    """``TRIPLES``: one a line. ``NUMBERED``: the same with numbers that a prompt can cite.
    ``CITATIONS``: as KaLMA prints them. ``PATHS``: chains of arrows, for paths.
    """

    TRIPLES = "triples"
    NUMBERED = "numbered"
    CITATIONS = "citations"
    PATHS = "paths"


def triple_line(triple: Triple, /) -> str:
    """Returns a triple as ``(head | relation | value)``."""
    return f"({triple.head.label} | {triple.relation.label} | {triple.value_label})"


def citation(triples: Sequence[Triple], /) -> str:
    """Returns triples of one head as ``[Q1, relation: value, relation: value]`` (KaLMA, K1)."""
    inner = ", ".join(f"{item.relation.label}: {item.value_label}" for item in triples)
    return f"[{triples[0].head.id}, {inner}]"


MOST_CITED = 5
"""Statements of an answer that are cited with it, but for those of what it names."""


def cited_triples(answer: Answer, /) -> tuple[Triple, ...]:
    """Returns the statements that an answer is printed with: the first of each thing that it names,
    in that order, and then the first others that it rests on.

    The class of a thing is cited where nothing else tells of it.
    """
    basis = [row.triple for row in answer.basis]
    beyond_class = [
        triple for triple in basis if triple.relation.id not in INSTANCE_RELATIONS
    ] or basis
    cited = {
        triple.statement_id: triple
        for _, value in answer.named
        for triple in islice((each for each in beyond_class if is_about(each, value)), MOST_CITED)
    }
    others = (triple for triple in beyond_class if triple.statement_id not in cited)
    return (*cited.values(), *islice(others, max(0, MOST_CITED - len(cited))))


def is_about(triple: Triple, value: str, /) -> bool:
    """Returns whether a statement has a thing, by its id, or a value, in plain text, at either end."""
    return value in (triple.head.id, plain_value(triple.value))


def is_stated_by(answer: Answer, triples: Sequence[Triple], /) -> bool:
    """Returns whether some statements say an answer: entities or values, each of which they name, or
    the first of these and nothing else.

    A number, yes or no, and which is the first, no statement says.
    """
    if answer.kind is not AnswerKind.ENTITIES:
        return False
    named = {triple.head.id for triple in triples}
    named |= {plain_value(triple.value) for triple in triples}
    basis = {row.triple.statement_id for row in answer.basis}
    # A date that qualifies them they do not say.
    are_of_it = not named.isdisjoint(answer.values) and all(
        triple.statement_id in basis for triple in triples
    )
    return are_of_it or named.issuperset(answer.values)


def answer_line(answer: Answer, /) -> str:
    """Returns a computed answer on one line, with citations: what every text of a result begins with.

    Such as ``11: rotor, stator, shaft, frame, brush, and 6 more [M1, has part: rotor] ...``.
    """
    cited = (citation([triple]) for triple in cited_triples(answer))
    return one_line(" ".join((answer.text, *cited)))


def path_line(steps: Sequence[Step], /) -> str:
    """Returns a path as a chain of arrows that point from head to value."""
    first = steps[0]
    shown = first.triple.value_label if first.reversed else first.triple.head.label
    for step in steps:
        label = step.triple.relation.label
        if step.reversed:
            shown += f" <-[{label}]- {step.triple.head.label}"
        else:
            shown += f" -[{label}]-> {step.triple.value_label}"
    return shown


def item_text(item: ScoredTriple | ScoredPath, /, *, text_format: TextFormat) -> str:
    """Returns one item of a result as text, without a number."""
    if isinstance(item, ScoredPath):
        if text_format in (TextFormat.PATHS, TextFormat.TRIPLES):
            return path_line(item.steps)
        if text_format is TextFormat.CITATIONS:
            return " ".join(citation([step.triple]) for step in item.steps)
        return "\n".join(triple_line(step.triple) for step in item.steps)
    if text_format is TextFormat.CITATIONS:
        return citation([item.triple])
    return triple_line(item.triple)


def items_text(
    items: Sequence[ScoredTriple] | Sequence[ScoredPath], /, *, text_format: TextFormat
) -> str:
    """Returns the items of a result as text, one a line."""
    if text_format is not TextFormat.NUMBERED:
        return "\n".join(one_line(item_text(item, text_format=text_format)) for item in items)
    seen: dict[str, Triple] = {}
    for item in items:
        parts: Sequence[Step | ScoredTriple] = (
            item.steps if isinstance(item, ScoredPath) else (item,)
        )
        for part in parts:
            seen.setdefault(part.triple.statement_id, part.triple)
    return "\n".join(
        f"[{i}] {one_line(triple_line(item))}" for i, item in enumerate(seen.values(), 1)
    )


def one_line(text: str, /) -> str:
    """Returns a text without line breaks, so that no label looks like an item of its own."""
    return " ".join(text.splitlines())


def default_format(result: RetrievalResult, /) -> TextFormat:
    """Returns the format that suits a strategy: arrows for paths, triples for the others."""
    return TextFormat.PATHS if isinstance(result, PathsResult) else TextFormat.TRIPLES


def result_text(result: RetrievalResult, /, *, text_format: TextFormat | None = None) -> str:
    """Returns a result as text for a prompt."""
    return items_text(result.items, text_format=text_format or default_format(result))


@dataclass(frozen=True, slots=True)
class Columns:
    """A result as parallel lists; row ``i`` is one triple of one item.

    Attributes:
        node_ids, node_labels: Each node once; a literal's id is empty.
        relation_ids, relation_labels: Each relation once.
        statement_ids, head, relation, value, score: One a row; numbers point into the lists
            above.
        reversed: Whether the row's edge was walked from value to head (paths).
        path_offsets: Where each path begins, and the end of the last; empty for the others.
    """

    node_ids: tuple[str, ...]
    node_labels: tuple[str, ...]
    relation_ids: tuple[str, ...]
    relation_labels: tuple[str, ...]
    statement_ids: tuple[str, ...]
    head: tuple[int, ...]
    relation: tuple[int, ...]
    value: tuple[int, ...]
    score: tuple[float, ...]
    reversed: tuple[bool, ...]
    path_offsets: tuple[int, ...]


def result_columns(result: RetrievalResult, /) -> Columns:
    """Returns a result as parallel lists."""
    rows: list[tuple[Triple, float, bool]] = []
    offsets: list[int] = []
    for item in result.items:
        if isinstance(item, ScoredPath):
            offsets.append(len(rows))
            rows.extend((step.triple, item.score, step.reversed) for step in item.steps)
        else:
            rows.append((item.triple, item.score, False))
    if isinstance(result, PathsResult):
        offsets.append(len(rows))
    nodes: dict[tuple[str, str], int] = {}
    node_labels: list[str] = []
    relations: dict[str, int] = {}
    relation_labels: list[str] = []

    def node(key: tuple[str, str], label: str) -> int:
        if key not in nodes:
            nodes[key] = len(nodes)
            node_labels.append(label)
        return nodes[key]

    heads: list[int] = []
    rels: list[int] = []
    values: list[int] = []
    for triple, _, _ in rows:
        heads.append(node((triple.head.id, ""), triple.head.label))
        if triple.relation.id not in relations:
            relations[triple.relation.id] = len(relations)
            relation_labels.append(triple.relation.label)
        rels.append(relations[triple.relation.id])
        if isinstance(triple.value, EntityValue):
            values.append(node((triple.value.id, ""), triple.value_label))
        else:
            values.append(node(("", triple.statement_id), triple.value_label))
    return Columns(
        node_ids=tuple(id_ for id_, _ in nodes),
        node_labels=tuple(node_labels),
        relation_ids=tuple(relations),
        relation_labels=tuple(relation_labels),
        statement_ids=tuple(triple.statement_id for triple, _, _ in rows),
        head=tuple(heads),
        relation=tuple(rels),
        value=tuple(values),
        score=tuple(score for _, score, _ in rows),
        reversed=tuple(flag for _, _, flag in rows),
        path_offsets=tuple(offsets),
    )
