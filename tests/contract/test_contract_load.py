"""What loads must do in both stores (S1, S8; docs/explanation/architecture.md, Life of a graph)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from graphs import load_batches, load_graph, sample_entities, sample_statements, statement
from hypothesis import HealthCheck, given, settings
from strategies import graphs as random_graphs

from graph_service.errors import GraphNotFoundError, InputError, LoadInProgressError
from graph_service.model.hashing import fingerprint, sum_hashes
from graph_service.model.identity import key64
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Rank,
    Reference,
    Snak,
    Statement,
    entity_content_hash,
    make_statement,
    statement_content_hash,
    statement_edge_hash,
)
from graph_service.model.values import EntityValue, StringValue
from graph_service.store.protocol import Batch, LoadSession, Store

EDGES = "9a806763e0e40100d119103f20ff20ee000000000000000f"
CONTENT = "aebf038565d8c5a4200dd775981ef9300000000000000019"


def everything(store: Store, name: str) -> tuple[list[Statement], list[Entity]]:
    edition = store.graph(name).edition
    statements = [item for chunk in store.scan_statements(edition) for item in chunk]
    entities = [item for chunk in store.scan_entities(edition) for item in chunk]
    return statements, entities


def expected_fingerprints(statements: list[Statement], entities: list[Entity]) -> tuple[str, str]:
    edges = sum_hashes(b"".join(map(statement_edge_hash, statements)))
    content = sum_hashes(
        b"".join(map(statement_content_hash, statements))
        + b"".join(map(entity_content_hash, entities))
    )
    return (
        fingerprint(edges, len(statements)),
        fingerprint(content, len(statements) + len(entities)),
    )


def with_bare(statements: list[Statement], entities: list[Entity]) -> list[Entity]:
    """The entities, and a bare one for each id that is only mentioned, by key."""
    known = {entity.id: entity for entity in entities}
    for item in statements:
        known.setdefault(item.head, Entity(item.head))
        if isinstance(item.value, EntityValue):
            known.setdefault(item.value.id, Entity(item.value.id))
    return sorted(known.values(), key=lambda entity: entity.key)


def test_nothing_is_lost(store: Store, graph_name: str) -> None:
    statements, entities = sample_statements(), sample_entities()
    info = load_graph(store, graph_name, statements, entities)
    read, read_entities = everything(store, graph_name)
    assert read == sorted(statements, key=lambda item: item.key)
    assert read_entities == with_bare(statements, entities)
    assert info.counts.statements == len(statements)
    assert info.counts.literals == sum(
        not isinstance(item.value, EntityValue) for item in statements
    )
    assert info.counts.entities == len(read_entities)
    assert info.counts.relations == len({item.relation for item in statements})
    assert (info.source, info.report) == ("test", {"by": "test"})
    assert info == store.graph(graph_name)


def test_golden_fingerprints(store: Store, graph_name: str) -> None:
    """Recorded once: a changed fingerprint voids every view and snapshot of every user."""
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    assert (info.fingerprints.edges, info.fingerprints.content) == (EDGES, CONTENT)


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(graph=random_graphs)
def test_any_graph_reads_back_as_written(
    store: Store, graph_name: str, graph: tuple[list[Statement], list[Entity]]
) -> None:
    statements, entities = graph
    info = load_graph(store, graph_name, statements, entities, replace=True)
    whole = with_bare(statements, entities)
    read, read_entities = everything(store, graph_name)
    assert read == sorted(statements, key=lambda item: item.key)
    assert read_entities == whole
    prints = expected_fingerprints(statements, whole)
    assert (info.fingerprints.edges, info.fingerprints.content) == prints


def test_order_of_loading_does_not_matter(store: Store, graph_names: Callable[[], str]) -> None:
    statements, entities = sample_statements(), sample_entities()
    first = load_graph(store, graph_names(), statements, entities)
    batches = [Batch(statements=(item,)) for item in reversed(statements)]
    batches += [Batch(entities=(item,)) for item in entities]
    second = load_batches(store, graph_names(), batches)
    assert first.fingerprints == second.fingerprints
    assert first.counts == second.counts


def test_running_a_load_again_changes_nothing(store: Store, graph_name: str) -> None:
    statements, entities = sample_statements(), sample_entities()
    first = load_graph(store, graph_name, statements, entities)
    with store.begin_load(graph_name, owner="test", source="test") as load:
        load.write(Batch(entities=entities, statements=statements))
        load.write(Batch(entities=entities, statements=statements[:3]))
        counts = load.finish()
        second = load.publish()
    assert (counts.written, counts.updated, counts.removed) == (0, 0, 0)
    assert counts.duplicates == len(statements) + 3
    assert second.fingerprints == first.fingerprints
    assert second.counts == first.counts
    assert second.edition != first.edition


def test_updates_are_counted_and_the_later_load_wins(store: Store, graph_name: str) -> None:
    old = make_statement("Q1", "P1", EntityValue("Q2"), id="s1")
    other = make_statement("Q1", "P1", EntityValue("Q9"), id="s2")
    load_graph(store, graph_name, [old, other])
    new = make_statement("Q1", "P1", EntityValue("Q3"), id="s1", rank=Rank.PREFERRED)
    with store.begin_load(graph_name, owner="test", source="test") as load:
        load.write(Batch(statements=(new, statement(("Q1", "P2", "Q2")))))
        counts = load.finish()
        info = load.publish()
    assert (counts.written, counts.updated, counts.duplicates, counts.removed) == (1, 1, 0, 0)
    read, entities = everything(store, graph_name)
    assert {item.id: item for item in read}["s1"] == new
    assert info.counts.statements == 3
    prints = expected_fingerprints(read, entities)
    assert (info.fingerprints.edges, info.fingerprints.content) == prints


def test_entity_known_only_by_a_replaced_statement_goes(
    store: Store, graph_names: Callable[[], str]
) -> None:
    old = make_statement("Q1", "P1", EntityValue("Q2"), id="s1")
    new = make_statement("Q1", "P3", EntityValue("Q3"), id="s1")
    first, second = graph_names(), graph_names()
    load_graph(store, first, [old])
    load_graph(store, first, [new])
    load_graph(store, second, [new])
    assert store.graph(first).fingerprints == store.graph(second).fingerprints
    assert store.graph(first).counts == store.graph(second).counts
    assert store.entities(store.graph(first).edition, ["Q2"]).missing == ("Q2",)


def test_a_whole_document_replaces_its_statements(store: Store, graph_name: str) -> None:
    kept = make_statement("Q1", "P1", EntityValue("Q2"), id="kept")
    gone = make_statement("Q1", "P1", EntityValue("Q3"), id="gone")
    other = make_statement("Q5", "P1", EntityValue("Q1"), id="other")
    load_graph(store, graph_name, [kept, gone, other], [Entity("Q1", revision=1)])
    added = make_statement("Q1", "P1", EntityValue("Q4"), id="added")
    with store.begin_load(graph_name, owner="test", source="test") as load:
        load.write(
            Batch(
                entities=(Entity("Q1", labels={"en": "one"}, revision=2),),
                statements=(kept, added),
                documents=frozenset({"Q1"}),
            )
        )
        counts = load.finish()
        load.publish()
    read, _ = everything(store, graph_name)
    assert {item.id for item in read} == {"kept", "added", "other"}
    assert (counts.written, counts.duplicates, counts.removed) == (1, 1, 1)


def test_an_older_document_is_left_out_whole(store: Store, graph_name: str) -> None:
    entity = Entity("Q1", labels={"en": "new"}, revision=5)
    load_graph(store, graph_name, [("Q1", "P1", "Q2")], [entity])
    before = store.graph(graph_name).fingerprints
    with store.begin_load(graph_name, owner="test", source="test") as load:
        load.write(
            Batch(
                entities=(Entity("Q1", labels={"en": "old"}, revision=4),),
                statements=(statement(("Q1", "P1", "Q3")), statement(("Q1", "P1", "Q4"))),
                documents=frozenset({"Q1"}),
            )
        )
        counts = load.finish()
        info = load.publish()
    assert (counts.outdated, counts.written, counts.removed) == (2, 0, 0)
    assert info.fingerprints == before


def test_terms_only_adds_languages(store: Store, graph_name: str) -> None:
    load_graph(
        store,
        graph_name,
        [("Q1", "P1", "Q2")],
        [Entity("Q1", labels={"en": "one"}, aliases={"en": ("first",)}, revision=3)],
    )
    with store.begin_load(graph_name, owner="test", source="labels") as load:
        load.write(
            Batch(
                entities=(
                    Entity("Q1", labels={"fr": "un"}, aliases={"en": ("first", "1")}),
                    Entity("Q2", labels={"fr": "deux"}),
                ),
                terms_only=True,
            )
        )
        load.finish()
        info = load.publish()
    found = store.entities(info.edition, ["Q1", "Q2"]).entities
    assert found["Q1"].labels == {"en": "one", "fr": "un"}
    assert found["Q1"].aliases == {"en": ("1", "first")}
    assert found["Q1"].revision == 3
    assert found["Q2"].labels == {"fr": "deux"}


def test_adding_labels_keeps_the_edges_fingerprint(store: Store, graph_name: str) -> None:
    first = load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    second = load_graph(store, graph_name, [], [Entity("Q1", labels={"fr": "un"})])
    assert second.fingerprints.edges == first.fingerprints.edges
    assert second.fingerprints.content != first.fingerprints.content


def test_a_later_record_replaces_terms_unless_its_revision_is_lower(
    store: Store, graph_name: str
) -> None:
    new = Entity("Q1", labels={"de": "neu"}, revision=9)
    load_batches(
        store,
        graph_name,
        [
            Batch(entities=(Entity("Q1", labels={"en": "old"}, revision=8),)),
            Batch(entities=(new,)),
            Batch(entities=(Entity("Q1", labels={"en": "older"}, revision=7),)),
        ],
    )
    assert store.entities(store.graph(graph_name).edition, ["Q1"]).entities == {"Q1": new}


def test_replace_swaps_at_once(store: Store, graph_name: str) -> None:
    first = load_graph(store, graph_name, [("Q1", "P1", "Q2"), ("Q1", "P1", "Q3")])
    with store.begin_load(graph_name, replace=True, owner="test", source="test") as load:
        load.write(Batch(statements=(statement(("Q7", "P1", "Q8")),)))
        assert store.graph(graph_name).edition == first.edition
        assert store.graph(graph_name).counts == first.counts
        load.finish()
        assert store.graph(graph_name).edition == first.edition
        assert [item.head for item in everything(store, graph_name)[0]] == ["Q1", "Q1"]
        second = load.publish()
    assert [item.head for item in everything(store, graph_name)[0]] == ["Q7"]
    assert second.counts.statements == 1
    assert store.entities(second.edition, ["Q1"]).missing == ("Q1",)


def test_readers_of_the_edition_before_can_finish(store: Store, graph_name: str) -> None:
    first = load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    load_graph(store, graph_name, [("Q7", "P1", "Q8")], replace=True)
    read = [item.head for chunk in store.scan_statements(first.edition) for item in chunk]
    assert read == ["Q1"]


def test_an_edition_never_published_is_not_read(store: Store, graph_name: str) -> None:
    with store.begin_load(graph_name, owner="test", source="test") as load:
        load.write(Batch(statements=(statement(("Q1", "P1", "Q2")),)))
        load.finish()
        with pytest.raises(GraphNotFoundError):
            store.graph(graph_name)
        with pytest.raises(GraphNotFoundError):
            store.entities(load.edition, ["Q1"])
        (unfinished,) = [item for item in store.unfinished_loads() if item.edition == load.edition]
        assert (unfinished.owner, unfinished.source, unfinished.statements) == ("test", "test", 1)
        load.abort()
    assert graph_name not in [item.edition.split("@")[0] for item in store.unfinished_loads()]


def test_unknown_edition_is_an_error(store: Store, graph_name: str) -> None:
    load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    for edition in (f"{graph_name}@999999", graph_name, "", "@", "x@y", f"{graph_name}@1;--"):
        with pytest.raises(GraphNotFoundError):
            store.entities(edition, ["Q1"])


def test_second_load_of_one_graph_is_refused_naming_the_first(
    store: Store, graph_name: str
) -> None:
    with store.begin_load(graph_name, owner="alice", source="dump.json") as load:
        with pytest.raises(LoadInProgressError, match=r"alice.*dump\.json"):
            store.begin_load(graph_name, owner="bob", source="other.json")
        load.write(Batch(statements=(statement(("Q1", "P1", "Q2")),)))
        load.finish()
        load.publish()
    load_graph(store, graph_name, [("Q1", "P1", "Q3")])


def begin_when_free(store: Store, name: str) -> LoadSession:
    """Bob's load, as soon as the lease of the other has run out."""
    until = time.monotonic() + 600
    while True:
        try:
            return store.begin_load(name, owner="bob", source="b")
        except LoadInProgressError:
            assert time.monotonic() < until, "the lease never ran out"
            time.sleep(0.01)


