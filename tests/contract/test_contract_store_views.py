"""Views of a graph above the snapshot limit (S2, O10): what the snapshot finds, or a refusal."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from graphs import load_graph, random_statements
from word_vectors import Letters

from graph_service import Service, open_service
from graph_service.errors import InputError, LimitError
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.statement import Entity, EntityKind, Rank, Statement, make_statement
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import (
    TAKES,
    Change,
    Method,
    Naming,
    Sampling,
    Scope,
    Takes,
    ViewSpec,
)
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from graph_service.views.alone import BEYOND

ALONE = [method for method in Method if method not in BEYOND and method != Method.WITHHOLDING]
SCOPED = [
    method
    for method in Method
    if TAKES.get(method, Takes()).has_scope
    and method not in (Method.WITHHOLDING, Method.CUSTOM, Method.NAMES)
]
OF_QUESTION = Scope(of_question=True)


def statements() -> list[Statement]:
    """With statements said both ways, beside others, and some that only their rank tells apart."""
    made = random_statements(7)
    made += [
        make_statement("Q2", f"P{n}", EntityValue("Q3"), rank=rank)
        for n, rank in enumerate([Rank.NORMAL, Rank.DEPRECATED, Rank.PREFERRED])
    ]
    made += [make_statement("Q3", "P0", EntityValue("Q2"), rank=Rank.DEPRECATED)]
    return made + [make_statement("Q30", "P6", EntityValue(f"Q{n}")) for n in range(50, 60)]


@pytest.fixture
def routes(
    store: Store, graph_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Service, Service]:
    """A service that reads the graph whole, and one that may not."""
    entities = [Entity(f"Q{i}", labels={"en": f"Thing Number {i}"}) for i in range(60)]
    labels = ["mother", "capital of", "made by", "spouse", "part", "born", "likes"]
    entities += [
        Entity(f"P{i}", kind=EntityKind.PROPERTY, labels={"en": label})
        for i, label in enumerate(labels)
    ]
    load_graph(store, graph_name, statements(), entities)
    whole = open_service(
        store, embedder=Letters(), settings=Settings(vectors=str(tmp_path / "a.db"))
    )
    part = open_service(
        store,
        embedder=Letters(),
        settings=Settings(vectors=str(tmp_path / "b.db"), snapshot_edges=1),
    )

    def refuse(*_: object) -> None:
        raise AssertionError("a snapshot was made")

    monkeypatch.setattr(part, "arrays", refuse)
    monkeypatch.setattr(part._graphs, "arrays", refuse)
    return whole, part


def request_of(graph_name: str, view: ViewRef) -> RetrieveRequest:
    return RetrieveRequest(
        "Who is the mother of Thing Number 5, seen from Thing Number 3?",
        Strategy.PATHS,
        graph=graph_name,
        view=view,
    )


def same(routes: tuple[Service, Service], request: RetrieveRequest) -> int:
    """Asks both routes for one result, and returns whether the view can be told from the base."""
    expected, found = (service.retrieve(request) for service in routes)
    assert found.items == expected.items, request
    assert (found.region, found.truncated) == (expected.region, expected.truncated), request
    assert found.provenance == expected.provenance
    assert found.id == expected.id
    return int(found.items != routes[0].retrieve(replace(request, view=None)).items)


def test_a_view_of_the_question_has_the_same_result(
    routes: tuple[Service, Service], graph_name: str
) -> None:
    """Each preset and strategy, each method that is drawn on the scope alone, whatever is cut."""
    changed = 0
    asked = [
        *product(("okgqa", "default"), Strategy, [Method.RELATION_SWAPPING]),
        *product(("okgqa", "default"), [Strategy.TRIPLETS], [Method.EDGE_DELETION]),
        *product(("ltgen",), [Strategy.TRIPLETS], ALONE),
    ]
    for preset, strategy, method in asked:
        spec = ViewSpec(method, level=0.5, random_seed=3, scope=OF_QUESTION)
        request = request_of(graph_name, ViewRef(spec=spec))
        changed += same(routes, replace(request, preset=preset, strategy=strategy))
    assert changed > 10
    changed = 0
    for method, ids in product(ALONE, (("Q30", "Q3"), ("Q2",))):
        spec = ViewSpec(method, level=0.6, random_seed=1, scope=OF_QUESTION)
        request = replace(request_of(graph_name, ViewRef(spec=spec)), entity_ids=ids)
        for limited in (
            replace(request, max_edges=25),
            replace(request, max_edges=60, ranks=tuple(Rank)),
            replace(request, relation_ids=("P1", "P2", "P6"), max_hops=2),
            replace(request, exclude_relation_ids=("P2",), max_edges=40),
        ):
            changed += same(routes, limited)
    assert changed > 20
    for spec in (
        ViewSpec(Method.RELATION_SWAPPING, level=0.9, sampling=Sampling.OKGQA, scope=OF_QUESTION),
        ViewSpec(Method.EDGE_DELETION, count=2, scope=replace(OF_QUESTION, hops=1)),
        ViewSpec(Method.EDGE_DELETION, level=1.0, scope=replace(OF_QUESTION, hops=0)),
    ):
        same(routes, request_of(graph_name, ViewRef(spec=spec)))
    nobody = replace(request_of(graph_name, ViewRef(spec=spec)), question="nothing of the kind")
    assert not routes[1].retrieve(nobody).linked
    same(routes, nobody)
    withheld = ViewSpec(Method.WITHHOLDING, statement_ids=(statements()[0].id,))
    same(routes, replace(nobody, view=ViewRef(spec=withheld)))


def test_hubs_are_not_walked_through_on_a_view_either(
    routes: tuple[Service, Service], graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A degree is that of the whole base, also of an entity that the view alone leads to."""
    for service in routes:
        resolved = service._retriever.presets.resolve
        monkeypatch.setattr(
            service._retriever.presets,
            "resolve",
            lambda request, resolved=resolved: replace(resolved(request), hub_degree=12),
        )
    specs = [ViewSpec(method, level=0.6, scope=OF_QUESTION) for method in ALONE]
    pruned = Scope(of_question=True, pruned=True)
    specs += [
        ViewSpec(Method.EDGE_REWIRING, level=0.9, random_seed=s, scope=pruned) for s in (1, 2)
    ]
    cuts = set()
    for spec in specs:
        request = replace(request_of(graph_name, ViewRef(spec=spec)), entity_ids=("Q30", "Q25"))
        assert same(routes, request)
        cuts |= {cut.what for cut in routes[1].retrieve(request).truncated}
    assert "hubs" in cuts


