"""The GraphQL documents that the client sends. A test checks each against the schema."""

from __future__ import annotations

import re

from graph_service.model.browsing import (
    CancelledJob,
    ClassDescription,
    ClientViewChange,
    CreatedView,
    DeletedGraph,
    DeletedPassages,
    DeletedView,
    ItemRelation,
    ItemStatement,
    Neighbour,
    QuestionError,
    RelationDescription,
    UpdatedView,
)
from graph_service.model.graph_info import GraphInfo
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import ClientPassageSet, PassagesResult
from graph_service.model.result import (
    ClientComparison,
    MatchingItem,
    Retrieval,
    ScoredPath,
    ScoredTriple,
)
from graph_service.model.selection import fragment, selection, value_fragment
from graph_service.model.shapes import SHAPES
from graph_service.model.statement import Reference, Snak
from graph_service.model.stored_view import StoredView

_DERIVED = (
    GraphInfo,
    StoredView,
    ClientComparison,
    ScoredPath,
    ScoredTriple,
    MatchingItem,
    ItemStatement,
    ItemRelation,
    Neighbour,
    ClassDescription,
    RelationDescription,
    ClientViewChange,
)
_FRAGMENTS = {
    **{SHAPES[model].name: fragment(model) for model in _DERIVED},
    "Value": value_fragment(),
    "Statement": f"""
fragment Statement on Statement {{
  statementId
  rank
  property {{ propertyId label }}
  value {{ ...Value }}
  valueText
  qualifiers @include(if: $details) {{ {selection(Snak)} }}
  references @include(if: $details) {{ {selection(Reference)} }}
}}
""",
    "Change": """
fragment Change on Change {
  kind
  baseStatement {
    statementId
    subject { itemId label }
    rank
    property { propertyId label }
    value { ...Value }
    valueText
  }
}
""",
    "Common": f"fragment Common on Result {{ __typename {selection(Retrieval)} }}\n",
    "Any": """
fragment Any on Result {
  ...Common
  ... on TripletsResult { scored: items { ...ScoredStatement } }
  ... on PathsResult { paths: items { ...Path } }
  ... on SubgraphResult { objective gap scored: items { ...ScoredStatement } }
}
""",
}
_NAMES = re.compile(r"\.\.\.(\w+)")
_PARTS = "$details: Boolean! = false, $changes: Boolean! = true"
_PAGE_INFO = "pageInfo { hasNextPage endCursor }"


def _with_fragments(operation: str) -> str:
    """Returns a document: an operation with the fragments that it names, and those that they name."""
    names: dict[str, None] = {}
    texts = [operation]
    while texts:
        for name in _NAMES.findall(texts.pop()):
            if name not in names:
                names[name] = None
                texts.append(_FRAGMENTS[name])
    return operation + "".join(_FRAGMENTS[name] for name in names)


def _retrieval(strategy: str, fields: str) -> str:
    return f"""
query {strategy.capitalize()}($input: RetrieveInput!, {_PARTS}) {{
  result: {strategy}(input: $input) {{ ...Common {fields} }}
}}
"""


