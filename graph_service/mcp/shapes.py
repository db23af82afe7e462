"""Results of the client as what the tools answer, and as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from pydantic import BaseModel

from graph_service.mcp.answers import (
    ClassData,
    ComputedAnswer,
    Cut,
    Edge,
    GraphData,
    ItemRelation,
    NamedEntity,
    Part,
    PassageData,
    QuestionPart,
    RelationData,
    RetrievedItem,
    Source,
    StatementData,
    ViewData,
)
from graph_service.model import browsing, limits, render
from graph_service.model.answer import Interpretation
from graph_service.model.browsing import ItemStatement
from graph_service.model.graph_info import GraphInfo
from graph_service.model.passage import ScoredPassage
from graph_service.model.render import TextFormat, citation, item_text, one_line, triple_line
from graph_service.model.result import (
    Answer,
    LinkedEntity,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Triple,
)
from graph_service.model.shapes import parts_of
from graph_service.model.statement import Snak
from graph_service.model.stored_view import StoredView
from graph_service.model.values import EntityValue, display_value
from graph_service.model.view_spec import ChangeKind

M = TypeVar("M", bound=BaseModel)
ADVICE: Mapping[Status, str | None] = {
    Status.OK: None,
    Status.NO_ENTITY_LINKED: "No item of the graph is named in the question. Find one with "
    "search_items, and ask again with its id in entity_ids.",
    Status.LOW_CONFIDENCE: "No relation of the graph is much like what is asked, or another item "
    "of that name is meant. The items are what comes nearest; they may not answer the question.",
    Status.NOT_IN_GRAPH: "The item has no statement of the relation that is asked for. Say that the "
    "graph does not say it; the items are what comes nearest, and no answer.",
    Status.NOTHING_RELEVANT: "The items of the question have no statement that bears on it.",
}


_ALWAYS_LOST = (
    limits.CutReason.TOKEN_BUDGET,
    limits.CutReason.DEADLINE,
    limits.CutReason.STORE_AWAY,
)
_ITEMS = ("items", "paths", "statements")


def cuts_of(result: RetrievalResult, /) -> list[Cut]:
    """Returns what limits left out of a result that a reader would want.

    That the best items are shown, and that a search passes over what is far away, is no loss. It is
    one where time or tokens ran out, where the answer is from memory or may lack a part, and where
    nothing was found in a region that was cut.
    """
    cuts = [
        cut
        for cut in result.truncated
        if cut.reason in _ALWAYS_LOST
        or (
            cut.reason is limits.CutReason.LIMIT
            and (
                (result.answer is not None and result.answer.truncated)
                if cut.what in _ITEMS
                else cut.what == "edges" and result.status is not Status.OK
            )
        )
    ]
    return [shown(Cut, cut) for cut in cuts]


def shown(output: type[M], source: Any, /, **others: Any) -> M:
    """Returns what a tool answers of an object: those fields of the contract that it has.

    Args:
        output: What the tool answers.
        source: The object.
        others: Fields that the contract has not, or has in another form.
    """
    values = {
        part.name: part.value_of(source)
        for part in parts_of(type(source))
        if part.name in output.model_fields and part.name not in others
    }
    plain = {
        name: value.value if isinstance(value, Enum) else value for name, value in values.items()
    }
    return output(**plain, **others)


def value_id(triple: Triple, /) -> str | None:
    """Returns the id of a triple's value; None for a literal."""
    return triple.value.id if isinstance(triple.value, EntityValue) else None


def retrieved(item: ScoredTriple | ScoredPath, /) -> RetrievedItem:
    """Returns an item of a result."""
    if isinstance(item, ScoredPath):
        edges = [_edge(step.triple, step.reversed) for step in item.steps]
        text_format = TextFormat.PATHS
    else:
        edges, text_format = [_edge(item.triple)], TextFormat.TRIPLES
    return RetrievedItem(
        text=item_text(item, text_format=text_format),
        citation=item_text(item, text_format=TextFormat.CITATIONS),
        score=item.score,
        statements=edges,
    )


def _edge(triple: Triple, reversed_: bool = False) -> Edge:
    return Edge(
        statement_id=triple.statement_id,
        subject_id=triple.head.id,
        property_id=triple.relation.id,
        value_id=value_id(triple),
        reversed=reversed_,
    )


