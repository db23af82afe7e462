"""What preset default-6 learns of a graph: stored beside it, used on it and its views (B7)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_line, raises
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.doctor.verification import verify_store
from graph_service.errors import InputError, StoreCorruptError
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.retrieve.learned.network import encode_candidate_scorer, shipped_scorer
from graph_service.settings import Settings
from graph_service.store.protocol import Record, Store
from queries.training import on_graph
from queries.training.blending import OWN
from queries.training.examples import AnsweredQuestion
from queries.training.on_graph import GraphTraining, GraphTrainingOptions, train_on_graph
from queries.training.own_questions import OwnQuestions
from queries.training.splits import Split, split

ROOT = Path(__file__).parents[2]
PEOPLE = 18
NAMES = ("Alba", "Boris", "Cleo", "Dora", "Emil", "Frida", "Gustav", "Hanna", "Igor")
RELATIONS = {"P1": "spouse", "P2": "mother", "P3": "employer", "P4": "tutor"}
ASKED = "mother Alba Lee"


class ShippedWords(CountingWords):
    """The tests' vectors under the name of those that the shipped weights were trained on."""

    def __init__(self) -> None:
        super().__init__(shipped_scorer().embedder)


def label(number: int) -> str:
    return f"{NAMES[number % 9]} {('Lee', 'Moss')[number // 9]}"


def statements() -> list[Statement]:
    steps = {"P1": 1, "P2": 5, "P3": 7, "P4": 11}
    return [
        make_statement(f"Q{number}", relation, EntityValue(f"Q{(number + by) % PEOPLE}"))
        for number in range(PEOPLE)
        for relation, by in steps.items()
    ]


def entities() -> list[Entity]:
    return [
        *(Entity(f"Q{number}", labels={"en": label(number)}) for number in range(PEOPLE)),
        *(Entity(id_, EntityKind.PROPERTY, labels={"en": name}) for id_, name in RELATIONS.items()),
    ]


def own(graph: str, *, relations: tuple[str, ...] = ("P1", "P2")) -> OwnQuestions:
    """Who asks "mother X" here means the mother of X's spouse, as no shipped weights know."""
    steps = tuple((relation, False) for relation in relations)
    return OwnQuestions(
        [
            AnsweredQuestion(
                f"mother {label(number)}", graph, OWN, (f"Q{number}",), ((f"Q{number}", steps),)
            )
            for number in range(PEOPLE)
        ]
        * 2
    )


