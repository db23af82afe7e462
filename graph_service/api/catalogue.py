"""Graphs and search hits as GraphQL types."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from graph_service.api.derive import build, output
from graph_service.api.global_ids import Frame, IdKind, global_id
from graph_service.api.items import Context, ItemType, LanguageCodes, Node, View
from graph_service.api.overviews import (
    ClassSizeConnection,
    PropertyUseConnection,
    Request,
    class_sizes,
    property_uses,
)
from graph_service.api.pages import After, First, Page, edge_of, page_of
from graph_service.model.graph_info import GraphInfo
from graph_service.model.introduction import ExampleQuestion, Introduction
from graph_service.model.request import check_languages
from graph_service.model.result import MatchingItem, SearchHit


@output(GraphInfo)
class GraphType(Node):
    """A published graph, with pages of its classes and relations."""

    model: strawberry.Private[GraphInfo]

    def _global_id(self) -> str:
        return global_id(IdKind.GRAPH, self.model.edition, self.model.name)

    def classes(
        self,
        info: Context,
        view: View = None,
        language_codes: LanguageCodes = None,
        first: First = 20,
        after: After = None,
    ) -> ClassSizeConnection | None:
        """Returns a page of the classes."""
        request = Request(self.model, view, language_codes, first, after)
        return class_sizes(info.context, request)

    def relations(
        self,
        info: Context,
        view: View = None,
        language_codes: LanguageCodes = None,
        first: First = 20,
        after: After = None,
    ) -> PropertyUseConnection | None:
        """Returns a page of the relations."""
        request = Request(self.model, view, language_codes, first, after)
        return property_uses(info.context, request)

    def introduction(
        self, info: Context, language_codes: LanguageCodes = None
    ) -> Introduction | None:
        """Returns what the graph is about."""
        frame = self._frame(language_codes)
        introduction = info.context.service.introduction(
            graph=self.model.name, languages=frame.languages
        )
        shown: Introduction = build(info.context, frame, introduction)
        return shown

    def example_questions(
        self, info: Context, language_codes: LanguageCodes = None
    ) -> tuple[ExampleQuestion, ...] | None:
        """Returns questions about the graph with their answers."""
        frame = self._frame(language_codes)
        return info.context.service.example_questions(
            graph=self.model.name, languages=frame.languages
        )

    def _frame(self, language_codes: Sequence[str] | None) -> Frame:
        languages = tuple(language_codes or ("en",))
        check_languages(languages)
        return Frame(self.model.edition, languages)


GraphEdge = edge_of("GraphEdge", GraphType, "A graph in a page of them.", node_words="The graph.")


@page_of(
    GraphEdge,
    "A page of the published graphs, by name.",
    edges="The graphs of the page.",
    nodes="The graphs of the page, without cursors.",
    total="How many graphs there are.",
)
class GraphConnection(Page):
    """A page of the published graphs, by name."""


@output(MatchingItem)
class SearchEdge:
    """An item found by name."""

    model: strawberry.Private[SearchHit]
    cursor: str
    node: ItemType


@page_of(
    SearchEdge,
    "A page of the items found by name, best first.",
    edges="The items of the page.",
    nodes="The items of the page, without cursors.",
)
class SearchConnection(Page):
    """A page of items found by name."""
