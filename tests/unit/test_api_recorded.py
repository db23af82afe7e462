"""Whole answers of the GraphQL API, every field of every type asked for, as recorded.

``tests/golden/api_answers.json`` holds them to be read in a review. A changed answer is a changed
API: record anew with ``PYTHONPATH=tests/unit:tests:. python tests/unit/test_api_recorded.py >
tests/golden/api_answers.json``, and read what differs.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    get_named_type,
    is_union_type,
)
from graphs import load_graph, sample_entities, sample_statements
from word_vectors import Letters

from graph_service import Service, open_service
from graph_service.api.schema import execute, schema
from graph_service.model.passage import make_passage
from graph_service.model.statement import Entity, EntityKind, Rank, Statement, make_statement
from graph_service.model.values import EntityValue, Time
from graph_service.settings import Settings
from graph_service.store.page_views import make_table, save_page_views

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "api_answers.json"
TYPES: GraphQLSchema = schema._schema
DEPTH = 7
MOST_FIELDS = 1200
# Times, and what differs between machines and versions of this package.
VARYING = {
    *(
        "requestId",
        "createdAt",
        "publishedAt",
        "loadedAt",
        "timingsMs",
        "timings",
        "toolVersion",
    ),
    *("version", "startedAt", "updatedAt", "finishedAt", "at", "milliseconds", "solver"),
    *("cursor", "startCursor", "endCursor"),
}
PEOPLE = {"Q1": "Anna Lee", "Q2": "Bert Lee", "Q3": "Cleo Moss", "Q4": "Rome", "Q6": "Dora Moss"}
RELATIONS = {"P22": "father", "P25": "mother", "P26": "spouse", "P19": "place of birth"}
STATEMENTS: list[Statement | Sequence[str]] = [
    *[("Q1", "P26", "Q2"), ("Q2", "P25", "Q3"), ("Q3", "P19", "Q4"), ("Q1", "P22", "Q6")],
    *[("Q2", "P19", "Q4"), ("Q6", "P26", "Q3"), ("Q1", "P25", "Q3"), ("Q1", "P19", "Q4")],
    make_statement("Q1", "P569", Time("1952-03-11T00:00:00Z", 11), rank=Rank.PREFERRED),
    make_statement("Q2", "P26", EntityValue("Q3"), rank=Rank.DEPRECATED),
]


@contextmanager
def opened(folder: Path) -> Iterator[Service]:
    """A family, and a graph of every kind of value, with passages, page views and views."""
    settings = Settings(vectors=str(folder / "vectors.db"), cache_dir=str(folder))
    url = f"sqlite:///{folder / 'graph.db'}"
    with open_service(url, settings=settings, embedder=Letters()) as service:
        named = [Entity(id_, labels={"en": label}) for id_, label in PEOPLE.items()]
        named[0] = Entity("Q1", labels={"en": "Anna Lee", "de": "Anna L."}, aliases={"en": ("AL",)})
        named += [
            Entity(id_, kind=EntityKind.PROPERTY, labels={"en": label})
            for id_, label in RELATIONS.items()
        ]
        load_graph(service.store, "family", STATEMENTS, named)
        load_graph(service.store, "kinds", sample_statements(), sample_entities())
        views = {"Q1": {"2021-01": 2400, "2021-02": 50}, "Q3": {"2021-02": 100}}
        table = make_table(views, months=("2021-01", "2021-02"), source="test")
        save_page_views(service.store, "family", table)
        with service.store.passages.begin("family", source="s", options={}, owner="t") as load:
            texts = ["Anna Lee lives in Rome.", "Cleo Moss is her mother.", "Rome is old."]
            load.write(
                [
                    make_passage(text, title=title, source="s")
                    for text, title in zip(texts, ("Anna Lee", "Cleo", "Rome"), strict=True)
                ],
                checkpoint={},
            )
            load.publish()
        yield service


def selection(
    of: GraphQLObjectType,
    depth: int,
    left: list[int],
    others: Sequence[GraphQLObjectType] = (),
    *,
    level: int = 0,
) -> str:
    """Every field of a type that needs no argument, down to a depth.

    A field that other types of a union have with another type goes by a name of its own. A page
    further down has its total count alone: an item has pages of items that have pages. A part of a
    question has few of its fields: it has the types that its result has.
    """
    words = []
    for name, field in of.fields.items():
        twins = [one.fields[name].type for one in others if name in one.fields]
        if any(str(twin) != str(field.type) for twin in twins):
            name = f"{name}Of{of.name}: {name}"
        if any(isinstance(arg.type, GraphQLNonNull) for arg in field.args.values()):
            continue
        inner = get_named_type(field.type)
        left[0] -= 1
        if left[0] < 0:
            break
        if isinstance(inner, (GraphQLScalarType, GraphQLEnumType)):
            words.append(name)
        elif depth > 1 and is_union_type(inner):
            words.append(f"{name} {united(inner.types, depth - 1, left, level=level + 1)}")
        elif depth > 1 and inner.name == "QuestionPart":
            words.append(f"{name} {{ question status itemIndexes }}")
        elif depth > 1 and level > 0 and "pageInfo" in inner.fields:
            words.append(f"{name} {{ totalCount }}")
        elif depth > 1:
            words.append(f"{name} {within(inner, depth - 1, left, level=level + 1)}")
    return " ".join(words)


def within(
    of: Any,
    depth: int,
    left: list[int],
    others: Sequence[GraphQLObjectType] = (),
    *,
    level: int = 0,
) -> str:
    """A selection; where nothing of a type is left to select, its name."""
    return f"{{ {selection(of, depth, left, others, level=level) or '__typename'} }}"


def united(
    types: Sequence[GraphQLObjectType], depth: int, left: list[int], *, level: int = 0
) -> str:
    """A selection of each type of a union."""
    parts = [
        f"... on {part.name} {within(part, depth, left, types, level=level)}" for part in types
    ]
    return f"{{ __typename {' '.join(parts)} }}"


def document(root: str, arguments: str, depth: int = DEPTH, kind: str = "query") -> str:
    of = TYPES.query_type if kind == "query" else TYPES.mutation_type
    assert of is not None
    inner = get_named_type(of.fields[root].type)
    called = f"{root}({arguments})" if arguments else root
    if isinstance(inner, GraphQLScalarType):
        return f"{kind} {{ {called} }}"
    if is_union_type(inner):
        return f"{kind} {{ {called} {united(inner.types, depth, [MOST_FIELDS])} }}"
    return f"{kind} {{ {called} {within(inner, depth, [MOST_FIELDS])} }}"


ASK = 'question: "Who is the mother of the spouse of Anna Lee?", graph: "family"'
VIEW = "view: {spec: {method: RELATION_SWAPPING, level: 1.0, randomSeed: 3}}"
DELETED = "{spec: {method: EDGE_DELETION, level: 0.5, randomSeed: 1}}"
OWN = """view: {spec: {method: CUSTOM, changes: [
  {subjectId: "Q1", propertyId: "P26", value: {itemId: "Q6"}},
  {subjectId: "Q1", propertyId: "P1", value: {literal: {type: STRING, content: "x"}}}]}}"""
QUERIES: dict[str, tuple[str, str, int]] = {
    "graphs": ("graphs", "", 4),
    "graph": ("graph", 'name: "family"', 5),
    "item": ("item", 'itemId: "Q1", graph: "family"', 7),
    "item of kinds": ("item", 'itemId: "Q42", graph: "kinds"', 9),
    "redirected item": ("item", 'itemId: "Q4242", graph: "kinds"', 3),
    "no item": ("item", 'itemId: "Q999", graph: "family"', 3),
    "items": ("items", 'itemIds: ["Q1", "Q77", "Q4"], graph: "family"', 3),
    "search": ("searchItems", 'query: "lee", graph: "family"', 4),
    "search one": ("searchItems", 'query: "anna", graph: "family", first: 1, languageCodes: ["de"]', 3),
    "triplets": ("triplets", f"input: {{{ASK}}}", 8),
    "paths": ("paths", f"input: {{{ASK}, limit: 2, languageCodes: [\"de\", \"en\"]}}", 8),
    "subgraph": ("subgraph", f"input: {{{ASK}, maxHops: 2}}", 8),
    "okgqa": ("subgraph", f'input: {{{ASK}, preset: "okgqa", prove: true}}', 6),
    "ltgen": ("triplets", f'input: {{{ASK}, preset: "ltgen", ranks: [NORMAL]}}', 6),
    "swapped": ("triplets", f"input: {{{ASK}, {VIEW}}}", 8),
    "own changes": ("triplets", f"input: {{{ASK}, {OWN}}}", 8),
    "filtered": (
        "paths",
        f'input: {{{ASK}, propertyIds: ["P26", "P25"], excludePropertyIds: ["P19"], minScore: 0.1, '
        'tokenBudget: 40, maxEdges: 6, itemIds: ["Q1"]}',
        6,
    ),
    "many": ("retrieveMany", f'strategy: PATHS, inputs: [{{{ASK}}}, {{{ASK}, itemIds: ["Q99"]}}]', 5),
    "compared": ("compare", f"input: {{{ASK}}}, strategy: TRIPLETS, views: [{DELETED}]", 5),
    "neighbourhood": ("neighbourhood", 'itemId: "Q1", graph: "family", hops: 2, limit: 3', 7),
    "passages": ("passages", 'query: "Where does Anna Lee live?", graph: "family", k: 2', 5),
    "passages by words": ("passages", 'query: "mother", graph: "family", by: WORDS', 5),
    "passage sets": ("passageSets", 'graph: "family"', 4),
    "views": ("views", 'graph: "family"', 5),
    "no view": ("view", 'reference: "nothing", graph: "family"', 3),
    "unknown graph": ("graph", 'name: "none"', 2),
    "bad id": ("items", f"itemIds: {json.dumps(['Q1'] * 201)}", 2),
    "bad limit": ("searchItems", 'query: "x", graph: "family", first: 0', 2),
    "bad hops": ("neighbourhood", 'itemId: "Q1", graph: "family", hops: 99', 2),
    "bad preset": ("triplets", f'input: {{{ASK}, preset: "best"}}', 2),
    "empty question": ("triplets", 'input: {question: " ", graph: "family"}', 2),
    "bad level": ("triplets", f"input: {{{ASK}, view: {{spec: {{method: EDGE_DELETION, level: 2}}}}}}", 2),
    "no write": ("views", 'graph: "family", first: 0', 2),
}  # fmt: skip
MUTATIONS: list[tuple[str, str, str]] = [
    ("made", "createView", 'input: {graph: "family", name: "half", spec: {method: EDGE_DELETION, '
     "level: 0.5, randomSeed: 3}}"),
    ("made again", "createView", 'input: {graph: "family", name: "half", spec: {method: '
     "EDGE_REWIRING, level: 0.5}}"),
    ("made before", "createView", 'input: {graph: "family", name: "other", spec: {method: '
     "EDGE_DELETION, level: 0.5, randomSeed: 3}}"),
    ("updated", "updateView", 'input: {reference: "half", graph: "family", note: "mine"}'),
    ("second", "createView", 'input: {graph: "family", name: "two", spec: {method: '
     "RELATION_REPLACEMENT, count: 2}}"),
    ("listed", "views", 'graph: "family", first: 1'),
    ("shown", "view", 'reference: "half", graph: "family"'),
    ("deleted", "deleteView", 'input: {reference: "half", graph: "family"}'),
    ("deleted again", "deleteView", 'input: {reference: "half", graph: "family"}'),
    ("no passages", "deletePassages", 'input: {graph: "kinds"}'),
    ("passages gone", "deletePassages", 'input: {graph: "family", source: "s"}'),
    ("graph gone", "deleteGraph", 'input: {name: "kinds"}'),
    ("graphs", "graphs", ""),
]  # fmt: skip


def settled(value: Any, name: str = "") -> Any:
    """An answer without what varies; figures to six digits."""
    if name in VARYING:
        return None if value is None else "..."
    if isinstance(value, dict):
        return {key: settled(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [settled(part, name) for part in value]
    return round(value, 6) if isinstance(value, float) else value


def asked(service: Service) -> dict[str, Any]:
    found = {
        name: settled(execute(service, document(root, arguments, depth)))
        for name, (root, arguments, depth) in QUERIES.items()
    }
    assert TYPES.query_type is not None
    for name, root, arguments in MUTATIONS:
        kind = "query" if root in TYPES.query_type.fields else "mutation"
        text = document(root, arguments, 5, kind)
        found[f"then {name}"] = settled(execute(service, text, writable=True))
    found["not writable"] = settled(
        execute(service, 'mutation { deleteGraph(input: {name: "family"}) { name } }')
    )
    return found


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with opened(tmp_path_factory.mktemp("api")) as service:
        return asked(service)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


NAMES = [*QUERIES, *(f"then {name}" for name, _, _ in MUTATIONS), "not writable"]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_is_the_one_recorded(
    answers: dict[str, Any], expected: dict[str, Any], name: str
) -> None:
    assert answers[name] == expected[name]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as service:
        print(json.dumps(asked(service), indent=1, ensure_ascii=False))
