"""K hops from SPARQL endpoints (S1, O3, O13): the walk against brute force over the same data."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from error_texts import raises
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sparql_server import Fault, SparqlServer, serve_sparql

import loaders.sparql.reader as reader_module
from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.model.statement import Entity, EntityKind
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    NoValue,
    SomeValue,
    encode_value,
)
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.sparql.dialects import BOOKKEEPING_FILE, REDIRECTS, dialect_of, read_drops
from loaders.sparql.options import EndpointOptions
from loaders.sparql.reader import read
from loaders.sparql.terms import can_write_iri
from loaders.sparql.walk import BEYOND_REASON, LIMIT_REASON, hub_reason

WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"
DBR = "http://dbpedia.org/resource/"
DBO = "http://dbpedia.org/ontology/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"

DBPEDIA_TURTLE = """
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix dbo: <http://dbpedia.org/ontology/> .
@prefix dbp: <http://dbpedia.org/property/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<http://dbpedia.org/resource/Harry_Potter_and_the_Philosopher's_Stone>
    a dbo:Book ;
    rdfs:label "Harry Potter and the Philosopher's Stone"@en, "Harry Potter à l'école"@fr ;
    rdfs:comment "A \\"fantasy\\" novel"@en ;
    dbo:author <http://dbpedia.org/resource/J._K._Rowling> ;
    dbo:numberOfPages 223 ;
    dbo:abstract "A novel"@en, "Ein Roman"@de ;
    dbo:wikiPageWikiLink dbr:Magic ;
    dbo:wikiPageID 48648 ;
    owl:sameAs <http://www.wikidata.org/entity/Q43361>, <http://fr.dbpedia.org/resource/X> ;
    foaf:homepage <http://example.org/hp> .
<http://dbpedia.org/resource/J._K._Rowling>
    rdfs:label "J. K. Rowling"@en ;
    dbo:birthPlace dbr:Yate ;
    dbo:spouse _:someone ;
    dbo:notableWork <http://dbpedia.org/resource/Harry_Potter_and_the_Philosopher's_Stone> .
dbr:Rowling dbo:wikiPageRedirects <http://dbpedia.org/resource/J._K._Rowling> .
dbr:Yate rdfs:label "Yate"@en ; dbo:country <http://dbpedia.org/resource/Côte_d'Ivoire> .
<http://dbpedia.org/resource/1939–40_season_(film)> dbo:author dbr:Rowling ;
    rdfs:label "1939–40 season (film)"@en .
<http://dbpedia.org/resource/Côte_d'Ivoire> rdfs:label "Côte d'Ivoire"@fr ;
    dbo:capital <http://dbpedia.org/resource/Yamoussoukro,_A.B.> .