def test_a_pruned_view_has_the_same_result_by_every_method(
    routes: tuple[Service, Service], graph_name: str
) -> None:
    """What PageRank keeps is a graph of its own to all of them (OKGQA-P)."""
    changed = 0
    around = Scope(around_entity_ids=("Q3", "Q30"), hops=2, pruned=True)
    for method, scope in product(SCOPED, (replace(OF_QUESTION, pruned=True), around)):
        spec = (
            ViewSpec(method, level=0.7, random_seed=5, rule_support=1, scope=scope)
            if (method is Method.RULE_DELETION)
            else ViewSpec(method, level=0.7, random_seed=5, scope=scope)
        )
        changed += same(routes, request_of(graph_name, ViewRef(spec=spec)))
        changed += same(routes, replace(request_of(graph_name, ViewRef(spec=spec)), max_edges=40))
    assert changed > 20


def test_scopes_around_entities_and_of_statements_have_the_same_result(
    routes: tuple[Service, Service], graph_name: str
) -> None:
    """Inline and stored: a stored view is drawn anew, and is what it was when it was made."""
    whole, part = routes
    ids = tuple(one.id for one in statements() if one.head in ("Q2", "Q3", "Q5"))
    scopes = (
        Scope(around_entity_ids=("Q5", "Q30"), hops=1),
        Scope(around_entity_ids=("Q5",), hops=0),
        Scope(statement_ids=ids),
        Scope(statement_ids=ids, relation_ids=("P0", "P6")),
        Scope(statement_ids=ids[:1], relation_ids=("P6",)),
        Scope(around_entity_ids=("Q3",), of_question=True, hops=1),
    )
    changed = 0
    for scope, method in product(scopes, ALONE):
        spec = ViewSpec(method, level=1.0, random_seed=2, scope=scope)
        changed += same(routes, request_of(graph_name, ViewRef(spec=spec)))
        if not scope.of_question:
            stored = whole.views.create(spec, graph=graph_name)
            changed += same(routes, request_of(graph_name, ViewRef(id=stored.id)))
    assert changed > 15
    withheld = ViewSpec(Method.WITHHOLDING, statement_ids=ids, count=len(ids) - 1)
    assert same(routes, request_of(graph_name, ViewRef(spec=withheld)))
    name = whole.views.create(withheld, graph=graph_name, name="less").name
    assert same(routes, request_of(graph_name, ViewRef(name=name)))
    for spec, named in (
        (replace(withheld, statement_ids=("nope",), count=1), "no statement 'nope'"),
        (
            ViewSpec(Method.EDGE_DELETION, count=1, scope=Scope(statement_ids=("nope",))),
            "no statement 'nope'",
        ),
        (
            ViewSpec(Method.EDGE_DELETION, count=1, scope=Scope(around_entity_ids=("Q999",))),
            "no entity 'Q999'",
        ),
        (
            ViewSpec(
                Method.EDGE_DELETION, count=1, scope=replace(OF_QUESTION, relation_ids=("P77",))
            ),
            "no relation 'P77'",
        ),
        (
            ViewSpec(
                Method.EDGE_DELETION,
                count=1,
                scope=Scope(around_entity_ids=("Q999",), pruned=True),
            ),
            "no entity 'Q999'",
        ),
    ):
        said = []
        for service in routes:
            with pytest.raises(InputError, match=named) as error:
                service.retrieve(request_of(graph_name, ViewRef(spec=spec)))
            said.append((str(error.value), error.value.argument))
        assert said[0] == said[1]


