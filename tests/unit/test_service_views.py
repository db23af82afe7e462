"""Views, look-up and the life of graphs through the service (rows S2, S4)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from demo_graph import ARNOLD, EUNICE, MARIA, MOTHER, SPOUSE, copy_store, request
from error_texts import raises
from graphs import load_graph

from graph_service import Service, open_service
from graph_service.artifacts import view_records
from graph_service.artifacts import views as view_store
from graph_service.artifacts.views import ViewStore
from graph_service.byte_budget import ByteBudget
from graph_service.errors import (
    GraphNotFoundError,
    InputError,
    ViewNotFoundError,
    ViewStaleError,
)
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.overlay import ViewStatementIds
from graph_service.model.request import ViewRef
from graph_service.model.statement import Entity, Rank
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_spec import Change, ChangeKind, Method, ViewSpec
from graph_service.settings import Settings
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer import counting as scorer

DELETED = ViewSpec(Method.EDGE_DELETION, level=0.2, random_seed=5)
REPLACED = ViewSpec(Method.RELATION_REPLACEMENT, level=0.2, random_seed=5)


def spouse_of_maria(service: Service) -> str:
    (shown,) = service.statements.of(MARIA, relation_ids=[SPOUSE])
    return shown.statement.id


def test_a_view_is_made_listed_shown_and_deleted_s4(own_service: Service) -> None:
    assert own_service.views.list() == []
    first = own_service.views.create(DELETED, name="thin", note="a fifth gone")
    second = own_service.views.create(REPLACED)
    assert {view.id for view in own_service.views.list(graph="demo")} == {first.id, second.id}
    assert own_service.views.get("thin") == own_service.views.get(first.id) == first
    assert (first.name, first.note, first.graph, first.spec) == (
        "thin",
        "a fifth gone",
        "demo",
        DELETED,
    )
    assert first.report.level_reached == pytest.approx(0.2, abs=0.001)
    assert not first.stale
    assert own_service.views.create(DELETED) == first, "the same specification is the same view"
    assert own_service.views.delete("thin") == first.id
    assert [view.id for view in own_service.views.list()] == [second.id]
    with pytest.raises(ViewNotFoundError, match=second.id):
        own_service.views.get("thin")
    with pytest.raises(ViewNotFoundError):
        own_service.views.delete("thin")
    with pytest.raises(ViewNotFoundError):
        own_service.retrieve(request(view=ViewRef(id=first.id)))


def test_a_views_name_is_its_own(own_service: Service) -> None:
    first = own_service.views.create(DELETED, name="thin")
    with pytest.raises(InputError, match=first.id) as caught:
        own_service.views.create(REPLACED, name="thin")
    assert caught.value.argument == "name"
    with pytest.raises(InputError, match="1 to 200 characters"):
        own_service.views.create(REPLACED, name="x" * 201)
    with pytest.raises(InputError, match="1 to 200 characters"):
        own_service.views.create(REPLACED, name="")
    renamed = own_service.views.update("thin", name="thinner", note="again")
    assert renamed == replace(first, name="thinner", note="again")
    assert own_service.views.get(first.id) == renamed
    with pytest.raises(ViewNotFoundError):
        own_service.views.get("thin")
    found = own_service.retrieve(request(view=ViewRef(name="thinner")))
    assert found.provenance.view_id == first.id


def test_the_same_specification_again_keeps_the_first_name_and_note(own_service: Service) -> None:
    nameless = own_service.views.create(DELETED)
    assert (nameless.name, nameless.note, nameless.reused) == (None, "", False)
    first = own_service.views.create(DELETED, name="thin", note="mine")
    assert (first.name, first.note, first.reused) == ("thin", "mine", True), "there was no name"
    for wait in (True, False):
        again = own_service.views.create(DELETED, name="other", note="yours", wait=wait)
        assert (again.name, again.note, again.reused) == ("thin", "mine", True)
    assert own_service.views.list() == [first]
    assert not own_service.views.get("thin").reused


def test_a_view_gets_another_name_or_note_by_a_call_of_its_own(own_service: Service) -> None:
    first = own_service.views.create(DELETED, name="thin", note="mine")
    own_service.views.create(REPLACED, name="other")
    with raises(InputError) as taken:
        own_service.views.update("thin", name="other", note="no")
    assert taken.value.argument == "name"
    for name in ("", " ", "x" * 201, "a\nb"):
        with pytest.raises(InputError):
            own_service.views.update("thin", name=name)
    with raises(InputError):
        own_service.views.update("thin")
    with pytest.raises(ViewNotFoundError):
        own_service.views.update("nothing", name="some")
    assert own_service.views.get("thin") == first
    assert own_service.views.update("thin", note="") == replace(first, note="")
    assert own_service.views.update(first.id, name="thin") == replace(first, note="")
    assert own_service.views.update("thin", name="thick").name == "thick"
    # A name that was given up is free, and one that was taken is not.
    assert own_service.views.update("other", name="thin").name == "thin"
    assert own_service.views.update("thin", name="other").name == "other"


def test_a_view_outlives_the_process(own_service: Service) -> None:
    made = own_service.views.create(REPLACED, name="kept")
    expected = own_service.retrieve(request(view=ViewRef(name="kept")))
    with open_service(own_service.store.url, settings=own_service.settings) as other:
        assert other.views.get("kept") == made
        assert other.retrieve(request(view=ViewRef(name="kept"))) == expected


def test_views_of_equal_graphs_are_told_apart(tmp_path: Path) -> None:
    """Two graphs of the same statements have one fingerprint, and so one view id."""
    triples = [("Q1", "P1", "Q2"), ("Q2", "P1", "Q3"), ("Q3", "P2", "Q1")]
    with open_service(f"sqlite:///{tmp_path / 'two.db'}", settings=Settings()) as service:
        for name in ("one", "two"):
            load_graph(service.store, name, triples)
        made = [service.views.create(DELETED, graph=name, name=name) for name in ("one", "two")]
        assert made[0].id == made[1].id
        assert service.views.list(graph="one") == [made[0]]
        assert service.views.list(graph="two") == [made[1]]
        service.delete_graph("one")
        assert service.views.list(graph="two") == [made[1]]


def test_deleting_a_graph_deletes_its_views(own_service: Service) -> None:
    load_graph(own_service.store, "other", [("Q1", "P1", "Q2"), ("Q2", "P1", "Q1")])
    own_service.views.create(DELETED, graph="demo", name="thin")
    kept = own_service.views.create(DELETED, graph="other", name="thin")
    own_service.delete_graph("demo")
    assert [info.name for info in own_service.graphs()] == ["other"]
    with pytest.raises(GraphNotFoundError):
        own_service.views.list(graph="demo")
    with pytest.raises(GraphNotFoundError):
        own_service.delete_graph("demo")
    assert own_service.views.list() == [kept]
    load_graph(own_service.store, "demo", [("Q1", "P1", "Q2"), ("Q2", "P1", "Q1")])
    assert own_service.views.list(graph="demo") == []


def test_a_view_of_another_state_of_its_base_is_stale(own_service: Service) -> None:
    made = own_service.views.create(DELETED, name="thin")
    load_graph(own_service.store, "demo", [(MARIA, SPOUSE, EUNICE)])
    stale = own_service.views.get("thin")
    assert stale == replace(made, stale=True)
    for read in (
        lambda: own_service.retrieve(request(view=ViewRef(name="thin"))),
        lambda: own_service.neighbourhood(MARIA, view=ViewRef(id=made.id)),
        lambda: own_service.statements.of(MARIA, view=ViewRef(id=made.id)),
        lambda: own_service.views.diff(ViewRef(id=made.id)),
    ):
        with pytest.raises(ViewStaleError, match="thin") as caught:
            read()
        assert f"--from-view {made.id}" in str(caught.value)
    fresh = own_service.views.create(stale.spec, name="thin")
    assert fresh.id != made.id
    assert own_service.views.get("thin") == fresh, (
        "of one name the view of today's base comes first"
    )
    assert own_service.views.get(made.id).stale
    with pytest.raises(InputError, match=fresh.id):
        own_service.views.create(REPLACED, name="thin")
    assert own_service.views.update(made.id, name="past").stale
    with pytest.raises(InputError, match=fresh.id):
        own_service.views.update("past", name="thin")


def test_other_labels_leave_a_view_valid(own_service: Service) -> None:
    own_service.views.create(DELETED, name="thin")
    before = own_service.retrieve(request(view=ViewRef(name="thin")))
    load_graph(own_service.store, "demo", (), [Entity("Q77777", labels={"fr": "rien"})])
    assert not own_service.views.get("thin").stale
    after = own_service.retrieve(request(view=ViewRef(name="thin")))
    assert after.items == before.items
    assert after.provenance.fingerprints.content != before.provenance.fingerprints.content


def test_labels_that_move_the_numbers_leave_a_view_what_it_was(own_service: Service) -> None:
    """A drawn or read view that is kept in memory is not laid over other numbers."""
    own_service.views.create(REPLACED, name="kept")
    inline = ViewRef(spec=replace(REPLACED, method=Method.EDGE_REWIRING))
    before = [
        [change.words for change in own_service.views.diff(view, first=1000)[0]]
        for view in (ViewRef(name="kept"), inline)
    ]
    lonely = [Entity(f"Q9{number:07d}", labels={"fr": "rien"}) for number in range(300)]
    load_graph(own_service.store, "demo", (), lonely)
    after = [
        [change.words for change in own_service.views.diff(view, first=1000)[0]]
        for view in (ViewRef(name="kept"), inline)
    ]
    assert after == before
    again = own_service.views.create(replace(REPLACED, random_seed=77))
    fresh = ViewStore(own_service.store)
    arrays = own_service.arrays(own_service.graph())
    laid = fresh.lay_spec(arrays, again.spec)
    read = fresh.apply(arrays, ViewRef(id=again.id))
    assert read is not None
    assert list(read.overlay.statement_ids) == list(laid.overlay.statement_ids)


def test_deviation_is_stored_with_the_view_and_measured_once_o11(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = own_service.views.create(REPLACED, name="kept")
    assert made.deviation is not None
    assert 0 < made.deviation.ats < made.deviation.ats_base <= 1
    assert (made.deviation.scorer, made.deviation.unscored) == ("counts", 0)

    def unwanted(*arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError("measured again")

    monkeypatch.setattr(view_store, "measure", unwanted)
    assert own_service.views.measured("kept") == own_service.views.get("kept") == made
    assert own_service.views.list() == [made]
    monkeypatch.undo()
    record = own_service.store.get_record(view_records.KIND, f"demo/{made.id}")
    assert record is not None
    # As an earlier version wrote it.
    older = {key: value for key, value in record.json.items() if key not in ("error", "beat")}
    own_service.store.save_record(replace(record, json={**older, "deviation": None}))
    assert own_service.views.get("kept").deviation is None
    assert own_service.views.measured("kept") == made
    assert own_service.views.get("kept") == made


def test_a_diff_lists_every_change_with_words_s4(demo_service: Service) -> None:
    for spec in (DELETED, REPLACED, replace(REPLACED, method=Method.EDGE_REWIRING)):
        ref = ViewRef(spec=spec)
        changes, total = demo_service.views.diff(ref, first=1000)
        assert len(changes) == total > 200
        pages = [demo_service.views.diff(ref, first=90, offset=at)[0] for at in range(0, total, 90)]
        assert [change for page in pages for change in page] == changes
        assert demo_service.views.diff(ref, first=5, offset=total) == ([], total)
        for change in changes:
            assert change.before is not None
            before = change.before.triple
            assert before.head.label in change.words
            if spec is DELETED:
                assert change.after is None
                assert change.words.endswith("gone")
                continue
            assert change.after is not None
            assert change.after.change.base == before
            after = change.after.triple
            assert (before.relation != after.relation) != (before.value != after.value)
            assert after.relation.label in change.words
            assert after.value_label in change.words
    with pytest.raises(InputError) as caught:
        demo_service.views.diff(ViewRef(spec=DELETED), first=0)
    assert caught.value.argument == "first"


def test_own_changes_reach_every_read(demo_service: Service) -> None:
    (mother,) = demo_service.statements.of(MARIA, relation_ids=[MOTHER])
    spouse = spouse_of_maria(demo_service)
    spec = ViewSpec(
        Method.CUSTOM,
        changes=(
            Change(mother.statement.id, remove=True),
            Change(spouse, value=StringValue("nobody")),
            Change(head=MARIA, relation="friend", value=EntityValue(EUNICE)),
            Change(head=MARIA, relation=MOTHER, value=EntityValue("Q31415926")),
        ),
    )
    view = ViewRef(spec=spec)
    changes, total = demo_service.views.diff(view)
    assert total == 4
    assert [change.words for change in changes[:3]] == [
        "Maria Shriver: mother -> Eunice Kennedy Shriver, gone",
        "Maria Shriver: spouse -> was Arnold Schwarzenegger, now nobody",
        "Maria Shriver: friend -> Eunice Kennedy Shriver, new",
    ]
    base = {item.statement.id for item in demo_service.statements.of(MARIA)}
    shown = demo_service.statements.of(MARIA, view=view)
    kinds = {item.statement.id: item.edge.change.kind for item in shown}
    assert base - set(kinds) == {mother.statement.id, spouse}
    made = {id_: kind for id_, kind in kinds.items() if id_ not in base}
    assert sorted(made.values()) == [ChangeKind.ADDED, ChangeKind.ADDED, ChangeKind.VALUE_CHANGED]
    (added,) = demo_service.statements.of(MARIA, view=view, relation_ids=["friend"])
    assert added.statement.value == EntityValue(EUNICE)
    assert added.edge.change.base is None
    around = demo_service.neighbourhood(MARIA, view=view, limit=1000)
    assert set(made) <= {item.triple.statement_id for item in around.items}
    assert spouse not in {item.triple.statement_id for item in around.items}


def test_statements_of_a_view_show_the_base_and_its_details_s3(kinds_service: Service) -> None:
    base = {item.statement.relation: item.statement for item in kinds_service.statements.of("Q42")}
    assert base["P69"].qualifiers
    assert {item.statement.rank for item in kinds_service.statements.of("Q42")} == set(Rank)
    spec = ViewSpec(Method.CUSTOM, changes=(Change(base["P69"].id, value=EntityValue("Q5")),))
    shown = kinds_service.statements.of("Q42", view=ViewRef(spec=spec), relation_ids=["P69"])
    (changed,) = shown
    assert changed.statement.id.startswith("view:")
    assert changed.statement.value == EntityValue("Q5")
    assert changed.statement.qualifiers == base["P69"].qualifiers
    assert changed.statement.context == base["P69"].context
    assert changed.edge.change.kind is ChangeKind.VALUE_CHANGED
    assert changed.edge.change.base is not None
    assert changed.edge.change.base.value == base["P69"].value


def test_statements_of_reads_back_what_was_stored_s2(kinds_service: Service) -> None:
    shown = {item.statement.id: item.statement for item in kinds_service.statements.of("Q42")}
    edition = kinds_service.graph().edition
    stored = kinds_service.store.statements_of(edition, "Q42")
    assert shown == {statement.id: statement for statement in stored}
    assert len(kinds_service.statements.of("Q42", limit=3)) == 3
    assert kinds_service.statements.of("Q4242") == kinds_service.statements.of("Q42")
    assert kinds_service.statements.of("Q999999") == []
    with pytest.raises(InputError, match="limit"):
        kinds_service.statements.of("Q42", limit=0)


def test_entities_by_id_prefix_redirect_and_same_as_s2(kinds_service: Service) -> None:
    asked = [
        "Q42",
        "Q4242",
        "wd:Q42",
        "http://dbpedia.org/resource/Douglas_Adams",
        "dbr:Rome",
        "Q1",
    ]
    lookup = kinds_service.entities(asked)
    assert {raw: entity.id for raw, entity in lookup.entities.items()} == {
        "Q42": "Q42",
        "Q4242": "Q42",
        "wd:Q42": "Q42",
        "http://dbpedia.org/resource/Douglas_Adams": "Q42",
        "dbr:Rome": "http://dbpedia.org/resource/Rome",
    }
    assert lookup.missing == ("Q1",)


def test_search_finds_names_in_any_script_s2(kinds_service: Service) -> None:
    for query in ("douglas adams", "Дуглас", "道格拉斯", "DNA"):
        assert kinds_service.search(query)[0].entity.id == "Q42", query
    assert kinds_service.search("roma", languages=["it"])[0].entity.id.endswith("Rome")
    assert kinds_service.search("zorblax") == []
    assert len(kinds_service.search("Adams", limit=1)) == 1
    for query, limit, argument in (("  ", 10, "query"), ("x", 0, "limit"), ("x", 1001, "limit")):
        with pytest.raises(InputError) as caught:
            kinds_service.search(query, limit=limit)
        assert caught.value.argument == argument


def test_which_graph_is_meant(own_service: Service) -> None:
    assert own_service.graph().name == "demo"
    load_graph(own_service.store, "other", [("Q1", "P1", "Q2")])
    with pytest.raises(GraphNotFoundError, match="2 graphs: demo, other"):
        own_service.graph()
    assert own_service.graph("other").name == "other"
    named = Service(
        own_service.store,
        vectors=lambda: own_service.vectors,
        settings=replace(own_service.settings, graph="other"),
    )
    assert named.graph().name == "other"
    assert named.graph("demo").name == "demo"
    own_service.delete_graph("demo")
    own_service.delete_graph("other")
    with pytest.raises(GraphNotFoundError, match="no graph yet") as caught:
        own_service.graph()
    assert "graph-service load" in str(caught.value)


def test_a_graph_is_opened_once_by_many_threads(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = own_service.store.snapshot
    gate = threading.Barrier(6)

    def counted(info: GraphInfo) -> KnowledgeGraph:
        opened.append(info.edition)
        return real(info)

    def read() -> None:
        gate.wait()
        own_service.arrays(own_service.graph())

    monkeypatch.setattr(own_service.store, "snapshot", counted)
    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 1


def counting(real: Callable[..., Any], name: str, built: list[str]) -> Callable[..., Any]:
    def build(*arguments: Any, **options: Any) -> Any:
        built.append(name)
        return real(*arguments, **options)

    return build


def test_a_base_is_indexed_once_for_all_its_views(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    for kind in (PairIndex, scorer.CountScorer):
        monkeypatch.setattr(kind, "build", counting(kind.build, kind.__name__, built))
    arrays = own_service.arrays(own_service.graph())
    views = ViewStore(own_service.store)
    views.lay_spec(
        arrays, ViewSpec(Method.WITHHOLDING, statement_ids=(spouse_of_maria(own_service),))
    )
    assert built == []
    for seed in range(3):
        views.lay_spec(arrays, replace(REPLACED, random_seed=seed))
        views.lay_spec(arrays, replace(DELETED, random_seed=seed))
    assert sorted(built) == ["CountScorer", "PairIndex"]


def test_a_laid_view_is_kept_and_the_oldest_goes(own_service: Service) -> None:
    arrays = own_service.arrays(own_service.graph())
    memory = ByteBudget()
    ViewStore(own_service.store, memory=memory).lay_spec(arrays, DELETED)
    views = ViewStore(own_service.store, memory=ByteBudget(int(2.5 * memory.used()["views"])))
    first = views.lay_spec(arrays, DELETED)
    assert views.lay_spec(arrays, DELETED) is first
    for seed in (6, 7):
        views.lay_spec(arrays, replace(DELETED, random_seed=seed))
    again = views.lay_spec(arrays, DELETED)
    assert again is not first
    assert again.delta.removed.tolist() == first.delta.removed.tolist()


def test_a_stored_delta_is_what_is_read_back(own_service: Service) -> None:
    made = own_service.views.create(REPLACED)
    arrays = own_service.arrays(own_service.graph())
    fresh = ViewStore(own_service.store)
    read = fresh.apply(arrays, ViewRef(id=made.id))
    drawn = ViewStore(own_service.store).lay_spec(arrays, REPLACED)
    assert read is not None
    assert list(read.overlay.statement_ids) == list(drawn.overlay.statement_ids)
    assert read.report == drawn.report == made.report
    id_ = read.overlay.statement_ids[0]
    assert isinstance(read.overlay.statement_ids, ViewStatementIds)
    assert read.overlay.statement_ids.find(id_) == 0
    with pytest.raises(InputError, match="scorer"):
        fresh.lay_spec(arrays, replace(REPLACED, scorer="trained"))


def test_a_service_over_an_open_store_needs_no_model_to_look_up(
    demo_file: Path, tmp_path: Path
) -> None:
    def unwanted() -> NoReturn:
        raise AssertionError("the embedder is opened at first use only")

    with open_service(copy_store(demo_file, tmp_path), settings=Settings()) as opened:
        service = Service(opened.store, vectors=unwanted, settings=opened.settings)
        assert service.entities([ARNOLD]).entities
        assert service.search("Kennedy")
        assert service.neighbourhood(ARNOLD).items
        assert service.views.create(DELETED, name="x").name == "x"
        assert service.views.diff(ViewRef(name="x"))[1] > 0
