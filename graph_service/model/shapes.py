"""The shapes of what callers get; see ``contract``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson

from graph_service.model.answer import Interpretation, RankedReading, ReadConstraint
from graph_service.model.browsing import (
    CancelledJob,
    ClassDescription,
    ClientViewChange,
    CreatedView,
    DeletedGraph,
    DeletedPassages,
    DeletedView,
    Direction,
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
    BigInt,
    Conversion,
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
from graph_service.model.experiment_shapes import EXPERIMENT_SHAPES
from graph_service.model.graph_info import GraphInfo, UnfinishedLoad
from graph_service.model.introduction import ExampleQuestion, Introduction
from graph_service.model.limits import Cut, CutKind
from graph_service.model.named_values import NamedValue, by_name, named_values
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import (
    ClientPassageSet,
    Passage,
    PassagesResult,
    ScoredPassage,
)
from graph_service.model.render import Columns
from graph_service.model.result import (
    Answer,
    AnswerSet,
    BasisStatement,
    ClientComparison,
    FoundItem,
    LinkedEntity,
    PathsResult,
    Prizes,
    Provenance,
    ReadingOfSet,
    RegionReport,
    RegionStats,
    ResultPart,
    Retrieval,
    ScoredPath,
    ScoredTriple,
    ScorePart,
    ScorePartName,
    StageTiming,
    Step,
    SubgraphResult,
    Tokens,
    TripletsResult,
)
from graph_service.model.serialise import to_plain
from graph_service.model.source_names import owner_name, source_name, with_source_names
from graph_service.model.stored_view import Deviation, StoredView, ViewCounts, ViewReport
from graph_service.model.value_shapes import VALUE_SHAPES
from graph_service.model.view_spec import Change, LiteralChange, Scope, ViewSpec


def _as_stored(value: Any) -> Any:
    return value


SOURCE = Conversion(str, source_name, _as_stored)
OWNER = Conversion(str, owner_name, _as_stored)
JSON = Conversion(str, lambda value: orjson.dumps(to_plain(value)).decode(), orjson.loads)
VIEW_SPEC = Conversion(ViewSpec, ViewSpec.from_json, ViewSpec.to_json)
COUNTS = Conversion(
    ViewCounts | None, ViewCounts.of, lambda counts: counts.by_kind() if counts else {}
)
NAMED_VALUES = Conversion(
    tuple[NamedValue, ...], lambda values: named_values(with_source_names(values)), by_name
)
PARAMETERS = Conversion(
    tuple[NamedValue, ...],
    lambda parameters: named_values(to_plain(parameters), split=True),
    by_name,
)
NUMBERS = Conversion(
    tuple[float, ...],
    lambda prizes: (prizes.head, prizes.edge, prizes.tail),
    lambda numbers: Prizes(*numbers),
)
TIMINGS = Conversion(
    tuple[StageTiming, ...],
    lambda timings: tuple(StageTiming(stage, round(ms, 3)) for stage, ms in timings.items()),
    lambda timings: {each.stage: each.milliseconds for each in timings},
)
DIRECTION = Conversion(
    Direction,
    lambda outgoing: Direction.OUTGOING if outgoing else Direction.INCOMING,
    lambda direction: direction is Direction.OUTGOING,
)
CURSOR = computed("Where it stands, for the argument after.", kind=str)

_STANDS_FOR = (
    "The statementIds of statements left out for this one, which says the same: in another "
    "language, or of another edition of the item."
)

_SOURCE = (
    "The source that states it, such as dbpedia.org, where its item or value is one thing with "
    "items of other sources; null elsewhere."
)

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
    ReadConstraint: shape(
        "ReadConstraint",
        "What a question says beside its relations, as it was read.",
        text="As the question says it.",
        kind="What it asks for.",
        met="Of a result, whether anything found meets it; of an item, whether this one.",
    ),
    Cut: shape(
        "Cut",
        "Something that a limit left out.",
        what=at("What was left out.", kind=CutKind),
        reason="Why.",
        limit="The limit that was met.",
        kept="How many stayed.",
        total="How many there were, where that is known.",
    ),
    Tokens: shape(
        "Tokens",
        "Size of the result's text.",
        count="How many tokens the text has.",
        tokenizer="Whose tokens they are.",
    ),
    RegionStats: shape(
        "RegionFigures",
        "Figures of a region of a graph.",
        nodes="How many nodes it has.",
        edges="How many edges it has.",
        mean_degree="Edges a node, both ends counted.",
        clustering="Mean clustering coefficient; null where it was not measured.",
        density="Share of all possible edges that it has.",
    ),
    RegionReport: shape(
        "RegionReport",
        "Figures of the region before and after PageRank cut it.",
        before="Before the cut.",
        after="After the cut.",
    ),
    Provenance: shape(
        "Provenance",
        "Where a result came from.",
        graph="The name of the graph.",
        edition="The edition that was read.",
        edges_fingerprint=at("Of the statements of that edition.", path="fingerprints.edges"),
        content_fingerprint=at("Of all that the edition says.", path="fingerprints.content"),
        view_id="The viewId of the view that was asked; null for the graph itself.",
        strategy="What was retrieved.",
        preset="The preset, in its version.",
        embedder="What made vectors of texts.",
        solver="What solved for the subgraph.",
        version="The version of graph-service.",
        view_spec=at("The specification of that view.", kind=VIEW_SPEC),
        parameters=at(
            "All parameters as resolved, the preset's included, one by one.",
            kind=PARAMETERS,
            read=False,
        ),
        parameters_json=at(
            "The same as one JSON object, which takes a program less time.",
            path="parameters",
            kind=JSON,
        ),
    ),
    BasisStatement: shape(
        "BasisStatement",
        "A statement that an answer rests on.",
        statement=at("The statement.", path="triple", kind=Statement),
        subject=at("What it is said of.", path="triple.head"),
        change="How it differs from the base.",
        stands_for=at(_STANDS_FOR, path="triple.stands_for", kind=Id),
        source=at(_SOURCE, path="triple.source"),
    ),
    Answer: shape(
        "Answer",
        "What the statements found say in answer.",
        kind="What it tells.",
        value="A number in decimal digits; yes or no; else the labels of what is meant.",
        text=(
            "The answer to be printed: yes, 1947-07-30, 5.2 kg, or labels; of a count the number "
            "and the first five."
        ),
        values=(
            "The answer to be compared, one text for each thing that is meant: an itemId, true or "
            "false, a number in decimal digits, a date as far as it is known, such as 1947-07."
        ),
        items=at("What is meant, for entities and superlatives.", path="entities"),
        basis="The first twenty statements that it rests on.",
        statements="How many those are in all.",
        truncated="Whether limits left out statements that may count.",
    ),
    RankedReading: shape(
        "RankedReading",
        "A query that a question may mean: a start and its properties.",
        text="In English, with labels of the graph.",
        score="What the paths of its answers score before constraints, at most 1.",
    ),
    Interpretation: shape(
        "Interpretation",
        "How a question was read: the query whose answers come first.",
        text="In English, with labels of the graph.",
        cypher="On the graph in Neo4j, with the layout that our stores have.",
        sparql="Over direct triples; null where an id is neither Wikidata's nor an IRI.",
        unread="Words of the question that nothing in the query accounts for, in order.",
        ranked="The ten best queries, without what constrains them, best first.",
    ),
    ReadingOfSet: shape(
        "ReadingOfSet",
        "A query that a question may mean, with what it answers.",
        text="In English, with labels of the graph.",
        gap="How far its learned score is below that of the first, at most 0.",
        values="Its first twenty answers as a program compares them: ids of items, values.",
        labels="The same for people.",
        count="How many answers it has.",
    ),
    AnswerSet: shape(
        "AnswerSet",
        "The smallest set of readings whose answers hold the right one in a share of questions.",
        coverage="The share that was requested.",
        is_attained=(
            "Whether the calibration reached it; else all readings are there, and the right answer "
            "is missing more often."
        ),
        readings="Best first.",
    ),
    ResultPart: shape(
        "QuestionPart",
        "One of several questions of a text, with what the result has of it.",
        question="As it was read: a pronoun has the name that it stands for.",
        status="How its retrieval ended.",
        status_text="The status in words, to be shown where nothing was found.",
        linked="The items that it was taken to name.",
        item_indexes="Its items among those of the result, from 0, best first.",
        relevance="How much the best properties found are like it, at most 1.",
        confidence="How probably its first answer is right, 0 to 1.",
        constraints="What it was read to state beside its relations.",
        answer="What the statements say in answer.",
        interpretation="How it was read; null where no path was found.",
    ),
    ScoredTriple: shape(
        "ScoredStatement",
        "A statement with its score and its parts.",
        statement=at("The statement.", path="triple", kind=Statement),
        subject=at("What it is said of.", path="triple.head"),
        score="What it is ranked by.",
        prizes=at("Of subject, edge and value.", kind=NUMBERS),
        change="How it differs from the base.",
        origin_id=(
            "The itemId of the question's item that it is fewest steps from; empty without a "
            "question."
        ),
        constraints="Those that were read, and whether the path it is of meets each.",
        stands_for=at(_STANDS_FOR, path="triple.stands_for", kind=Id),
        source=at(_SOURCE, path="triple.source"),
        id=computed("A global id of this item of this result, opaque."),
        text=computed("The item as text for a prompt."),
        citation=computed("The item as a citation: [Q1, property: value]."),
    ),
    Step: shape(
        "Step",
        "One edge of a path.",
        statement=at("The statement.", path="triple", kind=Statement),
        subject=at("What it is said of.", path="triple.head"),
        reversed="Whether it was walked from value to subject.",
        change="How the statement differs from the base.",
        stands_for=at(_STANDS_FOR, path="triple.stands_for", kind=Id),
        source=at(_SOURCE, path="triple.source"),
    ),
    ScorePart: shape(
        "ScorePart",
        "A part of a score.",
        name=at("What it stands for.", kind=ScorePartName),
        amount="What it adds to the score.",
    ),
    ScoredPath: shape(
        "Path",
        "A path from an item of the question.",
        steps="Its edges, in order.",
        score="What it is ranked by.",
        origin_id="The itemId of the question's item that it begins at, or is fewest steps from.",
        constraints="Those that were read, and whether it meets each.",
        id=computed("A global id of this item of this result, opaque."),
        path_id=computed("Hash of its statements: the same path in every result has it."),
        parts="The parts of the score, which add up to it.",
        text=computed("The item as text for a prompt."),
        citation=computed("The item as citations, one a step: [Q1, property: value]."),
    ),
    LinkedEntity: shape(
        "LinkedItem",
        "An item that the question was taken to name.",
        item=at("The item.", path="entity"),
        mention="The words of the question; empty where given.",
        start="Characters into the question; -1 where given.",
        end="Characters into the question; -1 where given.",
        score="How sure it is, at most 1.",
        alternatives="Other items that the same words may mean, best first.",
        swapped_for="The irrelevant item that was started from instead, where that was asked for.",
    ),
    Columns: shape(
        "Columns",
        "A result as parallel lists; numbers point into the node lists.",
        node_ids="The itemId of each node; empty for a literal.",
        node_labels="The label of each node.",
        property_ids=at("Each propertyId once.", path="relation_ids"),
        property_labels=at("The label of each property.", path="relation_labels"),
        statement_ids="The statementId of each row.",
        subject=at("The node of each row's subject.", path="head"),
        property=at("The property of each row.", path="relation"),
        value="The node of each row's value.",
        score="The score of each row's item.",
        reversed="Whether each row was walked from value to subject.",
        path_offsets="The row at which each path begins, and the end of the last.",
    ),
    Retrieval: shape(
        "Result",
        "What all retrievals have in common.",
        id=computed("A global id, opaque: of the edition and the resultId."),
        result_id=at(
            (
                "Hash of what was asked and what was found: same request, same answer, same "
                "resultId."
            ),
            path="id",
        ),
        question="The question as asked; empty where none was.",
        status="How the retrieval ended.",
        status_text="The status in words, to be shown where nothing was found.",
        linked="The items that the question was taken to name.",
        columns=computed("The result as parallel lists, for programs."),
        text=computed("The result as text for a prompt, one item a line."),
        truncated="What limits left out.",
        tokens="Size of the text.",
        region="Figures of the region before and after PageRank cut it; null where it was not.",
        provenance="Where the result came from.",
        relevance="How much the best properties found are like the question, at most 1.",
        confidence="How probably the first answer is right, 0 to 1. Null where the preset does not say.",
        constraints=(
            "What the question was read to state beside its relations; the items that meet it "
            "come first."
        ),
        answer=(
            "What the statements say in answer, where the question asks for more than items and "
            "it is sure."
        ),
        interpretation="How the question was read; null where no path was found.",
        answer_set=(
            "The readings that hold the right answer with the coverage requested; null where none "
            "was, or the answer was computed."
        ),
        parts="The questions of a text that asks several, in order; empty for one.",
        timings=at("How long each stage took.", path="timings_ms", kind=TIMINGS),
    ),
    TripletsResult: shape(
        "TripletsResult",
        "The triples of highest total prize.",
        items="The statements, best first.",
    ),
    PathsResult: shape(
        "PathsResult",
        "The best paths from the question's items.",
        items="The paths, best first.",
    ),
    SubgraphResult: shape(
        "SubgraphResult",
        "One connected subgraph.",
        items="The statements of the subgraph, best first.",
        objective="Node prizes and (edge prize - cost), summed.",
        gap="Share by which the optimum can at most be better.",
    ),
    ClientComparison: shape(
        "Comparison",
        "One view's result beside the base's.",
        view_id="The viewId of the view; null for the base.",
        view_spec=at("The specification of the view; null for the base.", kind=VIEW_SPEC),
        result=at("What the view gives.", read=False),
        lost=at("The statementIds of the base's result that this one lacks.", kind=Id),
        gained=at("The statementIds of this result that the base's lacks.", kind=Id),
        changed=at("The statementIds of this result that the view made.", kind=Id),
    ),
    FoundItem: shape(
        "SearchEdge",
        "An item found by name, in a page of them.",
        cursor=CURSOR,
        node=at("The item.", path="item"),
        matched="The name that matched.",
        language_code=at("The language of that name.", path="language"),
        is_alias="Whether that name is an alias, no label.",
        score="1 for a label equal to the query; falls from there.",
    ),
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
    Scope: shape(
        "ViewScope",
        "Which statements a view may change.",
        statement_ids="These only, if any.",
        property_ids=at("Of these properties only.", path="relation_ids"),
        around_item_ids=at("Around these items only.", path="around_entity_ids"),
        hops="Steps around such an item.",
        of_question="Around the items of the question that is asked only.",
        pruned="Only what PageRank keeps of that.",
    ),
    LiteralChange: shape(
        "LiteralChange",
        "A literal that a change sets.",
        type="What the content is.",
        content="The text, number, time or address.",
        language_code="Language of a monolingual text.",
        unit_id="Item of the unit of a quantity.",
        precision="Of a time.",
    ),
    Change: shape(
        "SpecifiedChange",
        "A change that a caller has listed.",
        statement_id="The statement to change; null where one is added.",
        remove="Whether the statement goes.",
        subject_id=at("The itemId of the subject of an added statement.", path="head"),
        property_id=at("The property that it gets.", path="relation"),
        item_id="The itemId of its value, where that is an item.",
        literal="Its value, where that is a literal that the API can set; json has all others.",
    ),
    ViewSpec: shape(
        "ViewSpec",
        "What a view is asked to be.",
        method="How it changes its base.",
        level="Share of the edges in scope that change.",
        count="Number of edges that change.",
        random_seed=at("Random seed by which edges are drawn.", kind=BigInt),
        sampling="How edges are drawn.",
        scope="What the view may change.",
        statement_ids="Withholding: the statements, in the order they go.",
        changes="Custom: the changes.",
        scorer="By which replacement finds a property least likely.",
        replacement="Which property takes another's place in a replacement.",
        nth="Replacement: which of the least likely it is.",
        item_ids=at(
            "Of path deletion and insertion: the items that the question names.", path="entity_ids"
        ),
        answer_ids="Of path deletion and insertion: the items that answer it.",
        target_ids="Insertion: the items that chains lead to, in this order.",
        control="Path deletion: whether matching statements on no path go instead.",
        control_by="Path deletion: what these match.",
        cardinality="Contradiction: how many values the properties have that it takes.",
        rule_atoms="Rule deletion: statements of a body, at most.",
        rule_support="Rule deletion: support of a rule, at least.",
        rule_confidence="Rule deletion: PCA confidence of a rule, at least.",
        naming="What becomes of names.",
        algorithm="Version of the rules by which it is drawn.",
        json="The whole specification, as files hold it.",
    ),
    ViewCounts: shape(
        "ViewCounts",
        "How many statements a view changes.",
        removed="Those that it lacks.",
        relation_changed="Those with another property.",
        value_changed="Those with another value.",
        added="Those that only it has.",
        head_changed="Those with another subject.",
        rank_changed="Those with another rank.",
        names_changed="Items with other names.",
    ),
    ViewReport: shape(
        "ViewReport",
        "What making a view came to.",
        scope_edges="Edges that could be changed; of names the items.",
        level_asked="The share that was asked for.",
        level_reached="The share that was changed.",
        counts=at("How many statements changed; null until it is done.", kind=COUNTS),
        unavoidable="Changes that repeat a statement, because no other choice was left.",
        notes="Why a level was not reached.",
    ),
    Deviation: shape(
        "Deviation",
        "How far a view is from its base. 1 is the base itself, 0 the farthest.",
        ats="Mean plausibility of the view's edges (ATS).",
        ats_base="The same of the base.",
        ats_edges="How many edges ats is the mean of.",
        unscored="Edges of which no plausibility is known.",
        scorer="What tells plausibility.",
        sc2d="Likeness of clustering coefficients (SC2D).",
        sd2="Likeness of degrees (SD2).",
        scorer_accuracy="Share of edges held out, and of as many wrong ones, that the scorer tells right.",
        scorer_calibration_error="Mean distance there between its score and the share of right edges.",
    ),
    StoredView: shape(
        "View",
        "A perturbed view of a graph, stored.",
        view_id=at(
            "The view's id: a hash of what its base says and of its specification.", path="id"
        ),
        name="The name that a person gave it.",
        graph="The name of its graph.",
        method=at("How it changes its base.", path="spec.method", read=False),
        edges_fingerprint=at(
            "Fingerprint of the statements of the base it was made for.", path="edges"
        ),
        spec="What it was asked to be.",
        state="How far the making of it has come.",
        progress="Share of that work which is done, 0 to 1.",
        report="What making it came to.",
        deviation="How far it is from its base; null until it is done.",
        error="Why making it has failed; empty where it has not.",
        note="What its maker wanted to remember.",
        created_at="When it was made.",
        stale="Whether the statements of its base have changed since.",
        diff=computed(
            "What the view changes: statements removed, changed, then added; then names."
        ),
    ),
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