_OPERATIONS = {
    "triplets": _retrieval("triplets", "items { ...ScoredStatement }"),
    "paths": _retrieval("paths", "items { ...Path }"),
    "subgraph": _retrieval("subgraph", "objective gap items { ...ScoredStatement }"),
    "neighbourhood": f"""
query Neighbourhood(
  $id: ID!, $graph: String, $view: ViewRefInput, $hops: Int!, $limit: Int!,
  $languages: [String!], {_PARTS}
) {{
  result: neighbourhood(
    itemId: $id, graph: $graph, view: $view, hops: $hops, limit: $limit,
    languageCodes: $languages
  ) {{ ...Common objective gap items {{ ...ScoredStatement }} }}
}}
""",
    "compare": f"""
query Compare(
  $input: RetrieveInput!, $strategy: Strategy!, $views: [ViewRefInput!]!, {_PARTS}
) {{
  comparisons: compare(input: $input, strategy: $strategy, views: $views) {{
    ...Comparison
    result {{ ...Any }}
  }}
}}
""",
    "retrieve_many": f"""
query RetrieveMany($inputs: [RetrieveInput!]!, $strategy: Strategy!, {_PARTS}) {{
  outcomes: retrieveMany(inputs: $inputs, strategy: $strategy) {{
    error {{ {selection(QuestionError)} }}
    result {{ ...Any }}
  }}
}}
""",
    "graphs": f"""
query Graphs($first: Int!, $after: String) {{
  graphs(first: $first, after: $after) {{ edges {{ node {{ ...Graph }} }} {_PAGE_INFO} }}
}}
""",
    "graph": "query Graph($name: String) { graph(name: $name) { ...Graph } }\n",
    "describe": """
query Describe(
  $name: String, $view: ViewRefInput, $languages: [String!], $first: Int!,
  $details: Boolean! = false
) {
  graph(name: $name) {
    ...Graph
    classes(view: $view, languageCodes: $languages, first: $first) {
      totalCount
      edges { ...ClassSizeEdge }
    }
    relations(view: $view, languageCodes: $languages, first: $first) {
      edges { ...PropertyUseEdge }
    }
  }
}
""",
    "items": """
query Items($ids: [ID!]!, $graph: String, $language: String) {
  items(itemIds: $ids, graph: $graph) {
    itemId
    label(languageCode: $language)
    description
    labelLanguages
    aliases
    url
  }
}
""",
    "item_statements": """
query ItemStatements(
  $id: ID!, $graph: String, $view: ViewRefInput, $relationIds: [ID!], $languages: [String!],
  $first: Int!, $after: String, $details: Boolean! = true, $changes: Boolean! = true
) {
  item(itemId: $id, graph: $graph, languageCodes: $languages) {
    statements(propertyIds: $relationIds, view: $view, first: $first, after: $after) {
      edges { ...StatementEdge }
    }
  }
}
""",
    "statement_page": f"""
query StatementPage(
  $id: ID!, $graph: String, $view: ViewRefInput, $relationIds: [ID!], $languages: [String!],
  $direction: Direction, $first: Int!, $after: String, {_PARTS}
) {{
  item(itemId: $id, graph: $graph, languageCodes: $languages) {{
    itemId
    label
    statements(
      direction: $direction, propertyIds: $relationIds, view: $view, first: $first, after: $after
    ) {{ totalCount {_PAGE_INFO} edges {{ cursor ...StatementEdge }} }}
  }}
}}
""",
    "item_relations": f"""
query ItemRelations(
  $id: ID!, $graph: String, $view: ViewRefInput, $languages: [String!], $direction: Direction,
  $first: Int!, $after: String
) {{
  item(itemId: $id, graph: $graph, languageCodes: $languages) {{
    itemId
    label
    description
    relations(direction: $direction, view: $view, first: $first, after: $after) {{
      totalCount {_PAGE_INFO} edges {{ cursor ...ItemRelationEdge }}
    }}
  }}
}}
""",
    "neighbours": f"""
query Neighbours(
  $id: ID!, $graph: String, $view: ViewRefInput, $relationIds: [ID!], $languages: [String!],
  $direction: Direction, $first: Int!, $after: String, {_PARTS}
) {{
  item(itemId: $id, graph: $graph, languageCodes: $languages) {{
    neighbours(
      direction: $direction, propertyIds: $relationIds, view: $view, first: $first, after: $after
    ) {{ totalCount {_PAGE_INFO} edges {{ ...NeighbourEdge }} }}
  }}
}}
""",
    "search": """
query Search(
  $query: String!, $graph: String, $view: ViewRefInput, $languages: [String!],
  $prefix: Boolean! = false, $limit: Int!
) {
  hits: searchItems(
    query: $query, graph: $graph, view: $view, languageCodes: $languages, prefix: $prefix,
    first: $limit
  ) { edges { ...SearchEdge } }
}
""",
    "views": f"""
query Views($graph: String, $first: Int!, $after: String) {{
  views(graph: $graph, first: $first, after: $after) {{
    edges {{ node {{ ...View }} }} {_PAGE_INFO}
  }}
}}
""",
    "view": """
query View($reference: String!, $graph: String) {
  view(reference: $reference, graph: $graph) { ...View }
}
""",
    "view_diff": f"""
query ViewDiff(
  $reference: String!, $graph: String, $first: Int!, $after: String, $details: Boolean! = false
) {{
  view(reference: $reference, graph: $graph) {{
    diff(first: $first, after: $after) {{
      totalCount {_PAGE_INFO} edges {{ node {{ ...ViewChange }} }}
    }}
  }}
}}
""",
    "create_view": f"""
mutation CreateView($input: CreateViewInput!) {{
  payload: createView(input: $input) {{ {selection(CreatedView)} }}
}}
""",
    "update_view": f"""
mutation UpdateView($input: UpdateViewInput!) {{
  payload: updateView(input: $input) {{ {selection(UpdatedView)} }}
}}
""",
    "cancel_job": f"""
mutation CancelJob($input: CancelJobInput!) {{
  payload: cancelJob(input: $input) {{ {selection(CancelledJob)} }}
}}
""",
    "delete_view": f"""
mutation DeleteView($input: DeleteViewInput!) {{
  payload: deleteView(input: $input) {{ {selection(DeletedView)} }}
}}
""",
    "delete_graph": f"""
mutation DeleteGraph($input: DeleteGraphInput!) {{
  payload: deleteGraph(input: $input) {{ {selection(DeletedGraph)} }}
}}
""",
    "page_views": f"""
query PageViews($ids: [ID!]!, $graph: String) {{
  items(itemIds: $ids, graph: $graph) {{ itemId pageViews {{ {selection(PageViews)} }} }}
}}
""",
    "passages": f"""
query Passages(
  $query: String!, $graph: String, $k: Int!, $by: PassageRanking!, $minScore: Float,
  $languages: [String!]
) {{
  result: passages(
    query: $query, graph: $graph, k: $k, by: $by, minScore: $minScore, languageCodes: $languages
  ) {{ {selection(PassagesResult)} }}
}}
""",
    "passage_sets": f"""
query PassageSets($graph: String) {{
  sets: passageSets(graph: $graph) {{ {selection(ClientPassageSet)} }}
}}
""",
    "delete_passages": f"""
mutation DeletePassages($input: DeletePassagesInput!) {{
  payload: deletePassages(input: $input) {{ {selection(DeletedPassages)} }}
}}
""",
}
DOCUMENTS = {name: _with_fragments(operation) for name, operation in _OPERATIONS.items()}
"""By the client's method."""
