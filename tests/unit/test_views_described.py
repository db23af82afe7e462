"""Views in words: what making one came to, how far it is from its base, what was not found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from error_texts import check_text, raises
from graph_builder import build_graph

from graph_service.errors import InputError, KeyCollisionError
from graph_service.model.stored_view import Deviation, ViewReport
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.views import overlay
from graph_service.views.delta import make_delta
from graph_service.views.measure.describe import (
    Difference,
    End,
    describe_change,
    describe_deviation,
    describe_report,
)
from graph_service.views.overlay import lay
from graph_service.views.scope import edges_of, scope_edges

REPORT = ViewReport(10, 0.3, 0.25, {"removed": 3, "relation-changed": 0, "added": 2})
DEVIATION = Deviation(0.65, 0.92, 34, 0, "counts", 0.87, 1.0, 0.9, 0.02)


@pytest.mark.parametrize(
    "report",
    [
        REPORT,
        replace(REPORT, level_asked=None),
        replace(REPORT, level_reached=None),
        replace(REPORT, counts={"removed": 0}, unavoidable=2, notes=("one", "two")),
    ],
)
def test_a_report_in_words(report: ViewReport) -> None:
    check_text(describe_report(report))


@pytest.mark.parametrize(
    ("deviation", "scorer"),
    [
        (DEVIATION, "counts: accuracy 0.900, calibration error 0.020"),
        (
            replace(DEVIATION, unscored=7),
            "counts: accuracy 0.900, calibration error 0.020, 7 edges unscored",
        ),
        (replace(DEVIATION, scorer_accuracy=None, unscored=1), "counts, 1 edges unscored"),
        (replace(DEVIATION, scorer_accuracy=None), "counts"),
    ],
)
def test_a_deviation_in_words(deviation: Deviation, scorer: str) -> None:
    assert describe_deviation(deviation) == (
        f"deviation: ATS 0.6500 (base 0.9200, scorer {scorer}), SC2D 0.8700, SD2 1.0000"
    )


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (5, ""), (6, "and 1 more"), (9, "and 4 more")]
)
def test_five_of_the_missing_statements_are_named(count: int, more: str) -> None:
    graph = build_graph([("a", "r", "b")])
    with pytest.raises(InputError) as caught:
        edges_of(graph, tuple(f"s{at}" for at in range(count)), argument="of")
    said = str(caught.value)
    assert caught.value.argument == "of"
    assert [f"'s{at}'" in said for at in range(count)] == [at < 5 for at in range(count)]
    assert ("of those named" in said) == bool(more)
    assert more in said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (End(0, 1), None, "n0: r0 -> n1, gone"),
        (None, End(1, 2), "n0: r1 -> n2, new"),
        (End(0, 1), End(1, 1), "n0: was r0, now r1 -> n1"),
        (End(0, 1), End(0, 2), "n0: r0 -> was n1, now n2"),
        (End(0, 1), End(1, 2), "n0: was r0 -> n1, now r1 -> n2"),
    ],
)
def test_a_change_in_words(before: End | None, after: End | None, said: str) -> None:
    change = Difference(7, 0, before, after)
    words = describe_change(change, node_label="n{}".format, relation_label="r{}".format)
    assert words == said


def test_no_change_is_no_words() -> None:
    with raises(ValueError):
        describe_change(Difference(7, 0, None, None), node_label=str, relation_label=str)


def test_a_scope_of_the_question_is_what_its_region_has_of_the_base() -> None:
    """Edges that the question's view has added are no edges of the base."""
    graph = build_graph([(f"a{i}", f"r{i % 2}", f"b{i}") for i in range(6)])
    question = np.array([-1, 0, 2, 3, 5, 6, 60], dtype=np.int32)
    found, notes = scope_edges(graph, Scope(of_question=True), question_edges=question)
    assert (found.tolist(), notes) == ([0, 2, 3, 5], ())
    relation = graph.relation_ids[int(graph.rel[0])]
    both, _ = scope_edges(
        graph,
        Scope(of_question=True, relation_ids=(relation,)),
        question_edges=question,
    )
    assert both.tolist() == [edge for edge in (0, 2, 3, 5) if graph.rel[edge] == graph.rel[0]]
    with pytest.raises(InputError, match="needs a question") as caught:
        scope_edges(graph, Scope(of_question=True))
    assert "around_entity_ids" in str(caught.value.hint)


@pytest.mark.parametrize("with_base", [False, True])
def test_two_statements_of_one_key_are_told(
    monkeypatch: pytest.MonkeyPatch, with_base: bool
) -> None:
    """No view could tell them apart afterwards."""
    graph = build_graph([("a", "r", "b"), ("a", "r", "c"), ("d", "q", "b")])
    delta, _ = make_delta(graph, ViewSpec(Method.RELATION_REPLACEMENT, level=1.0))
    assert len(delta.replaced) > 1
    identities = overlay._identities

    def colliding(*given: Any) -> Any:
        keys, checks = identities(*given)
        keys[1] = graph.statement_keys[2] if with_base else keys[0]
        return keys, checks

    assert len(lay(graph, delta, view_id="v").keys) == len(delta.replaced)
    monkeypatch.setattr(overlay, "_identities", colliding)
    with raises(KeyCollisionError) as caught:
        lay(graph, delta, view_id="v")
    assert "another random seed" in str(caught.value.hint)
