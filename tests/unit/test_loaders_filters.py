"""Filters while loading: by entity, class, statement, site, relation, hops (S1, L2, O3's data)."""

from __future__ import annotations

import bz2
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_counts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_service.errors import InputError
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue
from graph_service.store import open_store
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport
from loaders.subset.filters import Filters, read_condition, with_subclasses
from loaders.subset.selection import RESOLVED_REASON, STATEMENT_REASON
from loaders.truthy import COPY_REASON

WD = "http://www.wikidata.org/entity/"
WDT = "http://www.wikidata.org/prop/direct/"
HUMAN, WRITER, CITY = "Q5", "Q36180", "Q515"


def claim(head: str, relation: str, tail: str, number: int) -> dict[str, Any]:
    return {
        "mainsnak": {
            "snaktype": "value",
            "property": relation,
            "datavalue": {"type": "wikibase-entityid", "value": {"id": tail}},
        },
        "id": f"{head}$00000000-0000-0000-0000-{number:012d}",
        "rank": "normal",
    }


def document(
    id_: str, *pairs: tuple[str, str], sites: Iterable[str] = (), labels: Mapping[str, str] = {}
) -> dict[str, Any]:
    claims: dict[str, list[Any]] = {}
    for number, (relation, tail) in enumerate(pairs):
        claims.setdefault(relation, []).append(claim(id_, relation, tail, number))
    return {
        "type": "property" if id_[0] == "P" else "item",
        "id": id_,
        "lastrevid": 1,
        "labels": {
            language: {"language": language, "value": text}
            for language, text in (labels or {"en": f"label of {id_}"}).items()
        },
        "claims": claims or [],
        "sitelinks": {site: {"site": site, "title": id_} for site in sites},
    }


WORLD = [
    document("P31"),
    document("P106", ("P31", "Q18616576")),
    document("Q1", ("P31", HUMAN), ("P106", WRITER), ("P19", "Q9"), sites=["enwiki", "dewiki"]),
    document("Q2", ("P31", HUMAN), ("P19", "Q9"), sites=["dewiki"]),
    document("Q3", ("P31", "Q6581097"), ("P106", WRITER)),
    document("Q9", ("P31", CITY), sites=["enwiki"]),
    document(WRITER),
]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "world.json"
    path.write_text("[\n" + ",\n".join(json.dumps(one) for one in WORLD) + "\n]\n")
    return path


@pytest.fixture
def triples(tmp_path: Path) -> Path:
    """The same as truthy RDF, the statements of an entity apart."""
    path = tmp_path / "world.nt"
    lines = [
        f"<{WD}{one['id']}> <{WDT}{relation}> "
        f"<{WD}{made['mainsnak']['datavalue']['value']['id']}> .\n"
        for one in WORLD
        for relation, group in (one["claims"].items() if isinstance(one["claims"], dict) else ())
        for made in group
    ]
    names = [
        f'<{WD}{one["id"]}> <http://www.w3.org/2000/01/rdf-schema#label> "label of {one["id"]}"@en .\n'
        for one in WORLD
    ]
    path.write_text("".join(sorted(lines, key=lambda line: line.split()[1]) + names))
    return path


def loaded(
    store: Store, path: Path, filters: Filters, **options: Any
) -> tuple[LoadReport, set[tuple[str, str, str]], set[str]]:
    """Returns the report, the statements and the entities that have a name."""
    report = load(
        path,
        store=store,
        graph="g",
        replace=True,
        options=LoadOptions(
            filters=filters, rejects_path=path.with_name("rejects.jsonl"), **options
        ),
    )
    assert report.graph is not None
    edition = report.graph.edition
    statements = {
        (one.head, one.relation, one.value.id)
        for chunk in store.scan_statements(edition)
        for one in chunk
        if isinstance(one.value, EntityValue)
    }
    named = {one.id for chunk in store.scan_entities(edition) for one in chunk if one.labels}
    return report, statements, named


