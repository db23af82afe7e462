"""Loads into a cluster whose leader changes, dies or is gone: nothing lost, nothing twice.

The members are those of ``bolt_cluster``; what they are asked, the real server of the tests does.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import neo4j
import pytest
from bolt_cluster import NOT_A_LEADER, BoltCluster, Does, Fault, OfServer
from neo4j_server import Neo4jServer
from waiting import PATIENCE_S

from graph_service.errors import StoreUnavailableError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.store.neo4j.store import Neo4jStore, open_neo4j
from graph_service.store.protocol import Batch

pytestmark = pytest.mark.neo4j

BATCHES = 4
Opener = Callable[..., Neo4jStore]


def batch(number: int) -> Batch:
    """Two statements: one names an entity that others name too."""
    return Batch(
        statements=[
            make_statement(f"Q{number}", "P1", EntityValue("Q100")),
            make_statement(f"Q{number}", "P2", StringValue(f"value {number}")),
        ],
        source="s",
        lines=[2 * number, 2 * number + 1],
    )


EXPECTED = sorted(
    statement.id for number in range(BATCHES) for statement in batch(number).statements
)


@pytest.fixture
def graph() -> str:
    """A name that no other test uses."""
    return f"routed-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def cluster(neo4j_server: Neo4jServer) -> Iterator[BoltCluster]:
    auth = None
    if neo4j_server.password is not None:
        auth = (neo4j_server.username or "neo4j", neo4j_server.password)
    options = {"auth": auth, "notifications_min_severity": "OFF"}
    with (
        neo4j.GraphDatabase.driver(neo4j_server.url, **options) as driver,  # type: ignore[arg-type]
        BoltCluster(OfServer(driver, database=neo4j_server.database)) as found,
    ):
        yield found


@pytest.fixture
def open_store(cluster: BoltCluster, graph: str, tmp_path: Path) -> Iterator[Opener]:
    """Gives ``open_store()``: the store behind the cluster, as another process would open it."""
    with contextlib.ExitStack() as opened:

        def open_store(load_retry_s: float = PATIENCE_S) -> Neo4jStore:
            store = open_neo4j(
                cluster.url,
                snapshot_folder=tmp_path,
                retry_s=0.1,
                load_retry_s=load_retry_s,
                connect_timeout_s=PATIENCE_S,
            )
            return opened.enter_context(store)

        yield open_store
        if cluster.leader is None:
            cluster.elect("a")
        store = open_store()
        if any(info.name == graph for info in store.graphs()):
            store.delete_graph(graph)


def loaded(store: Neo4jStore, info: GraphInfo) -> list[str]:
    found: list[Statement] = [
        one for part in store.scan_statements(info.edition, in_order=False) for one in part
    ]
    return sorted(one.id for one in found)


@pytest.mark.parametrize(
    ("message", "does"),
    [("RUN", Does.FAIL), ("RUN", Does.DIE), ("COMMIT", Does.DIE), ("COMMIT", Does.DIE_AFTER)],
)
def test_a_load_follows_the_leader(
    message: str, does: Does, cluster: BoltCluster, open_store: Opener, graph: str
) -> None:
    """It changes in the middle of a batch, and again while the load is finished and published."""

    def fault(leader: str, following: str, skip: int) -> Fault:
        return Fault(
            message,
            on=leader,
            does=does,
            code=NOT_A_LEADER,
            skip=skip,
            then=lambda: cluster.elect(following),
        )

    store = open_store()
    with store.begin_load(graph, owner="o", source="s") as load:
        load.write(batch(0))
        cluster.script(fault("a", "b", 3 if message == "RUN" else 0))
        for number in range(1, BATCHES):
            load.write(batch(number))
        assert cluster.leader == "b"
        cluster.script(fault("b", "c", 2))
        assert load.finish().written == len(EXPECTED)
        assert cluster.leader == "c"
        cluster.script(fault("c", "a", 0))
        info = load.publish()
    assert not cluster.left()
    assert loaded(store, info) == EXPECTED
    assert {one.member for one in cluster.asked("RUN", "CREATE (j:LoadJournal)")} == {"a", "b"}


@pytest.mark.parametrize(("does", "committed"), [(Does.DIE, 2), (Does.DIE_AFTER, 3)])
def test_a_load_without_a_leader_stops_and_goes_on_at_its_checkpoint(
    does: Does, committed: int, cluster: BoltCluster, open_store: Opener, graph: str
) -> None:
    """Also where the last batch is in, and only its reply was lost."""
    load = open_store(0.2).begin_load(graph, owner="o", source="s")
    for number in range(2):
        load.write(batch(number), checkpoint={"next": number + 1})
    cluster.script(Fault("COMMIT", does=does, then=lambda: cluster.elect(None)))
    with pytest.raises(StoreUnavailableError) as caught, load:
        load.write(batch(2), checkpoint={"next": 3})
    assert caught.value.retryable
    cluster.elect("b")
    store = open_store()
    with store.begin_load(graph, owner="o", source="s") as load:
        assert load.sequence == committed
        assert load.checkpoint == {"next": committed}
        for number in range(committed, BATCHES):
            load.write(batch(number))
        assert load.finish().written == len(EXPECTED)
        info = load.publish()
    assert loaded(store, info) == EXPECTED


def test_a_batch_in_doubt_is_asked_of_the_leader(
    cluster: BoltCluster, open_store: Opener, graph: str
) -> None:
    """A commit without a reply brings no bookmark: a reader may still be before it."""
    store = open_store(0.2)
    with store.begin_load(graph, owner="o", source="s") as load:
        load.write(batch(0))
        before = store._connection.read(
            "MATCH (e:GraphEdition {id: $id}) RETURN e.sequence, e.last_write, e.checkpoint",
            id=load.edition,
        )
        cluster.script(Fault("COMMIT", does=Does.DIE_AFTER, then=lambda: cluster.elect(None)))
        with pytest.raises(StoreUnavailableError):
            load.write(batch(1))
        cluster.elect("b")
        cluster.script(
            *(
                Fault("RUN", on=reader, does=Does.ANSWER, having="e.last_write", rows=before)
                for reader in ("a", "c")
            )
        )
        for number in range(1, BATCHES):
            load.write(batch(number))
        assert load.sequence == BATCHES
        load.finish()
        info = load.publish()
    assert loaded(store, info) == EXPECTED


def test_another_process_reads_what_was_loaded(
    cluster: BoltCluster, open_store: Opener, graph: str
) -> None:
    """A server that runs already names the state after the load in its next read."""
    serving, loading = open_store(), open_store()
    assert graph not in {info.name for info in serving.graphs()}
    with loading.begin_load(graph, owner="o", source="s") as load:
        for number in range(BATCHES):
            load.write(batch(number))
        load.finish()
        info = load.publish()
    published = f"FB:{cluster.committed:06d}"
    assert serving.graph(graph) == info
    assert published in cluster.asked("BEGIN")[-1].extra["bookmarks"]
