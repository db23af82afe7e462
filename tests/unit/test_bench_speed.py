"""``python -m benchmarks speed`` on a CoDEx of our own making: members, selection, what it leaves behind."""

from __future__ import annotations

import importlib.util
import json
import lzma
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_texts import check_line, check_text, raises
from neo4j_server import Neo4jServer
from question_data import write_data

from benchmarks import codex, dumps, neo4j_loads, scaling, trees, views
from benchmarks.__main__ import main
from benchmarks.codex import Codex, fixed_entities, fixed_questions, read_rows
from benchmarks.figures import Measured
from benchmarks.speed import SpeedReport, chosen_members, measure_speed
from benchmarks.speed_cases import MEMBERS, Member
from graph_service import open_service
from graph_service.errors import InputError, SetupError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.serialise import to_plain
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.tree.solver import SolverReport
from graph_service.settings import Settings, read_settings
from graph_service.store import open_store
from graph_service.store.protocol import Batch, Store
from queries.datasets.wikidata_questions import read_wikidata_questions

SCIPY = importlib.util.find_spec("scipy") is not None
LABELS = {"P1": "occupation", "P2": "place of birth", "P3": "award received", "P4": "spouse"}
DEMO = Path(__file__).parents[2] / "queries" / "datasets" / "demo" / "wikidata.jsonl"
EDGES = {"s": 40, "m": 60}


def load(path: Path, store: Store, graph: str, labels: Path | None) -> None:
    """A loader for the tests: what the command line passes in from the loaders."""
    named = dict(line.split("\t") for line in labels.read_text().splitlines()) if labels else {}
    entities = [
        Entity(
            id_,
            kind=EntityKind.PROPERTY if id_.startswith("P") else EntityKind.ITEM,
            labels={"en": label},
        )
        for id_, label in named.items()
    ]
    statements = [make_statement(h, r, EntityValue(t)) for h, r, t in read_rows(path)]
    with store.begin_load(graph, replace=True, owner="test", source="test") as session:
        session.write(Batch(entities=tuple(entities), statements=tuple(statements)))
        session.finish()
        session.publish()


def _write_two_editions(folder: Path) -> None:
    """Writes six people of two editions, of whom each knows the next; all are in both."""
    folder.mkdir()
    for side, edition in ((1, "http://fr.dbpedia.org"), (2, "http://dbpedia.org")):
        ids = [f"{10 * side + at}\t{edition}/resource/P{at}\n" for at in range(6)]
        triples = [f"{10 * side + at}\t{side}\t{10 * side + (at + 1) % 6}\n" for at in range(6)]
        for name, lines in (("ent_ids", ids), ("triples", triples)):
            (folder / f"{name}_{side}.xz").write_bytes(lzma.compress("".join(lines).encode()))
    (folder / "ref_ent_ids").write_text("".join(f"{10 + at}\t{20 + at}\n" for at in range(6)))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds codex/: scale-free graphs of some dozen edges."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "codex").mkdir()
    (folder / "codex" / "relations-en.json").write_text(
        json.dumps({id_: {"label": label, "description": ""} for id_, label in LABELS.items()})
    )
    for size, count in EDGES.items():
        draw = random.Random(size)
        rows: dict[str, None] = {}
        while len(rows) < count:
            head, tail = draw.randrange(1, count // 2), int(draw.random() ** 3 * count / 2) + 1
            rows[f"Q{head}\t{draw.choice(list(LABELS))}\tQ{tail}\n"] = None
        (folder / "codex" / f"{size}-train.tsv").write_text("".join(rows))
    _write_two_editions(folder / "dbp15k_fr_en")
    documents = folder / "wikidata_docs" / "wikibase_sdk_json"
    documents.mkdir(parents=True)
    for line in DEMO.read_text().splitlines():
        document = json.loads(line)
        if document["id"] not in ("Q42", "Q350"):
            continue
        # As one of the real documents has it: two statements of one id, which no load takes.
        one = next(iter(document["claims"].values()))
        one.append({**one[0], "rank": "deprecated"})
        (documents / f"{document['id']}.json").write_text(json.dumps(document))
    return folder


class Trigrams:
    """An embedder that costs nothing: how often each three letters occur, hashed."""

    # That of the one whose vectors default-6 reads.
    name = shipped_scorer().embedder
    dimension = 64

    def encode(self, texts: Sequence[str], /) -> np.ndarray[Any, np.dtype[np.float32]]:
        vectors = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in enumerate(texts):
            for start in range(len(text) - 2):
                vectors[row, zlib.crc32(text[start : start + 3].encode()) % self.dimension] += 1
        return np.ascontiguousarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


@pytest.fixture(scope="module")
def report(data: Path) -> Iterator[SpeedReport]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dumps, "TRIPLES", 300)
        patch.setattr(dumps, "STATEMENTS", 60)
        patch.setattr(scaling, "SIZES", (200, 2_000))
        # Members do all of their work on a few questions too: what they time is not looked at.
        for module in (scaling, views):
            patch.setattr(module, "_QUESTIONS", 3)
        patch.setattr(codex, "fixed_questions", partial(fixed_questions, count=10))
        patch.setattr(codex, "open_service", partial(open_service, embedder=Trigrams()))
        yield measure_speed(data, load=load, settings=Settings())


