"""What readers must give in both stores (S2): search, and the two routes to a region."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from graphs import load_graph, sample_entities, sample_statements
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_service.errors import DeadlineError, GraphNotFoundError, InputError
from graph_service.model.graph import NodeKind
from graph_service.model.identity import key64
from graph_service.model.limits import CutReason, Deadline
from graph_service.model.statement import Entity, EntityKind, Rank, make_statement
from graph_service.model.values import EntityValue, NoValue, SomeValue, StringValue, encode_value
from graph_service.store.neo4j import records as neo4j_records
from graph_service.store.protocol import Record, Store
from graph_service.store.snapshot.build import build_arrays, chunks_of_rows
from graph_service.text.fold import normalise_name

# --- entities and statements ---------------------------------------------------------------


def test_entities_by_id_redirect_and_same_as(store: Store, graph_name: str) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    asked = ["Q4242", "nope", "Q42", "http://dbpedia.org/resource/Douglas_Adams", "Q36180"]
    lookup = store.entities(info.edition, asked)
    adams = sample_entities()[0]
    assert list(lookup.entities) == [
        "Q4242",
        "Q42",
        "http://dbpedia.org/resource/Douglas_Adams",
        "Q36180",
    ]
    assert lookup.entities["Q4242"] == lookup.entities["Q42"] == adams
    assert lookup.entities["http://dbpedia.org/resource/Douglas_Adams"] == adams
    assert lookup.entities["Q36180"] == Entity("Q36180")
    assert lookup.missing == ("nope",)
    assert store.entities(info.edition, []).entities == {}


def test_redirects_in_chains_and_circles(store: Store, graph_name: str) -> None:
    entities = [
        Entity("A", redirect="B"),
        Entity("B", redirect="C"),
        Entity("C", labels={"en": "end"}),
        Entity("X", redirect="Y"),
        Entity("Y", redirect="X"),
        Entity("S", redirect="S"),
        Entity("L", redirect="lost"),
    ]
    edition = load_graph(store, graph_name, [], entities).edition
    found = store.entities(edition, ["A", "B", "X", "S", "L"]).entities
    assert (found["A"].id, found["B"].id) == ("C", "C")
    assert found["X"].id in {"X", "Y"}
    assert (found["S"].id, found["L"].id) == ("S", "L")


def test_statements_by_id_and_by_head(store: Store, graph_name: str) -> None:
    statements = sample_statements()
    edition = load_graph(store, graph_name, statements).edition
    ids = [item.id for item in statements]
    assert store.statements(edition, [*ids, "nope"]) == {item.id: item for item in statements}
    of_adams = sorted((item for item in statements if item.head == "Q42"), key=lambda s: s.key)
    assert store.statements_of(edition, "Q42") == of_adams
    assert store.statements_of(edition, "Q42", limit=2) == of_adams[:2]
    assert store.statements_of(edition, "Q42", relation_ids=["P31", "P22"]) == [
        item for item in of_adams if item.relation in {"P31", "P22"}
    ]
    assert store.statements_of(edition, "nope") == []


def test_graphs_lists_by_name(store: Store, graph_names: Callable[[], str]) -> None:
    names = sorted([graph_names(), graph_names()])
    for name in reversed(names):
        load_graph(store, name, [("Q1", "P1", "Q2")])
    with store.begin_load(names[0], owner="me", source="again") as load:
        infos = {info.name: info for info in store.graphs()}
        assert [name for name in infos if name in names] == names
        unfinished = infos[names[0]].unfinished
        assert unfinished is not None
        assert (unfinished.owner, unfinished.source) == ("me", "again")
        assert infos[names[1]].unfinished is None
        load.abort()
    with pytest.raises(GraphNotFoundError, match=names[0]):
        store.graph("no-such-graph")


# --- snapshots ------------------------------------------------------------------------------


def test_snapshot_is_what_the_docstring_says(store: Store, graph_name: str) -> None:
    statements, entities = sample_statements(), sample_entities()
    info = load_graph(store, graph_name, statements, entities)
    graph = store.snapshot(info)
    ordered = sorted(statements, key=lambda item: item.key)
    ids = {item.id for item in entities if item.redirect is None}
    for item in ordered:
        ids.add(item.head)
        if isinstance(item.value, EntityValue):
            ids.add(item.value.id)
    node_ids = sorted(ids, key=key64)
    literals = [encode_value(s.value) for s in ordered if not isinstance(s.value, EntityValue)]
    assert (graph.name, graph.edition, graph.fingerprints) == (
        graph_name,
        info.edition,
        info.fingerprints,
    )
    assert graph.entity_count == len(node_ids)
    assert list(graph.node_ids) == node_ids + literals
    assert graph.node_keys.tolist() == [key64(id_) for id_ in node_ids]
    by_head = sorted(ordered, key=lambda s: key64(s.head))
    assert list(graph.statement_ids) == [s.id for s in by_head]
    assert graph.statement_keys.tolist() == [s.key for s in by_head]
    relations = sorted({s.relation for s in ordered}, key=key64)
    assert list(graph.relation_ids) == relations
    next_literal = graph.entity_count
    for edge, item in zip(graph.topology.key_order.tolist(), ordered, strict=True):
        assert graph.node_ids[graph.head[edge]] == item.head
        assert graph.relation_ids[graph.rel[edge]] == item.relation
        assert graph.rank[edge] == ["preferred", "normal", "deprecated"].index(item.rank.value)
        if isinstance(item.value, EntityValue):
            assert graph.node_ids[graph.tail[edge]] == item.value.id
        else:
            assert graph.tail[edge] == next_literal
            kind = {SomeValue: NodeKind.SOMEVALUE, NoValue: NodeKind.NOVALUE}.get(
                type(item.value), NodeKind.LITERAL
            )
            assert graph.node_kinds[next_literal] == kind
            next_literal += 1
    assert next_literal == graph.node_count
    best = {
        s.id
        for s in ordered
        if s.rank is Rank.PREFERRED
        or (
            s.rank is Rank.NORMAL
            and not any(
                o.rank is Rank.PREFERRED and (o.head, o.relation) == (s.head, s.relation)
                for o in ordered
            )
        )
    }
    assert {graph.statement_ids[int(e)] for e in np.flatnonzero(graph.best)} == best
    assert graph.node_kinds[graph.find_node("P31")] == NodeKind.PROPERTY
    assert graph.find_node("Q4242") is None
    instance_of = graph.find_relation("P31")
    column = graph.relation_labels["en"]
    assert column.index.tolist() == [instance_of]
    assert list(column.texts) == ["instance of"]
    labels = {
        (language, graph.node_ids[int(node)]): text
        for language, column in graph.node_labels.items()
        for node, text in zip(column.index, list(column.texts), strict=True)
    }
    assert labels == {
        (language, entity.id): label
        for entity in entities
        for language, label in entity.labels.items()
    }
    adams = graph.find_node("Q42")
    for name, by_alias in [("Douglas Adams", False), ("dna", True), ("дуглас адамс", False)]:
        nodes, is_alias = graph.names.find(normalise_name(name))
        assert (nodes.tolist(), is_alias.tolist()) == ([adams], [by_alias])
    assert graph.names.find(normalise_name("instance of"))[0].tolist() == []
    assert graph.names.longest == 3
    for node in range(graph.node_count):
        for adjacency, ends in ((graph.out_edges, graph.head[:]), (graph.in_edges, graph.tail)):
            edges = graph.in_key_order(np.flatnonzero(ends == node))
            assert adjacency.of(node).tolist() == edges.tolist()


def test_snapshot_equals_the_one_built_from_scans(store: Store, graph_name: str) -> None:
    info = load_graph(store, graph_name, sample_statements(), sample_entities())
    relations: dict[int, str] = {}
    chunks = chunks_of_rows(store.scan_edges(info.edition), relations)
    entities = store.scan_entities(info.edition)
    built = build_arrays(info, chunks, lambda: relations, entities)
    assert_same_graph(store.snapshot(info), built)


def test_snapshot_keeps_a_redirect_that_a_statement_mentions(store: Store, graph_name: str) -> None:
    info = load_graph(
        store,
        graph_name,
        [("Q1", "P1", "Q2")],
        [Entity("Q2", redirect="Q3"), Entity("Q3"), Entity("Q4", redirect="Q3")],
    )
    graph = store.snapshot(info)
    assert graph.find_node("Q2") is not None
    assert graph.find_node("Q4") is None
    edges = store.neighbourhood(info.edition, ["Q1"]).edges
    assert [edge.value for edge in edges] == ['["e","Q2"]']


def test_scans_are_in_order_of_keys(store: Store, graph_name: str) -> None:
    rows = [(f"Q{i}", "P1", f"Q{i + 1}") for i in range(300)]
    edition = load_graph(store, graph_name, rows).edition
    for ids in (
        [row.statement_id for chunk in store.scan_edges(edition) for row in chunk],
        [item.id for chunk in store.scan_statements(edition) for item in chunk],
    ):
        assert len(ids) == 300
        assert ids == sorted(ids, key=key64)
    as_they_lie = [
        item for chunk in store.scan_statements(edition, in_order=False) for item in chunk
    ]
    in_order = [item for chunk in store.scan_statements(edition) for item in chunk]
    assert sorted(as_they_lie, key=lambda item: item.key) == in_order
    entity_ids = [item.id for chunk in store.scan_entities(edition) for item in chunk]
    assert entity_ids == sorted({f"Q{i}" for i in range(301)}, key=key64)


def assert_same_graph(first: object, second: object) -> None:
    """Compares every array of two graphs."""
    from graph_service.store.snapshot.file import arrays_of

    one, two = arrays_of(first), arrays_of(second)  # type: ignore[arg-type]
    assert one.keys() == two.keys()
    for name in one:
        assert one[name].dtype == two[name].dtype, name
        assert np.array_equal(one[name], two[name]), name


# --- neighbourhoods -------------------------------------------------------------------------

LINE = [(f"Q{i}", "P1", f"Q{i + 1}") for i in range(6)]


def ids_of(edges: object) -> set[tuple[str, str]]:
    return {(edge.head, edge.value) for edge in edges}  # type: ignore[attr-defined]


def test_neighbourhood_goes_both_ways(store: Store, graph_name: str) -> None:
    edition = load_graph(store, graph_name, LINE).edition
    one = store.neighbourhood(edition, ["Q3"])
    assert ids_of(one.edges) == {("Q2", '["e","Q3"]'), ("Q3", '["e","Q4"]')}
    assert dict(one.hops) == {"Q3": 0, "Q2": 1, "Q4": 1}
    assert dict(one.degrees) == {"Q3": 2, "Q2": 2, "Q4": 2}
    assert (one.unexpanded, one.truncated) == ((), ())
    assert len(store.neighbourhood(edition, ["Q3"], hops=2).edges) == 4
    assert store.neighbourhood(edition, ["Q3"], hops=0).edges == ()
    assert dict(store.neighbourhood(edition, ["Q3", "nope"], hops=0).hops) == {"Q3": 0}


def test_neighbourhood_filters_by_rank_and_relation(store: Store, graph_name: str) -> None:
    statements = [
        make_statement("Q1", "P1", EntityValue("Q2"), rank=Rank.DEPRECATED),
        make_statement("Q1", "P1", EntityValue("Q3"), rank=Rank.PREFERRED),
        make_statement("Q1", "P2", EntityValue("Q4")),
        make_statement("Q1", "P3", StringValue("text")),
    ]
    edition = load_graph(store, graph_name, statements).edition
    default = store.neighbourhood(edition, ["Q1"])
    assert {edge.relation for edge in default.edges} == {"P1", "P2", "P3"}
    assert "Q2" not in default.hops
    assert default.degrees["Q1"] == 4
    every = store.neighbourhood(edition, ["Q1"], ranks=tuple(Rank))
    assert len(every.edges) == 4
    assert [edge.statement_id for edge in every.edges] == sorted(
        (item.id for item in statements), key=key64
    )
    only = store.neighbourhood(edition, ["Q1"], relation_ids=["P2", "P3", "unknown"])
    assert {edge.relation for edge in only.edges} == {"P2", "P3"}
    assert store.neighbourhood(edition, ["Q1"], relation_ids=["unknown"]).edges == ()


def test_a_hub_is_reached_and_not_walked_through(store: Store, graph_name: str) -> None:
    rows = [("start", "P1", "hub"), *[(f"far{i}", "P1", "hub") for i in range(5)]]
    edition = load_graph(store, graph_name, rows).edition
    region = store.neighbourhood(edition, ["start"], hops=3, hub_degree=5)
    assert dict(region.hops) == {"start": 0, "hub": 1}
    assert region.unexpanded == ("hub",)
    assert region.degrees["hub"] == 6
    (cut,) = region.truncated
    assert (cut.what, cut.reason, cut.limit) == ("hubs", CutReason.HUB, 5)
    assert len(store.neighbourhood(edition, ["start"], hops=3, hub_degree=6).edges) == 6
    named = store.neighbourhood(edition, ["hub"], hops=1, hub_degree=1)
    assert len(named.edges) == 6
    assert named.unexpanded == ()


def test_of_too_many_edges_the_nearer_then_the_smaller_keys_stay(
    store: Store, graph_name: str
) -> None:
    rows = [("s", "P1", f"a{i}") for i in range(6)] + [("a0", "P1", f"b{i}") for i in range(6)]
    edition = load_graph(store, graph_name, rows).edition
    first = [edge.statement_id for edge in store.neighbourhood(edition, ["s"]).edges]
    four = store.neighbourhood(edition, ["s"], hops=2, max_edges=4)
    assert [edge.statement_id for edge in four.edges] == first[:4]
    (cut,) = four.truncated
    assert (cut.what, cut.reason, cut.limit, cut.kept) == ("edges", CutReason.LIMIT, 4, 4)
    eight = store.neighbourhood(edition, ["s"], hops=2, max_edges=8)
    assert set(first) < {edge.statement_id for edge in eight.edges}
    assert len(eight.edges) == 8
    assert store.neighbourhood(edition, ["s"], hops=2, max_edges=12).truncated == ()


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 9)), max_size=25, unique=True
    ),
    hops=st.integers(0, 3),
    max_edges=st.integers(0, 20),
    hub_degree=st.none() | st.integers(1, 5),
)
def test_neighbourhood_equals_brute_force(
    store: Store,
    graph_name: str,
    rows: list[tuple[int, int, int]],
    hops: int,
    max_edges: int,
    hub_degree: int | None,
) -> None:
    statements = [
        make_statement(
            f"Q{head}",
            f"P{relation}",
            EntityValue(f"Q{tail}") if tail < 7 else StringValue(str(tail)),
        )
        for head, relation, tail in rows
    ]
    edition = load_graph(store, graph_name, statements, [Entity("Q0")], replace=True).edition
    degree: dict[str, int] = defaultdict(int)
    for item in statements:
        degree[item.head] += 1
        if isinstance(item.value, EntityValue):
            degree[item.value.id] += 1
    distance = {"Q0": 0}
    kept: list[Any] = []
    hubs: set[str] = set()
    frontier = {"Q0"}
    for hop in range(1, hops + 1):
        if hub_degree is not None and hop > 1:
            hubs |= {node for node in frontier if degree[node] > hub_degree}
        walked = frontier - hubs
        new = sorted(
            (
                item
                for item in statements
                if item not in kept
                and (
                    item.head in walked
                    or (isinstance(item.value, EntityValue) and item.value.id in walked)
                )
            ),
            key=lambda item: item.key,
        )
        room = max_edges - len(kept)
        kept += new[:room]
        frontier = set()
        for item in new[:room]:
            ends = [item.head, *([item.value.id] if isinstance(item.value, EntityValue) else [])]
            frontier |= {end for end in ends if end not in distance}
        distance |= dict.fromkeys(frontier, hop)
        if len(new) > room:
            break
    region = store.neighbourhood(
        edition, ["Q0"], hops=hops, max_edges=max_edges, hub_degree=hub_degree
    )
    assert [edge.statement_id for edge in region.edges] == [
        item.id for item in sorted(kept, key=lambda item: item.key)
    ]
    assert dict(region.hops) == distance
    assert dict(region.degrees) == {node: degree[node] for node in distance}
    assert set(region.unexpanded) == hubs


def test_neighbourhood_refuses_nonsense_and_late_deadlines(store: Store, graph_name: str) -> None:
    edition = load_graph(store, graph_name, LINE).edition
    with pytest.raises(InputError):
        store.neighbourhood(edition, ["Q1"], hops=-1)
    with pytest.raises(DeadlineError):
        store.neighbourhood(edition, ["Q1"], hops=3, deadline=Deadline.after(-1))


# --- search ---------------------------------------------------------------------------------

NAMED = [
    Entity("Q956", labels={"en": "Beijing", "zh": "北京市"}, aliases={"en": ("Peking",)}),
    Entity("Q1", labels={"en": "Zwölf"}),
    Entity("Q2", labels={"ru": "Москва", "en": "Moscow"}),
    Entity("Q3", labels={"th": "กรุงเทพมหานคร", "en": "Bangkok"}),
    Entity("Q4", labels={"en": "New York City"}, aliases={"en": ("New York", "NYC")}),
    Entity("Q5", labels={"en": "New York"}, descriptions={"en": "state"}),
    Entity("Q6", labels={"en": "York"}),
    Entity("Q7", labels={"fr": "York"}),
    Entity("Q8", labels={"en": 'Who\'s "there"? OR NOT * NEAR(a b)'}),
    Entity("Q9", labels={"en": "Old"}, redirect="Q6"),
    Entity("Q10", labels={"en": "New Delhi"}, aliases={"en": ("York of the East",)}),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("beijing", ["Q956"]),
        ("PEKING", ["Q956"]),
        ("北京", ["Q956"]),
        ("北京市", ["Q956"]),
        ("市", ["Q956"]),
        ("京北", []),
        ("zwolf", ["Q1"]),
        ("ZWÖLF", ["Q1"]),
        ("москва", ["Q2"]),
        ("กรุงเทพ", ["Q3"]),
        ("new york", ["Q5", "Q4"]),
        ("york", ["Q6", "Q7", "Q5", "Q4", "Q10"]),
        ("york new", ["Q5", "Q4"]),
        ("delhi east", []),
        ("OR", ["Q8"]),
        ('"there"?', ["Q8"]),
        ("old", []),
        ("", []),
        ("!?", []),
        ("nothing like it", []),
    ],
)
def test_search(store: Store, graph_name: str, query: str, expected: list[str]) -> None:
    edition = load_graph(store, graph_name, [], NAMED).edition
    hits = store.search(edition, query)
    assert [hit.entity.id for hit in hits] == expected
    assert all(a.score >= b.score for a, b in zip(hits, hits[1:], strict=False))
    assert [hit.entity.id for hit in store.search(edition, query, limit=1)] == expected[:1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("beij", ["Q956"]),
        ("PEK", ["Q956"]),
        ("beijing", ["Q956"]),
        ("zwö", ["Q1"]),
        ("моск", ["Q2"]),
        ("北", ["Q956"]),
        ("กรุ", ["Q3"]),
        ("new yo", ["Q5", "Q4"]),
        ("new y", ["Q5", "Q4"]),
        ("yo new", []),
        ("new new", ["Q10", "Q5", "Q4"]),
        ("yor", ["Q6", "Q7", "Q5", "Q4", "Q10"]),
        ("ne", ["Q10", "Q5", "Q4", "Q8"]),
        ("n", []),
        ("x", []),
        ("xn", ["Q11"]),
        ("xname", []),
        ("ol", []),
        ("OR", ["Q8"]),
        ('new* OR "yo', []),
        ("nothing li", []),
        ("", []),
    ],
)
def test_search_by_the_beginning_of_the_last_word(
    store: Store, graph_name: str, query: str, expected: list[str]
) -> None:
    entities = [*NAMED, Entity("Q11", labels={"en": "XN"})]
    edition = load_graph(store, graph_name, [], entities).edition
    hits = store.search(edition, query, prefix=True)
    assert [hit.entity.id for hit in hits] == expected
    assert all(a.score >= b.score for a, b in zip(hits, hits[1:], strict=False))
    whole = {hit.entity.id for hit in store.search(edition, query)}
    assert whole <= {*expected}, "what whole words find, their beginning finds too"


def test_names_that_begin_alike_hide_no_entity_that_has_the_whole_word(
    store: Store, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sqlite", "neo4j"):
        monkeypatch.setattr(f"graph_service.store.{module}.store.CANDIDATE_LIMIT", 20)
    crowd = [Entity(f"Q{i}", labels={"en": f"Johnson {i}"}) for i in range(40)]
    whole = [Entity("whole", labels={"en": "Elton John"}), Entity("exact", labels={"en": "John"})]
    edition = load_graph(store, graph_name, [], [*crowd, *whole]).edition
    hits = store.search(edition, "john", prefix=True, limit=50)
    assert [hit.entity.id for hit in hits[:1]] == ["exact"]
    assert "whole" in {hit.entity.id for hit in hits}
    assert 20 < len(hits) <= 22 + 20


@pytest.mark.parametrize("prefix", [False, True])
def test_a_name_of_many_entities_is_searched_as_any_other(
    store: Store, graph_name: str, prefix: bool
) -> None:
    crowd = [
        *(Entity(f"Q{i}", labels={"en": "Paris"}) for i in range(12)),
        *(Entity(f"Q{i}", labels={"en": "P"}, aliases={"en": ("Paris",)}) for i in range(12, 20)),
        *(Entity(f"Q{i}", labels={"en": f"Paris {i}"}) for i in range(20, 40)),
    ]
    edition = load_graph(store, graph_name, [], crowd).edition
    everything = store.search(edition, "paris", limit=100, prefix=prefix)
    assert len(everything) == len(crowd)
    for limit in (1, 12, 19, 20, 21, 40):
        assert store.search(edition, "paris", limit=limit, prefix=prefix) == everything[:limit]


def test_search_says_which_name_matched(store: Store, graph_name: str) -> None:
    edition = load_graph(store, graph_name, [], NAMED).edition
    (hit,) = store.search(edition, "nyc")
    assert (hit.entity, hit.matched, hit.language, hit.is_alias) == (NAMED[4], "NYC", "en", True)
    assert [h.entity.id for h in store.search(edition, "york", languages=["fr"])][:2] == [
        "Q7",
        "Q6",
    ]


def test_search_of_all_names_of_a_large_entity(store: Store, graph_name: str) -> None:
    long = "x" * 10_000
    many = tuple(f"name{i}" for i in range(500))
    entity = Entity("Q1", labels={"en": long}, aliases={"en": many})
    edition = load_graph(store, graph_name, [], [entity]).edition
    assert [hit.matched for hit in store.search(edition, "name499")] == ["name499"]
    assert store.search(edition, "x" * 1000) == []
    with pytest.raises(InputError):
        store.search(edition, "a" * 1001)
    assert store.search(edition, " ".join("ab"[i % 2] + str(i) for i in range(200))) == []


def test_an_entity_without_labels_is_found_by_the_words_of_its_id(
    store: Store, graph_name: str
) -> None:
    iri = "http://dbpedia.org/resource/Douglas_Adams"
    triples = [("michael_jackson", "spouse", "Q42"), (iri, "spouse", "michael_jackson")]
    info = load_graph(store, graph_name, triples, [])
    for query, expected in (("jackson", ["michael_jackson"]), ("Adams", [iri]), ("Q42", [])):
        assert [hit.entity.id for hit in store.search(info.edition, query)] == expected
    names = store.snapshot(info).names
    assert [len(names.find(name)[0]) for name in ("michael jackson", "douglas adams", "q42")] == [
        1,
        1,
        0,
    ]


def test_an_exact_name_is_found_among_thousands_that_hold_it(store: Store, graph_name: str) -> None:
    crowd = [Entity(f"Q{i}", labels={"en": f"John number{i}"}) for i in range(2500)]
    edition = load_graph(
        store, graph_name, [], [*crowd, Entity("the one", aliases={"en": ("John",)})]
    ).edition
    assert store.search(edition, "john", limit=3)[0].entity.id == "the one"


# --- records --------------------------------------------------------------------------------


def test_records(store: Store, graph_names: Callable[[], str]) -> None:
    graph, other = graph_names(), graph_names()
    load_graph(store, graph, [("Q1", "P1", "Q2")])
    load_graph(store, other, [("Q1", "P1", "Q2")])
    kind = f"view-{graph}"
    first = Record(kind, "a'b`\"", graph, {"x": [1, {"y": "ü"}]}, b"\x00\xff" * 1000)
    store.save_record(first)
    store.save_record(Record(kind, "a0", other, {"n": 1}))
    read = store.get_record(kind, first.key)
    assert read is not None
    assert (read.json, read.data, read.graph) == (first.json, first.data, graph)
    assert read.updated_at
    assert [item.key for item in store.list_records(kind)] == sorted([first.key, "a0"])
    assert all(item.data == b"" for item in store.list_records(kind))
    assert [item.key for item in store.list_records(kind, graph=graph)] == [first.key]
    store.save_record(Record(kind, first.key, graph, {"x": 2}))
    again = store.get_record(kind, first.key)
    assert again is not None
    assert (again.json, again.data) == ({"x": 2}, b"")
    assert store.get_record(kind, "nope") is None
    assert store.delete_record(kind, "a0") is True
    assert store.delete_record(kind, "a0") is False
    store.delete_graph(graph)
    assert store.get_record(kind, first.key) is None


@pytest.mark.parametrize("size", [0, 99, 100, 101, 200, 201])
def test_records_of_any_size_come_back_whole(
    store: Store, graph_name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neo4j keeps a large record in parts: the sizes are around one and two of them."""
    monkeypatch.setattr(neo4j_records, "PART_BYTES", 100)
    load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    kind = f"view-{graph_name}"
    written = (bytes(range(size)), bytes(250), bytes(range(size))[::-1], b"small")
    for data in written:
        store.save_record(Record(kind, "a", graph_name, {"n": 1}, data))
        read = store.get_record(kind, "a")
        assert read is not None
        assert read.data == data
    store.save_record(Record(kind, "b", graph_name, {"n": 2}, bytes(250)))
    assert store.delete_record(kind, "b") is True
    assert store.get_record(kind, "b") is None


def test_property_names_are_searched_too(store: Store, graph_name: str) -> None:
    prop = Entity("P19", kind=EntityKind.PROPERTY, labels={"en": "place of birth"})
    edition = load_graph(store, graph_name, [], [prop]).edition
    assert [hit.entity for hit in store.search(edition, "birth place")] == [prop]
