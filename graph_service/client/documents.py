"""The GraphQL documents that the client sends. A test checks each against the schema."""

from __future__ import annotations

from graph_service.model.graph_info import GraphInfo
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import ClientPassageSet, PassagesResult
from graph_service.model.result import (
    ClientComparison,
    FoundItem,
    Retrieval,
    ScoredPath,
    ScoredTriple,
)
from graph_service.model.selection import selection, value_fragment
from graph_service.model.stored_view import StoredView

VALUE = value_fragment()

STATEMENT = """
fragment Statement on Statement {
  statementId
  rank
  property { propertyId label }
  value { ...Value }
  valueText
  qualifiers @include(if: $details) { property { propertyId } value { ...Value } }
  references @include(if: $details) { parts { property { propertyId } value { ...Value } } }
}
"""

CHANGE = """
fragment Change on Change {
  kind
  baseStatement {
    statementId
    rank
    property { propertyId label }
    value { ...Value }
    valueText
  }
}
"""

COMMON = f"fragment Common on Result {{ __typename {selection(Retrieval)} }}\n"
SCORED = f"fragment Scored on ScoredStatement {{ {selection(ScoredTriple)} }}\n"
PATH = f"fragment Path on Path {{ {selection(ScoredPath)} }}\n"

ANY = (
    """
fragment Any on Result {
  ...Common
  ... on TripletsResult { scored: items { ...Scored } }
  ... on PathsResult { paths: items { ...Path } }
  ... on SubgraphResult { objective gap scored: items { ...Scored } }
}
"""
    + SCORED
    + PATH
)
_PARTS = VALUE + STATEMENT + CHANGE + COMMON

TRIPLETS = (
    """
query Triplets(
  $input: RetrieveInput!, $details: Boolean! = false, $changes: Boolean! = true
) {
  result: triplets(input: $input) { ...Common items { ...Scored } }
}
"""
    + _PARTS
    + SCORED
)

PATHS = (
    """
query Paths(
  $input: RetrieveInput!, $details: Boolean! = false, $changes: Boolean! = true
) {
  result: paths(input: $input) { ...Common items { ...Path } }
}
"""
    + _PARTS
    + PATH
)

SUBGRAPH = (
    """
query Subgraph(
  $input: RetrieveInput!, $details: Boolean! = false, $changes: Boolean! = true
) {
  result: subgraph(input: $input) { ...Common objective gap items { ...Scored } }
}
"""
    + _PARTS
    + SCORED
)

NEIGHBOURHOOD = (
    """
query Neighbourhood(
  $id: ID!, $graph: String, $view: ViewRefInput, $hops: Int!, $limit: Int!,
  $languages: [String!], $details: Boolean! = false, $changes: Boolean! = true
) {
  result: neighbourhood(
    itemId: $id, graph: $graph, view: $view, hops: $hops, limit: $limit,
    languageCodes: $languages
  ) { ...Common objective gap items { ...Scored } }
}
"""
    + _PARTS
    + SCORED
)

COMPARE = (
    """
query Compare(
  $input: RetrieveInput!, $strategy: Strategy!, $views: [ViewRefInput!]!,
  $details: Boolean! = false, $changes: Boolean! = true
) {
  comparisons: compare(input: $input, strategy: $strategy, views: $views) {
    ...Row
    result { ...Any }
  }
}
"""
    + f"fragment Row on Comparison {{ {selection(ClientComparison)} }}\n"
    + _PARTS
    + ANY
)

RETRIEVE_MANY = (
    """
query RetrieveMany(
  $inputs: [RetrieveInput!]!, $strategy: Strategy!, $details: Boolean! = false,
  $changes: Boolean! = true
) {
  outcomes: retrieveMany(inputs: $inputs, strategy: $strategy) {
    error { code message argument hint retryable }
    result { ...Any }
  }
}
"""
    + _PARTS
    + ANY
)

GRAPH_FIELDS = f"fragment GraphFields on Graph {{ {selection(GraphInfo)} }}\n"