def test_every_member_measures_itself_beside_its_reference(report: SpeedReport) -> None:
    """No figure is compared with the clock."""
    usual = [member.name for member in MEMBERS if not member.by_name]
    assert [item.name for item in report.figures] == usual
    for item in report.figures:
        if item.name == "dump-neo4j":
            assert item.own_median_ms is None
            assert "--neo4j" in (item.skipped or "")
            continue
        assert item.own_median_ms is not None, item.skipped
        assert 0 < item.own_median_ms <= (item.own_p95_ms or 0)
        assert (item.reference_median_ms is None) == (item.skipped is not None)
        if item.reference_median_ms is not None:
            assert item.ratio == item.own_median_ms / item.reference_median_ms


def _details(report: SpeedReport, name: str) -> Mapping[str, float | int | str]:
    return next(item.details for item in report.figures if item.name == name)


@pytest.mark.neo4j
def test_loads_into_neo4j_leave_nothing_there(
    data: Path, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_USERNAME", neo4j_server.username or "neo4j")
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_server.password or "")
    monkeypatch.setattr(neo4j_loads, "EDGES", 30)
    with open_store(
        neo4j_server.url, username=neo4j_server.username, password=neo4j_server.password
    ) as store:
        before = {info.name for info in store.graphs()}
        report = measure_speed(
            data,
            load=load,
            settings=read_settings(),
            neo4j=neo4j_server.url,
            only=["dump-neo4j"],
        )
        after = {info.name for info in store.graphs()}
    [item] = report.figures
    assert item.ratio is not None, item.skipped
    assert item.details["stored"] == item.details["triples"] == 60
    assert float(item.details["snapshot_ms"]) > 0
    assert not any(name.startswith("bench-") for name in after - before)


def test_a_cold_server_refuses_none_of_sixteen_clients(data: Path, tmp_path: Path) -> None:
    for folder in (data / "codex", write_data(tmp_path / "sets") / "wikidata_questions"):
        (tmp_path / folder.name).symlink_to(folder)
    [item] = measure_speed(tmp_path, load=load, settings=Settings(), only=["cold-burst-1"]).figures
    assert item.runs == item.reference_runs == 1
    assert [item.details[name] for name in ("asked", "refused", "failed", "late")] == [1, 0, 0, 0]


