"""The soak: a short one that passes, one with faults planted that finds each, and its arithmetic."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_line
from graphs import load_graph
from served import served
from word_vectors import CountingWords

from benchmarks.soak.answers import ANSWERED, LATE, REFUSED, WRONG, Editions, outcome_of
from benchmarks.soak.asking import Server
from benchmarks.soak.prepared import subjects_of
from benchmarks.soak.records import FILE, Records, read_records
from benchmarks.soak.run import Plan, Target, soak
from benchmarks.soak.traffic import LOOK_UP, STORED, Asked, Request, Traffic
from benchmarks.soak.verdict import Verdict, judge
from benchmarks.soak.versions import Triple, is_left_out, marked, write_version
from benchmarks.soak.watching import held_by
from graph_service import Service, open_service
from graph_service.model.statement import Entity, EntityKind
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.server import operations, response_cache
from graph_service.server.options import ServerOptions
from graph_service.server.queue import WaitedError
from graph_service.settings import Settings
from graph_service.store.protocol import Store

RELATIONS = {"P1": "neighbour", "P2": "owner", "P3": "maker"}
TRIPLES: list[Triple] = [
    (f"Q{head}", relation, f"Q{(head * 7 + int(relation[1:]) * 5) % 40}")
    for head in range(40)
    for relation in RELATIONS
]
LABELS = {**{f"Q{number}": f"Thing {number}" for number in range(40)}, **RELATIONS}
PLAN = Plan(
    seconds=1.0,
    rate=30.0,
    capacity_s=0.2,
    at_once=3,
    connections=6,
    settle_s=0.2,
    look_s=0.1,
    load_s=0.5,
    view_s=0.5,
    say_s=0.0,
)


TOO_SHORT = "nobody looked at the processes after the start"


def load_version(store: Store, graph: str, version: int, of_labels: int | None = None) -> str:
    """Loads a version; half of its labels from another, where one is given."""
    versions = (version, version if of_labels is None else of_labels)
    entities = [
        Entity(
            id_,
            labels={"en": marked(label, versions[place % 2])},
            kind=EntityKind.PROPERTY if id_ in RELATIONS else EntityKind.ITEM,
        )
        for place, (id_, label) in enumerate(LABELS.items())
    ]
    triples = [triple for triple in TRIPLES if not is_left_out(triple, version)]
    return load_graph(store, graph, triples, entities, replace=True).edition


@pytest.fixture
def service(tmp_path: Path, demo_settings: Settings) -> Iterator[Service]:
    url = f"sqlite:///{tmp_path / 'soak.db'}"
    # Each version has new labels, and the encoder would take all the time there is.
    with open_service(url, settings=demo_settings, embedder=CountingWords()) as service:
        labels = [Entity(id_, labels={"en": label}) for id_, label in LABELS.items()]
        load_graph(service.store, "still", TRIPLES, labels)
        load_version(service.store, "changing", 0)
        spec = ViewSpec(Method.EDGE_DELETION, level=0.1)
        service.views.create(spec, graph="still", name="stored")
        yield service


def run(service: Service, folder: Path, *, is_faulty: bool, plan: Plan = PLAN) -> Verdict:
    def load(version: int) -> str:
        return load_version(service.store, "changing", version, 0 if is_faulty else None)

    subjects = subjects_of(TRIPLES, LABELS)
    with (
        served(service, ServerOptions(writable=True)) as url,
        Records(folder / FILE) as records,
    ):
        target = Target(
            server=Server(int(url.rpartition(":")[2]), ("", ""), 60.0),
            writer="",
            pids=lambda: [os.getpid()],
            traffic=Traffic(
                Asked("still", subjects, ("stored",)),
                Asked("changing", subjects),
                clients=2,
                random_seed=0,
            ),
            editions=Editions("changing"),
            graphs=("still", "changing"),
            load=load,
            first_version=1,
            about={"data": "made"},
        )
        soak(plan, target, records)
    return judge(read_records(folder / FILE))


def test_a_server_that_is_well_passes(service: Service, tmp_path: Path) -> None:
    parts = ("capacity", "data: made", "loads with --replace", "views made by jobs", "compare")
    plan = PLAN
    while True:
        folder = tmp_path / f"{plan.seconds:g}"
        folder.mkdir()
        verdict = run(service, folder, is_faulty=False, plan=plan)
        # In so short a time caches still fill, and threads still open their connections.
        faults = [fault for fault in verdict.faults if " grew by " not in fault]
        words = "\n".join(verdict.figures)
        # A busy machine comes to less of it in a second.
        if plan.seconds > 300 or (all(part in words for part in parts) and TOO_SHORT not in faults):
            break
        plan = replace(plan, seconds=2 * plan.seconds, settle_s=2 * plan.settle_s)
    assert faults == []
    assert [part for part in parts if part not in words] == []


def test_planted_faults_are_found(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []
    ended = threading.Event()
    key_of = response_cache.key_of

    def leaking(*given: Any) -> bytes:
        thread = threading.Thread(target=ended.wait)
        thread.start()
        kept.append((os.open("/dev/null", os.O_RDONLY), thread))
        if len(kept) % 4 == 0:
            raise WaitedError("the query waited for a free worker, all the time it is allowed")
        return key_of(*given)

    monkeypatch.setattr(operations, "key_of", leaking)
    wanted = {"were late", "mix editions", "files grew", "threads grew"}
    plan, faults = PLAN, list[str]()
    try:
        # A busy machine answers too little in a second to show all of them.
        while wanted and plan.seconds < 300:
            folder = tmp_path / f"{plan.seconds:g}"
            folder.mkdir()
            faults = list(run(service, folder, is_faulty=True, plan=plan).faults)
            wanted -= {what for what in wanted if any(what in fault for fault in faults)}
            plan = replace(plan, seconds=2 * plan.seconds, settle_s=2 * plan.settle_s)
    finally:
        ended.set()
        for descriptor, thread in kept:
            os.close(descriptor)
            thread.join()
    assert not wanted, faults


GROWING = """
import sys
held = bytearray()
for line in sys.stdin:
    held += b"x" * int(line)
    print(len(held), flush=True)
