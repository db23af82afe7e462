"""Triples, results and a retriever made by hand, for tests of answers and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Unpack

from graph_service.model.identity import Fingerprints
from graph_service.model.request import RetrieveOptions, ViewRef
from graph_service.model.result import (
    EntityRef,
    LinkedEntity,
    PathsResult,
    Prizes,
    Provenance,
    RelationRef,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Step,
    Strategy,
    SubgraphResult,
    Tokens,
    Triple,
    TripleChange,
    TripletsResult,
)
from graph_service.model.values import EntityValue, StringValue, Value

UNCHANGED = TripleChange()


def triple(
    id_: str,
    head: str,
    relation: str,
    value: str,
    *,
    label: str | None = None,
    typed: Value | None = None,
) -> Triple:
    shown = typed or (EntityValue(value) if value.startswith("Q") else StringValue(value))
    return Triple(
        id_,
        EntityRef(head, label if label is not None else head),
        RelationRef(relation, relation),
        shown,
        value,
    )


def _common(
    question: str, strategy: Strategy, status: Status, linked: Sequence[str], view: str | None
) -> dict[str, object]:
    return {
        "id": f"{strategy}:{question}:{view}",
        "question": question,
        "status": status,
        "linked": tuple(
            LinkedEntity(EntityRef(name, name), name, 0, len(name), 1.0) for name in linked
        ),
        "truncated": (),
        "tokens": Tokens(3, "words"),
        "region": None,
        "provenance": Provenance(
            "demo",
            "demo@1",
            Fingerprints("e" * 48, "c" * 48),
            view,
            None,
            strategy,
            "default-6",
            {"limit": 10},
            "test",
            None,
            "0",
        ),
        "timings_ms": {"all": 1.0},
    }


def triplets(
    items: Sequence[tuple[Triple, float]],
    *,
    question: str = "Who?",
    status: Status = Status.OK,
    linked: Sequence[str] = ("Ada",),
    changes: Mapping[str, TripleChange] | None = None,
    strategy: Strategy = Strategy.TRIPLETS,
) -> TripletsResult | SubgraphResult:
    scored = tuple(
        ScoredTriple(
            item, score, Prizes(0.0, score, 0.0), (changes or {}).get(item.statement_id, UNCHANGED)
        )
        for item, score in items
    )
    common = _common(question, strategy, status, linked, None)
    if strategy is Strategy.SUBGRAPH:
        return SubgraphResult(**common, items=scored, objective=1.5, gap=None)  # type: ignore[arg-type]
    return TripletsResult(**common, items=scored)  # type: ignore[arg-type]


def paths(
    items: Sequence[tuple[Sequence[Triple | tuple[Triple, bool]], float]],
    *,
    question: str = "Who?",
    status: Status = Status.OK,
    linked: Sequence[str] = ("Ada",),
    changes: Mapping[str, TripleChange] | None = None,
) -> PathsResult:
    scored = []
    for steps, score in items:
        pairs = [step if isinstance(step, tuple) else (step, False) for step in steps]
        scored.append(
            ScoredPath(
                tuple(
                    Step(item, back, (changes or {}).get(item.statement_id, UNCHANGED))
                    for item, back in pairs
                ),
                score,
            )
        )
    common = _common(question, Strategy.PATHS, status, linked, None)
    return PathsResult(**common, items=tuple(scored))  # type: ignore[arg-type]


class HandRetriever:
    """Gives what a function of (question, view) says, and remembers what was asked."""

    def __init__(self, find: Callable[[str, ViewRef | None], RetrievalResult]) -> None:
        self.find = find
        self.calls: list[tuple[Strategy, str, ViewRef | None, tuple[str, ...]]] = []
        self.earlier: list[tuple[str, ...]] = []

    def retrieve(
        self,
        strategy: Strategy,
        question: str,
        /,
        **options: Unpack[RetrieveOptions],
    ) -> RetrievalResult:
        view = options.get("view")
        assert view is None or isinstance(view, ViewRef)
        self.earlier.append(tuple(options.get("earlier", ())))
        self.calls.append((strategy, question, view, tuple(options.get("entity_ids", ()))))
        return self.find(question, view)