@pytest.mark.parametrize("kind", ["world", "triples"])
@pytest.mark.parametrize(
    ("filters", "heads"),
    [
        (Filters(entities=("Q1", "wd:Q9")), {"Q1", "Q9"}),
        (Filters(classes=(HUMAN,)), {"Q1", "Q2"}),
        (Filters(classes=(HUMAN, CITY)), {"Q1", "Q2", "Q9"}),
        (Filters(having=("P106",)), {"Q1", "Q3"}),
        (Filters(having=(f"P106={WRITER}", "P19=Q9")), {"Q1"}),
        (Filters(classes=(HUMAN,), having=("P106",)), {"Q1"}),
        (Filters(classes=(HUMAN,), entities=("Q2", "Q3")), {"Q2"}),
    ],
)
def test_entities_are_chosen_with_all_their_statements(
    request: pytest.FixtureRequest,
    tmp_store: Store,
    kind: str,
    filters: Filters,
    heads: set[str],
) -> None:
    path: Path = request.getfixturevalue(kind)
    report, statements, named = loaded(tmp_store, path, filters)
    _, everything, _ = loaded(tmp_store, path, Filters())
    assert statements == {one for one in everything if one[0] in heads}
    # Relations keep their names, entities that are values only lose theirs.
    assert named == heads | {"P31", "P106"}
    assert report.filters == filters.to_json()
    assert any(line.startswith("only ") for line in report.lines())
    assert sum(number for reason, number in report.skipped.items() if "filters leave out" in reason)


@pytest.mark.parametrize("kind", ["world", "triples"])
def test_value_names_take_a_first_pass(
    request: pytest.FixtureRequest, tmp_store: Store, kind: str
) -> None:
    path: Path = request.getfixturevalue(kind)
    filters = Filters(having=(f"P106={WRITER}",), value_names=True)
    _, statements, named = loaded(tmp_store, path, filters)
    assert {head for head, _, _ in statements} == {"Q1", "Q3"}
    assert named == {"Q1", "Q3", "Q9", WRITER, "P31", "P106"}


def test_sitelinks(tmp_store: Store, world: Path, triples: Path) -> None:
    _, statements, _ = loaded(tmp_store, world, Filters(sitelinks=("enwiki",)))
    assert {head for head, _, _ in statements} == {"Q1", "Q9"}
    _, statements, _ = loaded(tmp_store, world, Filters(sitelinks=("enwiki", "dewiki")))
    assert {head for head, _, _ in statements} == {"Q1", "Q2", "Q9"}
    with pytest.raises(InputError, match="Wikibase JSON"):
        loaded(tmp_store, triples, Filters(sitelinks=("enwiki",)))


@pytest.mark.parametrize("kind", ["world", "triples"])
def test_relations_and_relations_to_leave_out(
    request: pytest.FixtureRequest, tmp_store: Store, tmp_path: Path, kind: str
) -> None:
    path: Path = request.getfixturevalue(kind)
    report, statements, _ = loaded(tmp_store, path, Filters(relations=("P106", f"{WDT}P19")))
    assert {relation for _, relation, _ in statements} == {"P106", "P19"}
    assert report.skipped[STATEMENT_REASON] == 5
    drops = tmp_path / "drops.txt"
    drops.write_text("# noise\nP31\n")
    _, dropped, _ = loaded(tmp_store, path, Filters(drop_relations=drops))
    assert dropped == statements


def test_a_filtered_document_is_not_the_whole_one(tmp_store: Store, world: Path) -> None:
    options = LoadOptions()
    load(world, store=tmp_store, graph="g", options=options)
    only = LoadOptions(filters=Filters(relations=("P31",)))
    report = load(world, store=tmp_store, graph="g", options=only)
    assert report.counts is not None
    assert report.counts.removed == 0
    assert tmp_store.graph("g").counts.statements == 9


SUBCLASSES = "Q482980\tQ5\nQ36180\tQ482980\nQ1\tQ2\nQ2\tQ1\n"


