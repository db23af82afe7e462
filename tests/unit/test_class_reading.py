"""When the reading of a question as one about a class is answered, and not what walks selected."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from graph_service.query.algebra import (
    Among,
    Condition,
    Entities,
    InstanceOf,
    Instances,
    Query,
    Relation,
    Step,
)
from graph_service.retrieve.classes.strategy import ClassAnswer
from graph_service.retrieve.context import Selection
from graph_service.service.class_reading import overrules

NATIONALITY = Relation("nationality")
PLAYERS = InstanceOf(("player",))
FINNISH = Among(("finland",))
OF_CLASS = Query(
    Instances(PLAYERS.class_ids), filters=(Condition((NATIONALITY,), FINNISH),)
)  # players whose nationality is Finnish
BACK = Step(Relation("nationality", backward=True))


def selected(query: Query | None, *, confident: bool = False) -> Selection:
    """Returns a selection of which only what it reads and its confidence are looked at."""
    read = None if query is None else SimpleNamespace(query=query)
    return cast(Selection, SimpleNamespace(read=read, confident=confident, unstated=False))


def of_class(*, is_sure: bool = True) -> ClassAnswer:
    return ClassAnswer(selected(OF_CLASS), (), is_sure, frozenset(("player",)), True, False)


@pytest.mark.parametrize(
    ("walked", "is_answered"),
    [
        (Query(Entities(FINNISH.ids), (BACK,), (Condition((), PLAYERS),)), True),
        (Query(Entities(FINNISH.ids), (BACK,)), False),
        (Query(Entities(("sweden",)), (BACK,), (Condition((), PLAYERS),)), False),
        (None, False),
    ],
)
def test_a_list_about_a_named_entity_is_answered_if_walks_read_the_same(
    walked: Query | None, is_answered: bool
) -> None:
    assert is_answered is overrules(
        of_class(), selected(walked), is_named=True, is_miscounted=False
    )


def test_neither_an_unsure_reading_nor_one_next_to_sure_walks_is_answered() -> None:
    same = Query(Entities(FINNISH.ids), (BACK,), (Condition((), PLAYERS),))
    flags = {"is_named": True, "is_miscounted": False}
    assert not overrules(of_class(is_sure=False), selected(same), **flags)
    assert not overrules(of_class(), selected(same, confident=True), **flags)