def test_a_lease_that_ran_out_gives_way(store: Store, graph_name: str) -> None:
    late = store.begin_load(graph_name, owner="alice", source="a", lease_s=0.2)
    late.write(Batch(statements=(statement(("Q1", "P1", "Q2")),)))
    with begin_when_free(store, graph_name) as load:
        load.write(Batch(statements=(statement(("Q3", "P1", "Q4")),)))
        with pytest.raises(LoadInProgressError):
            late.write(Batch(statements=(statement(("Q5", "P1", "Q6")),)))
        late.__exit__(None, None, None)
        load.finish()
        load.publish()
    assert [item.head for item in everything(store, graph_name)[0]] == ["Q3"]


def test_unfinished_load_is_resumed(store: Store, graph_name: str) -> None:
    first, second = statement(("Q1", "P1", "Q2")), statement(("Q2", "P1", "Q3"))
    with pytest.raises(RuntimeError, match="cut"):  # noqa: PT012, SIM117
        with store.begin_load(graph_name, owner="a", source="s", options={"x": 1}) as load:
            load.write(Batch(statements=(first,)), checkpoint={"offset": 17})
            edition = load.edition
            raise RuntimeError("cut")
    with store.begin_load(graph_name, owner="b", source="s", options={"x": 1}) as load:
        assert (load.edition, load.sequence, load.checkpoint) == (edition, 1, {"offset": 17})
        load.write(Batch(statements=(second,)), checkpoint={"offset": 20})
        counts = load.finish()
        load.publish()
    assert counts.written == 2
    assert len(everything(store, graph_name)[0]) == 2