@pytest.mark.parametrize("form", ["pairs", "triples", "rdf"])
def test_subclasses_count(tmp_store: Store, tmp_path: Path, form: str) -> None:
    pairs = [line.split("\t") for line in SUBCLASSES.splitlines()]
    table = tmp_path / "subclasses"
    table.write_text(
        {
            "pairs": SUBCLASSES,
            "triples": "".join(f"{one}\tP279\t{two}\n{one}\tP1\tQ3\n" for one, two in pairs),
            "rdf": "".join(
                f"<{WD}{one}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{WD}{two}> .\n"
                for one, two in pairs
            ),
        }[form]
    )
    path = tmp_path / "items.jsonl"
    documents = [document("Q7", ("P31", WRITER)), document("Q8", ("P31", "Q1"))]
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    _, statements, _ = loaded(tmp_store, path, Filters(classes=(HUMAN,), subclasses=table))
    assert statements == {("Q7", "P31", WRITER)}


def test_subclasses_may_go_in_circles() -> None:
    assert with_subclasses(["a"], [("b", "a"), ("a", "b"), ("c", "b"), ("d", "e")]) == {
        "a",
        "b",
        "c",
    }


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        ({"en": "one", "mul": "all", "de": "eins"}, {"en": "one"}),
        ({"mul": "all", "de": "eins"}, {"mul": "all"}),
        ({"de": "eins", "fr": "un"}, {"de": "eins"}),
        ({"ja": "一"}, {}),
    ],
)
def test_fallback_languages_o13(
    tmp_store: Store, tmp_path: Path, labels: dict[str, str], kept: dict[str, str]
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(document("Q1", ("P31", HUMAN), labels=labels)) + "\n")
    load(
        path,
        store=tmp_store,
        graph="g",
        options=LoadOptions(languages=("en",), fallback_languages=("mul", "de")),
    )
    assert tmp_store.entities("g@1", ["Q1"]).entities["Q1"].labels == kept


# Hops


def around_by_brute_force(
    edges: list[tuple[str, str, str]],
    start_entities: set[str],
    *,
    hops: int,
    direction: str,
    max_incoming: int,
) -> set[tuple[str, str, str]]:
    """Statements of every entity fewer than ``hops`` steps away, but those into hubs."""
    incoming = Counter(tail for _, _, tail in edges)
    hubs = {one for one, number in incoming.items() if number > max_incoming} - start_entities
    inner: set[str] = set()
    frontier = set(start_entities)
    for _ in range(hops):
        inner |= frontier
        found: set[str] = set()
        for head, _, tail in edges:
            if direction != "in" and head in frontier:
                found.add(tail)
            if direction != "out" and tail in frontier and tail not in hubs:
                found.add(head)
        frontier = found - inner
    return {
        (head, relation, tail)
        for head, relation, tail in edges
        if (direction != "in" and head in inner)
        or (direction != "out" and tail in inner and tail not in hubs)
    }


NODES = st.integers(1, 9).map(lambda n: f"Q{n}")
EDGES = st.lists(st.tuples(NODES, st.sampled_from(["P1", "P2"]), NODES), min_size=1, max_size=25)


