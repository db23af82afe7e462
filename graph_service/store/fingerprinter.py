"""Both fingerprints of a graph, computed of statements and entities as they are read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.errors import StoreCorruptError
from graph_service.model.graph import RANKS, KnowledgeGraph
from graph_service.model.hashing import fingerprint, sum_hashes
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import Entity, Statement, entity_content_hash
from graph_service.store.encoded import encode_statements
from graph_service.store.hashes import RANK_BYTES, statement_hashes
from graph_service.store.protocol import GraphReader
from graph_service.store.texts import encode_entity_value

_EDGES_A_STEP = 20_000


class Fingerprinter:
    """Sums up statements and entities, each given once, in any order.

    Attributes:
        statements, entities: How many were added.
    """

    def __init__(self) -> None:
        self._statement_sums = np.zeros(4, dtype=np.uint64)
        self._entity_sums = np.zeros(2, dtype=np.uint64)
        self.statements = 0
        self.entities = 0

    def add_entities(self, entities: Sequence[Entity], /) -> None:
        """Adds the hashes of some entities to the content's sum."""
        self._entity_sums = self._entity_sums + sum_hashes(
            b"".join(map(entity_content_hash, entities))
        )
        self.entities += len(entities)

    def add_statements(self, statements: Sequence[Statement], /) -> None:
        """Adds the hashes of some statements to both sums."""
        self._statement_sums = self._statement_sums + encode_statements(statements).sums
        self.statements += len(statements)

    def add_edition(self, reader: GraphReader, edition: str, /) -> None:
        """Adds all that a store has of an edition."""
        for entities in reader.scan_entities(edition):
            self.add_entities(entities)
        for statements in reader.scan_statements(edition, in_order=False):
            self.add_statements(statements)

    def fingerprints(self) -> Fingerprints:
        """Returns the fingerprints of all that was added."""
        return Fingerprints(
            edges=fingerprint(self._statement_sums[:2], self.statements),
            content=fingerprint(
                self._statement_sums[2:] + self._entity_sums, self.statements + self.entities
            ),
        )


def require_claimed(claimed: Fingerprints, computed: Fingerprints, edition: str, /) -> None:
    """Raises ``StoreCorruptError`` unless the fingerprints found are those an edition claims."""
    if computed == claimed:
        return
    which = "edges" if computed.edges != claimed.edges else "content"
    expected, seen = getattr(claimed, which), getattr(computed, which)
    raise StoreCorruptError(
        f"{edition} is damaged: its {which} fingerprint should be {expected}, and what is stored "
        f"gives {seen}",
        hint="graph-service verify says what is wrong; restore a backup, or load the graph "
        "again with --replace.",
    )


def edges_of_arrays(graph: KnowledgeGraph, /) -> str:
    """Returns the ``edges`` fingerprint that a graph's arrays have, whatever they claim."""
    total = np.zeros(2, dtype=np.uint64)
    for start in range(0, graph.edge_count, _EDGES_A_STEP):
        span = slice(start, min(start + _EDGES_A_STEP, graph.edge_count))
        tails = graph.tail[span]
        values = graph.node_ids.take(tails)
        hashes = [
            statement_hashes(
                id_,
                head,
                relation,
                encode_entity_value(value) if is_entity else value,
                RANK_BYTES[RANKS[rank]],
                None,
                None,
                None,
            )[0]
            for id_, head, relation, value, is_entity, rank in zip(
                graph.statement_ids.take(range(span.start, span.stop)),
                graph.node_ids.take(graph.head[span]),
                graph.relation_ids.take(graph.rel[span]),
                values,
                (tails < graph.entity_count).tolist(),
                graph.rank[span].tolist(),
                strict=True,
            )
        ]
        total = total + sum_hashes(b"".join(hashes))
    return fingerprint(total, graph.edge_count)
