"""Fields resolved without Strawberry's wrapping give what they give with it."""

from __future__ import annotations

from typing import Any

import pytest
from demo_graph import ARNOLD, QUESTION
from graphql import GraphQLObjectType

from graph_service import Service
from graph_service.api import schema as module
from graph_service.api.resolving import resolve_directly
from graph_service.client.documents import DOCUMENTS

HALF = {"spec": {"method": "RELATION_REPLACEMENT", "level": 0.5, "randomSeed": 3}}
VARIABLES: dict[str, dict[str, Any]] = {
    "triplets": {"input": {"question": QUESTION, "view": HALF}, "details": True},
    "paths": {"input": {"question": QUESTION, "limit": 4}, "details": True},
    "subgraph": {"input": {"question": QUESTION}},
    "neighbourhood": {"id": ARNOLD, "hops": 1, "limit": 20, "view": HALF},
    "compare": {"input": {"question": QUESTION}, "strategy": "PATHS", "views": [HALF]},
    "retrieve_many": {
        "inputs": [{"question": QUESTION, "limit": 2}, {"question": " "}],
        "strategy": "PATHS",
    },
    "graphs": {"first": 2},
    "graph": {},
    "items": {"ids": [ARNOLD, "Q1"], "language": "de"},
    "item_statements": {"id": ARNOLD, "first": 50, "languages": ["de"], "relationIds": ["P26"]},
    "neighbours": {"id": ARNOLD, "first": 5, "direction": "INCOMING", "details": True},
    "search": {"query": "Arnold", "limit": 3},
    "views": {"first": 10},
    "page_views": {"ids": [ARNOLD]},
    "passage_sets": {},
}
BY_HAND = """{
    item(itemId: "Q2685") { label(languageCode: "de") aliases(languageCode: "de") description labelLanguages
      statements(propertyIds: ["P26"], first: 2) {
        nodes { id qualifiers(propertyId: "P580") { property { id label(languageCode: "en") } valueText } } } }
    paths(input: {question: "Who is Arnold Schwarzenegger's wife?"}) { text(format: NUMBERED) columns { score } }
    bad: view(reference: "nothing") { diff(first: 3) { totalCount } }
}"""


def without_timings(response: Any) -> Any:
    if isinstance(response, dict):
        return {
            key: without_timings(value)
            for key, value in response.items()
            if key not in ("timings", "requestId")
        }
    return [without_timings(one) for one in response] if isinstance(response, list) else response


@pytest.mark.parametrize("name", [*VARIABLES, "by hand"])
def test_an_answer_is_the_same_either_way(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    document = DOCUMENTS.get(name, BY_HAND)
    direct = module.execute(demo_service, document, VARIABLES.get(name))
    assert "errors" not in direct
    wrapped = module._make_schema()
    monkeypatch.setattr(module, "schema", wrapped)
    assert without_timings(module.execute(demo_service, document, VARIABLES.get(name))) == (
        without_timings(direct)
    )
    assert resolve_directly(wrapped._schema) > 200


def test_only_fields_of_our_own_kinds_of_argument_are_direct() -> None:
    """A version of Strawberry that this is not made for would leave all as they are."""
    wrapped = module._make_schema()
    before = {
        (type_.name, name): field.resolve
        for type_ in wrapped._schema.type_map.values()
        if isinstance(type_, GraphQLObjectType)
        for name, field in type_.fields.items()
    }
    count = resolve_directly(wrapped._schema)
    left = {
        f"{kind}.{name}"
        for (kind, name), resolve in before.items()
        if wrapped._schema.type_map[kind].fields[name].resolve is resolve  # type: ignore[attr-defined]
        and not kind.startswith("__")
    }
    assert {one for one in left if not one.startswith(("Query.", "Mutation."))} == {
        "Item.statements", "Item.neighbours", "Item.relations", "Graph.classes", "Graph.relations",
        "TripletsResult.text", "PathsResult.text", "SubgraphResult.text", "ScoredStatement.text",
        "Path.text", "Graph.exampleQuestions", "Graph.introduction",
    }  # fmt: skip
    own = [kind for kind, _ in before if not kind.startswith("__")]
    assert count == len(own) - len(left)
    assert "Query.paths" in left