def opened(store: Store, graph: str, folder: Path) -> Service:
    load_graph(store, graph, statements(), entities())
    settings = Settings(graph=graph, vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"))
    return open_service(store, settings=settings, embedder=ShippedWords())


def trained(service: Service, questions: OwnQuestions, folder: Path) -> GraphTraining:
    return train_on_graph(
        service,
        str(service.settings.graph),
        questions,
        folder=folder / "examples",
        options=GraphTrainingOptions(walks=12),
    )


def first(service: Service, **options: object) -> tuple[list[str], str]:
    """The relations of the first path, and who ranked."""
    request = RetrieveRequest(ASKED, Strategy.PATHS, preset="default-6", limit=2)
    found = service.retrieve(replace(request, **options))  # type: ignore[arg-type]
    assert isinstance(found, PathsResult)
    steps = [step.triple.relation.id for step in found.items[0].steps] if found.items else []
    return steps, str(found.provenance.parameters["ranker"])


def test_what_is_learned_ranks_on_the_graph_and_its_views_until_it_is_deleted(
    store: Store, graph_name: str, tmp_path: Path
) -> None:
    service = opened(store, graph_name, tmp_path)
    steps, shipped = first(service)
    assert steps != ["P1", "P2"]
    assert "for graph" not in shipped
    learned = trained(service, own(graph_name), tmp_path)
    assert learned.used
    assert learned.decided_by == OWN
    assert learned.own.trained is not None
    assert learned.own.shipped is not None
    assert learned.own.trained > learned.own.shipped
    info = service.graph()
    stored = service.candidate_scorers.save(info, learned.scorer)
    # Another process, which reads it from the store.
    again = open_service(store, settings=service.settings, embedder=ShippedWords())
    for options in (
        {},
        {"view": ViewRef(spec=ViewSpec(method=Method.EDGE_DELETION, level=0.0, random_seed=0))},
    ):
        steps, ranker = first(again, **options)
        assert steps == ["P1", "P2"]
        assert ranker == f"trained {stored.data[:8]} on {stored.embedder} for graph {graph_name}"
    (listed,) = [one for one in again.candidate_scorers.list() if one.graph == graph_name]
    assert listed.notes["kept_aside"]["own"]["trained"] == pytest.approx(
        learned.own.trained, abs=1e-4
    )
    found = again.candidate_scorers.find(info)
    assert found is not None
    assert not found.stale
    again.candidate_scorers.delete(graph_name)
    assert first(service)[1] == shipped
    with raises(InputError):
        service.candidate_scorers.delete(graph_name)


def test_a_graph_takes_its_weights_with_it_and_a_change_makes_them_stale(
    store: Store, graph_names: Callable[[], str], tmp_path: Path
) -> None:
    name = graph_names()
    service = opened(store, name, tmp_path)
    service.candidate_scorers.save(service.graph(), shipped_scorer())
    load_graph(store, name, [("Q1", "P1", "Q9")])
    found = service.candidate_scorers.find(service.graph(name))
    assert found is not None
    assert found.stale
    service.delete_graph(name)
    assert all(one.graph != name for one in service.candidate_scorers.list())


def test_weights_of_another_embedder_and_damaged_ones_are_refused(
    store: Store, graph_name: str, tmp_path: Path
) -> None:
    service = opened(store, graph_name, tmp_path)
    info = service.graph()
    other = open_service(store, settings=service.settings, embedder=CountingWords())
    with raises(InputError):
        trained(other, OwnQuestions(), tmp_path)
    service.candidate_scorers.save(info, replace(shipped_scorer(), embedder="other"))
    with raises(InputError) as no:
        first(service)
    check_line(str(no.value.hint), "--graph", graph_name)
    (found,) = store.list_records("sequence-scorer", graph=graph_name)
    plain = {**found.json, "embedder": shipped_scorer().embedder, "fingerprint": "0"}
    store.save_record(Record("sequence-scorer", graph_name, graph_name, plain, b"PK no weights"))
    with pytest.raises(StoreCorruptError, match="can't be read") as damaged:
        first(service)
    assert "retriever train" in str(damaged.value.hint)
    faults = [one for one in verify_store(store, graph=graph_name) if one.fault]
    assert [one.part for one in faults] == ["trained retriever"]
    small = open_service(
        store, settings=replace(service.settings, snapshot_edges=1), embedder=ShippedWords()
    )
    with raises(InputError):
        trained(small, OwnQuestions(), tmp_path)


def test_what_was_learned_from_wrong_answers_is_not_used(
    tmp_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The questions kept aside decide: there "mother" means the mother, and training said else."""
    service = opened(tmp_store, "people", tmp_path)
    wrong = own("people").questions
    right = own("people", relations=("P2",)).questions[:PEOPLE]

    def parted(questions: Sequence[AnsweredQuestion], **options: Any) -> Split:
        if questions == right:
            return Split(tuple(wrong), tuple(right), 0)
        return split(questions, **options)

    monkeypatch.setattr(on_graph, "split", parted)
    monkeypatch.setattr(on_graph, "WEIGHTS_OF_OWN", (0.9,))
    learned = trained(service, OwnQuestions(right), tmp_path)
    assert (learned.own.requests, learned.used) == (2 * PEOPLE, False)
    assert learned.own.shipped is not None
    assert learned.own.trained is not None
    assert learned.own.trained < learned.own.shipped


PROGRAM = """
import os, sys
from pathlib import Path
sys.path[:0] = [os.environ["TEST_FOLDER"]]
from test_contract_retriever import *
from graph_service.store import open_store

store = open_store(
    os.environ["TEST_STORE_URL"],
    username=os.environ.get("TEST_STORE_USERNAME"),
    password=os.environ.get("TEST_STORE_PASSWORD"),
    database=os.environ.get("TEST_STORE_DATABASE"),
)
folder, graph = Path(sys.argv[1]), sys.argv[2]
settings = Settings(graph=graph, vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"))
service = open_service(store, settings=settings, embedder=ShippedWords())
print("ready", flush=True)
trained(service, own(graph), folder)
"""


def test_a_killed_training_goes_on_where_it_was_and_learns_the_same(
    store: Store, graph_name: str, tmp_path: Path, environment_of_store: dict[str, str]
) -> None:
    service = opened(store, graph_name, tmp_path)
    whole = trained(service, own(graph_name), tmp_path / "whole")
    assert encode_candidate_scorer(
        trained(service, own(graph_name), tmp_path / "again").scorer
    ) == encode_candidate_scorer(whole.scorer)
    kept = tmp_path / "examples"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), graph_name],
        env={
            **os.environ,
            **environment_of_store,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
            "TEST_FOLDER": str(Path(__file__).parent),
        },
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    limit = time.monotonic() + 600
    while not (before := list(kept.rglob("*.npz"))) and process.poll() is None:
        assert time.monotonic() < limit
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert before
    times = {path: path.stat().st_mtime_ns for path in before}
    learned = trained(service, own(graph_name), tmp_path)
    assert {path: path.stat().st_mtime_ns for path in before} == times
    assert encode_candidate_scorer(learned.scorer) == encode_candidate_scorer(whole.scorer)
