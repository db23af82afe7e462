"""Input types and enums of the GraphQL schema, and their way into the model's."""

from __future__ import annotations

import re
from enum import Enum

import strawberry

from graph_service.errors import InputError
from graph_service.model.render import TextFormat
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Status, Strategy
from graph_service.model.statement import Rank
from graph_service.model.stored_view import ViewState
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.model.view_spec import Change, ChangeKind, Method, Sampling, Scope, ViewSpec
from graph_service.service.lookup import read_id

MAX_TIME_PRECISION = 14
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_TIME = re.compile(r"[+-]?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")

strawberry.enum(Strategy, description="The three retrievals.")
strawberry.enum(Status, description="How a retrieval ended; finding nothing is no error.")
strawberry.enum(Method, description="How a view changes its base.")
strawberry.enum(
    Sampling,
    description="EXACT draws without replacement, OKGQA with, as that paper's code does.",
)
strawberry.enum(ChangeKind, description="How a statement of a view differs from its base.")
strawberry.enum(ViewState, description="How far the making of a view has come.")
strawberry.enum(Rank, description="Wikibase's rank of a statement.")
strawberry.enum(TextFormat, description="How a result is written as text.")


@strawberry.enum(description="Type of a literal given in a change.")
class LiteralType(Enum):
    """Type of a literal given in a change."""

    STRING = "string"
    MONOLINGUAL_TEXT = "monolingualtext"
    QUANTITY = "quantity"
    TIME = "time"
    URL = "url"


@strawberry.input(description="A typed literal.")
class LiteralInput:
    """A typed literal."""

    type: LiteralType
    content: str
    language_code: str | None = None
    unit_id: strawberry.ID | None = None
    precision: int | None = None


@strawberry.input(one_of=True, description="An item by its id, or a literal.")
class ValueInput:
    """An item by its id, or a literal."""

    item_id: strawberry.ID | None = strawberry.UNSET
    literal: LiteralInput | None = strawberry.UNSET


@strawberry.input(
    description="Removes a statement, replaces its property or value, or (without statementId) "
    "adds one."
)
class ChangeInput:
    """One change of a person's own."""

    statement_id: strawberry.ID | None = None
    remove: bool = False
    subject_id: strawberry.ID | None = None
    property_id: strawberry.ID | None = None
    value: ValueInput | None = None


@strawberry.input(description="Which statements a view may change; all where it is empty.")
class ScopeInput:
    """Which statements a view may change."""

    statement_ids: list[strawberry.ID] | None = None
    property_ids: list[strawberry.ID] | None = None
    around_item_ids: list[strawberry.ID] | None = None
    hops: int = 2
    of_question: bool = False


@strawberry.input(description="What a perturbed view is asked to be: a level or a count.")
class ViewSpecInput:
    """What a perturbed view is asked to be."""

    method: Method
    level: float | None = None
    count: int | None = None
    random_seed: int = 0
    sampling: Sampling = Sampling.EXACT
    scope: ScopeInput | None = None
    statement_ids: list[strawberry.ID] | None = None
    changes: list[ChangeInput] | None = None
    scorer: str = strawberry.field(
        default="counts",
        description="By which replacement finds a relation least likely: counts, trained (the "
        "newest), or the name of a trained scorer.",
    )


@strawberry.input(
    one_of=True,
    description="A stored view by id or name, or a specification computed for this query alone.",
)
class ViewRefInput:
    """Which view a query runs on."""

    id: strawberry.ID | None = strawberry.UNSET
    name: str | None = strawberry.UNSET
    spec: ViewSpecInput | None = strawberry.UNSET


@strawberry.input(description="Prizes and costs; the preset's where absent.")
class PrizeInput:
    """Prizes and costs."""

    top_nodes: int | None = None
    top_edges: int | None = None
    edge_cost: float | None = None
    max_path_length: int | None = None


@strawberry.input(
    description="How preset ltgen tags items and ranks their properties; the preset's where absent."
)
class PropertyRankingInput:
    """How the properties of each item are ranked."""

    min_link_score: float | None = strawberry.field(
        default=None, description="Of an item that the question names, at least."
    )
    max_items: int | None = None
    properties: int | None = strawberry.field(
        default=None, description="Kept of each item; both directions of one are two."
    )
    statements: int | None = strawberry.field(
        default=None, description="Kept of each item and property, drawn by the random seed."
    )
    random_seed: int | None = None
    ranker: str | None = strawberry.field(
        default=None, description="embedding, trained, or the name of a trained ranker."
    )


@strawberry.input(
    description="Linking that is wrong to a known share: of all pairs of question and item, those "
    "beyond the share are swapped for irrelevant items."
)
class LinkingInput:
    """Linking that is wrong to a known share."""

    accuracy: float = strawberry.field(description="Share that stays, 0 to 1.")
    random_seed: int = 0


@strawberry.input(description="One question to one graph, or to a view of it.")
class RetrieveInput:
    """One question to one graph."""

    question: str
    graph: strawberry.ID | None = None
    view: ViewRefInput | None = None
    item_ids: list[strawberry.ID] | None = None
    language_codes: list[str] | None = None
    preset: str = "default"
    limit: int | None = None
    max_hops: int | None = None
    max_edges: int | None = None
    min_score: float | None = None
    token_budget: int | None = None
    property_ids: list[strawberry.ID] | None = None
    exclude_property_ids: list[strawberry.ID] | None = None
    type_ids: list[strawberry.ID] | None = strawberry.field(
        default=None,
        description="Only instances of these items, or of their subclasses, beside the question's "
        "own items; a literal goes with the item that it is said of.",
    )
    ranks: list[Rank] | None = None
    prizes: PrizeInput | None = None
    ranking: PropertyRankingInput | None = None
    linking: LinkingInput | None = None
    question_vector: list[float] | None = strawberry.field(
        default=None,
        description="Stands for the question's text wherever that is compared with texts of the "
        "graph: as many numbers as the embedder's vectors have. Names are still found by the text.",
    )
    prove: bool = strawberry.field(
        default=False, description="Work longer, some two seconds, for a proven subgraph."
    )