def retrieved_line(item: RetrievedItem, /) -> str:
    """Returns an item of a result as a line: score, text and citation."""
    return one_line(f"{item.score:g} {item.text} {item.citation}")


def linked(entity: LinkedEntity, /) -> NamedEntity:
    """Returns an item that a question names."""
    return shown(NamedEntity, entity, id=entity.entity.id, label=entity.entity.label)


def computed(answer: Answer | None, /) -> ComputedAnswer | None:
    """Returns what the statements say in answer."""
    if answer is None:
        return None
    return shown(
        ComputedAnswer,
        answer,
        item_ids=[entity.id for entity in answer.entities],
        statement_ids=[basis.triple.statement_id for basis in answer.basis],
    )


def answer_line(answer: Answer, /, *, is_sure: bool) -> str:
    """Returns what the statements say in answer, and the first of these as citations."""
    name = "Answer" if is_sure else "Answer, not sure"
    return f"{name} ({answer.kind.value}): {render.answer_line(answer)}"


def part(
    position: int, result: RetrievalResult, indexes: Sequence[int], /, *, code: bool
) -> QuestionPart:
    """Returns one of several questions of a text, by its result."""
    return QuestionPart(
        number=position,
        question=result.question,
        status=result.status.value,
        confidence=result.confidence,
        answer=computed(result.answer),
        item_indexes=list(indexes),
        **reading(result.interpretation, code=code),
    )


def part_lines(position: int, result: RetrievalResult, /, *, code: bool) -> list[str]:
    """Returns one of several questions as lines: what it asks, how sure that is, and its answer."""
    sure = "" if result.confidence is None else f", confidence {result.confidence:.2f}"
    lines = [one_line(f"Question {position}: {result.question} ({result.status.value}{sure})")]
    if result.answer is not None:
        line = answer_line(result.answer, is_sure=result.status is Status.OK)
        lines.append(f"  {line}")
    elif result.items and result.status is Status.OK:
        lines.append(f"  Best: {retrieved_line(retrieved(result.items[0]))}")
    return lines + [f"  {line}" for line in reading_lines(result.interpretation, code=code)]


def reading(read: Interpretation | None, /, *, code: bool) -> dict[str, Any]:
    """Returns the fields of an answer that say how its question was read.

    Args:
        read: Of the result; None where nothing was read.
        code: Whether the query is given in Cypher and SPARQL too.
    """
    if read is None:
        return {}
    fields = {"read_as": read.text, "unread": list(read.unread)}
    return {**fields, "cypher": read.cypher, "sparql": read.sparql} if code else fields


def reading_lines(read: Interpretation | None, /, *, code: bool) -> list[str]:
    """Returns the query that a question was read as, and the words that it does not account for."""
    if read is None:
        return []
    lines = [f"Read as: {read.text}"]
    if read.unread:
        lines.append(f"Words not read: {', '.join(read.unread)}")
    if code:
        lines.append(f"Cypher: {read.cypher}")
        lines.append(f"SPARQL: {read.sparql or 'none, as an id of the query is no IRI'}")
    return [one_line(line) for line in lines]


def source_of(result: RetrievalResult, /) -> Source:
    """Returns where a result came from."""
    return shown(Source, result.provenance)


def statement(item: ItemStatement, label_of: Callable[[str], str] | None, /) -> StatementData:
    """Returns a statement of an item; with qualifiers and references where labels are given."""
    triple, change = item.triple, item.change
    qualifiers = references = None
    if label_of is not None:
        qualifiers = [_part(snak, label_of) for snak in triple.qualifiers]
        references = [
            [_part(snak, label_of) for snak in group.parts] for group in triple.references
        ]
    return StatementData(
        statement_id=triple.statement_id,
        subject_id=triple.head.id,
        property_id=triple.relation.id,
        value_id=value_id(triple),
        text=triple_line(triple),
        citation=citation([triple]),
        rank=triple.rank.value,
        change=None if change.kind is ChangeKind.UNCHANGED else change.kind.value,
        qualifiers=qualifiers,
        references=references,
    )