def test_a_walk_ends_where_nothing_new_is_reached(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text("Q1\tP1\tQ2\nQ2\tP1\tQ3\nQ8\tP1\tQ9\n")
    options = LoadOptions(filters=Filters(around_entities=("Q1",), hops=10**15))
    report = load(path, store=tmp_store, graph="g", options=options)
    assert report.graph is not None
    assert report.graph.counts.statements == 2


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    EDGES.map(lambda edges: sorted(set(edges))),
    st.sets(NODES, min_size=1, max_size=2),
    st.integers(1, 3),
    st.sampled_from(["both", "out", "in"]),
    st.integers(1, 5),
    st.sampled_from(["json", "nt", "tsv"]),
)
def test_hops_are_those_of_brute_force(
    tmp_path: Path,
    edges: list[tuple[str, str, str]],
    start_entities: set[str],
    hops: int,
    direction: str,
    max_incoming: int,
    form: str,
) -> None:
    path = tmp_path / f"edges.{form}"
    if form == "json":
        by_head: dict[str, list[tuple[str, str]]] = {}
        for head, relation, tail in edges:
            by_head.setdefault(head, []).append((relation, tail))
        path.write_text(
            "".join(json.dumps(document(id_, *pairs)) + "\n" for id_, pairs in by_head.items())
        )
    elif form == "nt":
        path.write_text("".join(f"<{WD}{h}> <{WDT}{r}> <{WD}{t}> .\n" for h, r, t in edges))
    else:
        path.write_text("".join(f"{h}\t{r}\t{t}\n" for h, r, t in edges))
    filters = Filters(
        around_entities=tuple(sorted(start_entities)),
        hops=hops,
        direction=direction,
        max_incoming=max_incoming,
    )
    expected = around_by_brute_force(
        edges, start_entities, hops=hops, direction=direction, max_incoming=max_incoming
    )
    (tmp_path / "g.db").unlink(missing_ok=True)
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        named_seeds = form == "json" and start_entities & {head for head, _, _ in edges}
        if not expected and not named_seeds:
            with pytest.raises(InputError, match="holds nothing"):
                loaded(store, path, filters)
            return
        _, statements, named = loaded(store, path, filters)
    assert statements == expected
    if form == "json":
        touched = {one for head, _, tail in expected for one in (head, tail)}
        heads = {head for head, _, _ in edges}
        assert named - start_entities == (touched & heads) - start_entities


