"""Steps from questions to their answers, counted in the store that an experiment asks."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.request import ViewRef
from graph_service.service import Service
from graph_service.views.draw import edges_at_level
from graph_service.views.measure.steps import Steps
from queries.datasets.gold import GoldQuestion
from queries.experiment.impact import Changes


@dataclass(frozen=True, slots=True)
class _Opened:
    """A graph and what counts steps in it, or in a view of it."""

    arrays: KnowledgeGraph
    counted: Steps


class StoreSteps:
    """Counts steps over the arrays of a store's graphs.

    Args:
        service: Opens the graphs, and lays the views over them.
    """

    def __init__(self, service: Service, /) -> None:
        self._service = service
        self._bases: dict[str, _Opened] = {}
        # Questions of one view come one after another, and a view is large.
        self._last: tuple[str, ViewRef, _Opened] | None = None

    def count(self, question: GoldQuestion, graph: str, view: ViewRef | None, /) -> int | None:
        """Returns the steps from a question's entities to its nearest answer; None if it is far.

        Args:
            question: The question; what of its entities the graph lacks is left out.
            graph: Name of the base.
            view: Over which they are counted; None for the base.
        """
        opened = self._base(graph) if view is None else self._view(graph, view)
        entities, answers = (
            [node for id_ in ids if (node := opened.arrays.find_node(id_)) is not None]
            for ids in (question.entity_ids, question.answer_ids)
        )
        return opened.counted.nearest(entities, answers)

    def changes(self, graph: str, view: ViewRef, /) -> Changes:
        """Returns how many changes a view makes, and how many its level or count says."""
        _, applied = self._service.views.apply(view, graph=graph)
        report, spec = applied.report, applied.spec
        made = sum(report.counts.values())
        if report.level_reached is None and report.scope_edges:
            return Changes(made, None)
        if spec.level is not None:
            return Changes(made, edges_at_level(spec.level, report.scope_edges))
        return Changes(made, None if spec.count is None else min(spec.count, report.scope_edges))

    def _base(self, graph: str) -> _Opened:
        if graph not in self._bases:
            arrays = self._service.arrays(self._service.graph(graph))
            self._bases[graph] = _Opened(arrays, Steps(arrays))
        return self._bases[graph]

    def _view(self, graph: str, view: ViewRef) -> _Opened:
        if self._last is None or self._last[:2] != (graph, view):
            arrays, applied = self._service.views.apply(view, graph=graph)
            self._last = (graph, view, _Opened(arrays, Steps(arrays, applied.overlay)))
        return self._last[2]