def test_unfinished_load_of_other_options_is_thrown_away(store: Store, graph_name: str) -> None:
    with store.begin_load(graph_name, owner="a", source="s", options={"x": 1}) as load:
        load.write(Batch(statements=(statement(("Q1", "P1", "Q2")),)), checkpoint={"offset": 17})
        before = load.edition
    with store.begin_load(graph_name, owner="a", source="s", options={"x": 2}) as load:
        assert (load.sequence, load.checkpoint) == (0, None)
        assert load.edition != before
        load.write(Batch(statements=(statement(("Q3", "P1", "Q4")),)))
        load.finish()
        load.publish()
    assert [item.head for item in everything(store, graph_name)[0]] == ["Q3"]


def test_finished_load_is_final_and_can_be_published_later(store: Store, graph_name: str) -> None:
    with store.begin_load(graph_name, owner="a", source="s") as load:
        load.write(Batch(statements=(statement(("Q1", "P1", "Q2")),)))
        counts = load.finish()
        with pytest.raises(InputError):
            load.write(Batch(statements=(statement(("Q3", "P1", "Q4")),)))
    with store.begin_load(graph_name, owner="a", source="s") as load:
        assert load.finish() == counts
        info = load.publish()
    assert info.counts.statements == 1


def test_publish_before_finish_is_refused(store: Store, graph_name: str) -> None:
    with store.begin_load(graph_name, owner="a", source="s") as load:
        with pytest.raises(InputError):
            load.publish()
        load.abort()


