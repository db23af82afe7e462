"""Graphs that tests load, and the way they load them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Rank,
    Reference,
    Snak,
    Statement,
    make_statement,
)
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    UnknownValue,
    Value,
)
from graph_service.store.protocol import Batch, Store

AnyStatement = Statement | Sequence[str]


def statement(item: AnyStatement) -> Statement:
    """Returns a statement; ``(head id, relation id, tail id)`` makes one of three entities."""
    if isinstance(item, Statement):
        return item
    head, relation, tail = item
    return make_statement(head, relation, EntityValue(tail))


def load_graph(
    store: Store,
    name: str,
    statements: Iterable[AnyStatement] = (),
    entities: Iterable[Entity] = (),
    *,
    replace: bool = False,
    source: str = "test",
) -> GraphInfo:
    """Loads and publishes a graph in one batch."""
    batch = Batch(entities=tuple(entities), statements=tuple(map(statement, statements)))
    return load_batches(store, name, [batch], replace=replace, source=source)


def load_batches(
    store: Store,
    name: str,
    batches: Iterable[Batch],
    *,
    replace: bool = False,
    source: str = "test",
) -> GraphInfo:
    """Loads and publishes a graph in several batches."""
    with store.begin_load(name, replace=replace, owner="test", source=source) as load:
        for batch in batches:
            load.write(batch)
        load.finish(report={"by": "test"})
        return load.publish()


def sample_entities() -> list[Entity]:
    """Entities with everything an entity can have."""
    return [
        Entity(
            "Q42",
            labels={"en": "Douglas Adams", "ru": "Дуглас Адамс", "zh": "道格拉斯·亚当斯"},
            descriptions={"en": "English writer"},
            aliases={"en": ("Douglas Noel Adams", "DNA"), "de": ("Adams",)},
            revision=7,
            same_as=("http://dbpedia.org/resource/Douglas_Adams",),
        ),
        Entity("Q5", labels={"en": "human", "th": "มนุษย์"}),
        Entity(
            "P31", kind=EntityKind.PROPERTY, labels={"en": "instance of"}, datatype="wikibase-item"
        ),
        Entity("Q4242", redirect="Q42"),
        Entity("http://dbpedia.org/resource/Rome", labels={"en": "Rome", "it": "Roma"}),
    ]


def sample_statements() -> list[Statement]:
    """Statements of all value types and ranks, with qualifiers, references and a context."""
    q42 = "Q42"
    reference = Reference(
        (Snak("P248", EntityValue("Q5")), Snak("P813", Time("2020-01-02T00:00:00Z")))
    )
    return [
        make_statement(
            q42,
            "P31",
            EntityValue("Q5"),
            id="Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9",
            rank=Rank.PREFERRED,
            references=[reference, Reference((Snak("P854", Iri("http://example.org/a b")),))],
        ),
        make_statement(q42, "P31", EntityValue("Q36180"), rank=Rank.NORMAL),
        make_statement(q42, "P31", EntityValue("Q0"), rank=Rank.DEPRECATED),
        make_statement(q42, "P569", Time("1952-03-11T00:00:00Z", 11)),
        make_statement("Q8409", "P570", Time("-0322-00-00T00:00:00Z", 9, "Q1985786", 1, 2, 60)),
        make_statement(q42, "P2048", Quantity("1.96", "Q11573", "1.95", "1.97")),
        make_statement(q42, "P1477", MonolingualText("Douglas Noël Adams", "en-gb")),
        make_statement("Q84", "P625", Coordinates(51.507222, -0.1275, None, 1e-05)),
        make_statement(q42, "P856", Iri("https://douglasadams.com/?a=1&b=`'\"")),
        make_statement(q42, "P22", SomeValue()),
        make_statement(q42, "P40", NoValue()),
        make_statement(q42, "P9", UnknownValue("musical-notation", '{"value":"c d e"}')),
        make_statement(
            q42,
            "P69",
            EntityValue("Q691283"),
            qualifiers=[Snak("P580", Time("1971-00-00T00:00:00Z", 9)), Snak("P812", SomeValue())],
            context="http://example.org/graph",
        ),
        make_statement(q42, "P214", StringValue("113230702", "external-id")),
        make_statement("Q5", "P31", EntityValue("Q5")),
    ]


def random_statements(seed: int) -> list[Statement]:
    """Statements with hubs, parallel ones, loops, literals and all ranks."""
    draw = random.Random(seed)
    made = {}
    for place in range(160):
        head = f"Q{int(40 * draw.random() ** 2)}"
        value: Value = EntityValue(f"Q{int(40 * draw.random() ** 2)}")
        if draw.random() < 0.2:
            # The unit is no other statement's, and its label is read all the same.
            value = StringValue(f"text {place}") if place % 2 else Quantity(f"{place}", "Q99")
        rank = draw.choice([Rank.NORMAL, Rank.NORMAL, Rank.PREFERRED, Rank.DEPRECATED])
        statement = make_statement(head, f"P{draw.randrange(6)}", value, rank=rank)
        made[statement.id] = statement
    return list(made.values())
