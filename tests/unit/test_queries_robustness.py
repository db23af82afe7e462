"""The same questions on a base and on views of it (K4 on views, O10)."""

from __future__ import annotations

import pytest
from query_samples import HandRetriever, paths, triple

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import PathsResult, Status, Strategy, TripleChange
from graph_service.model.view_spec import ChangeKind, Method
from queries.datasets.gold import GoldQuestion
from queries.robustness import spread, sweep
from queries.score.metric import Score

TRUE = triple("true", "Q1", "mother", "Cleo", label="Ada")
FALSE = triple("false", "Q1", "father", "Cleo", label="Ada")
OTHER = triple("other", "Q5", "capital", "Rome", label="Italy")
GOLD = (
    GoldQuestion("a", "Who is the mother of Ada?", entity_ids=("Q1",), statement_ids=("true",)),
    GoldQuestion("b", "What is the capital of Italy?", statement_ids=("other",)),
)


def find(question: str, view: ViewRef | None) -> PathsResult:
    """The view of an odd random seed has changed Ada's mother; that of seed 2 has lost her."""
    if question == GOLD[1].question:
        return paths([([OTHER], 1.0)])
    seed = view.spec.random_seed if view is not None and view.spec is not None else None
    if seed is None or seed == 0:
        return paths([([TRUE], 1.0)])
    if seed == 2:
        return paths([], status=Status.NOTHING_RELEVANT)
    changes = {"false": TripleChange(ChangeKind.RELATION_CHANGED, TRUE)}
    return paths([([FALSE], 1.0)], changes=changes)


def test_mean_and_range_over_random_seeds_o10() -> None:
    """O10, and of S7 what a call of ``sweep`` is: one method, level, strategy and model."""
    retriever = HandRetriever(find)
    told: list[tuple[int, int]] = []
    report = sweep(
        GOLD,
        retriever=retriever,
        graph="demo",
        method=Method.RELATION_REPLACEMENT,
        level=0.3,
        random_seeds=(0, 1, 2),
        strategy=Strategy.PATHS,
        progress=lambda done, total: told.append((done, total)),
    )
    # Recall is 2/2 on the base and with seed 0, 1/2 with seeds 1 and 2.
    recall = report.spreads["recall_micro"]
    assert recall.base == 1.0
    assert recall.seeds == (1.0, 0.5, 0.5)
    assert recall.mean == pytest.approx(2 / 3)
    assert (recall.low, recall.high) == (0.5, 1.0)
    # Seed 1 cites a changed statement: 1 of 2 useful, all faithful, 1 of 2 true. Seed 2 cites
    # nothing for the first question: 1 of 1.
    assert report.spreads["precision_micro"].seeds == (1.0, 0.5, 1.0)
    assert report.spreads["correctness_micro"].seeds == (1.0, 1.0, 1.0)
    assert report.spreads["true_micro"].seeds == (1.0, 0.5, 1.0)
    assert report.spreads["na_lacking"].mean is None
    specs = [view.spec for _, _, view, _ in retriever.calls if view is not None]
    assert [(s.method, s.level, s.random_seed) for s in specs if s is not None] == [
        (Method.RELATION_REPLACEMENT, 0.3, seed) for seed in (0, 0, 1, 1, 2, 2)
    ]
    assert [ids for _, _, _, ids in retriever.calls[:2]] == [("Q1",), ()]
    assert told[-1] == (8, 8)
    assert report.example is not None
    assert report.example.cited
    assert report.example.text() == (
        "Ada's father is Cleo (the base graph says: Ada's mother is Cleo; "
        "random seed 1, question a)"
    )
    lines = "\n".join(report.lines())
    assert "2 questions, paths, relation-replacement at 30%, 3 random seeds" in lines
    assert "recall micro     base 1.000, views 0.667 (0.500 to 1.000)" in lines
    assert (
        report.to_json()
        == sweep(GOLD, retriever=retriever, graph="demo", random_seeds=(0, 1, 2)).to_json()
    )


def test_linking_can_be_part_of_it() -> None:
    retriever = HandRetriever(find)
    sweep(GOLD, retriever=retriever, random_seeds=(0,), link=True)
    assert {ids for _, _, _, ids in retriever.calls} == {()}


def test_bad_sweeps_are_told() -> None:
    retriever = HandRetriever(find)
    with pytest.raises(InputError, match="at least one question"):
        sweep((), retriever=retriever)
    with pytest.raises(InputError, match="different random seeds"):
        sweep(GOLD, retriever=retriever, random_seeds=(1, 1))
    with pytest.raises(InputError, match="level must be a number from 0 to 1"):
        sweep(GOLD, retriever=retriever, level=3.0)
    assert retriever.calls == []


def test_a_spread_leaves_out_what_could_not_be_scored() -> None:
    missing = Score(None, 0, reason="nothing cited")
    assert spread(missing, [missing]).text() == "base none, views none"
    some = spread(Score(0.5, 1), [missing, Score(0.25, 1)])
    assert (some.mean, some.seeds) == (0.25, (None, 0.25))
