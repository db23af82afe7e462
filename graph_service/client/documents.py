"""The GraphQL documents that the client sends. A test checks each against the schema."""

from __future__ import annotations

VALUE = """
fragment Value on Value {
  __typename
  ... on ItemValue { item { itemId } }
  ... on StringValue { content datatype }
  ... on MonolingualTextValue { language text }
  ... on QuantityValue { amount unit { itemId } lowerBound upperBound }
  ... on TimeValue { time precision calendarModel before after timezone }
  ... on GlobeCoordinateValue { latitude longitude altitude coordinatePrecision: precision globe }
  ... on UrlValue { url }
  ... on OtherValue { datatype json }
}
"""

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

COMMON = """
fragment Common on Result {
  __typename
  resultId
  question
  status
  linked {
    item { itemId label description }
    mention
    start
    end
    score
    alternatives { itemId label description }
    swappedFor { itemId label description }
  }
  truncated { what reason limit kept total }
  tokens { count tokenizer }
  region {
    before { nodes edges meanDegree clustering density }
    after { nodes edges meanDegree clustering density }
  }
  provenance {
    graph
    edition
    edgesFingerprint
    contentFingerprint
    viewId
    viewSpec { json }
    strategy
    preset
    parametersJson
    embedder
    solver
    version
  }
  relevance
  constraints { text kind met }
  answer {
    kind
    value
    items { itemId label }
    basis {
      subject { itemId label }
      statement { ...Statement }
      change @include(if: $changes) { ...Change }
      standsFor
    }
    statements
    truncated
  }
  timings { stage milliseconds }
}
"""

SCORED = """
fragment Scored on ScoredStatement {
  subject { itemId label }
  statement { ...Statement }
  score
  prizes
  change @include(if: $changes) { ...Change }
  originId
  constraints { text kind met }
  standsFor
}
"""

PATH = """
fragment Path on Path {
  score
  parts { name amount }
  originId
  constraints { text kind met }
  steps {
    subject { itemId label }
    statement { ...Statement }
    reversed
    change @include(if: $changes) { ...Change }
    standsFor
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
    viewId
    viewSpec { json }
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
  options { ...Named }
  report { ...Named }
  toolVersion
  unfinishedLoad { edition owner source startedAt statements leaseExpiresAt }
}
"""

NAMED = "fragment Named on NamedValue { name type text }"

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
    + NAMED
)

GRAPH = (
    "query Graph($name: String) { graph(name: $name) { ...GraphFields } }" + GRAPH_FIELDS + NAMED
)

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
    + NAMED
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

SEARCH = """
query Search(
  $query: String!, $graph: String, $view: ViewRefInput, $languages: [String!],
  $prefix: Boolean! = false, $first: Int!
) {
  hits: searchItems(
    query: $query, graph: $graph, view: $view, languageCodes: $languages, prefix: $prefix,
    first: $first
  ) {
    edges {
      node { itemId label description }
      matched
      languageCode
      isAlias
      score
    }
  }
}
"""

VIEW_FIELDS = """
fragment ViewFields on View {
  viewId
  name
  graph
  edgesFingerprint
  spec { json }
  state
  progress
  report {
    scopeEdges
    levelAsked
    levelReached
    counts { removed relationChanged valueChanged added headChanged rankChanged namesChanged }
    unavoidable
    notes
  }
  deviation {
    ats atsBase atsEdges unscored scorer sc2d sd2 scorerAccuracy scorerCalibrationError
  }
  error
  note
  createdAt
  stale
}
"""

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

PAGE_VIEWS = """
query PageViews($ids: [ID!]!, $graph: String) {
  items(itemIds: $ids, graph: $graph) {
    itemId
    pageViews { mean total months first last source }
  }
}
"""

PASSAGES = """
query Passages(
  $query: String!, $graph: String, $k: Int!, $by: PassageRanking!, $minScore: Float,
  $languages: [String!]
) {
  result: passages(
    query: $query, graph: $graph, k: $k, by: $by, minScore: $minScore, languageCodes: $languages
  ) {
    resultId
    query
    graph
    by
    k
    minScore
    items {
      passage { passageId title source text item { itemId label } }
      score
      wordScore
      vectorScore
    }
    searched
    fingerprint
    embedder
    version
    truncated { what reason limit kept total }
    timings { stage milliseconds }
  }
}
"""

PASSAGE_SETS = (
    """
query PassageSets($graph: String) {
  sets: passageSets(graph: $graph) {
    source
    published
    passages
    words
    linked
    fingerprint
    options { ...Named }
    report { ...Named }
    startedAt
    publishedAt
  }
}
"""
    + NAMED
)

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
