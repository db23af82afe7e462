"""The GraphQL documents that the client sends. A test checks each against the schema."""

from __future__ import annotations

VALUE = """
fragment Value on Value {
  __typename
  ... on ItemValue { item { id } }
  ... on StringValue { content datatype }
  ... on MonolingualTextValue { language text }
  ... on QuantityValue { amount unit { id } lowerBound upperBound }
  ... on TimeValue { time precision calendarModel before after timezone }
  ... on GlobeCoordinateValue { latitude longitude altitude coordinatePrecision: precision globe }
  ... on UrlValue { url }
  ... on OtherValue { datatype json }
}
"""

STATEMENT = """
fragment Statement on Statement {
  id
  rank
  property { id label }
  value { ...Value }
  valueText
  standsFor
  qualifiers @include(if: $details) { property { id } value { ...Value } }
  references @include(if: $details) { parts { property { id } value { ...Value } } }
}
"""

CHANGE = """
fragment Change on Change {
  kind
  baseStatement {
    id
    rank
    property { id label }
    value { ...Value }
    valueText
  }
}
"""

COMMON = """
fragment Common on Result {
  __typename
  id
  question
  status
  linked {
    item { id label description }
    mention
    start
    end
    score
    alternatives { id label description }
    swappedFor { id label description }
  }
  truncated { what reason limit kept total }
  tokens { count tokenizer }
  region
  provenance {
    graph
    edition
    edgesFingerprint
    contentFingerprint
    viewId
    viewSpec
    strategy
    preset
    parameters
    embedder
    solver
    version
  }
  relevance
  constraints { text kind met }
  answer {
    kind
    value
    items { id label }
    basis {
      subject { id label }
      statement { ...Statement }
      change @include(if: $changes) { ...Change }
    }
    statements
    truncated
  }
  timings
}
"""

SCORED = """
fragment Scored on ScoredStatement {
  subject { id label }
  statement { ...Statement }
  score
  prizes
  change @include(if: $changes) { ...Change }
  originId
  constraints { text kind met }
}
"""

PATH = """
fragment Path on Path {
  score
  parts
  originId
  constraints { text kind met }
  steps {
    subject { id label }
    statement { ...Statement }
    reversed
    change @include(if: $changes) { ...Change }
  }
}
"""

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
  $id: ID!, $graph: ID, $view: ViewRefInput, $hops: Int!, $limit: Int!,
  $languages: [String!], $details: Boolean! = false, $changes: Boolean! = true
) {
  result: neighbourhood(
    id: $id, graph: $graph, view: $view, hops: $hops, limit: $limit, languageCodes: $languages
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
    viewId
    viewSpec
    lost
    gained
    changed
    result {
      ...Common
      ... on TripletsResult { scored: items { ...Scored } }
      ... on PathsResult { paths: items { ...Path } }
      ... on SubgraphResult { objective gap scored: items { ...Scored } }
    }
  }
}
"""
    + _PARTS
    + SCORED
    + PATH
)

RETRIEVE_MANY = (
    """
query RetrieveMany(
  $inputs: [RetrieveInput!]!, $strategy: Strategy!, $details: Boolean! = false,
  $changes: Boolean! = true
) {
  outcomes: retrieveMany(inputs: $inputs, strategy: $strategy) {
    error { code message argument hint retryable }
    result {
      ...Common
      ... on TripletsResult { scored: items { ...Scored } }
      ... on PathsResult { paths: items { ...Path } }
      ... on SubgraphResult { objective gap scored: items { ...Scored } }
    }
  }
}
"""
    + _PARTS
    + SCORED
    + PATH
)

GRAPH_FIELDS = """
fragment GraphFields on Graph {
  name
  edition
  source
  publishedAt
  items
  statements
  properties
  literals
  edgesFingerprint
  contentFingerprint
  options
  report
  toolVersion
  unfinishedLoad
}
"""

GRAPHS = "query Graphs { graphs { ...GraphFields } }" + GRAPH_FIELDS

GRAPH = "query Graph($name: ID) { graph(name: $name) { ...GraphFields } }" + GRAPH_FIELDS

ITEMS = """
query Items($ids: [ID!]!, $graph: ID, $language: String) {
  items: itemsById(ids: $ids, graph: $graph) {
    id
    label
    inLanguage: label(languageCode: $language)
    description
    labelLanguages
    aliases
  }
}
"""

ITEM_STATEMENTS = (
    """