<http://dbpedia.org/resource/What%3F> dbo:author <http://dbpedia.org/resource/北京> .
<http://dbpedia.org/resource/北京> rdfs:label "北京"@zh .
dbo:author rdfs:label "author"@en ; rdfs:label "auteur"@fr .
"""


def graph_of(turtle: str) -> ox.Store:
    store = ox.Store()
    store.load(turtle, format=ox.RdfFormat.TURTLE)
    return store


def wikidata_graph(edges: Iterable[tuple[str, str, str]]) -> ox.Store:
    store = ox.Store()
    store.extend(
        ox.Quad(ox.NamedNode(WD + head), ox.NamedNode(WDT + relation), ox.NamedNode(WD + tail))
        for head, relation, tail in edges
    )
    return store


def walk_by_brute_force(
    edges: Sequence[tuple[str, str, str]],
    start_entities: Iterable[str],
    *,
    hops: int,
    direction: str = "both",
    max_incoming: int = 500,
    walks_through: Callable[[str], bool] = lambda _: True,
) -> set[tuple[str, str, str]]:
    """All edges of entities fewer than ``hops`` steps away, but those into hubs."""
    out, into = defaultdict(set), defaultdict(set)
    for edge in edges:
        out[edge[0]].add(edge)
        into[edge[2]].add(edge)
    first = set(start_entities)
    found: set[tuple[str, str, str]] = set()
    reached, frontier = set(first), set(first)
    for _ in range(hops):
        new: set[tuple[str, str, str]] = set()
        for one in frontier:
            if direction != "in":
                new |= out[one]
            if direction != "out" and (one in first or len(into[one]) <= max_incoming):
                new |= into[one]
        found |= new
        frontier = {end for head, _, tail in new for end in (head, tail)} - reached
        frontier = {one for one in frontier if walks_through(one)}
        reached |= frontier
    return found


def options_for(server: SparqlServer, **changes: Any) -> LoadOptions:
    languages = changes.pop("languages", ())
    endpoint = EndpointOptions(endpoint=server.url, max_attempts=3, timeout_s=600)
    return LoadOptions(endpoint=replace(endpoint, **changes), languages=languages)


def walked(source: str, options: LoadOptions) -> set[tuple[str, str, str]]:
    """The edges between entities that the reader yields, each at most once."""
    pieces = list(read(source, options, {}))
    # Every row that came is read, rejected or passed over.
    assert [piece.counts.total for piece in pieces] == [piece.source_records for piece in pieces]
    found = [
        (one.head, one.relation, one.value.id)
        for parsed in pieces
        for one in parsed.statements
        if isinstance(one.value, EntityValue)
    ]
    assert len(found) == len(set(found))
    return set(found)


@pytest.fixture
def dbpedia() -> Iterator[SparqlServer]:
    with serve_sparql(graph_of(DBPEDIA_TURTLE)) as server:
        yield server


NAMES = [f"Q{number}" for number in range(1, 9)]
EDGES = st.sets(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["P1", "P2"]), st.sampled_from(NAMES)),
    max_size=24,
)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(
    edges=EDGES,
    start_entities=st.sets(st.sampled_from(NAMES), min_size=1, max_size=2),
    hops=st.integers(1, 3),
    direction=st.sampled_from(["both", "out", "in"]),
    max_incoming=st.integers(1, 5),
    entities_per_query=st.integers(1, 5),
)
def test_walk_equals_brute_force_on_random_graphs(
    edges: set[tuple[str, str, str]],
    start_entities: set[str],
    hops: int,
    direction: str,
    max_incoming: int,
    entities_per_query: int,
) -> None:
    with serve_sparql(wikidata_graph(edges)) as server:
        options = options_for(
            server,
            hops=hops,
            direction=direction,
            max_incoming=max_incoming,
            entities_per_query=entities_per_query,
        )
        found = walked("wikidata:" + ",".join(sorted(start_entities)), options)
        assert server.most_running <= 1
    assert found == walk_by_brute_force(
        sorted(edges), start_entities, hops=hops, direction=direction, max_incoming=max_incoming
    )


@pytest.mark.data
def test_walk_equals_brute_force_on_codex(data_dir: Path) -> None:
    """The real facts of CoDEx-S, two hops, with hubs and with pages of 40 rows."""
    lines = (data_dir / "codex" / "s-train.tsv").read_text().splitlines()
    edges = [(head, relation, tail) for head, relation, tail in map(str.split, lines)]
    with serve_sparql(wikidata_graph(edges)) as server:
        options = options_for(server, hops=2, max_incoming=30, page_rows=40)
        found = walked("wikidata:Q79", options)
        assert any("OFFSET" in query for query in server.queries())
        alone = walked("wikidata:Q79", options_for(server, hops=2, max_incoming=30))
    wanted = walk_by_brute_force(edges, ["Q79"], hops=2, max_incoming=30)
    assert len(wanted) > 300
    assert found == alone == wanted


@pytest.mark.data
def test_statements_of_q42_are_those_of_its_truthy_rdf(
    data_dir: Path, tmp_store: Store, tmp_path: Path
) -> None:
    """S1: an endpoint gives the same statements, with the same ids, as the file of the triples."""
    store = ox.Store()
    store.load(path=data_dir / "wikidata_docs" / "Q42.ttl", format=ox.RdfFormat.TURTLE)
    file = tmp_path / "truthy.nt"
    triples = [
        f"{quad.subject} {quad.predicate} {quad.object} .\n"
        for quad in store
        if quad.subject == ox.NamedNode(WD + "Q42") and quad.predicate.value.startswith(WDT)
    ]
    file.write_text("".join(triples))
    from_file = load(file, store=tmp_store, graph="file")
    with serve_sparql(store) as server:
        report = load(
            "wikidata:Q42",
            store=tmp_store,
            graph="endpoint",
            options=options_for(server, languages=("en", "fr")),
        )
    assert report.exit_code == 0
    assert report.to_json()["complete"] is True
    assert report.graph is not None
    assert from_file.graph is not None
    assert len(triples) == from_file.read_statements
    assert report.graph.fingerprints.edges == from_file.graph.fingerprints.edges
    entity = tmp_store.entities(report.graph.edition, ["Q42"]).entities["Q42"]
    assert entity.labels == {"en": "Douglas Adams", "fr": "Douglas Adams"}
    assert set(entity.descriptions) <= {"en", "fr"}
    assert entity.aliases["en"]


def test_unknown_and_no_values_of_wikidata(tmp_store: Store) -> None:
    """Blank nodes have other names in every answer: one unknown value stays one."""
    store = graph_of(
        f"""<{WD}Q1> <{WDT}P1> _:a, _:b, <{WD}Q2>, "texte"@fr ;
        a <http://www.wikidata.org/prop/novalue/P2>, <http://wikiba.se/ontology#Item> ."""
    )
    with serve_sparql(store) as server:
        report = load("wikidata:Q1", store=tmp_store, graph="g", options=options_for(server))
    assert report.graph is not None
    values = {
        (one.relation, encode_value(one.value))
        for one in tmp_store.statements_of(report.graph.edition, "Q1")
    }
    assert values == {
        ("P1", encode_value(SomeValue())),
        ("P1", encode_value(EntityValue("Q2"))),
        ("P1", encode_value(MonolingualText("texte", "fr"))),
        ("P2", encode_value(NoValue())),
    }