GRAPHS = (
    """
query Graphs($first: Int!, $after: String) {
  graphs(first: $first, after: $after) {
    edges { node { ...GraphFields } }
    pageInfo { hasNextPage endCursor }
  }
}
"""
    + GRAPH_FIELDS
)

GRAPH = "query Graph($name: String) { graph(name: $name) { ...GraphFields } }" + GRAPH_FIELDS

DESCRIBE = (
    """
query Describe(
  $name: String, $view: ViewRefInput, $languages: [String!], $first: Int!,
  $details: Boolean! = false
) {
  graph(name: $name) {
    ...GraphFields
    classes(view: $view, languageCodes: $languages, first: $first) {
      totalCount
      edges { node { itemId label } count examples { itemId label } }
    }
    relations(view: $view, languageCodes: $languages, first: $first) {
      edges {
        node { propertyId label }
        count
        example { ...Statement subject { itemId label } }
      }
    }
  }
}
"""
    + GRAPH_FIELDS
    + VALUE
    + STATEMENT
)

ITEMS = """
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
"""

ITEM_STATEMENTS = (
    """
query ItemStatements(
  $id: ID!, $graph: String, $view: ViewRefInput, $properties: [ID!], $languages: [String!],
  $first: Int!, $after: String, $details: Boolean! = true
) {
  item(itemId: $id, graph: $graph, languageCodes: $languages) {
    itemId
    label
    statements(propertyIds: $properties, view: $view, first: $first, after: $after) {
      edges {
        node { ...Statement }
        change { ...Change }
      }
    }
  }
}
"""
    + VALUE
    + STATEMENT
    + CHANGE
)

STATEMENT_PAGE = (
    """
query StatementPage(
  $id: ID!, $graph: String, $view: ViewRefInput, $properties: [ID!], $languages: [String!],
  $direction: Direction, $first: Int!, $after: String, $details: Boolean! = false
) {
  item(itemId: $id, graph: $graph, languageCodes: $languages) {
    itemId
    label
    statements(
      direction: $direction, propertyIds: $properties, view: $view, first: $first, after: $after
    ) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges {
        cursor
        node { ...Statement subject { itemId label } }
        change { ...Change }
      }
    }
  }
}
"""
    + VALUE
    + STATEMENT
    + CHANGE
)

ITEM_RELATIONS = """
query ItemRelations(
  $id: ID!, $graph: String, $view: ViewRefInput, $languages: [String!], $direction: Direction,
  $first: Int!, $after: String
) {
  item(itemId: $id, graph: $graph, languageCodes: $languages) {
    itemId
    label
    description
    relations(direction: $direction, view: $view, first: $first, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges { cursor node { propertyId label } direction count }
    }
  }
}
"""

NEIGHBOURS = (
    """
query Neighbours(
  $id: ID!, $graph: String, $view: ViewRefInput, $properties: [ID!], $languages: [String!],
  $direction: Direction, $first: Int!, $after: String, $details: Boolean! = false
) {
  item(itemId: $id, graph: $graph, languageCodes: $languages) {
    itemId
    neighbours(
      direction: $direction, propertyIds: $properties, view: $view, first: $first, after: $after
    ) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges {
        node { itemId label }
        direction
        statement { ...Statement subject { itemId label } }
        change { ...Change }
      }
    }
  }
}
"""
    + VALUE
    + STATEMENT
    + CHANGE
)

SEARCH = (
    """
query Search(
  $query: String!, $graph: String, $view: ViewRefInput, $languages: [String!],
  $prefix: Boolean! = false, $first: Int!
) {
  hits: searchItems(
    query: $query, graph: $graph, view: $view, languageCodes: $languages, prefix: $prefix,
    first: $first
  ) {
    edges { ...Hit }
  }
}
"""
    + f"fragment Hit on SearchEdge {{ {selection(FoundItem)} }}\n"
)

VIEW_FIELDS = f"fragment ViewFields on View {{ {selection(StoredView)} }}\n"