query ItemStatements(
  $id: ID!, $graph: ID, $view: ViewRefInput, $property: ID, $languages: [String!],
  $limit: Int!, $details: Boolean! = true
) {
  item(id: $id, graph: $graph) {
    id
    label
    statements(propertyId: $property, view: $view, languageCodes: $languages, limit: $limit) {
      statement { ...Statement }
      change { ...Change }
    }
  }
}
"""
    + VALUE
    + STATEMENT
    + CHANGE
)

SEARCH = """
query Search($query: String!, $graph: ID, $languages: [String!], $limit: Int!) {
  hits: searchItems(query: $query, graph: $graph, languageCodes: $languages, limit: $limit) {
    item { id label description }
    matched
    languageCode
    isAlias
    score
  }
}
"""

VIEW_FIELDS = """
fragment ViewFields on View {
  id
  name
  graph
  edgesFingerprint
  spec
  state
  progress
  report
  deviation
  error
  note
  createdAt
  stale
}
"""

VIEWS = (
    """
query Views($graph: ID, $first: Int!, $after: String) {
  views(graph: $graph, first: $first, after: $after) {
    items { ...ViewFields }
    total
    endCursor
  }
}
"""
    + VIEW_FIELDS
)

VIEW = (
    "query View($id: ID!, $graph: ID) { view(id: $id, graph: $graph) { ...ViewFields } }"
    + VIEW_FIELDS
)

VIEW_DIFF = (
    """
query ViewDiff($id: ID!, $graph: ID, $first: Int!, $after: String, $details: Boolean! = false) {
  view(id: $id, graph: $graph) {
    id
    diff(first: $first, after: $after) {
      total
      endCursor
      items {
        kind
        words
        subject { id label }
        before { ...Statement }
        after { ...Statement }
      }
    }
  }
}
"""
    + VALUE
    + STATEMENT
)

CREATE_VIEW = (
    "mutation CreateView($input: CreateViewInput!) { view: createView(input: $input) "
    "{ ...ViewFields } }" + VIEW_FIELDS
)

CANCEL_JOB = (
    "mutation CancelJob($id: ID!, $graph: ID) { view: cancelJob(id: $id, graph: $graph) "
    "{ ...ViewFields } }" + VIEW_FIELDS
)

DELETE_VIEW = "mutation DeleteView($id: ID!, $graph: ID) { id: deleteView(id: $id, graph: $graph) }"

DELETE_GRAPH = "mutation DeleteGraph($name: ID!) { name: deleteGraph(name: $name) }"

PAGE_VIEWS = """
query PageViews($ids: [ID!]!, $graph: ID) {
  items: itemsById(ids: $ids, graph: $graph) {
    id
    pageViews { mean total months first last source }
  }
}
"""

PASSAGES = """
query Passages(
  $query: String!, $graph: ID, $k: Int!, $by: PassageRanking!, $minScore: Float,
  $languages: [String!]
) {
  result: passages(
    query: $query, graph: $graph, k: $k, by: $by, minScore: $minScore, languageCodes: $languages
  ) {
    id
    query
    graph
    by
    k
    minScore
    items {
      passage { id title source text item { id label } }
      score
      wordScore
      vectorScore
    }
    searched
    fingerprint
    embedder
    version
    truncated { what reason limit kept total }
    timings
  }
}
"""

PASSAGE_SETS = """
query PassageSets($graph: ID) {
  sets: passageSets(graph: $graph) {
    source
    published
    passages
    words
    linked
    fingerprint
    options
    report
    startedAt
    publishedAt
  }
}
"""

DELETE_PASSAGES = """
mutation DeletePassages($graph: ID, $source: String) {
  deleted: deletePassages(graph: $graph, source: $source)
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
    "search": SEARCH,
    "views": VIEWS,
    "view": VIEW,
    "view_diff": VIEW_DIFF,
    "create_view": CREATE_VIEW,
    "cancel_job": CANCEL_JOB,
    "delete_view": DELETE_VIEW,
    "delete_graph": DELETE_GRAPH,
    "page_views": PAGE_VIEWS,
    "passages": PASSAGES,
    "passage_sets": PASSAGE_SETS,
    "delete_passages": DELETE_PASSAGES,
}
