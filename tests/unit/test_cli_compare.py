"""compare: one question on the base and on views of it (S3, O10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import Cli
from demo_graph import copy_store, scored_triples
from error_texts import check_line, check_text

from graph_service import Service
from graph_service.cli.readers import view_ref
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy

QUESTION = "Who is Maria Shriver's husband?"
VIEWS = ("rs:0.5:1", "rr:0.5:1", "er:0.5:1", "ed:0.5:1", "ed:1.0")


@pytest.fixture(autouse=True)
def _store(monkeypatch: pytest.MonkeyPatch, demo_file: Path, tmp_path: Path, cli: Cli) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))


def test_places_are_those_of_each_retrieval(cli: Cli, demo_service: Service) -> None:
    """S3: every side is the retrieval that asks for that view alone."""
    run = cli("compare", QUESTION, *VIEWS, "--limit", "3")
    assert run.code == 0
    head, *rows = run.out.split("\n\n")[1].splitlines()
    assert head.split()[: 1 + len(VIEWS)] == ["base", *VIEWS]
    for column, view in enumerate((None, *VIEWS)):
        result = demo_service.retrieve(
            RetrieveRequest(QUESTION, Strategy.TRIPLETS, view=view_ref(view), limit=3)
        )
        placed = {}
        for row in rows:
            *cells, words = row.split(maxsplit=1 + len(VIEWS))
            if cells[column] != "-":
                placed[int(cells[column].rstrip("*"))] = (words, cells[column].endswith("*"))
        assert [placed[place] for place in sorted(placed)] == [
            (
                f"({one.triple.head.label} | {one.triple.relation.label} | {one.triple.value_label})",
                one.change.kind != "unchanged",
            )
            for one in scored_triples(result)
        ]


def test_each_side_has_its_answer(cli: Cli) -> None:
    """O10: a view without edges between entities leaves it open."""
    run = cli("compare", QUESTION, *VIEWS)
    answers = run.out.split("\n\n")[2].splitlines()
    assert answers[0].startswith("base      Maria Shriver's spouse is Arnold Schwarzenegger")
    check_line(answers, "ed:1.0", 'Maria Shriver: "husband" [NA]')
    check_text(answers[-1])
    run = cli("compare", QUESTION, "ed:1.0", "--json")
    found = run.json["answers"]
    assert run.code == 0
    assert [one["view"] for one in found] == ["base", "ed:1.0"]
    assert found[0]["answer"]["text"]
    assert found[1]["answer"]["result"]["status"] == "low-confidence"


def test_a_view_that_there_is_not_is_named(cli: Cli) -> None:
    """S3."""
    run = cli("compare", QUESTION, "nowhere")
    assert run.code != 0
    assert "nowhere" in run.err