def loaded(
    store: Store, source: str, options: LoadOptions
) -> tuple[dict[str, Entity], set[tuple[str, str, str]]]:
    report = load(source, store=store, graph="g", replace=True, options=options)
    assert report.exit_code == 0, report.lines()
    assert report.graph is not None
    edition = report.graph.edition
    entities = {one.id: one for chunk in store.scan_entities(edition) for one in chunk}
    statements = {
        (one.head, one.relation, encode_value(one.value))
        for chunk in store.scan_statements(edition)
        for one in chunk
    }
    return entities, statements


HP = DBR + "Harry_Potter_and_the_Philosopher's_Stone"
ROWLING = DBR + "J._K._Rowling"


@pytest.mark.parametrize(
    "source",
    [
        "dbpedia:Harry_Potter_and_the_Philosopher's_Stone",
        "dbpedia:Harry Potter and the Philosopher's Stone",
        f"dbpedia:{HP}",
    ],
)
def test_dbpedia_with_names_that_break_strings(
    dbpedia: SparqlServer, tmp_store: Store, source: str
) -> None:
    """Apostrophes, full stops, en dashes, parentheses, non-ASCII letters."""
    entities, statements = loaded(
        tmp_store, source, options_for(dbpedia, hops=2, languages=("en", "fr"))
    )
    assert {(head, relation) for head, relation, _ in statements} == {
        (HP, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
        (HP, DBO + "author"),
        (HP, DBO + "numberOfPages"),
        (HP, DBO + "abstract"),
        (HP, "http://xmlns.com/foaf/0.1/homepage"),
        (ROWLING, DBO + "birthPlace"),
        (ROWLING, DBO + "notableWork"),
    }
    book = entities[HP]
    assert book.labels["en"] == "Harry Potter and the Philosopher's Stone"
    assert set(book.labels) == {"en", "fr"}
    assert book.descriptions == {"en": 'A "fantasy" novel'}
    assert book.same_as == ("Q43361",)
    author = entities[DBO + "author"]
    assert author.kind is EntityKind.PROPERTY
    assert author.labels == {"en": "author", "fr": "auteur"}


def test_dbpedia_redirects_are_no_hop_and_both_directions_are_walked(
    dbpedia: SparqlServer, tmp_store: Store
) -> None:
    entities, statements = loaded(tmp_store, "dbpedia:Rowling", options_for(dbpedia))
    season = DBR + "1939–40_season_(film)"
    heads = {head for head, _, _ in statements}
    # One hop from the redirect is one hop from what it leads to, too.
    assert heads == {ROWLING, HP, season}
    assert entities[DBR + "Rowling"].redirect == ROWLING
    # The edge that named the redirect leads to its target.
    again = loaded(tmp_store, "dbpedia:1939–40_season_(film)", options_for(dbpedia, hops=3))[1]
    assert any(head == DBR + "Yate" for head, _, _ in again)


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("dbpedia:北京", DBR + "What%3F"),
        ("dbpedia:What?", DBR + "What%3F"),
        ("dbpedia:Yamoussoukro,_A.B.", DBR + "Côte_d'Ivoire"),
        ("dbpedia:Co\u0302te d'Ivoire", DBR + "Côte_d'Ivoire"),
    ],
)
def test_names_are_found_as_dbpedia_writes_them(
    dbpedia: SparqlServer, tmp_store: Store, source: str, head: str
) -> None:
    statements = loaded(tmp_store, source, options_for(dbpedia))[1]
    assert head in {one for one, _, _ in statements}