def test_text_that_no_store_holds_is_refused_and_nothing_of_its_batch_is_in(
    store: Store, graph_name: str
) -> None:
    good = statement(("Q1", "P1", "Q2"))
    nul = StringValue("a\x00b")
    bad = [
        Batch(statements=(good, make_statement("Q\ud800", "P1", EntityValue("Q2"), id="x"))),
        Batch(statements=(good, replace(good, id="a\x00b"))),
        Batch(statements=(good, replace(good, id="c", value=StringValue("a\x00b")))),
        Batch(statements=(good, replace(good, id="d", value=StringValue("\udfff")))),
        Batch(statements=(good,), entities=(Entity("Q1", labels={"en": "a\x00"}),)),
        Batch(statements=(good,), entities=(Entity("Q\x001"),)),
        Batch(statements=(good, replace(good, id="e", head=""))),
        Batch(statements=(good, replace(good, id="f", head="Q\x001"))),
        Batch(statements=(good, replace(good, id="g", relation="P\x001"))),
        Batch(statements=(good, replace(good, id="h", context="a\x00"))),
        Batch(statements=(good, replace(good, id="i", qualifiers=(Snak("P2", nul),)))),
        Batch(
            statements=(good, replace(good, id="j", references=(Reference((Snak("P2", nul),)),)))
        ),
        Batch(statements=(good,), entities=(Entity("Q1", redirect="Q\x002"),)),
        Batch(statements=(good,), entities=(Entity("Q1", aliases={"en": ("a", "\x00b")}),)),
        Batch(statements=(good,), entities=(Entity("Q1", descriptions={"en": "\x00"}),)),
    ]
    with store.begin_load(graph_name, owner="a", source="s") as load:
        for batch in bad:
            with pytest.raises(InputError):
                load.write(batch)
        # The six characters \u0000 are ordinary text.
        plain = make_statement("Q3", "P1", StringValue("\\u0000"))
        load.write(Batch(statements=(plain,)))
        assert load.sequence == 1
        load.finish()
        load.publish()
    assert everything(store, graph_name)[0] == [plain]


