"""Graphs and search hits as GraphQL types."""

from __future__ import annotations

import strawberry

from graph_service.api.global_ids import IdKind, global_id
from graph_service.api.items import Context, ItemType, LanguageCodes, Node, View
from graph_service.api.named_values import NamedValue, named_values
from graph_service.api.overviews import (
    ClassSizeConnection,
    PropertyUseConnection,
    class_sizes,
    property_uses,
)
from graph_service.api.pages import After, First, PageInfo
from graph_service.api.scalars import DateTime
from graph_service.api.source_names import owner_name, source_name, with_source_names
from graph_service.model.graph_info import GraphInfo


@strawberry.type(
    name="UnfinishedLoad",
    description="A load that is not published: under way, or left by a process that died.",
)
class UnfinishedLoadType:
    """A load that is not published."""

    edition: str = strawberry.field(description="The edition that it writes.")
    owner: str = strawberry.field(
        description="A name for the process that loads; it does not name the machine."
    )
    source: str = strawberry.field(description="What is loaded, without its folder.")
    started_at: DateTime = strawberry.field(description="When it began.")
    statements: int = strawberry.field(description="Statements written so far.")
    lease_expires_at: DateTime = strawberry.field(
        description="Until when nobody else may load the graph."
    )


@strawberry.type(name="Graph", description="A published graph, in one edition.")
class GraphType(Node):
    """A published graph."""

    info: strawberry.Private[GraphInfo]

    def _global_id(self) -> str:
        return global_id(IdKind.GRAPH, self.info.edition, self.info.name)

    @strawberry.field(description="The name of the graph, which arguments named graph take.")
    def name(self) -> str:
        """The name."""
        return self.info.name

    @strawberry.field(description="The edition: the name and a number that each load raises.")
    def edition(self) -> str:
        """The edition."""
        return self.info.edition

    @strawberry.field(
        description="What it was loaded from: the name of a file without its folder, or an endpoint."
    )
    def source(self) -> str:
        """The source."""
        return source_name(self.info.source)

    @strawberry.field(description="When readers first saw the edition.")
    def published_at(self) -> DateTime:
        """When it was published."""
        return DateTime(self.info.published_at)

    @strawberry.field(description="How many items it has.")
    def items(self) -> int:
        """The number of items."""
        return self.info.counts.entities

    @strawberry.field(description="How many statements it has.")
    def statements(self) -> int:
        """The number of statements."""
        return self.info.counts.statements

    @strawberry.field(
        description="The classes of its items with their sizes, the largest first: what the graph "
        "is about."
    )
    def classes(
        self,
        info: Context,
        view: View = None,
        language_codes: LanguageCodes = None,
        first: First = 20,
        after: After = None,
    ) -> ClassSizeConnection | None:
        """The classes."""
        return class_sizes(
            info.context, self.info, view=view, languages=language_codes, first=first, after=after
        )

    @strawberry.field(
        description="The properties of its statements with their counts and an example of each, "
        "those used most first."
    )
    def relations(
        self,
        info: Context,
        view: View = None,
        language_codes: LanguageCodes = None,
        first: First = 20,
        after: After = None,
    ) -> PropertyUseConnection | None:
        """The relations."""
        return property_uses(
            info.context, self.info, view=view, languages=language_codes, first=first, after=after
        )

    @strawberry.field(description="How many properties its statements have.")
    def properties(self) -> int:
        """The number of properties."""
        return self.info.counts.relations

    @strawberry.field(description="How many statements have a value that is no item.")
    def literals(self) -> int:
        """The number of literals."""
        return self.info.counts.literals

    @strawberry.field(
        description="Sum of hashes of its statements; equal graphs have equal ones, whoever loaded "
        "them. Views are bound to it."
    )
    def edges_fingerprint(self) -> str:
        """The fingerprint of its statements."""
        return self.info.fingerprints.edges

    @strawberry.field(description="The same with qualifiers, references and labels.")
    def content_fingerprint(self) -> str:
        """The fingerprint of all that it says."""
        return self.info.fingerprints.content

    @strawberry.field(description="The options of the load.")
    def options(self) -> list[NamedValue]:
        """The options of the load."""
        return named_values(with_source_names(self.info.options))

    @strawberry.field(description="What the load came to.")
    def report(self) -> list[NamedValue]:
        """The report of the load."""
        return named_values(with_source_names(self.info.report))

    @strawberry.field(description="Version of graph-service that wrote it.")
    def tool_version(self) -> str:
        """The version."""
        return self.info.tool_version

    @strawberry.field(description="A load of the next edition that is not published yet.")
    def unfinished_load(self) -> UnfinishedLoadType | None:
        """The unfinished load."""
        load = self.info.unfinished
        if load is None:
            return None
        return UnfinishedLoadType(
            edition=load.edition,
            owner=owner_name(load.owner),
            source=source_name(load.source),
            started_at=DateTime(load.started_at),
            statements=load.statements,
            lease_expires_at=DateTime(load.lease_expires_at),
        )


def graph_type(info: GraphInfo, /) -> GraphType:
    """Returns a graph for output."""
    return GraphType(info=info)


@strawberry.type(description="A graph in a page of them.")
class GraphEdge:
    """A graph in a page."""

    cursor: str = strawberry.field(description="Where it stands, for the argument after.")
    node: GraphType = strawberry.field(description="The graph.")


@strawberry.type(description="A page of the published graphs, by name.")
class GraphConnection:
    """A page of graphs."""

    edges: list[GraphEdge] = strawberry.field(description="The graphs of the page.")
    page_info: PageInfo = strawberry.field(description="Where the page stands in the list.")
    total_count: int = strawberry.field(description="How many graphs there are.")

    @strawberry.field(description="The graphs of the page, without cursors.")
    def nodes(self) -> list[GraphType]:
        """The nodes of the edges."""
        return [edge.node for edge in self.edges]


@strawberry.type(description="An item found by name, in a page of them.")
class SearchEdge:
    """An item found by name."""

    cursor: str = strawberry.field(description="Where it stands, for the argument after.")
    node: ItemType = strawberry.field(description="The item.")
    matched: str = strawberry.field(description="The name that matched.")
    language_code: str = strawberry.field(description="The language of that name.")
    is_alias: bool = strawberry.field(description="Whether that name is an alias, no label.")
    score: float = strawberry.field(
        description="1 for a label equal to the query; falls from there."
    )


@strawberry.type(description="A page of the items found by name, best first.")
class SearchConnection:
    """A page of items found by name."""

    edges: list[SearchEdge] = strawberry.field(description="The items of the page.")
    page_info: PageInfo = strawberry.field(description="Where the page stands in the list.")

    @strawberry.field(description="The items of the page, without cursors.")
    def nodes(self) -> list[ItemType]:
        """The nodes of the edges."""
        return [edge.node for edge in self.edges]