def ids_of_details(items: Sequence[ItemStatement], /) -> list[str]:
    """Returns the ids in qualifiers and references, whose labels a reader needs."""
    ids: dict[str, None] = {}
    for each in items:
        parts = [part for group in each.triple.references for part in group.parts]
        for snak in (*each.triple.qualifiers, *parts):
            ids[snak.relation] = None
            if isinstance(snak.value, EntityValue):
                ids[snak.value.id] = None
    return list(ids)


def _part(snak: Snak, label_of: Callable[[str], str]) -> Part:
    text = f"{label_of(snak.relation)}: {display_value(snak.value, label_of)}"
    return Part(property_id=snak.relation, text=text)


def statement_lines(triple: Triple, data: StatementData, /, *, outgoing: bool) -> str:
    """Returns a statement as a line: its other end and its citation. Details are lines below it."""
    line = data.citation
    if not outgoing:
        line = f"{triple.head.label} ({triple.head.id}) {line}"
    elif data.value_id is not None:
        line = f"{triple.value_label} ({data.value_id}) {line}"
    lines = [one_line(line)]
    if data.rank != "normal":
        lines[0] += f" rank: {data.rank}"
    if data.change is not None:
        lines[0] += f" {data.change} in this view"
    lines += [one_line(f"  qualifier {part.text}") for part in data.qualifiers or ()]
    for index, group in enumerate(data.references or (), 1):
        lines += [one_line(f"  reference {index} {part.text}") for part in group]
    return "\n".join(lines)


def item_relation(relation: browsing.ItemRelation, /) -> ItemRelation:
    """Returns a relation of an item."""
    return ItemRelation(
        property_id=relation.relation.id,
        label=relation.relation.label,
        direction="outgoing" if relation.outgoing else "incoming",
        count=relation.count,
    )


def item_relation_line(relation: ItemRelation, /) -> str:
    """Returns a relation of an item as a line."""
    return one_line(
        f"{relation.direction} {relation.property_id} {relation.label}: {relation.count}"
    )


def class_data(description: browsing.ClassDescription, /) -> ClassData:
    """Returns a class of a graph."""
    examples = [f"{example.label} ({example.id})" for example in description.examples]
    return ClassData(
        id=description.item.id,
        label=description.item.label,
        count=description.count,
        examples=examples,
    )


def class_line(data: ClassData, /) -> str:
    """Returns a class as a line."""
    return one_line(f"{data.id} {data.label}: {data.count}, {', '.join(data.examples)}")


def relation_data(description: browsing.RelationDescription, /) -> RelationData:
    """Returns a relation of a graph; its example as a citation."""
    return RelationData(
        id=description.relation.id,
        label=description.relation.label,
        count=description.count,
        example=None if description.example is None else citation([description.example]),
    )


def relation_line(data: RelationData, /) -> str:
    """Returns a relation as a line."""
    return one_line(f"{data.id} {data.label}: {data.count}, {data.example or ''}")


def passage_data(scored: ScoredPassage, /) -> PassageData:
    """Returns a passage; it is cited by its item, or by its own id."""
    passage = scored.passage
    cited = f"[{passage.entity or passage.id}, passage: {passage.title or passage.source}]"
    return shown(
        PassageData,
        passage,
        id=passage.id,
        entity_id=passage.entity,
        citation=cited,
        score=scored.score,
    )


def passage_line(data: PassageData, /) -> str:
    """Returns a passage as a line: score, text and citation."""
    return one_line(f"{data.score:g} {data.text} {data.citation}")


def graph_data(graph: GraphInfo, /) -> GraphData:
    """Returns a graph as the tools describe it."""
    return shown(GraphData, graph)


def graph_line(graph: GraphData, /) -> str:
    """Returns a graph as a line."""
    return (
        f"{graph.name}: {graph.items} items, {graph.statements} statements, "
        f"{graph.properties} properties, from {graph.source}"
    )


def view_data(view: StoredView, /) -> ViewData:
    """Returns a stored view as the tools describe it."""
    return shown(ViewData, view, level=view.spec.level)


def view_line(view: ViewData, /) -> str:
    """Returns a stored view as a line."""
    level = f" level {view.level:g}" if view.level is not None else ""
    stale = ", stale" if view.stale else ""
    return one_line(f"{view.name or view.view_id}: {view.method}{level} ({view.state}{stale})")
