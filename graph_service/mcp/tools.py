"""The tools: each asks the client once or twice, and answers within its token budget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from graph_service.client import AsyncClient
from graph_service.client.types import ClientComparison
from graph_service.errors import GraphServiceError, InputError
from graph_service.mcp import shapes
from graph_service.mcp.answers import (
    Compared,
    ComparedView,
    Cut,
    FoundEntities,
    FoundEntity,
    Graphs,
    ItemStatements,
    Retrieved,
    Views,
)
from graph_service.mcp.budget import (
    DEFAULT_TOKENS,
    LEAST_TOKENS,
    MOST_TOKENS,
    answered,
    budget_cut,
    fitting,
    size,
)
from graph_service.model.limits import CutReason
from graph_service.model.request import RetrieveOptions
from graph_service.model.result import Status, Strategy
from graph_service.model.view_reference import parse_view

AT_ONCE = 8
"""Calls of tools that run at once."""
MOST_WAITING = 64
MOST_LABELS = 200
"""Ids whose labels are looked up in one call."""
BASE = "base"

Graph = Annotated[
    str | None, Field(description="The graph's name; see list_graphs. Not needed if there is one.")
]
Lang = Annotated[str, Field(description="Language code of labels, such as en.")]
View = Annotated[
    str | None,
    Field(
        description="Ask a perturbed view of the graph: its name or id (see list_views), or "
        "METHOD:LEVEL:SEED with method rs, rr, er or ed and level 0 to 1, such as ed:0.3:1."
    ),
]
Budget = Annotated[
    int,
    Field(
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="Most tokens of the answer. Whole items are left out to meet it, and "
        "`truncated` says so.",
    ),
]
ItemId = Annotated[str, Field(min_length=1, description="Id of an item or property, such as Q42.")]
PropertyId = Annotated[str, Field(min_length=1, description="Id of a property, such as P31.")]
Question = Annotated[
    str, Field(min_length=1, description="A question in whole words that names its entities.")
]
How = Annotated[
    Literal["paths", "triplets", "subgraph"],
    Field(
        description="paths: chains from the question's entities, for most questions; triplets: "
        "single statements; subgraph: one connected part of the graph, for open questions."
    ),
]
EntityIds = Annotated[
    list[str] | None,
    Field(description="Ids of the question's entities, to skip finding them by name."),
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
        lang: Annotated[
            str | None, Field(description="Only names in this language; by default in any.")
        ] = None,
        graph: Graph = None,
        view: View = None,
        limit: Limit = 10,
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, FoundEntities]:
        """Find items and properties of a graph by label or alias, best first.

        Use it first when you need an id: never invent one.
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
        lines = [f"{one.id}: {one.label} - {one.description or ''}".rstrip(" -") for one in items]
        head = "" if items else f"No item is named like {query!r}. Try another or a shorter name."
        return answered(FoundEntities(items=[]), items, lines, head=head, budget=token_budget)

    async def get_statements(
        self,
        entity_id: ItemId,
        lang: Lang = "en",
        graph: Graph = None,
        view: View = None,
        limit: Annotated[int, Field(ge=1, le=999, description="Most statements.")] = 100,
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, ItemStatements]:
        """Get the statements (property and value) of an item, without qualifiers and references."""
        return await self._statements(entity_id, None, lang, graph, view, limit, token_budget)

    async def get_statement_values(
        self,
        entity_id: ItemId,
        property_id: PropertyId,
        lang: Lang = "en",
        graph: Graph = None,
        view: View = None,
        limit: Annotated[int, Field(ge=1, le=999, description="Most statements.")] = 100,
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, ItemStatements]:
        """Get all values of one property of an item, with ranks, qualifiers and references.

        Use it to check a fact: when it held, and where it comes from.
        """
        return await self._statements(
            entity_id, property_id, lang, graph, view, limit, token_budget
        )

    async def _statements(
        self,
        item_id: str,
        property_id: str | None,
        lang: str,
        graph: str | None,
        view: str | None,
        limit: int,
        budget: int,
    ) -> CallToolResult:
        graph = graph or self._graph
        async with self._turn():
            item = (await self._client.items([item_id], graph=graph, language=lang))[0]
            if item is None:
                raise InputError(
                    f"the graph has no item {item_id!r}", hint="Find ids with search_items."
                )
            found = await self._client.statements(
                item_id,
                graph=graph,
                view=parse_view(view) if view else None,
                relation_id=property_id,
                languages=(lang,),
                limit=limit + 1,
            )
            labels = None
            if property_id is not None:
                labels = await self._labels(shapes.ids_of_details(found[:limit]), graph, lang)
        cuts = []
        if len(found) > limit:
            reason = CutReason.LIMIT.value
            cuts.append(Cut(what="statements", reason=reason, limit=limit, kept=limit, total=None))
        items = [shapes.statement(one, labels) for one in found[:limit]]
        lines = [shapes.statement_lines(item.id, one) for one in items]
        of = f" with property {property_id}" if property_id is not None else ""
        head = f"{item.label} ({item.id})" if items else f"{item.id} has no statement{of}."
        answer = ItemStatements(item_id=item.id, label=item.label, items=[], truncated=cuts)
        return answered(answer, items, lines, head=head, budget=budget)

    async def _labels(
        self, ids: Sequence[str], graph: str | None, lang: str
    ) -> Callable[[str], str]:
        """Returns what labels ids; an id past ``MOST_LABELS`` or without a label is its own."""
        wanted = list(ids[:MOST_LABELS])
        found = await self._client.items(wanted, graph=graph, language=lang) if wanted else ()
        labels = {id_: item.label for id_, item in zip(wanted, found, strict=True) if item}
        return lambda id_: f"{labels[id_]} ({id_})" if id_ in labels else id_

    async def retrieve(
        self,
        question: Question,
        strategy: How = "paths",
        graph: Graph = None,
        view: View = None,
        entity_ids: EntityIds = None,
        limit: Limit = 10,
        lang: Lang = "en",
        token_budget: Budget = DEFAULT_TOKENS,
    ) -> Annotated[CallToolResult, Retrieved]:
        """Get the statements of a graph that answer a question, best first, with citations.

        Answer from these statements alone, and cite each that you use as its `citation` says.
        `status` tells whether anything fits.
        """
        async with self._turn():
            options = self._options(graph, view, entity_ids, limit, lang)
            result = await self._client.retrieve(Strategy(strategy), question, **options)
        items = [shapes.retrieved(item) for item in result.items]
        linked = [shapes.linked(entity) for entity in result.linked]
        answer = shapes.computed(result.answer)
        advice = shapes.ADVICE[result.status]
        head = [f"Entities: {', '.join(f'{one.label} ({one.id})' for one in linked) or 'none'}"]
        if result.status is not Status.OK:
            head.append(f"Status: {result.status.value}. {advice}")
        unmet = [one.text for one in result.constraints if not one.met]
        if unmet:
            head.append(f"Not met: {', '.join(unmet)}")
        if answer is not None:
            head.append(f"Answer ({answer.kind}): {answer.value}")
        return answered(
            Retrieved(
                result_id=result.id,
                status=result.status.value,
                advice=advice,
                linked=linked,
                unmet=unmet,
                answer=answer,
                items=[],
                provenance=shapes.source_of(result),
                truncated=shapes.cuts_of(result.truncated),
            ),
            items,
            [shapes.retrieved_line(item) for item in items],
            head="\n".join(head),
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

    async def list_graphs(
        self, token_budget: Budget = DEFAULT_TOKENS
    ) -> Annotated[CallToolResult, Graphs]:
        """List the graphs that can be asked, with their sizes."""
        async with self._turn():
            found = await self._client.graphs()
        items = [shapes.graph_data(graph) for graph in found]
        lines = [shapes.graph_line(graph) for graph in items]
        head = "" if items else "There is no graph. Its operator loads one: graph-service load"
        return answered(Graphs(items=[]), items, lines, head=head, budget=token_budget)

    async def list_views(
        self, graph: Graph = None, token_budget: Budget = DEFAULT_TOKENS
    ) -> Annotated[CallToolResult, Views]:
        """List the stored views of a graph: perturbed copies, to study what errors do to answers."""
        async with self._turn():
            found = await self._client.views(graph=graph or self._graph)
        items = [shapes.view_data(view) for view in found]
        lines = [shapes.view_line(view) for view in items]
        head = "" if items else "No view is stored. A view can be given as METHOD:LEVEL:SEED."
        return answered(Views(items=[]), items, lines, head=head, budget=token_budget)

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
            raise ToolError(said(error, masked=self._masked)) from error
        finally:
            self._turns.release()


def said(error: GraphServiceError, /, *, masked: bool) -> str:
    """Returns what a caller is told of an error.

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
    kept = fitting(sizes, budget - size(shown) - size(name))
    if kept < len(items):
        cuts.append(budget_cut(budget, kept, len(items), what=f"items of {name}"))
    cuts += [
        cut.model_copy(update={"what": f"{cut.what} of {name}"})
        for cut in shapes.cuts_of(row.result.truncated)
    ]
    shown.items = items[:kept]
    return shown


def _compared_lines(row: ComparedView) -> str:
    told = f"{row.view}: {row.status}"
    if row.view != BASE:
        told += f", lost {len(row.lost)}, gained {len(row.gained)}, changed {len(row.changed)}"
    return "\n".join((told, *(f"  {shapes.retrieved_line(item)}" for item in row.items)))
