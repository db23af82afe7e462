"""The fields of queries. Each may be null, so that one that fails leaves the others as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import strawberry

from graph_service.api.catalogue import (
    GraphConnection,
    GraphEdge,
    GraphType,
    SearchConnection,
    SearchEdge,
)
from graph_service.api.derive import described, output_type
from graph_service.api.experiments import ExperimentType
from graph_service.api.global_ids import (
    Frame,
    GlobalId,
    IdKind,
    not_ours,
    read_global_id,
    view_frame,
    view_of,
)
from graph_service.api.inputs import RetrieveInput, ViewRefInput, to_request, to_view_ref
from graph_service.api.items import (
    Context,
    ItemType,
    LanguageCodes,
    Node,
    entity_item,
    item_type,
    property_type,
    stated,
)
from graph_service.api.loading import OperationContext
from graph_service.api.pages import After, First, Listing, check_first
from graph_service.api.passages import PassagesResultType, passages_type
from graph_service.api.results import (
    ComparisonType,
    OutcomeType,
    PathsResultType,
    SubgraphResultType,
    TripletsResultType,
    comparison_type,
)
from graph_service.api.telling import client_error, shortened
from graph_service.api.views import ViewConnection, ViewEdge, ViewType
from graph_service.errors import (
    EditionGoneError,
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    ViewNotFoundError,
    ViewStaleError,
)
from graph_service.model.browsing import QuestionError, QuestionOutcome
from graph_service.model.passage import ClientPassageSet, PassageRanking
from graph_service.model.request import RetrieveRequest, ViewRef, check_languages
from graph_service.model.result import (
    PathsResult,
    SearchHit,
    Strategy,
    SubgraphResult,
    TripletsResult,
)
from graph_service.service import Outcome
from graph_service.service.batch import check_count
from graph_service.service.comparison import check_compared
from graph_service.service.renamed_search import label_of
from graph_service.store.names import graph_of
from graph_service.store.passages import PassageSet

MAX_IDS = 200

GraphName = Annotated[
    str | None,
    strawberry.argument(description="The name of the graph; may be left out if there is one."),
]
ViewArgument = Annotated[
    ViewRefInput | None,
    strawberry.argument(description="The view to read; null for the graph itself."),
]
RetrieveArgument = Annotated[
    RetrieveInput, strawberry.argument(description="The question, and how it is to be answered.")
]
StrategyArgument = Annotated[Strategy, strawberry.argument(description="What is retrieved.")]


def _languages(languages: Sequence[str] | None) -> tuple[str, ...]:
    check_languages(languages or ())
    return tuple(languages or ("en",))


@strawberry.type(description="All reads. All fields of one query read one edition of a graph.")
class Query:
    """All reads."""

    @described
    def node(
        self,
        info: Context,
        id: Annotated[strawberry.ID, strawberry.argument(description="The field id of an object.")],
    ) -> Node | None:
        """The object of a global id, as it is in that edition. Null, with the code EDITION_GONE,
        where another edition has replaced it.
        """
        return _node(info.context, id)

    @described
    def nodes(
        self,
        info: Context,
        ids: Annotated[
            list[strawberry.ID],
            strawberry.argument(description="The fields id of objects, at most 200."),
        ],
    ) -> list[Node | None] | None:
        """The objects of global ids, in the order asked; null where there is none any more. Ids of
        several editions are read as node reads each.
        """
        _check_ids(ids, "ids")
        return [_node_or_none(info.context, id_) for id_ in ids]

    @described
    def graphs(
        self, info: Context, first: First = 50, after: After = None
    ) -> GraphConnection | None:
        """The published graphs, by name."""
        check_first(first, 1000)
        listing = Listing(("graphs",))
        position = listing.position(after)
        graphs = info.context.service.graphs()
        left = [graph for graph in graphs if position is None or graph.name > position]
        page = left[:first]
        names = [graph.name for graph in page]
        return GraphConnection(
            edges=[
                GraphEdge(cursor=listing.cursor(graph.name), node=GraphType(model=graph))
                for graph in page
            ],
            page_info=listing.page_info(names, after=after, has_next=len(left) > first),
            total_count=len(graphs),
        )

    @described
    def graph(
        self,
        info: Context,
        name: Annotated[
            str | None,
            strawberry.argument(description="The name; may be left out if there is one graph."),
        ] = None,
    ) -> GraphType | None:
        """One graph; without a name, the only one there is."""
        return GraphType(model=info.context.service.graph(name))

    @described
    def item(
        self,
        info: Context,
        item_id: Annotated[
            strawberry.ID, strawberry.argument(description="The itemId, such as Q42 or an IRI.")
        ],
        graph: GraphName = None,
        language_codes: LanguageCodes = None,
    ) -> ItemType | None:
        """An item by its id in the source, such as Q42 or an IRI; redirects are followed. Null if
        missing.
        """
        return _items(info.context, [item_id], graph, language_codes, argument="item_id")[0]

    @described
    def items(
        self,
        info: Context,
        item_ids: Annotated[
            list[strawberry.ID], strawberry.argument(description="The itemIds, at most 200.")
        ],
        graph: GraphName = None,
        language_codes: LanguageCodes = None,
    ) -> list[ItemType | None] | None:
        """Items by their ids in the source, in the order asked; null where missing."""
        _check_ids(item_ids, "item_ids")
        return _items(info.context, item_ids, graph, language_codes, argument="item_ids")

    @described
    def search_items(
        self,
        info: Context,
        query: Annotated[str, strawberry.argument(description="Words of a name.")],
        graph: GraphName = None,
        view: ViewArgument = None,
        language_codes: LanguageCodes = None,
        prefix: Annotated[
            bool,
            strawberry.argument(
                description="Whether the last word may be the beginning of one, of two letters or "
                "more; a single letter narrows what the words before it find."
            ),
        ] = False,
        first: First = 10,
        after: After = None,
    ) -> SearchConnection | None:
        """Items by their names, best first."""
        context = info.context
        edition = context.service.graph(graph).edition
        check_first(first, context.service.settings.max_items)
        reference = to_view_ref(view)
        frame = _frame_of(context, edition, _languages(language_codes), reference)
        listing = Listing(
            (
                "prefix" if prefix else "search",
                query,
                *(language_codes or ()),
                *([repr(reference)] if reference is not None else []),
            ),
            edition,
        )
        last = listing.number(after)
        start = 0 if last is None else last + 1
        # The ranking of an edition does not change, so that a place in it names an item.
        hits = context.service.search(
            query,
            graph=graph,
            view=reference,
            languages=language_codes or (),
            limit=first,
            offset=start,
            and_one_more=True,
            prefix=prefix,
        )
        positions = range(start, start + min(first, len(hits)))
        return SearchConnection(
            edges=[
                SearchEdge(
                    model=hit,
                    cursor=listing.cursor(str(position)),
                    node=_item_of_hit(context, frame, hit),
                )
                for position, hit in zip(positions, hits[:first], strict=True)
            ],
            page_info=listing.page_info(positions, after=after, has_next=len(hits) > first),
        )

    @described
    def triplets(self, info: Context, input: RetrieveArgument) -> TripletsResultType | None:
        """The statements of highest total prize for a question.

        For example `{ triplets(input: {question: "Who is Maria Shriver's husband?", limit: 3}) {
        status items { subject { label } statement { property { label } valueText } } } }`.
        """
        result = info.context.service.retrieve(to_request(input, Strategy.TRIPLETS))
        assert isinstance(result, TripletsResult)
        return TripletsResultType(model=result)

    @described
    def paths(self, info: Context, input: RetrieveArgument) -> PathsResultType | None:
        """The best paths from the question's items.

        For example `{ paths(input: {question: "Who is the mother of Maria Shriver's husband?",
        limit: 3}) { status text } }` gives one line a path, as a prompt takes it.
        """
        result = info.context.service.retrieve(to_request(input, Strategy.PATHS))
        assert isinstance(result, PathsResult)
        return PathsResultType(model=result)

    @described
    def subgraph(self, info: Context, input: RetrieveArgument) -> SubgraphResultType | None:
        """One connected subgraph of high prize and low cost.

        For example `{ subgraph(input: {question: "Who is Maria Shriver's husband?", itemIds:
        ["Q230654"], limit: 10}) { status text } }`, where itemIds says which items the question is
        about.
        """
        result = info.context.service.retrieve(to_request(input, Strategy.SUBGRAPH))
        assert isinstance(result, SubgraphResult)
        return SubgraphResultType(model=result)

    @described
    def retrieve_many(
        self,
        info: Context,
        strategy: StrategyArgument,
        inputs: Annotated[
            list[RetrieveInput], strawberry.argument(description="The questions, at most 100.")
        ],
    ) -> list[OutcomeType] | None:
        """The same retrieval for many questions, in order: one edition of each graph, one time
        limit, one batch of vectors. One that fails fails no other.
        """
        service = info.context.service
        check_count(len(inputs), service.settings.max_questions)
        requests: list[RetrieveRequest] = []
        outcomes: list[Outcome | None] = []
        for fields in inputs:
            try:
                requests.append(to_request(fields, strategy))
                outcomes.append(None)
            except InputError as error:
                outcomes.append(error)
        retrieved = iter(service.retrieve_many(requests) if requests else ())
        return [
            _outcome_type(next(retrieved) if outcome is None else outcome, info.context)
            for outcome in outcomes
        ]

    @described
    def compare(
        self,
        info: Context,
        input: RetrieveArgument,
        strategy: StrategyArgument,
        views: Annotated[
            list[ViewRefInput], strawberry.argument(description="The views, 1 to 10.")
        ],
    ) -> list[ComparisonType] | None:
        """The same retrieval on the base and on up to ten views, linked once."""
        check_compared(len(views))
        references = [to_view_ref(view) for view in views]
        comparisons = info.context.service.compare(
            to_request(input, strategy),
            [reference for reference in references if reference is not None],
        )
        return [comparison_type(comparison) for comparison in comparisons]

    @described
    def neighbourhood(
        self,
        info: Context,
        item_id: Annotated[
            strawberry.ID, strawberry.argument(description="The itemId, such as Q42 or an IRI.")
        ],
        graph: GraphName = None,
        view: ViewArgument = None,
        hops: Annotated[int, strawberry.argument(description="Steps from the item at most.")] = 1,
        limit: Annotated[int, strawberry.argument(description="Statements at most.")] = 100,
        language_codes: LanguageCodes = None,
    ) -> SubgraphResultType | None:
        """The statements within some hops of an item, nearest first, as one result. Item.neighbours
        has them all, page by page.
        """
        result = info.context.service.neighbourhood(
            item_id,
            graph=graph,
            view=to_view_ref(view),
            hops=hops,
            limit=limit,
            languages=language_codes or ("en",),
        )
        return SubgraphResultType(model=result)

    @described
    def passages(
        self,
        info: Context,
        query: Annotated[str, strawberry.argument(description="The question, or words.")],
        graph: GraphName = None,
        k: Annotated[int, strawberry.argument(description="Passages at most.")] = 10,
        by: Annotated[
            PassageRanking, strawberry.argument(description="By what they are found.")
        ] = PassageRanking.BOTH,
        min_score: Annotated[
            float | None, strawberry.argument(description="Leave out what scores less.")
        ] = None,
        language_codes: LanguageCodes = None,
    ) -> PassagesResultType | None:
        """Passages of text beside a graph that answer a query best."""
        service = info.context.service
        edition = service.graph(graph).edition
        languages = _languages(language_codes)
        result = service.passages.search(
            query, graph=graph, k=k, by=by, min_score=min_score, languages=languages
        )
        return passages_type(info.context, Frame(edition, languages), result)

    @described(graphql_type=output_type(tuple[ClientPassageSet, ...] | None))
    def passage_sets(self, info: Context, graph: GraphName = None) -> Sequence[PassageSet]:
        """What was loaded as passages of a graph, by load."""
        return info.context.service.passages.sets(graph=graph)

    @described
    def experiments(self, info: Context) -> list[ExperimentType] | None:
        """The experiments of the folder that the server shows, by name. Null where it shows none.
        One that asks a graph that the key may not see is left out.
        """
        folder = info.context.experiments
        if folder is None:
            return None
        return [ExperimentType(model=experiment) for experiment in folder.experiments()]

    @described
    def experiment(
        self,
        info: Context,
        name: Annotated[str, strawberry.argument(description="The name of the folder.")],
    ) -> ExperimentType | None:
        """An experiment by the name of its folder; null if there is none."""
        folder = info.context.experiments
        experiment = folder.experiment(name) if folder is not None else None
        return None if experiment is None else ExperimentType(model=experiment)

    @described
    def views(
        self, info: Context, graph: GraphName = None, first: First = 50, after: After = None
    ) -> ViewConnection | None:
        """The stored views of a graph, oldest first."""
        check_first(first, 1000)
        service = info.context.service
        views = service.views.list(graph=graph)
        # Views stay from one edition to the next, so that a cursor goes on there.
        listing = Listing(("views", service.graph(graph).name))
        position = listing.position(after)
        positions = [f"{view.created_at} {view.id}" for view in views]
        start = 0 if position is None else sum(other <= position for other in positions)
        page = views[start : start + first]
        return ViewConnection(
            edges=[
                ViewEdge(cursor=listing.cursor(other), node=ViewType(model=view))
                for other, view in zip(positions[start:], page, strict=False)
            ],
            page_info=listing.page_info(
                positions[start : start + first], after=after, has_next=start + first < len(views)
            ),
            total_count=len(views),
        )

    @described
    def view(
        self,
        info: Context,
        reference: Annotated[str, strawberry.argument(description="The view's viewId or name.")],
        graph: GraphName = None,
    ) -> ViewType | None:
        """A stored view; null if there is none."""
        try:
            return ViewType(model=info.context.service.views.get(reference, graph=graph))
        except ViewNotFoundError:
            return None


def _item_of_hit(context: OperationContext, frame: Frame, hit: SearchHit) -> ItemType:
    """Returns the item of a hit, which a view may call otherwise than the graph does."""
    if not frame.names:
        return entity_item(context, frame, hit.entity)
    return item_type(context, frame, hit.entity.id, label_of(hit.entity, frame.languages))


def _frame_of(
    context: OperationContext, edition: str, languages: tuple[str, ...], view: ViewRef | None
) -> Frame:
    """Returns the frame of a graph or of a view of it."""
    if view is None:
        return Frame(edition, languages)
    if view.spec is not None:
        return view_frame(edition, languages, view.spec.to_json(), None)
    stored = context.service.views.get(view.id or view.name or "", graph=graph_of(edition))
    return view_frame(edition, languages, stored.spec.to_json(), stored.id)


def _check_ids(ids: Sequence[str], argument: str) -> None:
    if len(ids) > MAX_IDS:
        raise InputError(f"at most {MAX_IDS} ids, got {len(ids)}", argument=argument)


def _outcome_type(outcome: Outcome, context: OperationContext) -> OutcomeType:
    if not isinstance(outcome, GraphServiceError):
        return OutcomeType(model=QuestionOutcome(outcome, None))
    context.lasts = False
    message, shown = client_error(outcome, context)
    error = QuestionError(
        outcome.code,
        shortened(message),
        shown.get("argument"),
        shown.get("hint"),
        outcome.retryable,
    )
    return OutcomeType(model=QuestionOutcome(None, error))


def _items(
    context: OperationContext,
    ids: Sequence[str],
    graph: str | None,
    languages: Sequence[str] | None,
    *,
    argument: str,
) -> list[ItemType | None]:
    frame = Frame(context.service.graph(graph).edition, _languages(languages))
    entities = context.service.entities(ids, graph=graph, argument=argument).entities
    return [entity_item(context, frame, entities[id_]) if id_ in entities else None for id_ in ids]


def _node_or_none(context: OperationContext, text: str) -> Node | None:
    """Returns an object; None where its edition, its graph or its view is gone."""
    id_ = read_global_id(text)
    try:
        return _read(context, id_, text)
    except (EditionGoneError, GraphNotFoundError, ViewNotFoundError, ViewStaleError):
        return None


def _node(context: OperationContext, text: str) -> Node | None:
    return _read(context, read_global_id(text), text)


def _read(context: OperationContext, id_: GlobalId, text: str) -> Node | None:
    service = context.service
    if id_.kind is IdKind.VIEW:
        return ViewType(model=service.views.get(id_.local, graph=id_.scope))
    info = service.graph(graph_of(id_.scope))
    if info.edition != id_.scope:
        raise EditionGoneError(
            f"the id belongs to edition {id_.scope!r}, and the current edition is {info.edition!r}",
            argument="id",
            hint="Ask for the object anew, by its id in the source.",
        )
    check_languages(id_.languages)
    frame = _frame_of(context, id_.scope, id_.languages, view_of(id_.view))
    if id_.kind is IdKind.GRAPH:
        return GraphType(model=info)
    if id_.kind is IdKind.ITEM:
        entities = service.entities([id_.local], graph=info.name, argument="id").entities
        return entity_item(context, frame, entities[id_.local]) if entities else None
    if id_.kind is IdKind.PROPERTY:
        return property_type(frame, id_.local, None)
    if id_.kind is IdKind.STATEMENT:
        return _statement(context, frame, id_.local, info.name)
    raise not_ours(text)


def _statement(
    context: OperationContext, frame: Frame, statement_id: str, graph: str
) -> Node | None:
    statement = context.service.statements.find(
        statement_id, graph=graph, view=view_of(frame.view), languages=frame.languages
    )
    if statement is None:
        return None
    return stated(context, frame, statement.edge)