@pytest.mark.parametrize("name", ["", "a b", "x" * 101, "a/b", "a@b", "é", "a'b", "a\n"])
def test_bad_graph_names_are_refused(store: Store, name: str) -> None:
    with pytest.raises(InputError):
        store.begin_load(name, owner="a", source="s")


def test_an_empty_graph_is_a_graph(store: Store, graph_name: str) -> None:
    info = load_graph(store, graph_name)
    assert (info.counts.statements, info.counts.entities) == (0, 0)
    graph = store.snapshot(info)
    assert (graph.edge_count, graph.node_count, graph.relation_count) == (0, 0, 0)


def test_delete_graph(store: Store, graph_names: Callable[[], str]) -> None:
    name, other = graph_names(), graph_names()
    load_graph(store, name, [("Q1", "P1", "Q2")])
    load_graph(store, other, [("Q1", "P1", "Q2")])
    store.delete_graph(name)
    with pytest.raises(GraphNotFoundError, match=other):
        store.graph(name)
    with pytest.raises(GraphNotFoundError):
        store.delete_graph(name)
    assert store.graph(other).counts.statements == 1
    load_graph(store, name, [("Q8", "P1", "Q9")])
    assert [item.head for item in everything(store, name)[0]] == ["Q8"]


def test_properties_are_entities_of_their_kind(store: Store, graph_name: str) -> None:
    prop = Entity("P1", kind=EntityKind.PROPERTY, labels={"en": "knows"})
    info = load_graph(store, graph_name, [("Q1", "P1", "Q2"), ("P1", "P2", "Q2")], [prop])
    assert store.entities(info.edition, ["P1"]).entities == {"P1": prop}
    # P2 is a relation that nothing describes: no entity.
    assert store.entities(info.edition, ["P2"]).missing == ("P2",)
    assert key64("P1") in store.snapshot(info).node_keys