VIEWS = (
    """
query Views($graph: String, $first: Int!, $after: String) {
  views(graph: $graph, first: $first, after: $after) {
    edges { node { ...ViewFields } }
    pageInfo { hasNextPage endCursor }
  }
}
"""
    + VIEW_FIELDS
)

VIEW = (
    "query View($reference: String!, $graph: String) "
    "{ view(reference: $reference, graph: $graph) { ...ViewFields } }" + VIEW_FIELDS
)

VIEW_DIFF = (
    """
query ViewDiff(
  $reference: String!, $graph: String, $first: Int!, $after: String, $details: Boolean! = false
) {
  view(reference: $reference, graph: $graph) {
    viewId
    diff(first: $first, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges {
        node {
          kind
          words
          subject { itemId label }
          before { ...Statement }
          after { ...Statement }
        }
      }
    }
  }
}
"""
    + VALUE
    + STATEMENT
)

CREATE_VIEW = (
    "mutation CreateView($input: CreateViewInput!) { made: createView(input: $input) "
    "{ view { ...ViewFields } reused } }" + VIEW_FIELDS
)

UPDATE_VIEW = (
    "mutation UpdateView($input: UpdateViewInput!) { updated: updateView(input: $input) "
    "{ view { ...ViewFields } } }" + VIEW_FIELDS
)

CANCEL_JOB = (
    "mutation CancelJob($input: CancelJobInput!) { cancelled: cancelJob(input: $input) "
    "{ view { ...ViewFields } } }" + VIEW_FIELDS
)

DELETE_VIEW = """
mutation DeleteView($input: DeleteViewInput!) { deleted: deleteView(input: $input) { viewId } }
"""

DELETE_GRAPH = """
mutation DeleteGraph($input: DeleteGraphInput!) { deleted: deleteGraph(input: $input) { name } }
"""

PAGE_VIEWS = f"""
query PageViews($ids: [ID!]!, $graph: String) {{
  items(itemIds: $ids, graph: $graph) {{ itemId pageViews {{ {selection(PageViews)} }} }}
}}
"""

PASSAGES = f"""
query Passages(
  $query: String!, $graph: String, $k: Int!, $by: PassageRanking!, $minScore: Float,
  $languages: [String!]
) {{
  result: passages(
    query: $query, graph: $graph, k: $k, by: $by, minScore: $minScore, languageCodes: $languages
  ) {{ {selection(PassagesResult)} }}
}}
"""

PASSAGE_SETS = f"""
query PassageSets($graph: String) {{
  sets: passageSets(graph: $graph) {{ {selection(ClientPassageSet)} }}
}}
"""

DELETE_PASSAGES = """
mutation DeletePassages($input: DeletePassagesInput!) {
  deleted: deletePassages(input: $input) { deleted }
}
"""

DOCUMENTS = {
    "triplets": TRIPLETS,
    "paths": PATHS,
    "subgraph": SUBGRAPH,
    "neighbourhood": NEIGHBOURHOOD,
    "compare": COMPARE,
    "retrieve_many": RETRIEVE_MANY,
    "graphs": GRAPHS,
    "graph": GRAPH,
    "items": ITEMS,
    "item_statements": ITEM_STATEMENTS,
    "statement_page": STATEMENT_PAGE,
    "item_relations": ITEM_RELATIONS,
    "describe": DESCRIBE,
    "neighbours": NEIGHBOURS,
    "search": SEARCH,
    "views": VIEWS,
    "view": VIEW,
    "view_diff": VIEW_DIFF,
    "create_view": CREATE_VIEW,
    "update_view": UPDATE_VIEW,
    "cancel_job": CANCEL_JOB,
    "delete_view": DELETE_VIEW,
    "delete_graph": DELETE_GRAPH,
    "page_views": PAGE_VIEWS,
    "passages": PASSAGES,
    "passage_sets": PASSAGE_SETS,
    "delete_passages": DELETE_PASSAGES,
}
