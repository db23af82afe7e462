"""What is said in several languages is said once (O13), in both stores and by both routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from graphs import load_graph
from word_vectors import Letters

from graph_service import open_service
from graph_service.model.limits import CutReason
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import ScoredPath, Strategy, triples_of
from graph_service.model.statement import Entity, make_statement
from graph_service.model.values import EntityValue, MonolingualText, Quantity, StringValue
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.service.service import Service
from graph_service.settings import Settings
from graph_service.store.lookup import read_merged_entities
from graph_service.store.protocol import Store

EN, FR = "http://dbpedia.org/resource/", "http://fr.dbpedia.org/resource/"
ROME, ROME_FR, WIKIDATA = EN + "Rome", FR + "Rome", "Q220"
ITALY, ITALY_FR = EN + "Italy", FR + "Italie"


@pytest.fixture
def services(store: Store, graph_name: str, tmp_path: Path) -> tuple[Service, Service]:
    """One that answers from the snapshot, and one from the store itself."""
    # Both name Wikidata's, which the graph lacks; of Italy the French names the English one.
    entities = [
        Entity(ROME, labels={"en": "Rome"}, same_as=(WIKIDATA, "http://elsewhere/Rome")),
        Entity(ROME_FR, labels={"fr": "Rome (ville)"}, same_as=(WIKIDATA,)),
        Entity(ITALY, labels={"en": "Italy"}),
        Entity(ITALY_FR, labels={"fr": "Italie"}, same_as=(ITALY,)),
        Entity(FR + "Latium", labels={"fr": "Latium"}),
        Entity("country", labels={"en": "country"}),
    ]
    statements = [
        make_statement(ROME, "country", EntityValue(ITALY)),
        make_statement(ROME_FR, "country", EntityValue(ITALY_FR)),
        make_statement(ROME, "population", Quantity("2800000")),
        make_statement(ROME_FR, "population", Quantity("2800000")),
        make_statement(ROME_FR, "region", EntityValue(FR + "Latium")),
        make_statement(ITALY_FR, "motto", StringValue("Unità")),
        *(
            make_statement(ROME, "name", MonolingualText(text, language))
            for text, language in [
                ("Rome", "en"),
                ("Eternal City", "en"),
                ("Roma", "it"),
                ("Rom", "de"),
                ("Roma", "es"),
            ]
        ),
        make_statement(ROME_FR, "name", MonolingualText("Rome", "fr")),
        make_statement(ROME, "call", MonolingualText("Capoccia", "it")),
        make_statement(ROME, "call", MonolingualText("Urbe", "la")),
        make_statement(ROME, "call", StringValue("plain")),
    ]
    load_graph(store, graph_name, statements, entities)
    settings = Settings(graph=graph_name, vectors=str(tmp_path / "vectors.db"))
    whole = open_service(store, embedder=Letters(), settings=settings)
    part = open_service(store, embedder=Letters(), settings=replace(settings, snapshot_edges=1))
    return whole, part


def asked(
    services: tuple[Service, Service],
    question: str,
    *languages: str,
    strategy: Strategy = Strategy.TRIPLETS,
    preset: str = "default",
    ids: Sequence[str] = (ROME,),
) -> tuple[dict[str, tuple[str, ...]], int]:
    """Returns the triples in words with what each stands for, and how many were left out."""
    info = services[0].graph()
    request = RetrieveRequest(
        question,
        strategy,
        graph=info.name,
        entity_ids=tuple(ids),
        languages=languages,
        preset=preset,
        limit=40,
    )
    one, two = (service.retrieve(request) for service in services)
    assert one.id == two.id
    known = services[0].store.statements(
        info.edition, [id_ for triple in triples_of(one) for id_ in triple.stands_for]
    )
    left_out = [cut for cut in one.truncated if cut.reason is CutReason.DUPLICATE]
    return {
        f"{triple.head.id.rpartition('.')[0] or triple.head.label} "
        f"{triple.relation.id} {triple.value_label}": tuple(
            sorted(getattr(known[id_].value, "text", known[id_].head) for id_ in triple.stands_for)
        )
        for triple in triples_of(one)
    }, sum(cut.total - cut.kept for cut in left_out if cut.total)


def said(found: dict[str, tuple[str, ...]], relation: str) -> dict[str, tuple[str, ...]]:
    return {
        words.split(f" {relation} ")[1]: others
        for words, others in found.items()
        if f" {relation} " in words
    }


@pytest.mark.parametrize("preset", ["default", "okgqa"])
def test_texts_stay_in_the_first_language_that_there_is(
    services: tuple[Service, Service], preset: str
) -> None:
    """O13: several texts of one language stay; where none was asked for, all do."""
    found, left_out = asked(services, "What is its name or call?", "en", preset=preset)
    assert said(found, "name") == {
        "Rome": said(found, "name")["Rome"],
        "Eternal City": said(found, "name")["Eternal City"],
    }
    # One of the two names all four others, those of the other edition too.
    assert sorted(said(found, "name").values()) == [(), ("Rom", "Roma", "Roma", "Rome")]
    assert set(said(found, "call")) == {"Capoccia", "Urbe", "plain"}
    assert left_out == 6
    found, _ = asked(services, "What is its name or call?", "pt", "de", "en", preset=preset)
    assert set(said(found, "name")) == {"Rom"}
    found, _ = asked(services, "What is its name or call?", "pt", preset=preset)
    # Rome is Rome in two languages, and Roma Roma; another text in each is not known to be one.
    names = said(found, "name")
    assert set(names) == {"Rome", "Eternal City", "Roma", "Rom"}
    assert names["Roma"] == ("Roma",)
    assert names["Rome"] == ("Rome",)
    assert names["Rom"] == ()
    found, _ = asked(services, "What is its name or call?", "la", preset=preset)
    assert set(said(found, "call")) == {"Urbe", "plain"}
    assert said(found, "call")["Urbe"] == ("Capoccia",)
    assert said(found, "call")["plain"] == ()


@pytest.mark.parametrize("strategy", list(Strategy))
def test_editions_of_an_entity_are_one(
    services: tuple[Service, Service], strategy: Strategy
) -> None:
    """O13: what both say comes once and names the other; what one says is reached from both."""
    for ids in ([ROME], [ROME_FR], [ROME_FR, ROME]):
        found, left_out = asked(
            services,
            "Which country, with which motto, population and region?",
            "en",
            strategy=strategy,
            ids=ids,
        )
        # English was asked for, whichever edition the question names.
        assert said(found, "country") == {"Italy": (ROME_FR,)}
        assert said(found, "population") == {"2800000": (ROME_FR,)}
        assert set(said(found, "region")) == {"Latium"}
        assert left_out == 6
        # Italy's motto is only in the French edition.
        assert set(said(found, "motto")) == {"Unità"}


def test_on_a_view_the_next_language_steps_in(services: tuple[Service, Service]) -> None:
    """O13, S3: what a view lacks stands for nothing; what it adds is a text like any other."""
    service = services[0]
    info = service.graph()
    names = [
        item.edge.triple
        for item in service.statements.of(ROME, graph=info.name, relation_ids=["name"])
    ]
    order = ("en", "it", "de", "es", "fr")
    names.sort(key=lambda triple: order.index(getattr(triple.value, "language", "")))

    def shown(view: ViewSpec, *languages: str) -> list[str]:
        request = RetrieveRequest(
            "What is its name?",
            Strategy.TRIPLETS,
            graph=info.name,
            view=ViewRef(spec=view),
            entity_ids=(ROME,),
            languages=languages,
            limit=40,
        )
        triples = triples_of(service.retrieve(request))
        return sorted(triple.value_label for triple in triples if triple.relation.id == "name")

    ids = tuple(triple.statement_id for triple in names)
    found = [
        shown(ViewSpec(Method.WITHHOLDING, count=count, statement_ids=ids), *order)
        for count in range(1, len(ids) + 1)
    ]
    left = [triple.value_label for triple in names[1:]]
    assert found == [[left[0]], ["Roma"], ["Rom"], ["Roma"], ["Rome"], []]
    added = Change(head=ROME, relation="name", value=MonolingualText("Roma aeterna", "la"))
    custom = ViewSpec(Method.CUSTOM, changes=(added,))
    assert shown(custom, "la", "en") == ["Roma aeterna"]
    assert shown(custom, "en") == ["Eternal City", "Rome"]


def test_a_result_in_one_language_is_as_it_was(
    store: Store, graph_name: str, tmp_path: Path
) -> None:
    """O13: without texts in several languages and without editions nothing is cut or added."""
    statements = [
        make_statement("Q1", "name", MonolingualText("One", "en")),
        make_statement("Q1", "name", MonolingualText("Uno", "en")),
        make_statement("Q1", "part", EntityValue("Q2")),
        make_statement("Q2", "name", MonolingualText("Deux", "fr")),
    ]
    load_graph(store, graph_name, statements, [Entity("Q1", same_as=("Q9",)), Entity("Q2")])
    service = open_service(
        store, embedder=Letters(), settings=Settings(vectors=str(tmp_path / "v.db"))
    )
    request = RetrieveRequest(
        "Which name and part?", Strategy.PATHS, graph_name, entity_ids=("Q1",)
    )
    result = service.retrieve(request)
    assert {
        id_
        for item in result.items
        if isinstance(item, ScoredPath)
        for id_ in [step.triple.statement_id for step in item.steps]
    } == {item.id for item in statements}
    assert not any(triple.stands_for for triple in triples_of(result))
    assert not result.truncated


def test_stores_name_the_same_entities(store: Store, graph_name: str) -> None:
    """O13: one names the other, both name a third; a redirect is none."""
    entities = [
        Entity("A", same_as=("X", "B")),
        Entity("B"),
        Entity("C", same_as=("X",)),
        Entity("D", same_as=("Y",)),
        Entity("E", redirect="A", same_as=("X",)),
        Entity("F", same_as=("A",)),
    ]
    info = load_graph(store, graph_name, [(id_, "p", "O") for id_ in "ABCDF"], entities)
    pairs = store.equal_pairs(info.edition)
    assert sorted(tuple(sorted(pair)) for pair in pairs) == [("A", "B"), ("A", "C"), ("A", "F")]
    graph = store.snapshot(info)
    assert {*graph.node_ids.take(graph.equal.members)} == {"A", "B", "C", "F"}
    assert graph.equal.group.tolist() == [0, 0, 0, 0]
    merged = read_merged_entities(store, info.edition)
    assert merged.equal.members.tolist() == graph.node_keys[graph.equal.members].tolist()
    assert merged.unmerged == ()