def test_questions_that_nobody_asked_are_measured_beside_themselves(
    data: Path, tmp_path: Path
) -> None:
    for folder in (data / "codex", write_data(tmp_path / "sets") / "wikidata_questions"):
        (tmp_path / folder.name).symlink_to(folder)
    sample = tmp_path / "wikidata_questions" / "sample_ids.txt"
    ids = [row.id for row in read_wikidata_questions(sample.parent)]
    sample.write_text("\n".join(ids[:3]) + "\n", encoding="utf-8")
    items = measure_speed(tmp_path, load=load, settings=Settings(), only=["first-asked"]).figures
    item, on_neo4j = items
    assert item.runs == item.reference_runs == int(item.details["questions"]) - 1
    assert float(item.details["cold_median_ms"]) > 0
    assert float(item.details["first_ms"]) > float(item.details["cold_median_ms"])
    assert on_neo4j.skipped


def test_members_did_the_work_they_name(report: SpeedReport) -> None:
    assert _details(report, "load-s")["statements"] == EDGES["s"]
    assert _details(report, "dump-ntriples")["triples"] == 300
    assert 0 < int(_details(report, "dump-ntriples")["stored"]) < 300
    for name in ("dump-json", "dump-json-gz", "dump-json-bz2"):
        details = _details(report, name)
        assert details["stored"] == details["statements"]
        assert int(details["stored"]) >= 60
    for size, count in EDGES.items():
        # 30 % of the edges; swapping and rewiring may find a few that cannot change.
        assert _details(report, f"view-deletion-{size}")["changed"] == 3 * count // 10
        assert 0 < float(_details(report, f"view-swapping-{size}")["changed"]) <= 3 * count // 10
        for strategy in ("triplets", "paths", "subgraph"):
            details = _details(report, f"retrieve-{strategy}-{size}")
            assert 0 < int(details["with_items"]) <= int(details["questions"])
            assert "region_ms" in details
    assert _details(report, "embed")["labels"] == len(LABELS)


def test_members_about_views_did_the_work_they_name(report: SpeedReport) -> None:
    """O11: what is measured is what networkx finds; the sweep's views are all there."""
    for size, count in EDGES.items():
        for metric in ("sc2d", "sd2"):
            details = _details(report, f"deviation-{metric}-{size}")
            assert details["edges"] == count
            assert float(details["largest_difference"]) < 1e-12
        sizes = _details(report, f"stored-view-{size}")
        assert float(sizes["edge-deletion_bytes_an_edge"]) > 0
    for name in ("on-view-warm-m", "on-view-first-m"):
        assert "more_ms" in _details(report, name)
    for name in ("swapping", "rewiring", "deletion"):
        assert _details(report, f"view-{name}-large")["changed"] == 600
        assert float(_details(report, f"view-{name}-large")["peak_mb"]) > 0
    assert _details(report, "sweep-m")["views"] == 200


@pytest.mark.parametrize(("size", "edges"), [*EDGES.items(), ("dbp15k", 12)])
def test_links_between_sources_are_followed_where_they_are_measured(
    report: SpeedReport, size: str, edges: int
) -> None:
    """B15: a question with links beside the same without, and beside one id for each entity."""
    details = _details(report, f"links-{size}")
    figure = next(item for item in report.figures if item.name == f"links-{size}")
    assert 0 < int(details["groups"]) < edges
    assert 0 < int(details["with_statements_of_both"]) <= int(details["questions"])
    assert figure.ratio is not None
    assert details["within_bound"] == ("yes" if figure.ratio <= 1.1 else "no")
    assert details["bound"] == 1.1
    for name in ("ratio_of_pairs", "ratio_to_one_id_each", "pairs_to_one_id_each"):
        assert float(details[name]) > 0


def test_trees_are_never_worse_than_the_raw_run(report: SpeedReport) -> None:
    """O7: the solver as it serves, beside pcst_fast's own pruning."""
    for size in EDGES:
        for name in ("growth", "tree"):
            details = _details(report, f"{name}-{size}")
            assert float(details["mean_objective"]) >= float(
                details.get("reference_mean_objective", 0.0)
            )
    for name in ("proof-1000-cost-1", "proof-3000-cost-3"):
        details = _details(report, name)
        assert int(details["regions"]) > 5
        assert details["prove_proven"] == 1.0
        assert details.get("worse_than_reference", 0) == 0
        assert float(details["prove_mean_gap"]) == 0.0


