"""Views in words: what making one came to, how far it is from its base, what was not found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graph_builder import build_graph

from graph_service.errors import InputError
from graph_service.model.stored_view import Deviation, ViewReport
from graph_service.views.measure.describe import describe_deviation, describe_report
from graph_service.views.scope import edges_of

REPORT = ViewReport(10, 0.3, 0.25, {"removed": 3, "relation-changed": 0, "added": 2})
DEVIATION = Deviation(0.65, 0.92, 34, 0, "counts", 0.87, 1.0, 0.9, 0.02)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (REPORT, "3 removed, 2 added; level asked 0.3, reached 0.25 of 10 edges"),
        (replace(REPORT, level_asked=None), "3 removed, 2 added; level 0.25 of 10 edges"),
        (replace(REPORT, level_reached=None), "3 removed, 2 added"),
        (
            replace(REPORT, counts={"removed": 0}, unavoidable=2, notes=("one", "two")),
            "nothing changed; level asked 0.3, reached 0.25 of 10 edges; 2 repeat a triple, as no "
            "other choice was left; one; two",
        ),
    ],
)
def test_a_report_in_words(report: ViewReport, said: str) -> None:
    assert describe_report(report) == said


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
    assert ("more of those named" in said) == bool(more)
    assert more in said
