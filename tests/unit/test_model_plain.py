"""Frozen data to JSON-ready dicts and back (``model.plain``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest
from error_texts import raises
from hypothesis import given
from hypothesis import strategies as st
from result_strategies import counts, numbers, results, tuples
from strategies import entities, statements, texts

from graph_service.errors import InputError
from graph_service.model.limits import Cut
from graph_service.model.result import (
    EntityRef,
    PathsResult,
    Prizes,
    RegionReport,
    RelationRef,
    ScoredPath,
    ScoredTriple,
    SubgraphResult,
    Tokens,
    Triple,
    TripletsResult,
)
from graph_service.model.serialise import from_plain, to_plain
from graph_service.model.statement import Entity, Rank, Snak, Statement
from graph_service.model.stored_view import ViewReport
from graph_service.model.values import EntityValue


def through_json(item: object) -> object:
    return orjson.loads(orjson.dumps(to_plain(item)))


@given(results)
def test_a_result_comes_back_from_json(
    result: TripletsResult | PathsResult | SubgraphResult,
) -> None:
    back = from_plain(type(result), through_json(result))
    assert back == result
    assert back.timings_ms == result.timings_ms


@given(statements())
def test_a_statement_comes_back_from_json(statement: Statement) -> None:
    assert from_plain(Statement, through_json(statement)) == statement


@given(entities)
def test_an_entity_comes_back_from_json(entity: Entity) -> None:
    assert from_plain(Entity, through_json(entity)) == entity


@given(st.builds(ViewReport, counts, st.none() | numbers, st.none() | numbers,
                 st.dictionaries(texts, counts), counts, tuples(texts)))  # fmt: skip
def test_a_report_comes_back_from_json(report: ViewReport) -> None:
    assert from_plain(ViewReport, through_json(report)) == report


def test_what_plain_data_looks_like() -> None:
    triple = Triple("s", EntityRef("Q1", "a"), RelationRef("P1", "b"), EntityValue("Q2"), "c")
    assert to_plain(ScoredTriple(triple, 1.5, Prizes(1, 0.5, 0))) == {
        "triple": {
            "statement_id": "s",
            "head": {"id": "Q1", "label": "a", "description": None},
            "relation": {"id": "P1", "label": "b"},
            "value": ["e", "Q2"],
            "value_label": "c",
            "rank": "normal",
            "qualifiers": [],
            "references": [],
            "stands_for": [],
            "source": None,
        },
        "score": 1.5,
        "prizes": {"head": 1, "edge": 0.5, "tail": 0},
        "change": {"kind": "unchanged", "base": None},
        "origin_id": "",
        "constraints": [],
    }
    assert to_plain({1: (Rank.NORMAL, {2})}) == {"1": ["normal", [2]]}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Tokens, {"count": 1}),
        (Tokens, {"count": "1", "tokenizer": "t"}),
        (Tokens, []),
        (Cut, {"what": "a", "reason": "b", "limit": 1, "kept": 2}),
        (RegionReport, {"before": {}, "after": {}}),
        (ScoredPath, {"steps": {}, "score": 1.0}),
        (ScoredPath, {"steps": [{}], "score": 1.0}),
        (EntityRef, {"id": "a", "label": "b", "description": 4}),
        (ViewReport, {"scope_edges": 1, "level_asked": None, "level_reached": None, "counts": []}),
        (ViewReport, {"scope_edges": 1, "level_asked": None, "level_reached": None,
                      "counts": {"a": "b"}}),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_by_its_path(kind: type, data: object) -> None:
    with raises(InputError):
        from_plain(kind, data)


@pytest.mark.parametrize("value", [5, "Q1", [], ["x", 1], ["e"], ["e", 5], {"e": "Q1"}, None])
def test_a_value_that_is_none_is_named_by_its_path(value: object) -> None:
    with pytest.raises(InputError, match="Snak.value"):
        from_plain(Snak, {"relation": "P1", "value": value})


@dataclass(frozen=True)
class Sample:
    ratio: float
    many: tuple[int, ...] = ()
    named: Mapping[str, float] | None = None
    either: int | str = 0


def test_numbers_defaults_and_unions() -> None:
    assert from_plain(Sample, {"ratio": 1}) == Sample(1.0)
    assert isinstance(from_plain(Sample, {"ratio": 1}).ratio, float)
    full = Sample(0.5, (1, 2), {"a": 1.0}, "x")
    assert from_plain(Sample, json.loads(json.dumps(to_plain(full)))) == full
    assert from_plain(Sample, {"ratio": 1.0, "unknown": 5}) == Sample(1.0)
    for wrong in (
        {"ratio": True},
        {"ratio": "1"},
        {"ratio": 1.0, "many": [True]},
        {"ratio": 1.0, "many": [1.5]},
        {"ratio": 1.0, "either": 1.5},
        {"ratio": 1.0, "named": {"a": None}},
    ):
        with pytest.raises(InputError, match="Sample"):
            from_plain(Sample, wrong)


@dataclass
class Collected:
    names: set[str] = field(default_factory=set)
    pairs: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    rows: list[Sample] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def test_sets_lists_and_counters_come_back() -> None:
    """A set is a sorted list in JSON, so that equal states are equal texts."""
    full = Collected(
        {"b", "a", "c"}, {"x": {("2", "1"), ("1", "2")}}, [Sample(0.5)], Counter("aab")
    )
    plain = through_json(full)
    assert plain == {
        "names": ["a", "b", "c"],
        "pairs": {"x": [["1", "2"], ["2", "1"]]},
        "rows": [to_plain(Sample(0.5))],
        "counts": {"a": 2, "b": 1},
    }
    back = from_plain(Collected, plain)
    assert back == full
    back.counts["z"] += 1
    for wrong in ({"names": "ab"}, {"counts": {"a": "1"}}, {"rows": ["x"]}):
        with pytest.raises(InputError, match="Collected"):
            from_plain(Collected, wrong)


def test_a_path_is_its_text() -> None:
    assert to_plain({"file": Path("a") / "b"}) == {"file": str(Path("a/b"))}