def test_a_region_without_limits_holds_every_chain(report: SpeedReport) -> None:
    details = _details(report, "region-m")
    assert details["no_limit_chain_recall"] == 1.0
    assert 0.0 <= float(details["hub_degree_500_chain_recall"]) <= 1.0
    assert 0 < int(details["hub_degree_500_median_edges"]) <= int(details["no_limit_median_edges"])


def test_scale_free_graphs_are_the_same_for_one_random_seed() -> None:
    """What is measured on three sizes is one kind of graph, and a graph as any other."""
    one, two, other = (scaling.scale_free(3_000, random_seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.head[:], two.head[:])
    assert np.array_equal(one.statement_keys, two.statement_keys)
    assert not np.array_equal(one.head[:], other.head[:])
    degrees = np.sort(one.degrees())[::-1]
    assert degrees.sum() == 6_000
    assert degrees[0] > 10 * np.median(degrees)
    for keys in (one.node_keys, one.statement_keys[one.topology.key_order]):
        assert (np.diff(keys) > 0).all()
    for adjacency, ends in ((one.out_edges, one.head[:]), (one.in_edges, one.tail)):
        for node in range(0, one.node_count, 37):
            edges = one.in_key_order(np.flatnonzero(ends == node))
            assert adjacency.of(node).tolist() == edges.tolist()


@pytest.mark.skipif(not SCIPY, reason="networkx.pagerank needs scipy")
def test_pagerank_is_that_of_networkx(report: SpeedReport) -> None:
    """O3: the largest error against networkx at a tolerance of 1e-14, and the same set kept."""
    for name in ("pagerank-m-along", "pagerank-m-both", "pagerank-m-region"):
        details = _details(report, name)
        assert float(details["largest_error"]) < 1e-6
        assert details["kept_otherwise"] == 0


def test_without_scipy_the_reference_is_skipped_with_the_command(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "scipy" else real(name, *rest),
    )
    figures = measure_speed(data, load=load, settings=Settings(), only=["pagerank-m-along"]).figures
    assert len(figures) == 1
    assert figures[0].own_median_ms is not None
    assert figures[0].ratio is None
    assert "pip install scipy" in str(figures[0].skipped)


def test_without_pcst_fast_growth_is_measured_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = SolverReport("own", "pcst_fast is not installed", True)
    monkeypatch.setattr(trees, "load_pcst_fast", lambda: (None, missing))
    (found,) = measure_speed(data, load=load, settings=Settings(), only=["growth-s"]).figures
    assert found.own_median_ms is not None
    assert found.ratio is None
    assert found.skipped


def test_report_is_one_json_object_with_the_machine(report: SpeedReport) -> None:
    plain = json.loads(json.dumps(to_plain(report), allow_nan=False))
    assert set(plain) == {"machine", "figures"}
    assert plain["machine"]["cores"] >= 1
    assert plain["machine"]["versions"]["numpy"] == np.__version__
    assert set(plain["figures"][0]) >= {"name", "own_median_ms", "own_p95_ms", "ratio", "reference"}


# Selection


def test_a_name_chooses_by_its_beginning_in_the_order_of_the_table() -> None:
    chosen = [member.name for member in chosen_members(["view-s", "load"])]
    assert chosen == ["load-s", *(f"view-swapping-{size}" for size in ("s", "m", "large"))]
    usual = [member for member in MEMBERS if not member.by_name]
    assert chosen_members([]) == usual
    assert len({member.name for member in MEMBERS}) == len(MEMBERS)


def test_what_few_machines_can_run_is_run_by_its_name_alone() -> None:
    (far,) = chosen_members(["scale-1"])
    assert far.by_name
    assert [member.name for member in chosen_members(["scale"])] == ["scale"]
    assert [member.name for member in chosen_members(["scale", far.name])] == ["scale", far.name]


def test_an_unknown_name_lists_those_there_are() -> None:
    with raises(InputError) as caught:
        chosen_members(["load", "fly"])
    assert all(member.name in str(caught.value) for member in MEMBERS)


def test_a_folder_without_codex_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s-train\.tsv") as caught:
        measure_speed(tmp_path, load=load, settings=Settings())
    assert caught.value.argument == "data"


def _member(name: str, measure: Callable[[Codex], Measured]) -> Member:
    return Member(name, "work", "other", measure)


def test_a_member_that_lacks_something_is_skipped_and_the_others_go_on(data: Path) -> None:
    folders: list[Path] = []

    def lacking(data: Codex) -> Measured:
        folders.append(data.folder)
        assert data.folder.is_dir()
        raise SetupError("no weights", hint="Run: graph-service model fetch")

    said: list[str] = []
    report = measure_speed(
        data,
        load=load,
        settings=Settings(),
        progress=said.append,
        members=[_member("first", lacking), _member("second", lambda _: Measured([1.0], [2.0]))],
    )
    first, second = report.figures
    assert first.own_median_ms is None
    check_text(first.skipped)
    assert second.ratio == 0.5
    assert said == ["first", "second"]
    assert not folders[0].exists()


# The fixed entities and questions


def _graph(
    small_graph: Callable[..., KnowledgeGraph], rows: list[tuple[str, str, str]]
) -> KnowledgeGraph:
    entities = [
        Entity(id_, kind=EntityKind.PROPERTY, labels={"en": label}) for id_, label in LABELS.items()
    ]
    return small_graph(rows, entities)


def test_fixed_entities_are_the_hubs_and_then_by_key(
    small_graph: Callable[..., KnowledgeGraph], data: Path
) -> None:
    rows = read_rows(data / "codex" / "s-train.tsv")
    graph = _graph(small_graph, rows)
    chosen = fixed_entities(graph, count=12, hubs=4)
    degrees = dict.fromkeys(range(graph.entity_count), 0)
    for head, _, tail in rows:
        for id_ in (head, tail):
            node = graph.find_node(id_)
            assert node is not None
            degrees[node] += 1
    hubs = sorted(degrees, key=lambda node: (-degrees[node], node))[:4]
    others = [node for node in sorted(degrees) if degrees[node] and node not in hubs][:8]
    assert chosen.tolist() == [*hubs, *others]


def test_fixed_questions_do_not_depend_on_the_order_of_the_load(
    small_graph: Callable[..., KnowledgeGraph], data: Path
) -> None:
    rows = read_rows(data / "codex" / "s-train.tsv")
    first = fixed_questions(_graph(small_graph, rows))
    second = fixed_questions(_graph(small_graph, rows[::-1]))
    assert first == second
    assert 0 < len(first) <= 100
    labels = tuple(LABELS.values())
    for question in first:
        assert question.text.endswith(f" of {question.entity_id}?")
        assert any(f"the {label} of" in question.text for label in labels)


def test_entities_without_edges_are_never_asked_about(
    small_graph: Callable[..., KnowledgeGraph],
) -> None:
    """The relations P1 to P3 are entities of the graph too, and no statement names them."""
    graph = _graph(small_graph, [("Q1", "P1", "Q2")])
    assert sorted(item.entity_id for item in fixed_questions(graph)) == ["Q1", "Q2"]


# The command line


def test_command_prints_one_object_and_writes_the_same(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "speed.json"
    arguments = ["speed", "--data", str(data), "--only", "load", "--out", str(out)]
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(out.read_text())
    assert [item["name"] for item in printed["figures"]] == ["load-s"]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert "measuring load-s" in shown.err
    assert shown.out.splitlines()[3].split()[:3] == ["name", "median", "ms"]
    assert "bare sqlite3 insert" in shown.out


def test_command_refuses_what_it_cannot_do(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["speed", "--data", str(data), "--only", "fly"]) == 2
    assert "pagerank-m-along" in capsys.readouterr().err
    assert main(["speed", "--data", str(tmp_path)]) == 2
    out = tmp_path / "missing" / "speed.json"
    assert main(["speed", "--data", str(data), "--out", str(out)]) == 2
    check_line(capsys.readouterr().err, "there is no")
