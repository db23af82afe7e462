"""The shapes of what a retrieval results in; see ``contract``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_service.model.answer import AnswerMeasure, Interpretation, RankedReading, ReadConstraint
from graph_service.model.contract import Id, Shape, Statement, at, computed, shape
from graph_service.model.conversions import CURSOR, JSON, NUMBERS, PARAMETERS, TIMINGS, VIEW_SPEC
from graph_service.model.limits import Cut, CutKind
from graph_service.model.render import Columns
from graph_service.model.result import (
    Answer,
    AnswerGroup,
    AnswerSet,
    BasisStatement,
    ClientComparison,
    LinkedEntity,
    MatchingItem,
    PathsResult,
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
    Step,
    SubgraphResult,
    Tokens,
    TripletsResult,
)

_STANDS_FOR = (
    "The statementIds of statements left out for this one, which says the same: in another "
    "language, or of another edition of the item."
)

_SOURCE = (
    "The source that states it, such as dbpedia.org, where its item or value is one thing with "
    "items of other sources; null elsewhere."
)

RESULT_SHAPES: Mapping[Any, Shape] = {
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
    AnswerMeasure: shape(
        "AnswerMeasure",
        "What an average or a total is made of.",
        unit="The label of the unit of its numbers; null for none.",
        values="How many numbers it is made of.",
        missing="How many items have no such number.",
    ),
    AnswerGroup: shape(
        "AnswerGroup",
        "A count, an average or a total of one of some things.",
        item=at("The thing; null where it is a literal.", path="entity"),
        label="Its label, or the text of the literal.",
        value="The number in decimal digits.",
        unit="The label of its unit; null for none.",
    ),
    Answer: shape(
        "Answer",
        "What the statements found say in answer.",
        kind="What it tells.",
        value="A number in decimal digits; yes or no; else the labels of what is meant.",
        text=(
            "The answer to be printed: yes, 1947-07-30, 5.2 kg, or labels; of a count the number "
            "and the first five; of an average or a total of how many numbers it is."
        ),
        values=(
            "The answer to be compared, one text for each thing that is meant: an itemId, true or "
            "false, a number in decimal digits, a date as far as it is known, such as 1947-07."
        ),
        items=at("What is meant, for entities and superlatives.", path="entities"),
        basis="The first twenty statements that it rests on.",
        statements="How many those are in all.",
        truncated="Whether limits left out statements that may count.",
        measure="What an average or a total is made of; null for other answers.",
        groups="The number of each of some things, in the order of the answer; empty for others.",
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
    MatchingItem: shape(
        "SearchEdge",
        "An item found by name, in a page of them.",
        cursor=CURSOR,
        node=at("The item.", path="item"),
        matched="The name that matched.",
        language_code=at("The language of that name.", path="language"),
        is_alias="Whether that name is an alias, no label.",
        score="1 for a label equal to the query; falls from there.",
    ),
}
