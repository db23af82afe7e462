"""The query that a question is read as: in words, and with the answers that it computes (B12)."""

from __future__ import annotations

from pathlib import Path

import pytest
from film_graph import ENTITIES, STATEMENTS, TellsWays, Way
from graphs import load_graph
from word_vectors import CountingWords

import graph_service.service.results as shaping_of_results
from graph_service import Service, open_service
from graph_service.cli.ask.explaining import explain_lines
from graph_service.model.answer import Interpretation
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.values import EntityValue
from graph_service.query.algebra import Fold, Query
from graph_service.query.execution import execute
from graph_service.retrieve.context import ReadQuery
from graph_service.service.interpretation import make_interpretation
from graph_service.service.triples import TripleRenderer
from graph_service.settings import Settings
from graph_service.store.protocol import Store

DIRECTED: Way = [("P57", True)]
CHILD: Way = [("P40", False)]
PARENT: Way = [("P40", True)]
CITIES: Way = [("P150", False)]
STORED: Way = [("P1971", False)]
GENRES: Way = [("P57", True), ("P136", False)]


@pytest.fixture
def service(tmp_store: Store, tmp_path: Path) -> Service:
    load_graph(tmp_store, "films", STATEMENTS, ENTITIES)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph="films"
    )
    return open_service(tmp_store, settings=settings, embedder=CountingWords())


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[Query]:
    """The queries that are put into words, in order."""
    made: list[Query] = []

    def note(read: ReadQuery, renderer: TripleRenderer, /, *, graph: str) -> Interpretation:
        made.append(read.query)
        return make_interpretation(read, renderer, graph=graph)

    monkeypatch.setattr(shaping_of_results, "make_interpretation", note)
    return made


def ask(service: Service, question: str, *ways: Way) -> PathsResult:
    with service.ranking_by(TellsWays(*ways)):
        found = service.retrieve(RetrieveRequest(question, Strategy.PATHS, limit=10))
    assert isinstance(found, PathsResult)
    return found


@pytest.mark.parametrize(
    ("question", "way", "text"),
    [
        ("How many daughters does Ann Lee have?", CHILD,
         "the number of children of Ann Lee whose sex is female"),
        ("How many cities does Norland contain?", CITIES, None),
        ("Who is the oldest child of Ann Lee?", CHILD, "the oldest of the children of Ann Lee"),
        ("Who is the youngest daughter of Ann Lee?", CHILD,
         "the youngest of the children of Ann Lee whose sex is female"),
        ("Which films of Ann Lee are not drama?", DIRECTED,
         "those whose director is Ann Lee and whose genre is not drama"),
        ("Which films did Ann Lee direct after 1993?", DIRECTED,
         "those whose director is Ann Lee and whose publication date is after 1993"),
        ("Which films of Ann Lee from 1994 have Bob Ray?", DIRECTED, None),
        ("Is Dora Lee a child of Ann Lee?", CHILD, "whether the child of Ann Lee is Dora Lee"),
        ("Who is older, Dora Lee or Eve Lee?", PARENT, "the older of Dora Lee and Eve Lee"),
        ("Which is more populous, Bergen or Oslo?", CITIES, "the more populous of Oslo and Bergen"),
    ],
)  # fmt: skip
def test_the_query_has_the_computed_answers(
    service: Service,
    tmp_store: Store,
    queries: list[Query],
    question: str,
    way: Way,
    text: str | None,
) -> None:
    found = ask(service, question, way)
    assert found.interpretation is not None
    assert found.answer is not None
    if text is not None:
        assert found.interpretation.text == text
    assert found.interpretation.unread == ()
    (query,) = queries
    result = execute(query, tmp_store.snapshot(tmp_store.graph("films")))
    answer = found.answer
    if query.fold is Fold.COUNT:
        assert str(result.count) == answer.value
    elif query.fold is Fold.EXISTS:
        assert ("yes" if result.truth else "no") == answer.value
    else:
        ids = {row.value.id for row in result.rows if isinstance(row.value, EntityValue)}
        assert ids == {entity.id for entity in answer.entities}


def test_a_number_that_is_stored_is_read_and_not_counted(service: Service) -> None:
    found = ask(service, "How many children does Ann Lee have?", STORED, CHILD)
    assert found.answer is not None
    assert found.answer.value == "4"
    assert found.interpretation is not None
    assert found.interpretation.text == "the number of children of Ann Lee"
    assert "P1971" in found.interpretation.cypher
    assert "count" not in found.interpretation.cypher


def test_a_plain_question_is_its_path(service: Service) -> None:
    found = ask(service, "Which genres have the films of Ann Lee?", GENRES)
    assert found.interpretation is not None
    assert found.interpretation.sparql is not None
    assert found.interpretation.text == "the genre of those whose director is Ann Lee"
    assert "MATCH (a0)<-[r1]-(a1)-[r2]->(x)" in found.interpretation.cypher
    assert "{name: 'films'}" in found.interpretation.cypher
    assert "?x1 wdt:P57 wd:Q1 ." in found.interpretation.sparql


@pytest.mark.parametrize(
    ("question", "unread"),
    [
        ("Which purple films did Ann Lee direct?", ("purple",)),
        ("Which films did Ann Lee not direct?", ("not",)),
        ("How many cities does Norland contain on islands?", ("islands",)),
    ],
)
def test_words_that_the_query_leaves_out_are_named(
    service: Service, question: str, unread: tuple[str, ...]
) -> None:
    found = ask(service, question, CITIES if "Norland" in question else DIRECTED)
    assert found.interpretation is not None
    assert found.interpretation.unread == unread


def test_the_best_queries_are_ranked_in_words(service: Service) -> None:
    found = ask(service, "Which films of Ann Lee are not drama?", DIRECTED, CHILD)
    assert found.interpretation is not None
    ranked = found.interpretation.ranked
    assert 2 <= len(ranked) <= 10
    assert [one.text for one in ranked[:2]] == [
        "those whose director is Ann Lee",
        "the child of Ann Lee",
    ]
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    # The walks that meet all that was read score as their query does.
    assert ranked[0].score == found.items[0].score
    lines = "\n".join(explain_lines(found))
    _, shown = lines.split("the best queries, before constraints\n")
    assert shown.lstrip().startswith(f"{ranked[0].score:.4f}  {ranked[0].text}")


def test_a_question_that_names_nothing_is_read_as_nothing(service: Service) -> None:
    assert ask(service, "What is purple?", CHILD).interpretation is None


def test_the_id_of_a_result_is_not_of_its_words(service: Service) -> None:
    found = ask(service, "Who is the oldest child of Ann Lee?", CHILD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shaping_of_results, "make_interpretation", lambda *_, **__: None)
        without = ask(service, "Who is the oldest child of Ann Lee?", CHILD)
    assert without.interpretation is None
    assert without.id == found.id


def test_explain_prints_the_query(service: Service) -> None:
    found = ask(service, "Which purple films did Ann Lee direct?", DIRECTED)
    lines = "\n".join(explain_lines(found))
    assert found.interpretation is not None
    assert f"read as {found.interpretation.text}\n       not read: purple" in lines
    assert "in Cypher\n       MATCH (g:Graph" in lines
    assert "in SPARQL\n       PREFIX wd:" in lines
