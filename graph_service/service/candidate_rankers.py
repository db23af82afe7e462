"""What orders relation sequences under the preset that learned to: a graph's own scorer, or the shipped."""

from __future__ import annotations

from graph_service.artifacts.candidate_scorers import CandidateScorerStore
from graph_service.embed import Embedder, trained_name
from graph_service.model.graph_info import GraphInfo
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.rankers import (
    CandidateRanker,
    NetworkRanker,
    NotedRanker,
    NoteRanking,
)
from graph_service.retrieve.learned.reading import with_reading
from graph_service.retrieve.learned.similarity_ranker import SimilarityRanker


class CandidateRankers:
    """Opens the rankers of relation sequences.

    Args:
        scorers: Those that were trained on a graph each.

    Attributes:
        replacement: Ranks instead of all others, while it is set.
        note: Is handed what a trained ranker makes of each question, while it is set.
    """

    def __init__(self, scorers: CandidateScorerStore, /) -> None:
        self.replacement: CandidateRanker | None = None
        self.note: NoteRanking | None = None
        self._scorers = scorers

    def reads(self, info: GraphInfo, embedder: Embedder, /) -> bool:
        """Returns whether something that was trained reads the vectors of an embedder."""
        if self.replacement is not None or shipped_scorer().embedder == trained_name(embedder):
            return True
        trained = self._scorers.find(info)
        return trained is not None and trained.embedder == trained_name(embedder)

    def open(
        self, info: GraphInfo, embedder: Embedder, /, *, has_question_vector: bool
    ) -> CandidateRanker:
        """Returns the ranker of a graph: similarity alone where nothing trained reads the vectors.

        What was trained puts more into words than the question: a caller's vector of that is not
        enough for it.

        Raises:
            InputError: The graph's own scorer was trained on another embedder than that of the
                shipped one, which this is.
        """
        if has_question_vector or not self.reads(info, embedder):
            return SimilarityRanker()
        if self.replacement is not None:
            return self.replacement
        scorer = self._scorers.open(info.name, embedder=trained_name(embedder))
        networks = NetworkRanker(scorer, info.name) if scorer else NetworkRanker(shipped_scorer())
        ranker = with_reading(networks, embedder)
        return ranker if self.note is None else NotedRanker(ranker, self.note)
