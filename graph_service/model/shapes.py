"""The shapes of what callers get; see ``contract``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from graph_service.model.browsing import (
    CancelledJob,
    ClassDescription,
    ClientViewChange,
    CreatedView,
    DeletedGraph,
    DeletedPassages,
    DeletedView,
    ErrorCode,
    ItemRelation,
    ItemStatement,
    Neighbour,
    PageInfo,
    QuestionError,
    QuestionOutcome,
    RelationDescription,
    UpdatedView,
    ViewChangeKind,
)
from graph_service.model.contract import (
    Id,
    ItemId,
    Part,
    Shape,
    Statement,
    at,
    computed,
    resolved,
    shape,
)
from graph_service.model.conversions import CURSOR, DIRECTION, NAMED_VALUES, OWNER, SOURCE, TIMINGS
from graph_service.model.experiment_shapes import EXPERIMENT_SHAPES
from graph_service.model.graph_info import GraphInfo, UnfinishedLoad
from graph_service.model.introduction import ExampleQuestion, Introduction
from graph_service.model.named_values import NamedValue
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import ClientPassageSet, Passage, PassagesResult, ScoredPassage
from graph_service.model.result import StageTiming
from graph_service.model.result_shapes import RESULT_SHAPES
from graph_service.model.value_shapes import VALUE_SHAPES
from graph_service.model.view_shapes import VIEW_SHAPES

SHAPES: Mapping[Any, Shape] = {
    NamedValue: shape(
        "NamedValue",
        "A name with a value: one option, parameter or figure of many.",
        name="What it is called; a dot stands between the name of a group and that of a part.",
        type="What the value is.",
        text="The value: a text as it is, anything else as JSON writes it.",
        number="The value, where it is a number.",
    ),
    StageTiming: shape(
        "StageTiming",
        "How long a stage of a query took.",
        stage="The stage; total is the whole query.",
        milliseconds="How long it took.",
    ),
    **VALUE_SHAPES,
    PageInfo: shape(
        "PageInfo",
        "Where a page stands in its list, as Relay specifies it.",
        has_next_page="Whether the list goes on after this page.",
        has_previous_page=(
            "Whether the page was asked for by a cursor, so that others come before it."
        ),
        start_cursor="The cursor of the first edge; null where the page is empty.",
        end_cursor="The cursor of the last edge, for the argument after of the next page.",
    ),
    ItemStatement: shape(
        "StatementEdge",
        "A statement of an item in a page of them.",
        cursor=CURSOR,
        node=at("The statement.", path="triple", kind=Statement),
        change="How it differs from the base.",
    ),
    Neighbour: shape(
        "NeighbourEdge",
        "An item at the other end of a statement, in a page of them.",
        cursor=CURSOR,
        node=at("The neighbour.", path="item"),
        statement=at("The statement between both.", path="triple", kind=Statement),
        direction=at("Which end the item asked for is.", path="outgoing", kind=DIRECTION),
        change="How the statement differs from the base.",
    ),
    ItemRelation: shape(
        "ItemRelationEdge",
        "A property of an item's statements, in a page of them.",
        cursor=CURSOR,
        node=at("The property.", path="relation"),
        direction=at("Which end of the statements the item is.", path="outgoing", kind=DIRECTION),
        count="How many statements there are.",
    ),
    RelationDescription: shape(
        "PropertyUseEdge",
        "A property of a graph, in a page of them.",
        cursor=CURSOR,
        node=at("The property.", path="relation"),
        count="How many statements have it, of every rank.",
        example="One of these statements.",
    ),
    ClassDescription: shape(
        "ClassSizeEdge",
        "A class of a graph, what items are instances of, in a page of them.",
        cursor=CURSOR,
        node=at("The class.", path="item"),
        count="How many items are instances of it.",
        examples="Some of these items, three at most.",
    ),
    ClientViewChange: shape(
        "ViewChange",
        "One difference between a view and its base.",
        id=computed("A global id, opaque."),
        kind=at("What became of the statement.", kind=ViewChangeKind),
        words="Both statements in one line.",
        subject=computed("What they are said of; that of the view, where it has another."),
        before="The statement of the base; null for an added one, and for names.",
        after="The statement of the view; null for a removed one, and for names.",
    ),
    CreatedView: shape(
        "CreateViewPayload",
        "What createView came to.",
        view="The view, made or under way.",
        reused=(
            "Whether a view of this specification was there already. It keeps the name and note "
            "that it was given first; updateView changes them."
        ),
    ),
    UpdatedView: shape(
        "UpdateViewPayload", "What updateView came to.", view="The view as it is now."
    ),
    CancelledJob: shape(
        "CancelJobPayload", "What cancelJob came to.", view="The view as it is now."
    ),
    DeletedView: shape(
        "DeleteViewPayload",
        "What deleteView came to.",
        deleted_id=computed("The global id of the view that is gone, for caches.", kind=Id),
        view_id="Its viewId.",
    ),
    DeletedGraph: shape(
        "DeleteGraphPayload",
        "What deleteGraph came to.",
        name="The name of the graph that is gone.",
    ),
    DeletedPassages: shape(
        "DeletePassagesPayload",
        "What deletePassages came to.",
        deleted="How many passages are gone.",
    ),
    QuestionError: shape(
        "QuestionError",
        "Why one question of many has no result.",
        code=at("As in the extensions of an error.", kind=ErrorCode),
        message="What was expected, and what came.",
        argument="The argument at fault, if one is.",
        hint="What would work, where that is known.",
        retryable="Whether the same may work later.",
    ),
    QuestionOutcome: shape(
        "Outcome",
        "What became of one question of many: a result, or an error.",
        result=computed("The result; null for an error."),
        error="Why there is no result; null where there is one.",
    ),
    **RESULT_SHAPES,
    PageViews: shape(
        "PageViews",
        "How often an item's article is read.",
        mean="Views a month.",
        total=at("A whole number, which may pass 2**31.", kind=float),
        months="How many months are known.",
        first="The first of them, such as 2021-01.",
        last="The last of them.",
        level="How rare the item is; null where it is rarer or more popular than all levels.",
        source=at("Where the numbers are from.", kind=SOURCE),
    ),
    UnfinishedLoad: shape(
        "UnfinishedLoad",
        "A load that is not published: under way, or left by a process that died.",
        edition="The edition that it writes.",
        owner=at("A name for the process that loads; it does not name the machine.", kind=OWNER),
        source=at("What is loaded, without its folder.", kind=SOURCE),
        started_at="When it began.",
        statements="Statements written so far.",
        lease_expires_at="Until when nobody else may load the graph.",
    ),
    GraphInfo: shape(
        "Graph",
        "A published graph, in one edition.",
        name="The name of the graph, which arguments named graph take.",
        edition="The edition: the name and a number that each load raises.",
        source=at(
            ("What it was loaded from: the name of a file without its folder, or an endpoint."),
            kind=SOURCE,
        ),
        published_at="When readers first saw the edition.",
        items=at("How many items it has.", path="counts.entities"),
        statements=at("How many statements it has.", path="counts.statements"),
        classes=computed(
            "The classes of its items with their sizes, the largest first: what the graph is about."
        ),
        relations=computed(
            "The properties of its statements with their counts and an example of each, "
            "those used most first."
        ),
        introduction=computed("What it is about, for people who see it for the first time."),
        example_questions=computed(
            "Questions about it that were made of its statements, a question of a kind, five at "
            "most. Each was asked: its answer is right. One of them the graph does not answer."
        ),
        properties=at("How many properties its statements have.", path="counts.relations"),
        literals=at("How many statements have a value that is no item.", path="counts.literals"),
        edges_fingerprint=at(
            (
                "Sum of hashes of its statements; equal graphs have equal ones, whoever loaded "
                "them. Views are bound to it."
            ),
            path="fingerprints.edges",
        ),
        content_fingerprint=at(
            "The same with qualifiers, references and labels.", path="fingerprints.content"
        ),
        options=at("The options of the load.", kind=NAMED_VALUES),
        report=at("What the load came to.", kind=NAMED_VALUES),
        tool_version="Version of graph-service that wrote it.",
        unfinished_load=at(
            "A load of the next edition that is not published yet.", path="unfinished"
        ),
    ),
    Introduction: shape(
        "Introduction",
        "What a graph is about.",
        text="In one line, such as: 331 people, films and other things around A and B.",
        items=at(
            "The items that most statements meet at, the most central first, twelve at most.",
            path="central",
        ),
    ),
    ExampleQuestion: shape(
        "ExampleQuestion",
        "A question about a graph that was asked, so that its answer is known.",
        question="The question.",
        answer="The answer; null where the graph does not answer it, and retrieval says so.",
    ),
    Passage: shape(
        "Passage",
        "A piece of a document, of at most some 100 words.",
        id=computed("A global id, opaque: of the edition, the languages and the passageId."),
        passage_id=at("Hash of title, source and text: the same in every store.", path="id"),
        title="The title of the document; may be empty.",
        source=at("A URL, or the name of a file.", kind=SOURCE),
        text="The text.",
        item=at("What the document is about.", path="entity", kind=ItemId),
    ),
    ScoredPassage: shape(
        "ScoredPassage",
        "A passage that was found.",
        passage="The passage.",
        score="What it is ranked by, at most 1.",
        word_score="BM25 as a share of the most that a passage could have.",
        vector_score="Cosine with the query.",
    ),
    PassagesResult: shape(
        "PassagesResult",
        "Passages for a query, best first.",
        id=computed("A global id, opaque: of the edition and the resultId."),
        result_id=at("Hash of what was asked and what was found.", path="id"),
        query="What was asked.",
        status=computed("NOTHING_RELEVANT where no passage was found."),
        graph="The name of the graph.",
        by="By what passages were found.",
        k="How many were asked for.",
        min_score="What scores less was left out.",
        items="The passages, best first.",
        searched="Passages there were.",
        fingerprint="Of all passages searched.",
        embedder="What made vectors, where they were used.",
        version="The version of graph-service.",
        truncated="What limits left out.",
        timings=at("How long each stage took.", path="timings_ms", kind=TIMINGS),
    ),
    ClientPassageSet: shape(
        "PassageSet",
        "What one load of one source brought.",
        source=at("What was loaded, without its folder.", kind=SOURCE),
        published="Whether readers see it.",
        passages="How many passages.",
        words="Words in all.",
        linked="Passages that have an item.",
        fingerprint="Sum of hashes of the passages.",
        options=at("The options of the load.", kind=NAMED_VALUES),
        report=at("What the load came to.", kind=NAMED_VALUES),
        started_at="When the load began.",
        published_at="When readers first saw it; null until they do.",
    ),
    **VIEW_SHAPES,
    **EXPERIMENT_SHAPES,
}
"""By the dataclass that is shown."""


def parts_of(model: Any, /) -> tuple[Part, ...]:
    """Returns the fields that show an attribute of a dataclass, those of its bases first, in order."""
    return _parts_of(model)


@cache
def _parts_of(model: Any) -> tuple[Part, ...]:
    bases = (base for base in reversed(model.__mro__) if base in SHAPES)
    return tuple(part for base in bases for part in resolved(model, SHAPES[base]))
