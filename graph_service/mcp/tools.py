"""The tools: each asks the client once or twice, and answers within its token budget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import orjson
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from graph_service.client import AsyncClient
from graph_service.errors import GraphServiceError, InputError
from graph_service.mcp import shapes
from graph_service.mcp.answers import (
    Answer,
    Compared,
    ComparedView,
    Cut,
    Described,
    FoundEntities,
    FoundEntity,
    ItemStatements,
    Passages,
    Retrieved,
    Views,
)
from graph_service.mcp.budget import (
    DEFAULT_TOKENS,
    LEAST_TOKENS,
    MOST_TOKENS,
    Section,
    answered,
    budget_cut,
    filled,
    fitting,
    size,
)
from graph_service.mcp.operations import Operation, answer_of
from graph_service.model.browsing import ItemRelations
from graph_service.model.render import one_line
from graph_service.model.request import RetrieveOptions
from graph_service.model.result import ClientComparison, Status, Strategy, single_results
from graph_service.model.view_reference import parse_view

AT_ONCE = 8
"""Calls of tools that run at once."""
MOST_WAITING = 64
MOST_LABELS = 200
"""Ids whose labels are looked up in one call."""
BASE = "base"

Graph = Annotated[str | None, Field(description="A graph's name, if several.")]
Lang = Annotated[str, Field(description="Language code of labels.")]
View = Annotated[
    str | None,
    Field(
        description="Ask a perturbed view of the graph: its name or id (see list_views), or "
        "METHOD:LEVEL:SEED with method rs, rr, er or ed and level 0 to 1, such as ed:0.3:1."
    ),
]
Budget = Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)]
ItemId = Annotated[str, Field(min_length=1, description="Such as Q42.")]
PropertyId = Annotated[str, Field(min_length=1, description="Such as P31.")]
Direction = Annotated[
    Literal["outgoing", "incoming"],
    Field(description="Whether the item is the subject or the value; outgoing for statements."),
]
Cursor = Annotated[str | None, Field(description="next_cursor of the page before.")]
Question = Annotated[str, Field(min_length=1, description="A question in whole words.")]
How = Annotated[
    Literal["paths", "triplets", "subgraph"],
    Field(
        description="paths, for most questions; triplets: single statements; subgraph: one "
        "connected part of the graph, for open questions."
    ),
]
EntityIds = Annotated[
    list[str] | None,
    Field(description="Ids of the question's entities, if known."),
]
Limit = Annotated[int, Field(ge=1, le=100, description="Most items.")]


class Tools:
    """What a model may call. All of it reads.

    Args:
        client: Of the service in this process, or of a server.
        graph: The graph that is meant where a call names none.
        masked: Whether callers are others than the operator: they are not told of files and
            addresses.
    """

    def __init__(
        self, client: AsyncClient, /, *, graph: str | None = None, masked: bool = False
    ) -> None:
        self._client = client
        self._graph = graph
        self._masked = masked
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def search_items(
        self,
        query: Annotated[str, Field(min_length=1, description="A name, or a part of one.")],
        lang: Annotated[str | None, Field(description="Language whose names come first.")] = None,
        graph: Graph = None,
        view: View = None,
        limit: Limit = 10,
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, FoundEntities]:
        """Find items and properties by label or alias, best first.

        Use it when you need an id: never invent one.
        """
        async with self._turn():
            hits = await self._client.search(
                query,
                graph=graph or self._graph,
                view=parse_view(view) if view else None,
                languages=(lang,) if lang else (),
                limit=limit,
            )
        items = [
            FoundEntity(
                id=hit.item.id,
                label=hit.item.label,
                description=hit.item.description,
                matched=hit.matched,
                score=hit.score,
            )
            for hit in hits
        ]
        lines = [
            f"{item.id}: {item.label} - {item.description or ''}".rstrip(" -") for item in items
        ]
        head = "" if items else f"No item is named like {query!r}. Try another or a shorter name."
        return answered(FoundEntities(items=[]), items, lines, head=head, budget=token_budget)

    async def get_statements(
        self,
        entity_id: ItemId,
        property_id: PropertyId | None = None,
        direction: Direction | None = None,
        cursor: Cursor = None,
        details: Annotated[
            bool, Field(description="With qualifiers, such as when it held, and references.")
        ] = False,
        lang: Lang = "en",
        graph: Graph = None,
        view: View = None,
        limit: Annotated[int, Field(ge=1, le=999, description="Most elements of a page.")] = 100,
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, ItemStatements]:
        """Look at one item, page by page.

        Without property_id: its relations in both directions, each with its count. With
        property_id: the statements of that relation. Use it to walk from item to item, or to read a
        whole list. `retrieve` answers a question in one call.
        """
        graph = graph or self._graph
        reference = parse_view(view) if view else None
        async with self._turn():
            if property_id is None:
                relations = await self._client.relations(
                    entity_id,
                    graph=graph,
                    view=reference,
                    direction=direction,
                    languages=(lang,),
                    first=limit,
                    after=cursor,
                )
                if relations is None:
                    raise _no_item(entity_id)
                return _relations(relations, token_budget)
            page = await self._client.statement_page(
                entity_id,
                graph=graph,
                view=reference,
                relation_ids=(property_id,),
                direction=direction or "outgoing",
                languages=(lang,),
                first=limit,
                after=cursor,
                details=details,
            )
            if page is None:
                raise _no_item(entity_id)
            labels = None
            if details:
                labels = await self._labels(shapes.ids_of_details(page.statements), graph, lang)
        outgoing = direction != "incoming"
        named = f"{page.item.label} ({page.item.id})"
        head = f"{named}, statements: {page.total}"
        if not page.total:
            way, other = ("outgoing", "incoming") if outgoing else ("incoming", "outgoing")
            head = (
                f"{named} has no {way} statement of {property_id}. Try direction {other}, or call "
                "get_statements without property_id to see its relations."
            )
        items = [shapes.statement(row, labels) for row in page.statements]
        lines = [
            shapes.statement_lines(row.triple, item, outgoing=outgoing)
            for row, item in zip(page.statements, items, strict=True)
        ]
        answer = ItemStatements(
            item_id=page.item.id, label=page.item.label, total=page.total, next_cursor=page.next
        )
        return _paged(answer, Section("items", items, lines), page.cursors, head, token_budget)

    async def _labels(
        self, ids: Sequence[str], graph: str | None, lang: str
    ) -> Callable[[str], str]:
        """Returns what labels ids; an id past ``MOST_LABELS`` or without a label is its own."""
        shown_ids = list(ids[:MOST_LABELS])
        items = await self._client.items(shown_ids, graph=graph, language=lang) if shown_ids else ()
        labels = {id_: item.label for id_, item in zip(shown_ids, items, strict=True) if item}
        return lambda id_: f"{labels[id_]} ({id_})" if id_ in labels else id_

    async def retrieve(
        self,
        question: Question,
        strategy: How = "paths",
        graph: Graph = None,
        view: View = None,
        entity_ids: EntityIds = None,
        earlier: Annotated[
            list[str] | None,
            Field(description="Earlier questions, latest last."),
        ] = None,
        code: Annotated[bool, Field(description="Add its query in Cypher and SPARQL.")] = False,
        limit: Limit = 10,
        lang: Lang = "en",
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, Retrieved]:
        """Answer a question: the statements that fit best, with citations.

        Call it first with the whole question. Answer from these alone, and put the `citation`
        of each you use behind it. `status` tells whether anything fits.
        """
        async with self._turn():
            options = self._options(graph, view, entity_ids, limit, lang)
            if earlier:
                options["earlier"] = earlier
            result = await self._client.retrieve(Strategy(strategy), question, **options)
        items = [shapes.retrieved(item) for item in result.items]
        linked = [shapes.linked(entity) for entity in result.linked]
        answer = shapes.computed(result.answer)
        advice = shapes.ADVICE[result.status]
        # A reader must know that an answer is not sure before reading it.
        is_ok = result.status is Status.OK
        head = [] if is_ok else [f"Status: {result.status.value}. {advice}"]
        singles = single_results(result) if result.parts else ()
        for position, single in enumerate(singles, 1):
            head += shapes.part_lines(position, single, code=code)
        if result.answer is not None:
            head.append(shapes.answer_line(result.answer, is_sure=is_ok))
        named = dict.fromkeys(f"{each.label} ({each.id})" for each in linked)
        head.append(f"Entities: {', '.join(named) or 'none'}")
        if result.confidence is not None:
            head.append(f"Confidence: {result.confidence:.2f}")
        unmet = [each.text for each in result.constraints if not each.met]
        if unmet:
            head.append(f"Not met: {', '.join(unmet)}")
        head += shapes.reading_lines(result.interpretation, code=code)
        return answered(
            Retrieved(
                result_id=result.id,
                status=result.status.value,
                advice=advice,
                confidence=result.confidence,
                linked=linked,
                unmet=unmet,
                answer=answer,
                parts=[
                    shapes.part(position, single, part.item_indexes, code=code)
                    for position, (single, part) in enumerate(
                        zip(singles, result.parts, strict=True), 1
                    )
                ],
                items=[],
                provenance=shapes.source_of(result),
                truncated=shapes.cuts_of(result),
                **shapes.reading(result.interpretation, code=code),
            ),
            items,
            [shapes.retrieved_line(item) for item in items],
            head="\n".join(map(one_line, head)),
            budget=token_budget,
        )

    async def compare(
        self,
        question: Question,
        views: Annotated[
            list[str],
            Field(
                min_length=1,
                max_length=10,
                description="Names or ids of views, or METHOD:LEVEL:SEED, such as ed:0.3:1.",
            ),
        ],
        strategy: How = "paths",
        graph: Graph = None,
        entity_ids: EntityIds = None,
        limit: Limit = 10,
        lang: Lang = "en",
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, Compared]:
        """Get what one question finds on a graph and on perturbed views of it, side by side.

        The first row is the graph itself; the others say which statements they lost and gained.
        """
        async with self._turn():
            options = self._options(graph, None, entity_ids, limit, lang)
            rows = await self._client.compare(
                Strategy(strategy), question, [parse_view(view) for view in views], **options
            )
        share = token_budget // (len(rows) + 1)
        cuts: list[Cut] = []
        items = []
        for name, row in zip((BASE, *views), rows, strict=True):
            items.append(_compared(name, row, share, cuts))
        answer = Compared(items=[], provenance=shapes.source_of(rows[0].result), truncated=cuts)
        lines = [_compared_lines(item) for item in items]
        return answered(answer, items, lines, budget=token_budget)

    async def describe_graph(
        self,
        graph: Graph = None,
        lang: Lang = "en",
        view: View = None,
        limit: Annotated[int, Field(ge=1, le=1000, description="Most of each list.")] = 20,
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, Described]:
        """See what a graph is about: size, largest classes, relations, with counts and examples.

        Use it when you do not know what can be asked. It lists the graphs if there are several and
        you name none.
        """
        name = graph or self._graph
        async with self._turn():
            names = [each.name for each in await self._client.graphs()]
            if name is None and len(names) != 1:
                about = None
            else:
                reference = parse_view(view) if view else None
                about = await self._client.describe(
                    name, view=reference, languages=(lang,), first=limit
                )
        answer = Described(graphs=names)
        if about is None:
            head = f"Name one of these graphs: {', '.join(names)}"
            if not names:
                head = "There is no graph. Its operator loads one: graph-service load"
            return filled(answer, [], head=head, budget=token_budget)
        answer.graph = shapes.graph_data(about.info)
        head = shapes.graph_line(answer.graph)
        others = [other for other in names if other != about.info.name]
        if others:
            head += f"\nOther graphs: {', '.join(others)}"
        classes = [shapes.class_data(each) for each in about.classes]
        relations = [shapes.relation_data(each) for each in about.relations]
        return filled(
            answer,
            [
                Section(
                    "classes",
                    classes,
                    [shapes.class_line(each) for each in classes],
                    f"Classes ({about.class_count}), instances, examples:",
                ),
                Section(
                    "relations",
                    relations,
                    [shapes.relation_line(each) for each in relations],
                    f"Relations ({about.info.counts.relations}), statements, an example:",
                ),
            ],
            head=head,
            budget=token_budget,
        )

    async def search_passages(
        self,
        query: Annotated[str, Field(min_length=1, description="A question or words.")],
        lang: Lang = "en",
        graph: Graph = None,
        limit: Limit = 10,
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, Passages]:
        """Find pieces of text beside a graph that fit a question, best first, with citations."""
        async with self._turn():
            result = await self._client.passages(
                query, graph=graph or self._graph, k=limit, languages=(lang,)
            )
        items = [shapes.passage_data(each) for each in result.items]
        lines = [shapes.passage_line(each) for each in items]
        head = "" if items else "No passage fits. The graph may have none."
        return answered(Passages(items=[]), items, lines, head=head, budget=token_budget)

    async def list_views(
        self, graph: Graph = None, token_budget: Budget = DEFAULT_TOKENS
    ) -> Annotated[CallToolResult, Views]:
        """List the stored views of a graph: perturbed copies, to study what errors do to answers."""
        async with self._turn():
            stored = await self._client.views(graph=graph or self._graph)
        items = [shapes.view_data(view) for view in stored]
        lines = [shapes.view_line(view) for view in items]
        head = "" if items else "No view is stored. A view can be given as METHOD:LEVEL:SEED."
        return answered(Views(items=[]), items, lines, head=head, budget=token_budget)

    async def run_operation(
        self, operation: Operation, values: Mapping[str, Any], /
    ) -> CallToolResult:
        """Runs a query of the user's own, whose tool was called with arguments."""
        call, budget = operation.call(values, graph=self._graph)
        async with self._turn():
            data = await self._client.run(call)
        return answer_of(data, orjson.dumps(data).decode(), budget=budget)

    def _options(
        self,
        graph: str | None,
        view: str | None,
        entity_ids: Sequence[str] | None,
        limit: int,
        lang: str,
    ) -> RetrieveOptions:
        options: RetrieveOptions = {"limit": limit, "languages": (lang,)}
        if graph or self._graph:
            options["graph"] = graph or self._graph
        if view:
            options["view"] = parse_view(view)
        if entity_ids:
            options["entity_ids"] = entity_ids
        return options

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Waits until few enough calls run; tells the model of errors in plain words."""
        if self._waiting >= MOST_WAITING:
            raise ToolError("too many calls are waiting; try again later")
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        except GraphServiceError as error:
            raise ToolError(error_text(error, masked=self._masked)) from error
        finally:
            self._turns.release()


def _no_item(item_id: str) -> InputError:
    return InputError(f"the graph has no item {item_id!r}", hint="Find ids with search_items.")


def _relations(page: ItemRelations, budget: int) -> CallToolResult:
    item = page.item
    head = f"{item.label} ({item.id})" + (f": {item.description}" if item.description else "")
    if not page.total:
        head += "\nNo statement has it as an end."
    relations = [shapes.item_relation(each) for each in page.relations]
    lines = [shapes.item_relation_line(each) for each in relations]
    answer = ItemStatements(
        item_id=item.id, label=item.label, total=page.total, next_cursor=page.next
    )
    section = Section("relations", relations, lines, "Relations, with their numbers of statements:")
    return _paged(answer, section, page.cursors, head, budget)


def _paged(
    answer: ItemStatements, section: Section, cursors: Sequence[str], head: str, budget: int
) -> CallToolResult:
    """Returns a page; where the budget cuts it, the next one begins after what is shown."""

    def go_on(filled_answer: Answer, shown: int) -> None:
        assert isinstance(filled_answer, ItemStatements)
        if shown:
            filled_answer.next_cursor = cursors[shown - 1]
            # Nothing is lost: the cursor leads to the rest.
            filled_answer.truncated.pop()

    def end(filled_answer: Answer) -> str:
        assert isinstance(filled_answer, ItemStatements)
        if filled_answer.next_cursor is None:
            return ""
        return f"More follow: call again with cursor {filled_answer.next_cursor}"

    return filled(answer, [section], head=head, budget=budget, on_cut=go_on, end=end)


def error_text(error: GraphServiceError, /, *, masked: bool) -> str:
    """Returns the text of an error for a caller.

    Args:
        error: It happened.
        masked: Whether the caller may not hear of files and addresses.
    """
    return error.about_server if masked and error.about_server else str(error)


def _compared(name: str, row: ClientComparison, budget: int, cuts: list[Cut]) -> ComparedView:
    """Returns a row of a comparison; what does not fit its share goes, and is put into ``cuts``."""
    shown = ComparedView(
        view=name,
        view_id=row.view_id,
        result_id=row.result.id,
        status=row.result.status.value,
        items=[],
        lost=list(row.lost),
        gained=list(row.gained),
        changed=list(row.changed),
    )
    items = [shapes.retrieved(item) for item in row.result.items]
    sizes = [size(item) + size(shapes.retrieved_line(item)) + 1 for item in items]
    count = fitting(sizes, budget - size(shown) - size(name))
    if count < len(items):
        cuts.append(budget_cut(budget, count, len(items), what=f"items of {name}"))
    cuts += [
        cut.model_copy(update={"what": f"{cut.what} of {name}"})
        for cut in shapes.cuts_of(row.result)
    ]
    shown.items = items[:count]
    return shown


def _compared_lines(row: ComparedView) -> str:
    line = f"{row.view}: {row.status}"
    if row.view != BASE:
        line += f", lost {len(row.lost)}, gained {len(row.gained)}, changed {len(row.changed)}"
    return "\n".join((line, *(f"  {shapes.retrieved_line(item)}" for item in row.items)))
