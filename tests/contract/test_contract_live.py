"""Questions of what changed between two editions of a graph, on both stores (B17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import check_counts, raises
from graphs import load_graph

from graph_service.cli.dataset.live import draw_live
from graph_service.cli.dataset.options import LiveOptions
from graph_service.errors import InputError
from graph_service.model.statement import Entity, EntityKind, Rank, Statement, make_statement
from graph_service.model.values import EntityValue, Quantity, StringValue, Value
from graph_service.service import Service
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from queries.datasets.gold import GoldQuestion

NAMES = {
    "Q1": "Avaland",
    "Q2": "Bertburg",
    "Q3": "Carstadt",
    "Q4": "Dora Mills",
    "Q5": "Emil Stone",
    "Q6": "Frida Hall",
}
PROPERTIES = {"P36": "capital", "P6": "mayor", "P1082": "inhabitants", "P26": "spouse", "P9": "id"}


def entities(*left_out: str) -> list[Entity]:
    return [
        *(Entity(id_, labels={"en": name}) for id_, name in NAMES.items() if id_ not in left_out),
        *(
            Entity(id_, EntityKind.PROPERTY, labels={"en": name})
            for id_, name in PROPERTIES.items()
        ),
    ]


def fact(
    head: str, relation: str, value: str | Value, rank: Rank = Rank.NORMAL, id: str | None = None
) -> Statement:
    return make_statement(
        head, relation, EntityValue(value) if isinstance(value, str) else value, rank=rank, id=id
    )


EARLIER = [
    fact("Q1", "P36", "Q2"),
    fact("Q2", "P6", "Q4"),
    fact("Q2", "P1082", Quantity("1200")),
    fact("Q3", "P1082", Quantity("900")),
    # Gone in one direction alone: the graph still says who is married.
    fact("Q4", "P26", "Q5"),
    fact("Q5", "P26", "Q4"),
    fact("Q6", "P9", StringValue("x", "external-id")),
]
LATER = [
    fact("Q1", "P36", "Q3"),
    fact("Q2", "P6", "Q4"),
    fact("Q2", "P6", "Q6", Rank.PREFERRED),
    fact("Q2", "P1082", Quantity("1200")),
    fact("Q3", "P6", "Q5"),
    fact("Q5", "P26", "Q4"),
    fact("Q6", "P9", StringValue("y", "external-id")),
]


@pytest.fixture
def service(store: Store) -> Service:
    return Service(store, vectors=lambda: pytest.fail("no vectors"), settings=Settings())


def load_both(store: Store, graph: str, later: Sequence[Statement] = LATER) -> tuple[str, str]:
    before = load_graph(store, graph, EARLIER, entities())
    after = load_graph(store, graph, later, entities(), replace=True)
    return before.edition, after.edition


def by_id(questions: Sequence[GoldQuestion]) -> dict[str, GoldQuestion]:
    return {question.id: question for question in questions}


def test_questions_of_what_was_added_changed_and_removed(
    store: Store, service: Service, graph_name: str, tmp_path: Path
) -> None:
    before, after = load_both(store, graph_name)
    options = LiveOptions(out=tmp_path, graph=graph_name, from_=before, to=after)
    topics, made = draw_live(service, options)
    # Capital, two mayors, a population, a marriage and an external id.
    assert topics == 6
    questions = by_id(made.questions)
    assert {id_: question.kind for id_, question in questions.items()} == {
        "Q3|P6": "added",
        "Q1|P36": "changed",
        "Q2|P6": "changed",
        "Q3|P1082": "removed",
    }
    added, changed = questions["Q3|P6"], questions["Q1|P36"]
    assert (added.answers, added.hard_answers, added.stale_answers) == (
        ("Emil Stone",), ("Emil Stone",), ()
    )  # fmt: skip
    assert added.statement_ids == (LATER[4].id,)
    assert (changed.entity_ids, changed.answer_ids) == (("Q1",), ("Q3",))
    assert (changed.answers, changed.stale_answers) == (("Carstadt",), ("Bertburg",))
    assert changed.statement_ids == (LATER[0].id,)
    assert "Avaland" in changed.question
    # What is preferred now takes the place of what stays at normal rank.
    mayor = questions["Q2|P6"]
    assert (mayor.answers, mayor.stale_answers) == (("Frida Hall",), ("Dora Mills",))
    removed = questions["Q3|P1082"]
    assert removed.lacking
    assert (removed.answers, removed.stale_answers) == (("[NA]",), ("900",))
    assert (removed.statement_ids, removed.absent) == ((), (("Q3", "P1082"),))
    check_counts(made.counts.refused, 1, 1)


def test_the_current_edition_is_compared_by_numbers_and_draws_repeat(
    store: Store, service: Service, graph_name: str, tmp_path: Path
) -> None:
    before, _ = load_both(store, graph_name)
    short = before.rpartition("@")[2]
    options = LiveOptions(out=tmp_path, graph=graph_name, from_=short, each=1, wordings=3)
    _, made = draw_live(service, options)
    assert draw_live(service, options)[1] == made
    kinds = [question.kind for question in made.questions]
    assert kinds == ["added"] * 3 + ["changed"] * 3 + ["removed"] * 3
    assert len({question.question for question in made.questions}) == 9
    assert len({question.id for question in made.questions}) == 9
    # Each in a folder of its own: the lock of one refuses another random seed.
    drawn = set()
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        _, made = draw_live(service, replace(options, out=folder, random_seed=seed, wordings=1))
        drawn.add(made.questions[1].id)
    assert drawn == {"Q1|P36", "Q2|P6"}


def test_a_statement_with_another_qualifier_gives_no_question(
    store: Store, service: Service, graph_name: str, tmp_path: Path
) -> None:
    """Neither does an equal statement of another id."""
    renumbered = [fact("Q1", "P36", "Q2", id="other"), *EARLIER[1:]]
    before, _ = load_both(store, graph_name, renumbered)
    topics, made = draw_live(service, LiveOptions(out=tmp_path, graph=graph_name, from_=before))
    assert (topics, made.questions) == (1, ())
    check_counts(made.counts.refused, 1)


def test_an_entity_that_went_is_no_entity_of_its_question(
    store: Store, service: Service, graph_name: str, tmp_path: Path
) -> None:
    before = load_graph(store, graph_name, EARLIER, entities())
    later = [row for row in LATER if row.head != "Q3" and row.value != EntityValue("Q3")]
    load_graph(store, graph_name, later, entities("Q3"), replace=True)
    options = LiveOptions(out=tmp_path, graph=graph_name, from_=before.edition)
    questions = by_id(draw_live(service, options)[1].questions)
    removed = questions["Q3|P1082"]
    assert (removed.entity_ids, removed.lacking) == ((), True)
    assert "Carstadt" in removed.question


def test_editions_that_are_gone_or_the_same_are_refused(
    store: Store, service: Service, graph_name: str, tmp_path: Path
) -> None:
    _, after = load_both(store, graph_name)
    with raises(InputError):
        draw_live(service, LiveOptions(out=tmp_path, graph=graph_name, from_=after))
    with raises(InputError) as caught:
        draw_live(service, LiveOptions(out=tmp_path, graph=graph_name, from_="77"))
    assert caught.value.argument == "from"
