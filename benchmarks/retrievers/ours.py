"""Our own retrieval by a strategy and a preset, asked through the client."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.retrievers.protocol import Question, Ranked, Retrieved, Surroundings
from graph_service.client import Client
from graph_service.model.result import Strategy, triples_of
from graph_service.model.values import EntityValue
from queries.experiment.extractive import endpoints_of


@dataclass(frozen=True, slots=True)
class Own:
    """A strategy of ours by a preset; it is told the question's entities, as the others are."""

    client: Client
    strategy: Strategy
    preset: str

    @property
    def name(self) -> str:
        """In tables."""
        return f"ours: {self.preset}, {self.strategy.value}"

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the first statements of the result, in its order."""
        result = self.client.retrieve(
            self.strategy,
            question.text,
            graph=around.graph,
            view=around.view,
            entity_ids=question.entity_ids,
            preset=self.preset,
            limit=budget,
        )
        ends = endpoints_of(result)
        statements = tuple(
            Ranked(
                triple.statement_id,
                triple.head.id,
                triple.value.id if isinstance(triple.value, EntityValue) else "",
            )
            for triple in triples_of(result)[:budget]
        )
        return Retrieved(statements, ends[0].id if ends else "")