@strawberry.input(description="A view to make and store.")
class CreateViewInput:
    """A view to make and store."""

    graph: strawberry.ID
    spec: ViewSpecInput
    name: str | None = None
    note: str = ""
    wait: bool = strawberry.field(
        default=True, description="False returns at once, with state running; ask view(id) then."
    )


def to_request(given: RetrieveInput, strategy: Strategy, /) -> RetrieveRequest:
    """Returns the model's request. Details are read where a query asks for them."""
    prizes = given.prizes or PrizeInput()
    ranking = given.ranking or PropertyRankingInput()
    return RetrieveRequest(
        question=given.question,
        strategy=strategy,
        graph=given.graph,
        view=to_view_ref(given.view),
        entity_ids=tuple(given.item_ids or ()),
        languages=tuple(given.language_codes or ("en",)),
        preset=given.preset,
        limit=given.limit,
        max_hops=given.max_hops,
        max_edges=given.max_edges,
        min_score=given.min_score,
        token_budget=given.token_budget,
        relation_ids=tuple(given.property_ids or ()),
        exclude_relation_ids=tuple(given.exclude_property_ids or ()),
        type_ids=tuple(given.type_ids or ()),
        ranks=tuple(given.ranks or ()),
        top_nodes=prizes.top_nodes,
        top_edges=prizes.top_edges,
        edge_cost=prizes.edge_cost,
        max_path_length=prizes.max_path_length,
        min_link_score=ranking.min_link_score,
        max_entities=ranking.max_items,
        relations_per_entity=ranking.properties,
        triples_per_relation=ranking.statements,
        random_seed=ranking.random_seed,
        ranker=ranking.ranker,
        linking_accuracy=given.linking.accuracy if given.linking else None,
        linking_seed=given.linking.random_seed if given.linking else 0,
        question_vector=None if given.question_vector is None else tuple(given.question_vector),
        prove=given.prove,
    )


def to_view_ref(given: ViewRefInput | None, /) -> ViewRef | None:
    """Returns the model's reference to a view; None for the base."""
    if given is None:
        return None
    return ViewRef(
        id=given.id or None,
        name=given.name or None,
        spec=to_spec(given.spec) if given.spec else None,
    )


def to_spec(given: ViewSpecInput, /) -> ViewSpec:
    """Returns the model's specification of a view."""
    scope = given.scope or ScopeInput()
    spec = ViewSpec(
        method=given.method,
        level=given.level,
        count=given.count,
        random_seed=given.random_seed,
        sampling=given.sampling,
        scope=Scope(
            statement_ids=tuple(scope.statement_ids or ()),
            relation_ids=_read_ids(scope.property_ids, "scope.relation_ids"),
            around_ids=_read_ids(scope.around_item_ids, "scope.around_item_ids"),
            hops=scope.hops,
            of_question=scope.of_question,
        ),
        statement_ids=tuple(given.statement_ids or ()),
        changes=tuple(_to_change(change) for change in given.changes or ()),
        scorer=given.scorer,
    )
    spec.validate()
    return spec


def _to_change(given: ChangeInput) -> Change:
    return Change(
        statement_id=given.statement_id,
        remove=given.remove,
        head=_read_id(given.subject_id, "subject_id"),
        relation=_read_id(given.property_id, "property_id"),
        value=_to_value(given.value) if given.value else None,
    )


def _read_id(given: strawberry.ID | None, argument: str) -> str | None:
    return None if given is None else read_id(given, argument=argument)


def _read_ids(given: list[strawberry.ID] | None, argument: str) -> tuple[str, ...]:
    return tuple(read_id(id_, argument=argument) for id_ in given or ())


def _to_value(given: ValueInput) -> Value:
    if isinstance(given.item_id, str):
        return EntityValue(read_id(given.item_id, argument="item_id"))
    literal = given.literal
    if not literal:
        raise InputError("a value is an item's id or a literal", argument="value")
    match literal.type:
        case LiteralType.STRING:
            return StringValue(literal.content)
        case LiteralType.MONOLINGUAL_TEXT:
            if not literal.language_code:
                raise InputError("monolingual text needs a languageCode", argument="languageCode")
            return MonolingualText(literal.content, literal.language_code.lower())
        case LiteralType.QUANTITY:
            amount = _matching(_NUMBER, literal.content, "a decimal number such as 1.96")
            return Quantity(amount.removeprefix("+"), literal.unit_id)
        case LiteralType.TIME:
            time = _matching(_TIME, literal.content, "a time such as 1947-07-30T00:00:00Z")
            precision = 11 if literal.precision is None else literal.precision
            if not 0 <= precision <= MAX_TIME_PRECISION:
                raise InputError(
                    f"precision must be 0 to {MAX_TIME_PRECISION} (9 year, 10 month, 11 day), "
                    f"got {precision}",
                    argument="precision",
                )
            return Time(time.removeprefix("+"), precision)
        case LiteralType.URL:
            return Iri(_matching(_URL, literal.content, "an address such as https://example.org"))


def _matching(pattern: re.Pattern[str], content: str, expected: str) -> str:
    if not pattern.fullmatch(content):
        raise InputError(f"expected {expected}, got {content[:80]!r}", argument="content")
    return content
