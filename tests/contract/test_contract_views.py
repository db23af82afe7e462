"""Views over both stores: every read on a view, and views written out as graphs (S3, S4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from demo_graph import demo_settings
from error_texts import raises
from graphs import load_graph

from graph_service import Service, open_service
from graph_service.errors import InputError, ViewStaleError
from graph_service.export.materialise import materialise
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import ScoredPath, Strategy
from graph_service.model.statement import (
    Entity,
    Rank,
    Reference,
    Snak,
    Statement,
    make_statement,
)
from graph_service.model.values import EntityValue, StringValue, Time
from graph_service.model.view_spec import Change, Method, Naming, ViewSpec
from graph_service.settings import Settings
from graph_service.store.protocol import Store

__all__ = ["demo_settings"]

ENTITIES = [
    Entity("Q1", labels={"en": "Ada Moor"}),
    Entity("Q2", labels={"en": "Bela Fen"}),
    Entity("Q3", labels={"en": "Cara Dale"}),
    Entity("Q4", labels={"en": "Drum Hill"}),
    Entity("P1", labels={"en": "spouse"}),
    Entity("P2", labels={"en": "birthplace"}),
]
REWIRED = ViewSpec(
    Method.CUSTOM,
    changes=(
        Change("S1", value=EntityValue("Q4")),
        Change("S3", remove=True),
        Change(head="Q3", relation="P9", value=EntityValue("Q77")),
    ),
)


def statements() -> list[Statement]:
    return [
        make_statement(
            "Q1",
            "P1",
            EntityValue("Q2"),
            id="S1",
            rank=Rank.PREFERRED,
            qualifiers=(Snak("P5", StringValue("1999")),),
            references=(Reference((Snak("P6", StringValue("a register")),)),),
        ),
        make_statement("Q2", "P2", EntityValue("Q3"), id="S2"),
        make_statement("Q3", "P2", EntityValue("Q4"), id="S3"),
        make_statement("Q4", "P1", StringValue("nobody"), id="S4", rank=Rank.DEPRECATED),
    ]


@pytest.fixture
def service(store: Store, graph_name: str, demo_settings: Settings) -> Service:
    """A small graph in either store, behind a service."""
    load_graph(store, graph_name, statements(), ENTITIES)
    return open_service(store, settings=demo_settings)


def ask(
    service: Service, graph: str, strategy: Strategy, entity: str, view: ViewRef | None
) -> set[tuple[str, str, str]]:
    """The triples that a retrieval around one entity returns."""
    found = service.retrieve(
        RetrieveRequest(
            "Who is the spouse of Drum Hill?",
            strategy=strategy,
            graph=graph,
            view=view,
            entity_ids=(entity,),
            limit=20,
        )
    )
    triples = (
        step.triple
        for item in found.items
        for step in (item.steps if isinstance(item, ScoredPath) else (item,))
    )
    return {(one.head.id, one.relation.id, one.value_label) for one in triples}


@pytest.mark.parametrize("stored", [True, False])
def test_a_rewired_edge_is_found_from_its_new_end_by_every_read_s3(
    service: Service, graph_name: str, stored: bool
) -> None:
    if stored:
        service.views.create(REWIRED, graph=graph_name, name="moved")
        view = ViewRef(name="moved")
    else:
        view = ViewRef(spec=REWIRED)
    moved, was = ("Q1", "P1", "Drum Hill"), ("Q1", "P1", "Bela Fen")
    for strategy in Strategy:
        assert moved in ask(service, graph_name, strategy, "Q4", view), strategy
        assert moved not in ask(service, graph_name, strategy, "Q4", None), strategy
        assert was not in ask(service, graph_name, strategy, "Q2", view), strategy
        assert was in ask(service, graph_name, strategy, "Q2", None), strategy
    for entity, there, not_there in (("Q4", moved, was), ("Q2", None, was)):
        around = service.neighbourhood(entity, graph=graph_name, view=view, hops=1)
        found = {
            (one.triple.head.id, one.triple.relation.id, one.triple.value_label)
            for one in around.items
        }
        assert there is None or there in found
        assert not_there not in found
    (shown,) = service.statements.of("Q1", graph=graph_name, view=view)
    assert shown.statement.value == EntityValue("Q4")
    assert shown.statement.qualifiers == statements()[0].qualifiers
    assert shown.statement.references == statements()[0].references
    changes, total = service.views.diff(view, graph=graph_name)
    assert total == 3
    assert changes[1].words == "Ada Moor: spouse -> was Bela Fen, now Drum Hill"
    compared = service.compare(
        RetrieveRequest(
            "spouse of Drum Hill", strategy=Strategy.PATHS, graph=graph_name, entity_ids=("Q4",)
        ),
        [view],
    )
    assert compared[1].changed
    assert compared[1].gained


AIMED = [
    ViewSpec(Method.PATH_DELETION, count=1, entity_ids=("Q1",), answer_ids=("Q4",)),
    ViewSpec(Method.CONTRADICTION, count=1),
    ViewSpec(Method.INSERTION, count=1),
    ViewSpec(Method.TYPE_PRESERVING, count=1),
    ViewSpec(Method.INVERSION, level=1.0),
    ViewSpec(Method.STALE, level=1.0),
]


@pytest.mark.parametrize("spec", AIMED, ids=lambda spec: spec.method.value)
def test_what_a_method_changes_is_what_reads_on_the_view_show_b3(
    service: Service, graph_name: str, spec: ViewSpec
) -> None:
    """Stored, listed and read back, inline too; the same on either store."""
    stored = service.views.create(spec, graph=graph_name, name="aimed")
    assert sum(stored.report.counts.values()) > 0
    changes, total = service.views.diff(ViewRef(name="aimed"), graph=graph_name)
    inline, _ = service.views.diff(ViewRef(spec=spec), graph=graph_name)
    assert total == len(changes) == sum(stored.report.counts.values())
    assert [one.words for one in changes] == [one.words for one in inline]
    for entity in ("Q1", "Q2", "Q3", "Q4"):
        shown = service.statements.of(entity, graph=graph_name, view=ViewRef(name="aimed"))
        ids = {one.statement.id for one in shown}
        for change in changes:
            for edge, is_there in ((change.before, False), (change.after, True)):
                if edge is not None and edge.triple.head.id == entity:
                    assert (edge.triple.statement_id in ids) is is_there


def since(year: int) -> tuple[Snak, ...]:
    return (Snak("P580", Time(f"{year}-01-01T00:00:00Z")),)


@pytest.mark.parametrize("stored", [True, False])
def test_a_stale_view_is_the_graph_before_its_last_updates_b3(
    service: Service, store: Store, graph_names: Callable[[], str], stored: bool
) -> None:
    graph = graph_names()
    dated = [
        make_statement("Q1", "P1", EntityValue("Q2"), id="D1", qualifiers=since(1990)),
        make_statement("Q1", "P1", EntityValue("Q3"), id="D2", qualifiers=since(2001)),
        make_statement("Q1", "P1", EntityValue("Q4"), id="D3", rank=Rank.PREFERRED),
        make_statement("Q2", "P1", EntityValue("Q3"), id="D4", qualifiers=since(1980)),
        make_statement("Q2", "P1", EntityValue("Q4"), id="D5", qualifiers=since(1985)),
        make_statement("Q4", "P2", EntityValue("Q2"), id="D6", rank=Rank.DEPRECATED),
        make_statement("Q4", "P2", EntityValue("Q3"), id="D7"),
    ]
    load_graph(store, graph, dated, ENTITIES)
    spec = ViewSpec(Method.STALE, level=1.0)
    view = ViewRef(spec=spec)
    if stored:
        made = service.views.create(spec, graph=graph, name="before")
        assert made.report.counts == {
            "removed": 2, "relation-changed": 0, "value-changed": 0, "added": 0, "rank-changed": 1
        }  # fmt: skip
        assert (made.report.level_reached, made.report.scope_edges) == (1.0, 3)
        view = ViewRef(name="before")
    changes, _ = service.views.diff(view, graph=graph)
    assert {change.words for change in changes} == {
        "Ada Moor: spouse -> Drum Hill, gone",
        "Bela Fen: spouse -> Drum Hill, gone",
        "Drum Hill: birthplace -> Bela Fen, was deprecated, now normal",
    }
    shown = {
        (one.statement.value, one.statement.rank, one.statement.qualifiers)
        for one in service.statements.of("Q1", graph=graph, view=view)
    }
    assert shown == {
        (EntityValue("Q2"), Rank.NORMAL, since(1990)),
        (EntityValue("Q3"), Rank.NORMAL, since(2001)),
    }
    returned = ("Q4", "P2", "Bela Fen")
    assert returned in ask(service, graph, Strategy.TRIPLETS, "Q4", view)
    assert returned not in ask(service, graph, Strategy.TRIPLETS, "Q4", None)
    assert ("Q1", "P1", "Drum Hill") not in ask(service, graph, Strategy.TRIPLETS, "Q1", view)
    if stored:
        info = materialise(service, view, graph=graph, name=graph_names())
        ranks = {
            (one.head, one.value): one.rank
            for chunk in service.store.scan_statements(info.edition)
            for one in chunk
        }
        assert ranks["Q4", EntityValue("Q2")] is Rank.NORMAL
        assert len(ranks) == 5
        service.delete_graph(info.name)


NAMED = [
    Entity("Q1", labels={"en": "Ada Moor"}, aliases={"en": ("The Countess",)}),
    Entity("Q2", labels={"en": "Bela Fen", "de": "Bela vom Fenn"}, descriptions={"en": "poet"}),
    Entity("Q3", labels={"en": "Cara Dale"}),
    Entity("Q4", labels={"en": "Drum Hill"}),
    Entity("P1", labels={"en": "spouse"}),
    Entity("P2", labels={"en": "birthplace"}),
]
QUESTION = "Who is the spouse of Ada Moor?"


def linked(service: Service, graph: str, view: ViewRef | None, question: str) -> list[str]:
    """The ids of what a question is linked to."""
    request = RetrieveRequest(
        question, strategy=Strategy.TRIPLETS, graph=graph, view=view, preset="okgqa"
    )
    return [one.entity.id for one in service.retrieve(request).linked]


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("naming", Naming)
def test_linking_search_and_texts_follow_the_names_of_a_view_b3(
    service: Service, store: Store, graph_names: Callable[[], str], naming: Naming, stored: bool
) -> None:
    graph = graph_names()
    namesake = Entity("Q3", labels={"en": "Cara Dale"}, aliases={"en": ("Ada Moor",)})
    people = [make_statement(f"Q{n}", "P31", EntityValue("Q5")) for n in range(1, 5)]
    load_graph(store, graph, [*statements(), *people], [*NAMED[:2], namesake, *NAMED[3:]])
    spec = ViewSpec(Method.NAMES, level=1.0, naming=naming)
    view = ViewRef(spec=spec)
    if stored:
        made = service.views.create(spec, graph=graph, name="called")
        assert made.deviation is not None
        assert made.deviation.sc2d == made.deviation.sd2 == 1.0
        view = ViewRef(name="called")
    changes, total = service.views.diff(view, graph=graph, first=2)
    rest, _ = service.views.diff(view, graph=graph, first=2, offset=2)
    called = {one.entity.id: one.entity.label for one in (*changes, *rest) if one.entity}
    assert total == len(called) == (2 if naming is Naming.NAMESAKES else 4)
    assert linked(service, graph, None, QUESTION) == ["Q1"]
    label = called["Q1"]
    # Texts: of statements, of retrieved triples, of the region around an entity.
    shown = service.statements.of("Q1", graph=graph, view=view)
    assert "S1" in {one.statement.id for one in shown}
    assert {one.edge.triple.head.label for one in shown} == {label}
    around = service.neighbourhood("Q1", graph=graph, view=view, hops=1)
    assert around.linked[0].entity.label == label
    assert {one.triple.head.label for one in around.items if one.triple.head.id == "Q1"} == {label}
    # Linking and search: by the new name, and not by the old one.
    now = linked(service, graph, view, QUESTION)
    hits = [one.entity.id for one in service.search("Ada Moor", graph=graph, view=view)]
    assert [one.entity.id for one in service.search("Ada Moor", graph=graph)] == ["Q1", "Q3"]
    if naming is Naming.GONE:
        assert (label, now, hits) == ("Q1", [], [])
    elif naming is Naming.SLIPS:
        assert hits == []
        (hit,) = service.search(label, graph=graph, view=view, prefix=True)
        assert (hit.entity.id, hit.entity.labels["en"]) == ("Q1", label)
        assert service.search(called["Q2"], graph=graph, view=view)[0].entity.descriptions
        assert not service.search(label, graph=graph)
    elif naming is Naming.NAMESAKES:
        assert label == "Cara Dale"
        assert hits == ["Q3", "Q1"]
    else:
        (other,) = [id_ for id_, text in called.items() if text == "Ada Moor"]
        assert now == [other] != ["Q1"]
        assert other in hits
    asked = RetrieveRequest(QUESTION, strategy=Strategy.TRIPLETS, graph=graph, preset="okgqa")
    base, compared = service.compare(asked, [view])
    assert [one.entity.id for one in base.result.linked] == ["Q1"]
    assert [one.entity.id for one in compared.result.linked] == now
    assert base.result.provenance.fingerprints == compared.result.provenance.fingerprints
    assert base.result.id != compared.result.id
    if stored:
        info = materialise(service, view, graph=graph, name=graph_names())
        assert info.fingerprints.edges == service.graph(graph).fingerprints.edges
        assert info.fingerprints.content != service.graph(graph).fingerprints.content
        assert linked(service, info.name, None, QUESTION) == now
        found = [one.entity.id for one in service.search("Ada Moor", graph=info.name)]
        assert found == hits
        service.delete_graph(info.name)


def test_a_view_is_not_written_over_a_graph_that_was_loaded_since_the_name_was_checked(
    service: Service,
    graph_names: Callable[[], str],
    graph_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = service.views.create(REWIRED, graph=graph_name)
    name = graph_names()
    begin_load = service.store.begin_load

    def late(*given: Any, **options: Any) -> Any:
        monkeypatch.setattr(service.store, "begin_load", begin_load)
        load_graph(service.store, name, [("Q1", "P1", "Q2")])
        return begin_load(*given, **options)

    monkeypatch.setattr(service.store, "begin_load", late)
    with raises(InputError):
        materialise(service, ViewRef(id=made.id), graph=graph_name, name=name)
    assert service.store.graph(name).counts.statements == 1
    assert service.store.graph(name).unfinished is None


def test_a_view_is_written_out_as_a_graph_and_removed_s4(
    service: Service, graph_names: Callable[[], str], graph_name: str
) -> None:
    service.views.create(REWIRED, graph=graph_name, name="moved")
    told: list[tuple[int, int]] = []
    info = materialise(
        service,
        ViewRef(name="moved"),
        graph=graph_name,
        name=graph_names(),
        progress=lambda written, total: told.append((written, total)),
    )
    assert told[-1] == (4, 4)
    assert info.counts.statements == 4
    by_head: dict[str, list[Statement]] = {}
    for chunk in service.store.scan_statements(info.edition):
        for one in chunk:
            by_head.setdefault(one.head, []).append(one)
    (spouse,) = by_head["Q1"]
    base = statements()[0]
    assert (spouse.value, spouse.rank) == (EntityValue("Q4"), Rank.PREFERRED)
    assert (spouse.qualifiers, spouse.references) == (base.qualifiers, base.references)
    assert spouse.id not in {"S1", "S2", "S3", "S4"}
    assert [one.id for one in by_head["Q2"]] == ["S2"]
    assert [(one.relation, one.value) for one in by_head["Q3"]] == [("P9", EntityValue("Q77"))]
    assert by_head["Q4"][0].rank is Rank.DEPRECATED
    assert service.search("Ada", graph=info.name)[0].entity.id == "Q1"
    again = materialise(service, ViewRef(name="moved"), graph=graph_name, name=info.name)
    assert again.fingerprints == info.fingerprints
    service.delete_graph(info.name)
    assert info.name not in {one.name for one in service.graphs()}
    assert [view.name for view in service.views.list(graph=graph_name)] == ["moved"]


def test_a_view_written_out_has_no_views_and_replaces_no_graph_s4(
    service: Service, graph_names: Callable[[], str], graph_name: str
) -> None:
    info = materialise(service, ViewRef(spec=REWIRED), graph=graph_name, name=graph_names())
    deleted = ViewSpec(Method.EDGE_DELETION, level=0.5)
    view = ViewRef(spec=deleted)
    for read in (
        lambda: service.views.create(deleted, graph=info.name),
        lambda: service.views.create(deleted, graph=info.name, wait=False),
        lambda: service.views.diff(view, graph=info.name),
        lambda: service.statements.of("Q1", graph=info.name, view=view),
        lambda: service.neighbourhood("Q1", graph=info.name, view=view),
        lambda: service.retrieve(
            RetrieveRequest(
                "x", strategy=Strategy.PATHS, graph=info.name, view=view, entity_ids=("Q1",)
            )
        ),
    ):
        with pytest.raises(InputError, match="base graphs only") as caught:
            read()
        assert f"--graph {graph_name}" in str(caught.value)
    assert service.statements.of("Q1", graph=info.name)
    with raises(InputError):
        materialise(service, ViewRef(spec=REWIRED), graph=graph_name, name=graph_name)


def test_a_stopped_writing_goes_on_where_it_was(
    service: Service, graph_names: Callable[[], str], graph_name: str
) -> None:
    whole = materialise(service, ViewRef(spec=REWIRED), graph=graph_name, name=graph_names())
    name = graph_names()

    def stop(written: int, total: int) -> None:
        if written:
            raise KeyboardInterrupt

    view = ViewRef(spec=REWIRED)
    with pytest.raises(KeyboardInterrupt):
        materialise(service, view, graph=graph_name, name=name, progress=stop)
    assert name not in {one.name for one in service.graphs()}
    told: list[int] = []
    info = materialise(
        service, view, graph=graph_name, name=name, progress=lambda n, _: told.append(n)
    )
    assert info.fingerprints == whole.fingerprints
    assert told[0] > 3, "what was written is not written again"


def test_a_changed_base_names_both_fingerprints_and_the_command_s4(
    service: Service, graph_name: str
) -> None:
    made = service.views.create(REWIRED, graph=graph_name, name="moved", note="for the talk")
    load_graph(service.store, graph_name, [("Q4", "P1", "Q3")])
    now = service.graph(graph_name).fingerprints.edges
    with pytest.raises(ViewStaleError) as caught:
        service.neighbourhood("Q1", graph=graph_name, view=ViewRef(name="moved"))
    said = str(caught.value)
    assert made.edges[:12] in said
    assert now[:12] in said
    command = f"graph-service view create --graph {graph_name} --from-view {made.id}"
    assert command in said
    anew = service.views.create(service.views.get(made.id, graph=graph_name).spec, graph=graph_name)
    assert anew.edges == now
    assert anew.id != made.id
    (kept,) = [view for view in service.views.list(graph=graph_name) if view.id == made.id]
    assert (kept.note, kept.stale) == ("for the talk", True)
