"""One graph asked through the service and the command line: both stores say the same (S1 to S3)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from demo_graph import ARNOLD, demo_settings, request
from neo4j_server import Neo4jServer

from graph_service import Service, open_service
from graph_service.cli import main
from graph_service.model.request import ViewRef
from graph_service.model.result import RetrievalResult, Status, Strategy
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.settings import SETTINGS, Settings
from graph_service.store import open_store
from graph_service.store.protocol import Store
from loaders.load import load
from queries.datasets.demo_set import demo_slice

__all__ = ["demo_settings"]

pytestmark = pytest.mark.neo4j

REPLACED = ViewSpec(Method.RELATION_REPLACEMENT, level=0.3, random_seed=42)
AROUND = Scope(around_entity_ids=(ARNOLD,), hops=2)


@pytest.fixture(scope="module")
def demo_name() -> str:
    """One name in both stores: a result's id covers the graph's name."""
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def graph_names_of_server(neo4j_store: Store) -> Iterator[Callable[[], str]]:
    """Gives graph names that no other test has; the graphs are removed from the server."""
    made: list[str] = []

    def new() -> str:
        made.append(f"test-{uuid.uuid4().hex}")
        return made[-1]

    yield new
    present = {info.name for info in neo4j_store.graphs()}
    for name in present.intersection(made):
        neo4j_store.delete_graph(name)


@pytest.fixture(scope="module")
def services(
    neo4j_store: Store,
    demo_name: str,
    demo_settings: Settings,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Service, Service]]:
    """The slice in a file and in Neo4j, each behind a service."""
    path = tmp_path_factory.mktemp("service") / "graph.db"
    try:
        load(demo_slice(), store=neo4j_store, graph=demo_name)
        with open_store(f"sqlite:///{path}") as file:
            load(demo_slice(), store=file, graph=demo_name)
            yield (
                open_service(file, settings=demo_settings),
                open_service(neo4j_store, settings=demo_settings),
            )
    finally:
        neo4j_store.delete_graph(demo_name)


def whole(result: RetrievalResult) -> RetrievalResult:
    """A result without what belongs to the store alone: its count of editions."""
    return replace(result, provenance=replace(result.provenance, edition=""))


def ask(service: Service, graph: str, view: ViewRef | None) -> dict[Strategy, RetrievalResult]:
    return {
        strategy: service.retrieve(request(strategy=strategy, graph=graph, view=view))
        for strategy in Strategy
    }


@pytest.mark.parametrize(
    "view",
    [
        None,
        ViewRef(spec=REPLACED),
        ViewRef(spec=ViewSpec(Method.EDGE_REWIRING, level=0.5, random_seed=1)),
        ViewRef(spec=ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=2, scope=AROUND)),
    ],
    ids=["base", "replaced", "rewired", "deleted"],
)
def test_the_three_strategies_answer_alike_on_an_inline_view(
    services: tuple[Service, Service], demo_name: str, view: ViewRef | None
) -> None:
    """S2, S3: same items, scores, cuts, text and result id from both stores."""
    file, server = (ask(service, demo_name, view) for service in services)
    for strategy in Strategy:
        assert file[strategy].id == server[strategy].id, strategy
        assert whole(file[strategy]) == whole(server[strategy])
        assert file[strategy].items
        assert view is not None or file[strategy].status is Status.OK
    assert len({result.id for result in file.values()}) == len(Strategy)


def test_a_stored_view_is_the_same_in_both_stores(
    services: tuple[Service, Service], demo_name: str
) -> None:
    """S3: its id, its changes, and what is retrieved on it, which the inline view gives too."""
    views = [service.views.create(REPLACED, graph=demo_name, name="r30") for service in services]
    assert views[0].id == views[1].id
    diffs = [service.views.diff(ViewRef(id="r30"), graph=demo_name) for service in services]
    assert diffs[0] == diffs[1]
    stored, again = (ask(service, demo_name, ViewRef(id="r30")) for service in services)
    inline = ask(services[0], demo_name, ViewRef(spec=REPLACED))
    base = ask(services[0], demo_name, None)
    for strategy in Strategy:
        assert stored[strategy].id == again[strategy].id == inline[strategy].id, strategy
        assert whole(stored[strategy]) == whole(again[strategy])
        assert stored[strategy].id != base[strategy].id
    for service in services:
        service.views.delete("r30", graph=demo_name)
        assert service.views.list(graph=demo_name) == []


def test_entities_search_and_regions_are_alike(
    services: tuple[Service, Service], demo_name: str
) -> None:
    """S1, S2: look-up, search and the K-hop region of the store itself."""
    file, server = services
    for view in (None, ViewRef(spec=REPLACED)):
        shown, again = (
            service.statements.of(ARNOLD, graph=demo_name, view=view) for service in services
        )
        assert shown
        assert shown == again
        one, two = (
            service.neighbourhood(ARNOLD, hops=2, graph=demo_name, view=view)
            for service in services
        )
        assert whole(one) == whole(two)
        assert one.items
    assert file.entities([ARNOLD], graph=demo_name) == server.entities([ARNOLD], graph=demo_name)
    found = file.search("kennedy", graph=demo_name)
    assert found
    assert found == server.search("kennedy", graph=demo_name)


QUESTION = "Who is the mother of Maria Shriver's husband?"
ON_VIEW = ("--view", "r30")
LINE = (
    ("load", str(demo_slice()), "--quiet"),
    ("graphs",),
    ("search", "kennedy"),
    ("item", ARNOLD),
    ("view", "create", "--method", "rr", "--level", "0.3", "--random-seed", "42", "--name", "r30"),
    ("view", "list"),
    ("view", "diff", "r30"),
    ("item", ARNOLD, *ON_VIEW),
    *(("retrieve", QUESTION, "--strategy", strategy.value) for strategy in Strategy),
    *(("retrieve", QUESTION, "--strategy", strategy.value, *ON_VIEW) for strategy in Strategy),
    ("retrieve", QUESTION, "--text", "citations", *ON_VIEW),
    ("answer", QUESTION, *ON_VIEW),
    ("view", "delete", "r30"),
)
# What is each run's own: how long it took, when it was, and the store's count of editions.
OWN = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)|\d+(?:\.\d+)? s\b|[\d,]+/s|(?<=@)\d+|[ ]{2,}"
)


def run_line(
    url: str, graph: str, capsys: pytest.CaptureFixture[str]
) -> dict[tuple[str, ...], str]:
    """Returns what each verb prints, from load to answer, without what is each run's own."""
    printed = {}
    for arguments in LINE:
        capsys.readouterr()
        named = () if arguments[0] == "graphs" else ("--graph", graph)
        code = main((*arguments, "--store", url, *named))
        captured = capsys.readouterr()
        assert code == 0, (arguments, captured.err)
        lines = captured.out.splitlines()
        if arguments[0] == "graphs":
            # A server holds graphs of other tests too.
            lines = [line for line in lines if line.startswith(graph)]
        printed[arguments] = OWN.sub("*", "\n".join(lines))
    return printed


def test_the_command_line_prints_the_same_over_both_stores(
    neo4j_server: Neo4jServer,
    graph_names_of_server: Callable[[], str],
    demo_settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The whole line: load, item, view create and diff, retrieve, answer (S1 to S4)."""
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", demo_settings.vectors)
    monkeypatch.setenv("GRAPH_SERVICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NEO4J_USERNAME", neo4j_server.username or "")
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_server.password or "")
    monkeypatch.setenv("NEO4J_DATABASE", neo4j_server.database)
    monkeypatch.chdir(tmp_path)
    graph = graph_names_of_server()
    file = run_line(f"sqlite:///{tmp_path / 'line.db'}", graph, capsys)
    server = run_line(neo4j_server.url, graph, capsys)
    for arguments in LINE:
        assert file[arguments] == server[arguments], arguments
    assert all(file.values())
    base, on_view = (
        file["retrieve", QUESTION, "--strategy", "paths", *view] for view in ((), ON_VIEW)
    )
    assert "Aurelia" in base
    assert base != on_view