def test_hubs_are_counted_and_seeds_are_none(tmp_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "hub.tsv"
    path.write_text("a\tp\thub\n" + "".join(f"x{n}\tp\thub\n" for n in range(30)))
    filters = Filters(around_entities=("a",), hops=2, max_incoming=20)
    report, statements, _ = loaded(tmp_store, path, filters, header=False)
    assert statements == {("a", "p", "hub")}
    check_counts(report.skipped, 30)
    _, statements, _ = loaded(
        tmp_store, path, Filters(around_entities=("hub",), max_incoming=20), header=False
    )
    assert len(statements) == 31


def test_filters_are_part_of_the_loads_identity(tmp_path: Path, world: Path) -> None:
    drops = tmp_path / "drops.txt"
    drops.write_text("P31\n")
    first = LoadOptions(filters=Filters(drop_relations=drops)).to_json()
    drops.write_text("P32\n")
    second = LoadOptions(filters=Filters(drop_relations=drops)).to_json()
    assert first != second
    assert LoadOptions().to_json()["filters"] == {}
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        options = LoadOptions(filters=Filters(classes=(HUMAN,), value_names=True))
        load(world, store=store, graph="g", options=options)
        info = store.graph("g")
    assert info.options["filters"] == {"classes": [HUMAN], "value_names": True}
    assert info.report["filters"] == {"classes": [HUMAN], "value_names": True}


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        (Filters(hops=2), "around an entity"),
        (Filters(around_entities=("Q1",), hops=0), "at least 1"),
        (Filters(around_entities=("Q1",), max_incoming=0), "at least 1"),
        (Filters(around_entities=("Q1",), direction="up"), "both, out, in"),
        (Filters(subclasses=Path("x")), "no class"),
        (Filters(sitelinks=("en wiki",)), "no site"),
        (Filters(having=("=Q1",)), "no condition"),
        (Filters(entities_file=Path("absent")), "can't be read"),
    ],
)
def test_wrong_filters_are_refused_before_a_load_begins(
    tmp_store: Store, world: Path, filters: Filters, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        load(world, store=tmp_store, graph="g", options=LoadOptions(filters=filters))
    assert tmp_store.unfinished_loads() == []


def test_two_passes_are_refused_for_standard_input(tmp_store: Store) -> None:
    options = LoadOptions(filters=Filters(around_entities=("Q1",)))
    with pytest.raises(InputError, match="two passes"):
        load("-", store=tmp_store, graph="g", options=options)


def test_lists_of_entities_and_conditions(tmp_store: Store, tmp_path: Path, world: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("# people\nQ1\twho\n<http://www.wikidata.org/entity/Q2>\n\n")
    _, statements, _ = loaded(tmp_store, world, Filters(entities_file=ids))
    assert {head for head, _, _ in statements} == {"Q1", "Q2"}
    condition = read_condition("http://a/p=http://a/v?x=1")
    assert (condition.relation, condition.value) == ("http://a/p", "http://a/v?x=1")


def test_a_compressed_dump_is_cut_around_an_entity(
    tmp_store: Store, tmp_path: Path, world: Path
) -> None:
    path = tmp_path / "world.json.bz2"
    path.write_bytes(bz2.compress(world.read_bytes()))
    report, statements, named = loaded(tmp_store, path, Filters(around_entities=("Q9",), hops=1))
    assert statements == {("Q1", "P19", "Q9"), ("Q2", "P19", "Q9"), ("Q9", "P31", CITY)}
    assert named == {"Q1", "Q2", "Q9", "P31", "P106"}
    assert report.skipped[STATEMENT_REASON] == 3


def of(statements: Iterable[Statement]) -> set[tuple[str, str]]:
    return {(one.head, one.value.id) for one in statements if isinstance(one.value, EntityValue)}


REDIRECTED = (
    "<http://a/s> <http://a/p> <http://dbpedia.org/resource/Old_name> .\n"
    "<http://dbpedia.org/resource/Old_name> <http://a/p> <http://a/o> .\n"
    "<http://dbpedia.org/resource/Old_name> <http://dbpedia.org/ontology/wikiPageRedirects> "
    "<http://dbpedia.org/resource/Older> .\n"
    "<http://dbpedia.org/resource/Older> <http://dbpedia.org/ontology/wikiPageRedirects> "
    "<http://dbpedia.org/resource/New> .\n"
    '<http://dbpedia.org/resource/New> <http://www.w3.org/2000/01/rdf-schema#label> "New"@en .\n'
)


@pytest.mark.parametrize("redirects", ["follow", "alias", "resolve"])
def test_redirects_by_choice(tmp_store: Store, tmp_path: Path, redirects: str) -> None:
    path = tmp_path / "redirects.nt"
    path.write_text(REDIRECTED)
    report = load(path, store=tmp_store, graph="g", options=LoadOptions(redirects=redirects))
    new, old = "http://dbpedia.org/resource/New", "http://dbpedia.org/resource/Old_name"
    found = tmp_store.entities("g@1", [old]).entities[old]
    assert found.id == new
    assert found.aliases == ({"en": ("Older",)} if redirects == "alias" else {})
    pairs = of(one for chunk in tmp_store.scan_statements("g@1") for one in chunk)
    if redirects == "resolve":
        assert pairs == {("http://a/s", new), (new, "http://a/o")}
        assert report.skipped == {RESOLVED_REASON: 2}
    else:
        assert pairs == {("http://a/s", old), (old, "http://a/o")}


def test_truthy_and_full_statements_never_mix_without_a_word(
    tmp_path: Path, world: Path, triples: Path
) -> None:
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        load(world, store=store, graph="g")
        with pytest.raises(InputError, match="copies") as caught:
            load(triples, store=store, graph="g")
        assert "--mix-truthy" in str(caught.value)
        assert store.unfinished_loads() == []
        assert store.graph("g").edition == "g@1"
        report = load(triples, store=store, graph="g", options=LoadOptions(mix_truthy=True))
        assert report.wikidata_forms == ["full", "truthy"]
        replaced = load(triples, store=store, graph="g", replace=True)
        assert replaced.wikidata_forms == ["truthy"]
        with pytest.raises(InputError, match="copies"):
            load(world, store=store, graph="g")
        folder = tmp_path / "both"
        folder.mkdir()
        (folder / "a.json").write_bytes(world.read_bytes())
        (folder / "b.nt").write_bytes(triples.read_bytes())
        both = load(folder, store=store, graph="h")
        # Within one load it is known which are copies, and they are left out.
        assert both.wikidata_forms == ["full"]
        assert both.skipped[COPY_REASON] == 9