"""


def test_memory_that_a_process_took_is_read() -> None:
    # A process of its own: what the one of the tests holds changes with what ran before.
    with subprocess.Popen(
        [sys.executable, "-c", GROWING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        read = []
        for size in (1, 64 * 2**20):
            process.stdin.write(f"{size}\n")
            process.stdin.flush()
            process.stdout.readline()
            read.append(held_by([process.pid]))
        process.stdin.close()
    grown = read[1].anonymous - read[0].anonymous
    assert 64 * 2**20 <= grown < 80 * 2**20
    assert read[1].resident >= read[0].resident + grown // 2


ABOUT = {"name": "changing", "edition": "changing@3", "edgesFingerprint": "e"}
SUBJECT = {"itemId": "Q0", "label": "Thing 0 v7"}


def request(kind: str = LOOK_UP) -> Request:
    return Request(0, kind, "changing", 0, b"")


def fault_of(editions: Editions, *fields: Any, kind: str = LOOK_UP) -> str:
    about = {**ABOUT, "contentFingerprint": "c"}
    return editions.fault_of(request(kind), {"graph": about, "more": list(fields)})


def test_an_answer_of_two_editions_is_told() -> None:
    editions = Editions("changing")
    assert fault_of(editions, {"item": SUBJECT}) == ""
    assert "versions ['7', '8']" in fault_of(editions, SUBJECT, {"label": "Thing 1 v8"})
    assert "versions ['7', 'None']" in fault_of(editions, SUBJECT, {"label": "Q1"})
    check_line(fault_of(editions, {"label": "Thing 1 v8"}), "version 8", "of 7")
    assert "2 editions" in fault_of(editions, {**ABOUT, "contentFingerprint": "d"})
    assert "had ('e', 'c')" in editions.fault_of(request(), {**ABOUT, "contentFingerprint": "d"})
    other = Request(0, LOOK_UP, "still", 0, b"")
    assert "asked still" in editions.fault_of(other, {**ABOUT, "contentFingerprint": "c"})


def test_a_statement_that_the_version_lacks_is_told() -> None:
    gone = next(triple for triple in TRIPLES if is_left_out(triple, 7))
    statement = {
        "subject": {"itemId": gone[0]},
        "statement": {"property": {"propertyId": gone[1]}, "value": {"item": {"itemId": gone[2]}}},
    }
    editions = Editions("changing")
    assert "which version 7 lacks" in fault_of(editions, SUBJECT, statement)
    # A view may have added it.
    assert fault_of(editions, SUBJECT, statement, kind=STORED) == ""


REFUSAL = b'{"errors":[{"message":"busy","extensions":{"code":"LIMIT_EXCEEDED"}}]}'
TIMEOUT = REFUSAL.replace(b"LIMIT_EXCEEDED", b"TIMEOUT")


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        (503, {"retry-after": "1"}, REFUSAL, REFUSED),
        (429, {"retry-after": "1"}, REFUSAL.replace(b"LIMIT_EXCEEDED", b"THROTTLED"), REFUSED),
        (503, {}, REFUSAL, WRONG),
        (200, {"retry-after": "1"}, REFUSAL, WRONG),
        (503, {"retry-after": "1"}, TIMEOUT, LATE),
        (200, {}, TIMEOUT, LATE),
        (500, {}, REFUSAL.replace(b"LIMIT_EXCEEDED", b"INTERNAL"), WRONG),
        (200, {}, b'{"data":{"item":null}}', WRONG),
        (502, {}, b"<html>", WRONG),
    ],
)
def test_what_is_no_answer(status: int, headers: dict[str, str], body: bytes, kind: str) -> None:
    assert outcome_of(request(), status, headers, body, Editions("changing")).kind == kind


def test_a_version_has_its_mark_on_each_label_and_lacks_its_tenth(tmp_path: Path) -> None:
    files = write_version(tmp_path, TRIPLES, LABELS, 3)
    rows = [tuple(line.split("\t")) for line in files.triples.read_text().splitlines()]
    assert set(rows) == {triple for triple in TRIPLES if not is_left_out(triple, 3)}
    assert 0 < len(rows) < len(TRIPLES)
    assert all(line.endswith(" v3") for line in files.labels.read_text().splitlines())


def held(at: float, **grown: float) -> dict[str, Any]:
    fields = dict.fromkeys(("anonymous", "resident", "cached"), 100 * 2**20)
    counts = dict.fromkeys(("sockets", "files", "threads", "mappings"), 100)
    both = {**fields, **counts, **grown}
    return {"what": "held", "at": at, "processes": 1, "processor_s": at, **both}


@pytest.mark.parametrize(
    ("name", "of_start", "of_end", "is_fault"),
    [
        ("anonymous", 100 * 2**20, 104 * 2**20, False),
        ("anonymous", 100 * 2**20, 106 * 2**20, True),
        ("anonymous", 106 * 2**20, 100 * 2**20, False),
        ("files", 10, 12, False),
        ("files", 10, 13, True),
        ("threads", 100, 106, True),
        ("resident", 100, 200, False),
        ("processes", 2, 1, True),
    ],
)
def test_growth_is_told_of_what_was_held_after_the_start(
    name: str, of_start: float, of_end: float, is_fault: bool
) -> None:
    told = {"what": "request", "at": 10.0, "kind": LOOK_UP, "outcome": ANSWERED, "ms": 5.0}
    told |= {"lag_ms": 0.0, "repeat": False, "mixed": "", "note": ""}
    # What was held before does not count.
    records = [held(0.0, **{name: 1.0}), {"what": "settled", "at": 5.0}, told]
    records += [
        held(5.0 + place, **{name: of_start + place * (of_end - of_start) / 60})
        for place in range(61)
    ]
    ended: list[dict[str, Any]] = [
        {"what": "asked", "at": 70.0},
        {"what": "end", "at": 70.0, "editions": []},
    ]
    faults = judge([*records, *ended]).faults
    assert len(faults) == is_fault, faults
    assert all(name in fault for fault in faults)


def test_a_run_that_was_cut_short_says_so(tmp_path: Path) -> None:
    with Records(tmp_path / FILE) as records:
        records.add("about", about={"data": "made"})
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"what": "requ')
    verdict = judge(read_records(tmp_path / FILE))
    assert verdict.figures[0] == "data: made"
    assert "the run did not come to its end" in verdict.faults