def test_what_needs_the_whole_graph_is_refused_before_anything_is_read(
    routes: tuple[Service, Service], graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, part = routes
    stale = ViewSpec(Method.STALE, level=0.5, scope=Scope(around_entity_ids=("Q5",), pruned=True))
    stored = [
        whole.views.create(spec, graph=graph_name).id
        for spec in (stale, ViewSpec(Method.EDGE_DELETION, level=0.5))
    ]
    needs = {"entity_ids": ("Q5",), "answer_ids": ("Q3",)}
    refused = [
        *(ViewSpec(m, level=0.5, scope=OF_QUESTION) for m in SCOPED if m in BEYOND),
        ViewSpec(Method.NAMES, level=0.5, naming=Naming.GONE),
        ViewSpec(Method.PATH_DELETION, level=0.5, **needs),  # type: ignore[arg-type]
        ViewSpec(Method.INSERTION, count=1, **needs),  # type: ignore[arg-type]
        ViewSpec(Method.CUSTOM, changes=(Change("S1", remove=True),)),
        ViewSpec(Method.EDGE_DELETION, level=0.5),
        ViewSpec(Method.RELATION_SWAPPING, level=0.5, scope=Scope(relation_ids=("P1",))),
    ]
    assert {spec.method for spec in refused} >= BEYOND.keys()
    for name in ("neighbourhood", "statements", "entities", "search", "relations"):
        monkeypatch.setattr(part.store, name, None)
    hints = []
    for view in (*(ViewRef(spec=spec) for spec in refused), *(ViewRef(id=id_) for id_ in stored)):
        with pytest.raises(InputError, match="not read whole") as error:
            part.retrieve(request_of(graph_name, view))
        assert error.value.argument == "view"
        assert "Raise GRAPH_SERVICE_SNAPSHOT_EDGES" in str(error.value.hint)
        hints.append("pruned" in str(error.value.hint))
    # Those that are given a scope, and the whole graph stored: what else can be asked is said.
    scoped = len([method for method in SCOPED if method in BEYOND])
    assert hints == [True] * scoped + [False] * 4 + [True] * 2 + [False, True]
    # What is not refused reads what was taken away.
    deletion = ViewSpec(Method.EDGE_DELETION, level=0.5, scope=OF_QUESTION)
    with pytest.raises(TypeError):
        part.retrieve(request_of(graph_name, ViewRef(spec=deletion)))
    with pytest.raises(InputError, match="type_ids"):
        part.retrieve(replace(request_of(graph_name, ViewRef(spec=deletion)), type_ids=("Q5",)))


def test_a_scope_of_too_many_statements_is_refused(
    routes: tuple[Service, Service], graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graph_service.service import store_views

    monkeypatch.setattr(store_views, "MAX_EDGES", 10)
    for scope, where in (
        (Scope(around_entity_ids=("Q5",)), "around the entities"),
        (replace(OF_QUESTION, hops=1), "beside those"),
    ):
        spec = ViewSpec(Method.INVERSION, level=0.5, scope=scope)
        with pytest.raises(LimitError, match=where):
            routes[1].retrieve(request_of(graph_name, ViewRef(spec=spec)))