def test_the_list_of_dropped_relations_is_the_users_to_change(
    dbpedia: SparqlServer, tmp_store: Store, tmp_path: Path
) -> None:
    mine = tmp_path / "drop.txt"
    mine.write_text(f"# mine\n{DBO}author\nhttp://xmlns.com/foaf/0.1/*\n")
    statements = loaded(tmp_store, f"dbpedia:{HP}", options_for(dbpedia, drop_relations=mine))[1]
    relations = {relation for _, relation, _ in statements}
    assert {DBO + "wikiPageWikiLink", DBO + "wikiPageID"} <= relations
    assert not {DBO + "author", "http://xmlns.com/foaf/0.1/homepage"} & relations
    mine.write_text("not an iri\n")
    with pytest.raises(InputError, match="line 1: 'not an iri'"):
        list(read(f"dbpedia:{HP}", options_for(dbpedia, drop_relations=mine), {}))
    assert not [query for query in dbpedia.queries() if "not an iri" in query]


def test_relations_are_kept_by_name_and_the_list_can_be_read(
    dbpedia: SparqlServer, tmp_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """wikiPageWikiLink can be kept."""
    link = DBO + "wikiPageWikiLink"
    source = f"dbpedia:{HP}"
    assert not any(one[1] == link for one in loaded(tmp_store, source, options_for(dbpedia))[1])
    for name in ("wikiPageWikiLink", link):
        kept = loaded(tmp_store, source, options_for(dbpedia, keep_relations=(name,)))[1]
        assert (HP, link, encode_value(EntityValue(DBR + "Magic"))) in kept
        assert not any(relation == DBO + "wikiPageID" for _, relation, _ in kept)
    with pytest.raises(InputError, match="'birthPlace'"):
        list(read(source, options_for(dbpedia, keep_relations=("birthPlace",)), {}))
    # What is printed can be changed and given back.
    with pytest.raises(SystemExit) as ended:
        main(["load", "--print-dropped"])
    assert ended.value.code == 0
    mine = tmp_path / "mine.txt"
    printed = capsys.readouterr().out
    assert link + "\n" in printed
    mine.write_text(printed.replace(link + "\n", ""))
    changed = loaded(tmp_store, source, options_for(dbpedia, drop_relations=mine))[1]
    assert changed == kept


@pytest.mark.parametrize("said", [True, False])
def test_ten_thousand_rows_of_dbpedia(tmp_store: Store, said: bool) -> None:
    """Virtuoso's cap, met in the pages of a nested order and in the count's check."""
    rows = 10_450
    store = ox.Store()
    store.bulk_extend(
        ox.Quad(ox.NamedNode(f"{DBR}Person_{n}"), ox.NamedNode(DBO + "birthPlace"),
                ox.NamedNode(DBR + "Rome")) for n in range(rows)
    )  # fmt: skip
    headers = {"X-SPARQL-MaxRows": "10000"} if said else {}
    with serve_sparql(store) as server:
        server.faults.append(Fault(times=None, cap=10_000, headers=headers, when="?p"))
        options = options_for(server, page_rows=20_000)
        assert len(loaded(tmp_store, "dbpedia:Rome", options)[1]) == rows
        # Virtuoso sorts no more than its cap where the limit stands beside the order.
        for query in server.queries("OFFSET"):
            assert query.index("ORDER BY") < query.index("} LIMIT 10000")


def local_names(rows: Iterable[Sequence[str]]) -> set[tuple[str, str, str]]:
    """Triples of local names as IRIs of DBpedia's."""
    return {(DBR + head, DBO + relation, DBR + tail) for head, relation, tail in rows}


@pytest.mark.data
def test_walk_equals_brute_force_on_dbpedia50(data_dir: Path) -> None:
    """Real names of DBpedia: apostrophes, dashes, parentheses, accents; three hops, both ways."""
    lines = (data_dir / "dbpedia50" / "train.txt").read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    edges = [(DBR + head, DBO + relation, DBR + tail) for head, tail, relation in rows]
    edges = [edge for edge in edges if all(can_write_iri(one) for one in edge)]
    degrees = Counter(one for head, _, tail in edges for one in (head, tail))
    odd = [one for one in degrees if "'" in one or "–" in one or not one.isascii()]
    seed = max(odd, key=lambda one: (degrees[one], one))
    store = ox.Store()
    store.bulk_extend(ox.Quad(*map(ox.NamedNode, edge)) for edge in edges)
    with serve_sparql(store) as server:
        found = walked(
            f"dbpedia:{seed}", options_for(server, hops=3, max_incoming=20, page_rows=30)
        )
    wanted = walk_by_brute_force(edges, [seed], hops=3, max_incoming=20)
    assert len(wanted) > 30
    assert found == wanted


@pytest.mark.data
def test_walk_equals_brute_force_on_okgqas_raw_subgraph(data_dir: Path) -> None:
    """O3: two hops around a question's entity in what was fetched from DBpedia itself."""
    text = (data_dir / "okgqa" / "dbpedia_raw_subgraph_0.tsv").read_text()
    rows = [line.split("\t") for line in text.splitlines()]
    edges = sorted(
        edge for edge in local_names(row for row in rows if len(row) == 3)
        if all(can_write_iri(one) for one in edge)
    )  # fmt: skip
    # Redirects are no statements; they have tests of their own.
    edges = [edge for edge in edges if edge[1] != REDIRECTS]
    assert len(edges) > 8_000
    store = ox.Store()
    store.bulk_extend(ox.Quad(*map(ox.NamedNode, edge)) for edge in edges)
    dropped = read_drops(BOOKKEEPING_FILE)
    with serve_sparql(store) as server:
        kept = walked("dbpedia:Blockchain", options_for(
            server, hops=2, keep_relations=("wikiPageWikiLink",)))  # fmt: skip
        without = walked("dbpedia:Blockchain", options_for(server, hops=2))
    link = DBO + "wikiPageWikiLink"
    plain = [edge for edge in edges if not dropped.holds(edge[1])]
    linked = [edge for edge in edges if edge[1] == link or not dropped.holds(edge[1])]
    assert without == walk_by_brute_force(plain, [DBR + "Blockchain"], hops=2)
    # Categories and templates are reached, and not walked through.
    assert kept == walk_by_brute_force(
        linked,
        [DBR + "Blockchain"],
        hops=2,
        walks_through=lambda one: not one.startswith((DBR + "Category:", DBR + "Template:")),
    )
    assert len(kept) > len(without) > 1_000


@pytest.mark.data
@pytest.mark.parametrize("name", ["P10", "Q57160439"])
def test_truthy_statements_of_kgtks_examples(
    data_dir: Path, tmp_store: Store, tmp_path: Path, name: str
) -> None:
    """S1: dates, coordinates, quantities of real RDF come as they come from its file."""
    store = ox.Store()
    store.load(path=data_dir / "kgtk" / f"{name}_truthy.ttl", format=ox.RdfFormat.TURTLE)
    triples = [
        f"{quad.subject} {quad.predicate} {quad.object} .\n"
        for quad in store
        if quad.subject == ox.NamedNode(WD + name) and quad.predicate.value.startswith(WDT)
    ]
    assert len(triples) > 3
    file = tmp_path / "truthy.nt"
    file.write_text("".join(triples))
    from_file = load(file, store=tmp_store, graph="file")
    with serve_sparql(store) as server:
        options = options_for(server, direction="out")
        report = load(f"wikidata:{name}", store=tmp_store, graph="endpoint", options=options)
    assert report.exit_code == 0
    assert report.graph is not None
    assert from_file.graph is not None
    assert report.graph.fingerprints.edges == from_file.graph.fingerprints.edges


@pytest.mark.data
def test_literals_in_french_of_dbpedias_infoboxes(data_dir: Path, tmp_store: Store) -> None:
    """O13: non-ASCII IRIs, French text and data types of the real quads of Bruges."""
    quads = ox.Store()
    path = data_dir / "dbpedia_extraction" / "extract_Bruges-gold.tql"
    quads.load(path=path, format=ox.RdfFormat.N_QUADS)
    store = ox.Store()
    for quad in quads:
        store.add(ox.Quad(quad.subject, quad.predicate, quad.object))
    seed = Counter(str(quad.subject.value) for quad in store).most_common(1)[0][0]
    own = {(quad.predicate, quad.object) for quad in store if quad.subject == ox.NamedNode(seed)}
    with serve_sparql(store) as server:
        statements = loaded(
            tmp_store, f"dbpedia:{seed}", options_for(server, direction="out", languages=("fr",))
        )[1]
        # Text in other languages than those asked for is left out, and only that.
        english = loaded(
            tmp_store, f"dbpedia:{seed}", options_for(server, direction="out", languages=("en",))
        )[1]
    french = {one for one in own if isinstance(one[1], ox.Literal) and one[1].language == "fr"}
    assert len(statements) == len(own) > 20
    assert len(english) == len(own) - len(french)


def test_what_wikidatas_split_service_does_not_hold_is_said(
    tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The query service has no scholarly articles any more."""
    with serve_sparql(wikidata_graph([("Q1", "P1", "Q2"), ("Q3", "P1", "Q1")])) as server:
        plain = load("wikidata:Q1", store=tmp_store, graph="g", options=options_for(server))
        assert plain.skipped == {}
        monkeypatch.setattr(reader_module, "SPLIT_HOST", "127.0.0.1")
        split = load("wikidata:Q1", store=tmp_store, graph="h", options=options_for(server))
        out = load("wikidata:Q1", store=tmp_store, graph="i", options=options_for(
            server, direction="out"))  # fmt: skip
    assert split.skipped == {reader_module.SPLIT_REASON: 1}
    assert "scholarly articles" in "\n".join(split.lines())
    assert out.skipped == {}


@pytest.mark.parametrize(
    ("settings_", "wanted"),
    [
        (EndpointOptions(), "full"),
        (EndpointOptions(endpoint="https://query-scholarly.wikidata.org/sparql"), "full"),
        (EndpointOptions(endpoint="https://notwikidata.org/sparql"), "truthy"),
        (EndpointOptions(endpoint="http://localhost:7001"), "truthy"),
        (EndpointOptions(endpoint="http://localhost:7001", statements="full"), "full"),
        (EndpointOptions(statements="truthy"), "truthy"),
    ],
)
def test_which_statements_are_read(settings_: EndpointOptions, wanted: str) -> None:
    dialect, _ = dialect_of("wikidata:Q1", languages=(), drop_relations=None)
    assert reader_module.statements_of(settings_, dialect) == wanted


def test_hubs_and_the_limit_on_statements_are_said(tmp_store: Store) -> None:
    """Hubs make two hops the whole graph: what was cut stays visible."""
    edges = [(f"Q{number}", "P31", "Q5") for number in range(10, 40)] + [("Q10", "P1", "Q11")]
    with serve_sparql(wikidata_graph(edges)) as server:
        report = load(
            "wikidata:Q10",
            store=tmp_store,
            graph="g",
            options=options_for(server, hops=2, max_incoming=29),
        )
        assert report.skipped == {hub_reason(29): 1}
        assert report.read_statements == 3
        assert report.exit_code == 0
        whole = load("wikidata:Q5", store=tmp_store, graph="h", options=options_for(
            server, hops=1, max_incoming=29))  # fmt: skip
        assert whole.read_statements == 30
        few = load("wikidata:Q5", store=tmp_store, graph="i", options=options_for(
            server, hops=3, max_statements=7))  # fmt: skip
        assert few.read_statements == 7
        assert few.skipped[BEYOND_REASON] == 23
        assert few.skipped[LIMIT_REASON] == 7
        assert any("skipped: 23 statements beyond" in line for line in few.lines())


@pytest.mark.parametrize(
    "source",
    [
        "wikidata:Douglas",
        "wikidata:Q42,",
        "wikidata:Q42> ?s ?p ?o",
        "dbpedia: ",
        "dbpedia:http://dbpedia.org/resource/a b",
        "dbpedia:http://dbpedia.org/resource/a>b",
    ],
)
def test_sources_that_are_none(dbpedia: SparqlServer, tmp_store: Store, source: str) -> None:
    with raises(InputError):
        load(source, store=tmp_store, graph="g", options=options_for(dbpedia))
    assert dbpedia.requests == []
    assert tmp_store.unfinished_loads() == []


def test_a_seed_the_endpoint_does_not_know(dbpedia: SparqlServer, tmp_store: Store) -> None:
    with pytest.raises(InputError, match="dbpedia:Nothing"):
        load("dbpedia:Nothing", store=tmp_store, graph="g", options=options_for(dbpedia))
    assert tmp_store.unfinished_loads() == []


def test_languages_asked_for(dbpedia: SparqlServer, tmp_store: Store) -> None:
    """O13: several label languages in one load; English where none is asked for."""
    assert loaded(tmp_store, f"dbpedia:{HP}", options_for(dbpedia))[0][HP].labels.keys() == {"en"}
    entities, statements = loaded(
        tmp_store, f"dbpedia:{HP}", options_for(dbpedia, languages=("DE", "fr"))
    )
    assert entities[HP].labels.keys() == {"fr"}
    assert (HP, DBO + "abstract", encode_value(MonolingualText("Ein Roman", "de"))) in statements
    assert all(relation != DBO + "abstract" or '"en"' not in value
               for _, relation, value in statements)  # fmt: skip
    with pytest.raises(InputError, match="no language tag"):
        list(read("dbpedia:X", options_for(dbpedia, languages=('en") || true',)), {}))


def test_command_line(
    dbpedia: SparqlServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("GRAPH_SERVICE_CONTACT", "me@example.org")
    arguments = ["load", f"dbpedia:{HP}", "--graph", "g", "--hops", "2", "--json", "--store",
                 f"sqlite:///{tmp_path / 'g.db'}", "--endpoint", dbpedia.url, "--language", "en"]  # fmt: skip
    assert main(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["complete"] is True
    assert report["formats"] == {"sparql": 1}
    assert {one.headers["User-Agent"] for one in dbpedia.requests} == {
        "graph-service/0.1.0 (me@example.org)"
    }
    asked = len(dbpedia.requests)
    # Answers are kept: the same load again asks nothing.
    assert main([*arguments, "--replace"]) == 0
    assert len(dbpedia.requests) == asked
    assert main([*arguments, "--replace", "--no-cache"]) == 0
    assert len(dbpedia.requests) == 2 * asked
    capsys.readouterr()
    file = tmp_path / "x.nt"
    file.write_text("")
    assert main(["load", str(file), "--graph", "g", "--endpoint", dbpedia.url]) == 2
    assert "are for endpoints" in capsys.readouterr().err


def test_progress_says_where_the_walk_is(dbpedia: SparqlServer, tmp_store: Store) -> None:
    seen: list[Progress] = []
    load(
        f"dbpedia:{HP}",
        store=tmp_store,
        graph="g",
        options=options_for(dbpedia),
        progress=seen.append,
    )
    assert seen[0].note.startswith("hop 1: 1 of 1 entities, ")
    assert seen[0].done > 0
