"""What the tools answer as structured content; the output schemas are made of these models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, WithJsonSchema

Score = Annotated[float, Field(description="How well it fits; higher is better.")]


class Cut(BaseModel):
    """Something that a limit left out."""

    what: str = Field(description="What was cut, such as items, statements or edges.")
    reason: str = Field(description="token-budget, limit, hub, deadline, store-away, ...")
    limit: float = Field(description="The limit that was met.")
    kept: int = Field(description="How many stayed.")
    total: int | None = Field(default=None, description="How many there were, where known.")


class Answer(BaseModel):
    """What every tool's answer has.

    Attributes:
        tokens: Of the whole answer; see ``budget.count_tokens``.
    """

    # The schema is sent with each tool; what a cut has stands in docs/how-to/mcp.md.
    truncated: Annotated[list[Cut], WithJsonSchema({"type": "array"})] = Field(
        default_factory=list, description="What limits left out; empty if the answer is whole."
    )
    tokens: int = Field(
        default=0, description="Size of this answer at most, text and data together."
    )


class FoundEntity(BaseModel):
    """An item or property found by name."""

    id: str
    label: str
    description: str | None = None
    matched: str = Field(description="The label or alias that matched.")
    score: Score


class FoundEntities(Answer):
    """What ``search_items`` found, best first."""

    items: list[FoundEntity]


class Part(BaseModel):
    """A qualifier, or a part of a reference."""

    property_id: str
    text: str = Field(description="property: value, with labels.")


class StatementData(BaseModel):
    """A statement that an item is an end of."""

    statement_id: str
    subject_id: str
    property_id: str
    value_id: str | None = Field(default=None, description="Id of the value, if it is an item.")
    text: str = Field(description="(subject | property | value), with labels.")
    citation: str
    rank: Literal["preferred", "normal", "deprecated"] = "normal"
    change: str | None = Field(
        default=None, description="How the view changed it; null if it did not."
    )
    qualifiers: list[Part] | None = None
    references: list[list[Part]] | None = None


class ItemRelation(BaseModel):
    """How many statements of a property an item is an end of."""

    property_id: str
    label: str
    direction: Literal["outgoing", "incoming"]
    count: int


class ItemStatements(Answer):
    """What a graph says of one item: its relations, or the statements of one of them.

    Attributes:
        items: Statements, where a property was named.
        relations: Where none was.
    """

    item_id: str
    label: str
    items: list[StatementData] = Field(default_factory=list)
    relations: list[ItemRelation] = Field(default_factory=list)
    total: int = Field(default=0, description="On all pages.")
    next_cursor: str | None = None


class Edge(BaseModel):
    """A statement that a retrieved item consists of."""

    statement_id: str
    subject_id: str
    property_id: str
    value_id: str | None = Field(default=None, description="Id of the value, if it is an item.")
    reversed: bool = Field(
        default=False, description="Whether a path walks it from value to subject."
    )


class RetrievedItem(BaseModel):
    """A triplet, a path, or a statement of a subgraph."""

    text: str = Field(description="The statement or path, with labels.")
    citation: str = Field(description="[Q1, property: value], one a statement.")
    score: Score
    statements: list[Edge]


class NamedEntity(BaseModel):
    """An item that the question was taken to name."""

    id: str
    label: str
    mention: str = Field(description="The words of the question; empty if you gave the id.")
    score: float = Field(description="Confidence, 0 to 1.")


class ComputedAnswer(BaseModel):
    """What the statements say in answer, where that is sure."""

    kind: str = Field(description="entities, count, yes-no, superlative, average, total or groups.")
    text: str
    value: str
    item_ids: list[str]
    statement_ids: list[str] = Field(description="What it rests on.")
    truncated: bool = Field(description="Whether limits left out statements that may count.")


class QuestionPart(BaseModel):
    """One of several questions of a text."""

    number: int
    question: str
    status: str
    confidence: float | None = None
    answer: ComputedAnswer | None = None
    read_as: str | None = None
    unread: list[str] = Field(default_factory=list)
    cypher: str | None = None
    sparql: str | None = None
    item_indexes: list[int]


class Source(BaseModel):
    """Where a result came from: enough to ask for it again."""

    graph: str
    edition: str
    view_id: str | None = Field(
        default=None, description="The perturbed view; null for the graph itself."
    )
    strategy: str
    preset: str


class Retrieved(Answer):
    """What ``retrieve`` found, best first."""

    result_id: str = Field(description="Same request, same result, same id.")
    status: Literal["ok", "no-entity-linked", "low-confidence", "not-in-graph", "nothing-relevant"]
    advice: str | None = Field(default=None, description="What the status means, what to do next.")
    confidence: Annotated[float | None, WithJsonSchema({"type": ["number", "null"]})] = Field(
        default=None, description="How probably the first item is right, 0 to 1."
    )
    linked: list[NamedEntity]
    unmet: list[str] = Field(
        description="Words of the question that limit it and that no item meets."
    )
    answer: ComputedAnswer | None = None
    read_as: str | None = Field(
        default=None, description="The query that it was read as, in words."
    )
    unread: list[str] = Field(
        default_factory=list,
        description="Words of the question that this query leaves out; then the items may not answer it.",
    )
    cypher: str | None = Field(default=None, description="That query in Cypher, if asked for.")
    sparql: str | None = Field(
        default=None, description="That query in SPARQL; null if an id of it is no IRI."
    )
    parts: Annotated[list[QuestionPart], WithJsonSchema({"type": "array"})] = Field(
        default_factory=list, description="Of several questions, each."
    )
    items: list[RetrievedItem]
    provenance: Annotated[Source, WithJsonSchema({"type": "object"})]


class ComparedView(BaseModel):
    """The result on one view, beside the one on the graph itself."""

    view: str = Field(description="As it was given; base for the graph itself.")
    view_id: str | None = None
    result_id: str
    status: str
    items: list[RetrievedItem]
    lost: list[str] = Field(description="Statement ids that only the base's result has.")
    gained: list[str] = Field(description="Statement ids that only this result has.")
    changed: list[str] = Field(description="Statement ids in both, with other content here.")


class Compared(Answer):
    """One question on the graph and on views of it."""

    items: list[ComparedView]
    provenance: Source


class GraphData(BaseModel):
    """A graph."""

    name: str
    edition: str
    items: int
    statements: int
    properties: int
    source: str
    published_at: str


class ClassData(BaseModel):
    """A class of a graph, and how many items are instances of it."""

    id: str
    label: str
    count: int
    examples: list[str] = Field(description="label (id)")


class RelationData(BaseModel):
    """A property of a graph, and how many statements have it."""

    id: str
    label: str
    count: int
    example: str | None = None


class Described(Answer):
    """What a graph is about, or which graphs there are.

    Attributes:
        graph: None where there are several and none was named.
        graphs: Names of all graphs.
    """

    graphs: list[str]
    graph: GraphData | None = None
    classes: list[ClassData] = Field(default_factory=list)
    relations: list[RelationData] = Field(default_factory=list)


class PassageData(BaseModel):
    """A piece of a document."""

    id: str
    title: str
    text: str
    entity_id: str | None = Field(default=None, description="The item that it is about.")
    citation: str
    score: Score


class Passages(Answer):
    """Passages that fit a question, best first."""

    items: list[PassageData]


class ViewData(BaseModel):
    """A stored view: a perturbed copy of a graph, drawn by a method and a level."""

    view_id: str
    name: str | None = None
    graph: str
    method: str
    level: float | None = None
    state: str = Field(description="Only a view that is done can be asked.")
    stale: bool = Field(description="Whether the graph has changed since; then it can't be asked.")
    note: str


class Views(Answer):
    """The stored views of a graph, oldest first."""

    items: list[ViewData]
