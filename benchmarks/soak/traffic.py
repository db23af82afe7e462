"""The requests of a run: what is asked, of which graph, by whom. Each follows from its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from benchmarks.soak.versions import Triple

LOOK_UP, STORED, INLINE, COMPARE = "look-up", "stored view", "inline view", "compare"
RETRIEVALS = ("triplets", "paths", "subgraph")
SHARES = {
    LOOK_UP: 0.35,
    "triplets": 0.16,
    "paths": 0.16,
    "subgraph": 0.08,
    STORED: 0.12,
    INLINE: 0.08,
    COMPARE: 0.05,
}
"""Parts of the traffic by kind."""
CHANGING_SHARE = 0.3
"""Of the requests, those to the graph that is loaded anew."""
_WORDINGS = (
    "What is the {relation} of {name}?",
    "Tell me the {relation} of {name}.",
    "{name}: {relation}?",
    "Which {relation} does {name} have?",
)
_METHODS = ("EDGE_DELETION", "EDGE_REWIRING", "RELATION_REPLACEMENT")
_LEVELS = (0.05, 0.1, 0.2)

_STATEMENT = """
fragment St on Statement {
  property { propertyId label }
  value { __typename ... on ItemValue { item { itemId label } } }
}"""
_RESULT = """
fragment Of on Result {
  status text
  provenance { graph edition edgesFingerprint contentFingerprint viewId }
  linked { item { itemId label } }
}"""
_SCORED = "items { score text subject { itemId label } statement { ...St } }"
_PATHS = "items { score text steps { subject { itemId label } statement { ...St } } }"
_DOCUMENTS = {
    LOOK_UP: """
query LookUp($graph: String!, $id: ID!, $name: String!) {
  graph(name: $graph) { name edition edgesFingerprint contentFingerprint }
  item(itemId: $id, graph: $graph) {
    itemId label
    statements(first: 20) { edges { node { subject { itemId label } ...St } } }
    neighbours(first: 20) { edges { node { itemId label } } }
  }
  searchItems(query: $name, graph: $graph, first: 5) { edges { node { itemId label } } }
}"""
    + _STATEMENT,
    COMPARE: """
query Compare($input: RetrieveInput!, $views: [ViewRefInput!]!) {
  compare(input: $input, strategy: TRIPLETS, views: $views) {
    viewId lost gained changed
    result { ...Of ... on TripletsResult { """
    + _SCORED
    + " } } } }"
    + _RESULT
    + _STATEMENT,
    **{
        name: f"query Ask($input: RetrieveInput!) {{ {name}(input: $input) {{ ...Of {items} }} }}"
        + _RESULT
        + _STATEMENT
        for name, items in (("triplets", _SCORED), ("paths", _PATHS), ("subgraph", _SCORED))
    },
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A graph that is asked.

    Attributes:
        name: Of the graph.
        subjects: Of each question, an item's id with its label and a relation's.
        views: Names of its stored views.
        triples: Where it is loaded anew: those of all its versions.
    """

    name: str
    subjects: Sequence[Triple]
    views: Sequence[str] = ()
    triples: Sequence[Triple] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    Attributes:
        number: From 0.
        kind: One of ``SHARES``.
        graph: That it asks.
        client: Number of the client that sends it.
        body: Of the POST.
    """

    number: int
    kind: str
    graph: str
    client: int
    body: bytes

    @property
    def has_views(self) -> bool:
        """Whether its answer may have statements that its graph lacks."""
        return self.kind in (STORED, INLINE, COMPARE)


class Traffic:
    """Makes requests by number, the same for the same random seed.

    Args:
        still: A graph that stays as it is, with stored views.
        changing: One that is loaded anew.
        clients: How many clients ask.
        random_seed: Of all draws.
    """

    def __init__(self, still: Asked, changing: Asked, /, *, clients: int, random_seed: int) -> None:
        self._still = still
        self._changing = changing
        self._clients = clients
        self._random_seed = random_seed
        self._kinds = list(SHARES)
        self._weights = np.array(list(SHARES.values()))

    def request(self, number: int, /) -> Request:
        """Returns a request."""
        drawn = np.random.default_rng((self._random_seed, number))
        kind = self._kinds[int(drawn.choice(len(self._kinds), p=self._weights))]
        is_changing = kind != STORED and drawn.random() < CHANGING_SHARE
        asked = self._changing if is_changing else self._still
        id_, name, relation = asked.subjects[int(drawn.integers(len(asked.subjects)))]
        question = _WORDINGS[int(drawn.integers(len(_WORDINGS)))].format(
            name=name, relation=relation
        )
        given: dict[str, Any] = {"question": question, "graph": asked.name, "itemIds": [id_]}
        given["limit"] = int(drawn.integers(5, 30))
        variables: dict[str, Any] = {"input": given}
        document = _DOCUMENTS[kind if kind in _DOCUMENTS else str(drawn.choice(RETRIEVALS))]
        spec = {
            "method": str(drawn.choice(_METHODS)),
            "level": float(drawn.choice(_LEVELS)),
            "randomSeed": int(drawn.integers(2**31)),
        }
        if kind == LOOK_UP:
            variables = {"graph": asked.name, "id": id_, "name": name}
        elif kind == STORED:
            given["view"] = {"name": str(drawn.choice(list(asked.views)))}
        elif kind == INLINE:
            given["view"] = {"spec": spec}
        elif kind == COMPARE:
            stored = [{"name": name} for name in asked.views[:1]]
            variables["views"] = [*stored, {"spec": spec}]
        body = orjson.dumps({"query": document, "variables": variables})
        return Request(number, kind, asked.name, number % self._clients, body)
