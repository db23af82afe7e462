"""Enums of the GraphQL schema: the model's own, with a description of each value."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import strawberry

from graph_service.model.answer import AnswerKind, ConstraintKind
from graph_service.model.browsing import Direction, ErrorCode, ViewChangeKind
from graph_service.model.experiment import ExperimentState
from graph_service.model.limits import CutKind, CutReason
from graph_service.model.named_values import NamedValueType
from graph_service.model.pageviews import LongTailLevel
from graph_service.model.passage import PassageRanking
from graph_service.model.render import TextFormat
from graph_service.model.result import STATUS_TEXTS, ScorePartName, Status, Strategy
from graph_service.model.statement import Rank
from graph_service.model.stored_view import ViewState
from graph_service.model.view_spec import (
    Cardinality,
    ChangeKind,
    ControlMatch,
    LiteralType,
    Method,
    Naming,
    Replacement,
    Sampling,
)


def _describe(kind: type[Enum], about: str, values: Mapping[str, str], /) -> None:
    """Makes an enum one of the schema, with what it and each of its values means."""
    made = strawberry.enum(kind, description=about)
    definition = made.__strawberry_definition__  # type: ignore[attr-defined]
    for value in definition.values:
        value.description = values[value.name]


_describe(
    Strategy,
    "What is retrieved.",
    {
        "TRIPLETS": "The statements of highest total prize.",
        "PATHS": "The best paths from the question's items.",
        "SUBGRAPH": "One connected subgraph of high prize and low cost.",
    },
)
_describe(
    Status,
    "How a retrieval ended. Finding nothing is no error.",
    {status.name: text for status, text in STATUS_TEXTS.items()},
)
_describe(
    Method,
    "How a view changes its base.",
    {
        "RELATION_SWAPPING": "Two statements exchange their properties.",
        "RELATION_REPLACEMENT": "A statement gets the property that is least likely for it.",
        "EDGE_REWIRING": "A statement gets another item as its value.",
        "EDGE_DELETION": "A statement goes.",
        "PATH_DELETION": "A statement of a shortest path between a question and its answer goes.",
        "CONTRADICTION": "A statement gets a false one of another value beside it.",
        "INSERTION": "False statements are added, at random or as chains.",
        "TYPE_PRESERVING": "A statement's subject or value becomes another item of its type.",
        "INVERSION": "A statement's subject and value change places.",
        "RULE_DELETION": "A statement goes that a rule of the graph could restore.",
        "STALE": "The newest value of a property goes, and deprecated statements return.",
        "NAMES": "The labels and aliases of an item become others, or go.",
        "WITHHOLDING": "Statements that are named go, in the order given.",
        "CUSTOM": "Changes that the caller lists.",
    },
)
_describe(
    Sampling,
    "How the statements to change are drawn.",
    {
        "EXACT": "Without replacement, so that the level is met exactly.",
        "OKGQA": "With replacement, as the code of that paper does.",
    },
)
_describe(
    Replacement,
    "Which property takes another's place.",
    {
        "ARGMIN": "The least likely one.",
        "PLAUSIBLE": "One that joins items of the same types.",
    },
)
_describe(
    Cardinality,
    "How many values a property has for its subjects.",
    {
        "FUNCTIONAL": "One value for 95 % of its subjects: another one contradicts it.",
        "SEVERAL": "Several values for more of them: a false one is one more.",
        "ANY": "Either.",
    },
)
_describe(
    ControlMatch,
    "What a control has in common with the statement of a path that it stands for.",
    {
        "DISTANCE": "Steps from the question's items, and the property where it can.",
        "RELATION": "Both in any case.",
        "NUMBER": "Neither: they are as many.",
    },
)
_describe(
    Naming,
    "What becomes of the names of an item.",
    {
        "SLIPS": "Each has a slip of one letter.",
        "SWAPPED": "They are exchanged with those of an item of the same type.",
        "NAMESAKES": "They are exchanged with those of an item that shares a name.",
        "GONE": "They go; the item is called by its id.",
    },
)
_describe(
    ChangeKind,
    "How a statement of a view differs from its base.",
    {
        "UNCHANGED": "The base has the same statement.",
        "RELATION_CHANGED": "The base has it with another property.",
        "VALUE_CHANGED": "The base has it with another value.",
        "ADDED": "The base has no such statement.",
        "HEAD_CHANGED": "The base has it of another subject.",
        "RANK_CHANGED": "The base has it with another rank.",
    },
)
_describe(
    ViewChangeKind,
    "What a view did to a statement, or to the names of an item.",
    {
        "REMOVED": "The view lacks it.",
        "RELATION_CHANGED": "The view has it with another property.",
        "VALUE_CHANGED": "The view has it with another value.",
        "ADDED": "Only the view has it.",
        "HEAD_CHANGED": "The view has it of another subject.",
        "RANK_CHANGED": "The view has it with another rank.",
        "NAMES_CHANGED": "The view gives the item other names.",
    },
)
_describe(
    ViewState,
    "How far the making of a view has come.",
    {
        "RUNNING": "It is being made.",
        "DONE": "It can be asked.",
        "FAILED": "It could not be made; error says why.",
        "CANCELLED": "Somebody cancelled it.",
    },
)
_describe(
    ExperimentState,
    "How far an experiment is, by its files.",
    {
        "RUNNING": "It has no report: it is run, or experiment report was not called yet.",
        "REPORTED": "It has a report.",
        "DAMAGED": "Its files are wrong or half written; problem says how.",
    },
)
_describe(
    Rank,
    "Wikibase's rank of a statement.",
    {
        "PREFERRED": "The best of several.",
        "NORMAL": "Neither better nor worse than others.",
        "DEPRECATED": "Known to be wrong or outdated.",
    },
)
_describe(
    TextFormat,
    "How a result is written as text.",
    {
        "TRIPLES": "One statement a line: (subject | property | value).",
        "NUMBERED": "The same with numbers that a prompt can cite.",
        "CITATIONS": "As KaLMA prints knowledge: [Q1, property: value].",
        "PATHS": "A chain of arrows a line.",
    },
)
_describe(
    AnswerKind,
    "What an answer tells.",
    {
        "ENTITIES": "Items or values.",
        "COUNT": "How many there are.",
        "YES_NO": "Yes or no.",
        "SUPERLATIVE": "The first by some value.",
        "AVERAGE": "The mean of numbers.",
        "GROUPS": "A number of each of some things.",
        "TOTAL": "The sum of numbers.",
    },
)
_describe(
    ConstraintKind,
    "What a constraint asks for.",
    {
        "DATE": "A date in some span.",
        "VALUE": "A value or a type.",
        "ENTITY": "Another item that the question names.",
    },
)
_describe(
    LongTailLevel,
    "How rarely an article is read, in the levels of LTGen.",
    {level.name: f"Level {level.name}." for level in LongTailLevel},
)
_describe(
    PassageRanking,
    "By what passages are found.",
    {
        "WORDS": "By the query's words (BM25).",
        "VECTORS": "By the likeness of vectors (cosine).",
        "BOTH": "By both.",
    },
)
_describe(
    CutReason,
    "Why something was left out.",
    {
        "HUB": "An item has so many statements that it was not walked through.",
        "LIMIT": "There were more than a limit allows.",
        "MASS": "PageRank gave it too little weight.",
        "TOKEN_BUDGET": "The text would have been longer than the budget of tokens.",
        "DEADLINE": "The time allowed ran out.",
        "MIN_SCORE": "It scored less than minScore.",
        "WORK_BUDGET": "Looking at more would have cost too much.",
        "DUPLICATE": "What stayed says the same, in a language asked for or of the same item.",
        "PARALLEL": "Preset okgqa keeps one statement of each subject and value.",
        "STORE_AWAY": "The store did not answer: the result is from memory, as the store was so "
        "many seconds before as limit says.",
    },
)
_describe(
    CutKind,
    "What a limit left out.",
    {
        "EDGES": "Edges of the region.",
        "NODES": "Nodes of the region.",
        "HUBS": "Items of many statements, which were reached and not walked through.",
        "EMBEDDED": "Texts that were not compared with the question.",
        "ITEMS": "Items of the result.",
        "PATHS": "Paths that were looked at.",
        "STATEMENTS": "Statements.",
        "ENTITIES": "Items of the graph.",
        "SEQUENCES": "Sequences of properties.",
        "PASSAGES": "Passages.",
        "UPDATES": "What was published since, and descriptions of items.",
    },
)
_describe(
    ScorePartName,
    "A part of a path's score.",
    {
        "RELEVANCE": "Relevance of the best path.",
        "BELOW_BEST": "How much less than the best path it is worth.",
        "UNMET": "What constraints cost that it leaves unmet and others meet.",
        "REPEATS": "What it costs to end with the property of a better path, where the question asks "
        "for an account.",
        "NODES": "Preset okgqa: prizes of its nodes.",
        "EDGES": "Preset okgqa: prizes of its edges.",
        "COST": "Preset okgqa: cost of its edges.",
        "RELATION": "Preset ltgen: score of its property.",
    },
)
_describe(
    NamedValueType,
    "What a named value is.",
    {
        "NOTHING": "There is no value.",
        "BOOLEAN": "Its text is true or false.",
        "NUMBER": "Its text is a decimal number; number has it too.",
        "TEXT": "Its text is the value.",
        "LIST": "Its text is a JSON list.",
        "OBJECT": "Its text is a JSON object.",
    },
)
_describe(
    LiteralType,
    "Type of a literal given in a change.",
    {
        "STRING": "Plain text.",
        "MONOLINGUAL_TEXT": "Text in the language of languageCode.",
        "QUANTITY": "A decimal number, with a unit in unitId where it has one.",
        "TIME": "A time such as 1947-07-30T00:00:00Z, with a precision.",
        "URL": "An address.",
    },
)
_describe(
    Direction,
    "Which end of a statement an item is.",
    {
        "OUTGOING": "The item is the subject, and its neighbour the value.",
        "INCOMING": "The item is the value, and its neighbour the subject.",
    },
)
_describe(
    ErrorCode,
    "What an error's extensions.code says.",
    {
        "BAD_INPUT": "An argument is at fault, or the document does not fit this schema.",
        "GRAPH_NOT_FOUND": "There is no graph of that name.",
        "VIEW_NOT_FOUND": "There is no view of that id or name.",
        "VIEW_STALE": "The view was made for other statements than the graph has now.",
        "EDITION_GONE": "An id or a cursor is of an edition that another has replaced.",
        "DOCUMENT_NOT_FOUND": "The server answers a list of documents, and this is none of them.",
        "PERSISTED_QUERY_NOT_SUPPORTED": "The hash of a query came alone: send the query's text.",
        "READ_ONLY": "The server only reads.",
        "LIMIT_EXCEEDED": "Too much was asked for.",
        "MAX_COST_EXCEEDED": "The operation costs more than the server allows; it was not run.",
        "THROTTLED": "The client has asked for more than its share in a short time.",
        "TIMEOUT": "The time limit of a query ran out.",
        "STORE_UNAVAILABLE": "The store failed; retryable says whether time may help.",
        "SETUP": "The server lacks something, such as the weights of a model.",
        "FORBIDDEN": "The key, host or origin is refused.",
        "INTERNAL": "A fault of the server, which its log has under requestId.",
    },
)
