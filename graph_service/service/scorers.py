"""Scorers of triples: trained on a graph, listed, opened, deleted (O11)."""

from __future__ import annotations

from collections.abc import Callable

from graph_service.artifacts.scorers import StoredScorer
from graph_service.artifacts.views import ViewStore
from graph_service.embed import Vectors
from graph_service.model.graph import KnowledgeGraph
from graph_service.service.entity_texts import entity_texts
from graph_service.service.graphs import Graphs
from graph_service.service.lookup import require_base
from graph_service.views.scorer.trained import TrainedScorer


class Scorers:
    """The trained scorers of a service's graphs."""

    def __init__(
        self, graphs: Graphs, store: ViewStore, /, *, vectors: Callable[[], Vectors]
    ) -> None:
        self._graphs = graphs
        self._store = store
        self._vectors = vectors

    def train(
        self,
        *,
        graph: str | None = None,
        text: bool = True,
        random_seed: int = 0,
        progress: Callable[[str, float], None] | None = None,
    ) -> StoredScorer:
        """Trains a scorer of a graph's triples and stores it; ATS is taken with it from then on.

        Args:
            graph: Name of a base graph.
            text: Whether to use the entities' texts, where they have any.
            random_seed: What is drawn follows from it.
            progress: Told the stage and the share of it that is done.

        Raises:
            InputError: The graph has too few edges or relations.
        """
        info = self._graphs.find(graph)
        require_base(info)
        arrays = self._graphs.arrays(info)
        say = progress or (lambda *_: None)
        texts = None
        if text:
            texts = entity_texts(
                arrays, self._vectors(), progress=lambda share: say("embedding texts", share)
            )
        return self._store.scorers.train(
            arrays,
            texts=texts,
            random_seed=random_seed,
            progress=lambda share: say("training", share),
        )

    def ats_name(self, *, graph: str | None = None) -> str:
        """Returns the name of the scorer that ATS is taken with: the newest trained, or counts."""
        info = self._graphs.find(graph)
        return self._store.ats_scorer_name(info.name, edges=info.fingerprints.edges)

    def list(self, *, graph: str | None = None) -> list[StoredScorer]:
        """Returns the trained scorers of a graph, oldest first."""
        info = self._graphs.find(graph)
        return self._store.scorers.list(info.name, edges=info.fingerprints.edges)

    def open(
        self, name: str, /, *, graph: str | None = None
    ) -> tuple[KnowledgeGraph, TrainedScorer]:
        """Returns a base as arrays and a trained scorer of its triples."""
        arrays = self._graphs.arrays(self._graphs.find(graph))
        index = self._store.prepared(arrays).index
        return arrays, self._store.scorers.open(arrays, name, index=index)

    def delete(self, name: str, /, *, graph: str | None = None) -> str:
        """Deletes a trained scorer and returns its name."""
        info = self._graphs.find(graph)
        return self._store.scorers.delete(info.name, name, edges=info.fingerprints.edges)
