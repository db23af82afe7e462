"""Names of views on both stores: unique, whatever several processes do at the same moment (B21)."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import raises
from graphs import load_graph

from graph_service.artifacts.views import ViewStore
from graph_service.doctor.verification import verify_store
from graph_service.errors import InputError
from graph_service.model.stored_view import StoredView
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service.scoped_store import scoped_store
from graph_service.store import open_store
from graph_service.store.protocol import Record, Store
from graph_service.store.records import encode_fields
from tools.release import STORE

ROWS = [(f"Q{i}", f"P{i % 3}", f"Q{i * 7 % 20}") for i in range(20)]

# Runs a command a line. Each command waits, before it first writes, for a line of the parent: by
# then all processes have checked that their name is free.
WRITER = """
import json, os, signal, sys
from graph_service.artifacts.views import ViewStore
from graph_service.errors import GraphServiceError
from graph_service.model.stored_view import StoredView
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.store import open_store
from graph_service.store.neo4j import records as neo4j_records
from graph_service.store.sqlite import store as sqlite_store

def say(line):
    print(line, flush=True)

def die(encoded):
    os.kill(os.getpid(), signal.SIGKILL)

class Held:
    def __init__(self, store):
        self._store, self._waits = store, True

    def __getattr__(self, name):
        return getattr(self._store, name)

    def replace_record(self, record, /, *, name=None):
        if self._waits:
            self._waits = False
            say("checked")
            if sys.stdin.readline().strip() == "die inside":
                # Both stores call it within the transaction that writes.
                sqlite_store.version_of = neo4j_records.version_of = die
        return self._store.replace_record(record, name=name)

store = open_store(
    os.environ["TEST_STORE_URL"],
    username=os.environ.get("TEST_STORE_USERNAME"),
    password=os.environ.get("TEST_STORE_PASSWORD"),
    database=os.environ.get("TEST_STORE_DATABASE"),
)
graph = sys.argv[1]
arrays = store.snapshot(store.graph(graph))
edges = arrays.fingerprints.edges
say("ready")
for line in sys.stdin:
    command = json.loads(line)
    views = ViewStore(Held(store))
    spec = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=command.get("seed", 0))
    named = {key: command[key] for key in ("name", "note") if key in command}
    try:
        if command["do"] == "create":
            view = views.create(arrays, spec, **named)
        elif command["do"] == "begin":
            view = views.begin(graph, spec, edges=edges, **{"note": "", **named})[0]
        elif command["do"] == "advance":
            view = views.get(graph, command["id"], edges=edges)
            views.advance(view, progress=command["progress"])
        else:
            view = views.describe(graph, command["id"], edges=edges, **named)
        answer = {"id": view.id, "name": view.name, "note": view.note, "reused": view.reused}
    except GraphServiceError as error:
        answer = {"code": error.code, "argument": error.argument, "message": str(error)}
    say(json.dumps(answer))
"""


class Writers:
    """Processes that write views of a graph.

    Args:
        processes: The processes, each waiting for its first command.
    """

    def __init__(self, processes: Sequence[subprocess.Popen[str]], /) -> None:
        self._processes = processes
        for process in processes:
            assert self._line(process) == "ready"

    def at_once(self, *commands: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns what each command came to; all write after all have checked."""
        answers: dict[int, str] = {}
        for process, command in zip(self._processes, commands, strict=False):
            self._send(process, json.dumps(command))
        for index, process in enumerate(self._processes[: len(commands)]):
            if (line := self._line(process)) != "checked":
                answers[index] = line
        held = [index for index in range(len(commands)) if index not in answers]
        for index in held:
            self._send(self._processes[index], "write")
        for index in held:
            answers[index] = self._line(self._processes[index])
        return [json.loads(answers[index]) for index in range(len(commands))]

    def die(self, index: int, command: dict[str, Any], how: str) -> None:
        """Runs a command in a process that is killed before it writes, or as it writes."""
        process = self._processes[index]
        self._send(process, json.dumps(command))
        assert self._line(process) == "checked"
        if how == "before":
            process.kill()
        else:
            self._send(process, "die inside")
        assert process.wait(timeout=600) == -signal.SIGKILL

    def _send(self, process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()

    def _line(self, process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        return process.stdout.readline().strip()


@contextmanager
def writers(count: int, name: str, environment: dict[str, str]) -> Iterator[Writers]:
    with ExitStack() as stack:
        processes = []
        for _ in range(count):
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", WRITER, name],
                    env={**os.environ, **environment},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(process.kill)
            processes.append(process)
        yield Writers(processes)


def listed(store: Store, name: str) -> list[StoredView]:
    return ViewStore(store).list(name, edges=store.graph(name).fingerprints.edges)


def outcomes(answers: Sequence[dict[str, Any]]) -> tuple[list[str], set[tuple[str, str]]]:
    """The ids of the views of those that succeeded, and what the others were refused with."""
    ids = [answer["id"] for answer in answers if "id" in answer]
    refused = {(answer["code"], answer["argument"]) for answer in answers if "code" in answer}
    return ids, refused


def test_of_processes_that_take_one_name_at_once_one_succeeds(
    store: Store, graph_name: str, environment_of_store: dict[str, str]
) -> None:
    load_graph(store, graph_name, ROWS)
    with writers(4, graph_name, environment_of_store) as processes:
        for turn, do in enumerate(("create", "begin", "create")):
            name = f"team{turn}"
            answers = processes.at_once(
                *({"do": do, "seed": 10 * turn + seed, "name": name} for seed in range(4))
            )
            (winner,), refused = outcomes(answers)
            assert refused == {("BAD_INPUT", "name")}
            views = [view for view in listed(store, graph_name) if view.name == name]
            assert [view.id for view in views] == [winner]
            losers = [answer for answer in answers if "code" in answer]
            assert all(winner in answer["message"] for answer in losers)
    assert len(listed(store, graph_name)) == 3, "of those that were refused nothing is stored"


def test_one_specification_under_several_names_at_once_is_one_view_of_one_name(
    store: Store, graph_name: str, environment_of_store: dict[str, str]
) -> None:
    load_graph(store, graph_name, ROWS)
    with writers(3, graph_name, environment_of_store) as processes:
        for turn, do in enumerate(("create", "begin")):
            answers = processes.at_once(
                *(
                    {"do": do, "seed": turn, "name": f"{do}{i}", "note": f"note {i}"}
                    for i in range(3)
                )
            )
            assert len({(answer["id"], answer["name"], answer["note"]) for answer in answers}) == 1
            assert sorted(answer["reused"] for answer in answers) == [False, True, True]
            (first,) = (answer for answer in answers if not answer["reused"])
            (view,) = (view for view in listed(store, graph_name) if view.id == first["id"])
            assert (view.name, view.note) == (first["name"], first["note"])


def test_of_views_that_are_renamed_to_one_name_at_once_one_gets_it(
    store: Store, graph_name: str, environment_of_store: dict[str, str]
) -> None:
    load_graph(store, graph_name, ROWS)
    with writers(3, graph_name, environment_of_store) as processes:
        made = processes.at_once(
            *({"do": "create", "seed": seed, "name": f"own{seed}"} for seed in range(3))
        )
        ids = [answer["id"] for answer in made]
        answers = processes.at_once(
            {"do": "update", "id": ids[0], "name": "wanted"},
            {"do": "update", "id": ids[1], "name": "wanted"},
            {"do": "create", "seed": 3, "name": "wanted"},
        )
        (winner,), refused = outcomes(answers)
        assert refused == {("BAD_INPUT", "name")}
        holders = [view.id for view in listed(store, graph_name) if view.name == "wanted"]
        assert holders == [winner]
        # Two who name one view: both succeed, one after the other, and the other name is free.
        answers = processes.at_once(
            {"do": "update", "id": ids[2], "name": "a"},
            {"do": "update", "id": ids[2], "name": "b", "note": "of b"},
        )
        assert outcomes(answers) == ([ids[2]] * 2, set())
        (view,) = (view for view in listed(store, graph_name) if view.id == ids[2])
        assert view.note == "of b"
        free = {"a": "b", "b": "a"}[str(view.name)]
        assert "id" in processes.at_once({"do": "create", "seed": 4, "name": free})[0]


def test_what_a_job_notes_and_what_a_person_notes_at_once_both_stay(
    store: Store, graph_name: str, environment_of_store: dict[str, str]
) -> None:
    load_graph(store, graph_name, ROWS)
    with writers(2, graph_name, environment_of_store) as processes:
        (begun,) = processes.at_once({"do": "begin", "seed": 1, "name": "first"})
        processes.at_once(
            {"do": "advance", "id": begun["id"], "progress": 0.25},
            {"do": "update", "id": begun["id"], "name": "second", "note": "why"},
        )
        (view,) = listed(store, graph_name)
    assert (view.name, view.note, view.progress) == ("second", "why", 0.25)


@pytest.mark.parametrize("how", ["before", "inside"])
@pytest.mark.parametrize("do", ["create", "update"])
def test_a_process_that_is_killed_between_check_and_write_leaves_the_name_free(
    store: Store, graph_name: str, environment_of_store: dict[str, str], do: str, how: str
) -> None:
    load_graph(store, graph_name, ROWS)
    with writers(2, graph_name, environment_of_store) as processes:
        (own,) = processes.at_once({"do": "create", "seed": 1, "name": "own"})
        processes.die(0, {"do": do, "id": own["id"], "seed": 2, "name": "wanted"}, how)
        assert [(view.id, view.name) for view in listed(store, graph_name)] == [(own["id"], "own")]
        # Of the same specification and of the same view, so that nothing of them is left either.
        for command in (
            {"do": "create", "seed": 2, "name": "wanted"},
            {"do": "update", "id": own["id"], "name": "renamed"},
        ):
            process = processes._processes[1]
            processes._send(process, json.dumps(command))
            assert processes._line(process) == "checked"
            processes._send(process, "write")
            assert json.loads(processes._line(process))["name"] == command["name"]
    assert {view.name for view in listed(store, graph_name)} == {"wanted", "renamed"}
    assert [part.fault for part in verify_store(store, graph=graph_name) if part.fault] == []


def test_a_name_is_unique_in_a_graph_whoever_sees_it(
    store: Store, graph_names: Callable[[], str]
) -> None:
    """Two keys that see one graph share its names; those of other graphs are none of theirs."""
    shared, own = graph_names(), graph_names()
    for graph in (shared, own):
        load_graph(store, graph, ROWS)
    one = ViewStore(scoped_store(store, {shared}))
    other = ViewStore(scoped_store(store, {shared, own}))
    arrays = {graph: store.snapshot(store.graph(graph)) for graph in (shared, own)}
    specs = [ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=seed) for seed in range(2)]
    first = one.create(arrays[shared], specs[0], name="team")
    with pytest.raises(InputError, match=first.id) as taken:
        other.create(arrays[shared], specs[1], name="team")
    assert (taken.value.code, taken.value.argument) == ("BAD_INPUT", "name")
    assert other.create(arrays[own], specs[1], name="team").name == "team"
    assert other.create(arrays[shared], specs[0], name="mine").name == "team"


def test_a_record_is_saved_over_the_version_that_was_read_alone(
    store: Store, graph_name: str
) -> None:
    load_graph(store, graph_name, ROWS)
    kind = f"kind-{graph_name}"
    new = Record(kind, "a", graph_name, {"n": 1}, b"x")
    assert store.replace_record(new, name="one")
    assert not store.replace_record(new, name="one"), "there is one"
    read = store.get_record(kind, "a")
    assert read == replace(new, updated_at=read.updated_at if read else "")
    assert read is not None
    assert read.version == store.list_records(kind)[0].version != ""
    assert store.replace_record(replace(read, json={"n": 2}), name="two")
    assert not store.replace_record(replace(read, json={"n": 3}))
    other = replace(new, key="b")
    assert not store.replace_record(other, name="two")
    assert store.get_record(kind, "b") is None
    assert store.replace_record(other, name="one"), "the first gave it up"
    # What is saved over whatever is there keeps the name, and what is deleted gives it up.
    store.save_record(new)
    third = replace(new, key="c")
    assert not store.replace_record(third, name="two")
    assert store.delete_record(kind, "a")
    assert not store.replace_record(replace(read, json={"n": 4})), "it was deleted"
    assert store.get_record(kind, "a") is None
    assert store.replace_record(third, name="two")
    # Names are those of a kind and a graph.
    assert store.replace_record(replace(new, kind=f"{kind}-2"), name="two")


def named_alike(store: Store, graph: str) -> list[str]:
    """The ids of two views of one name, as version 0.1.0 could make them."""
    views = ViewStore(store)
    arrays = store.snapshot(store.graph(graph))
    made = []
    for seed in (1, 2):
        spec = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=seed)
        made.append(views.create(arrays, spec).id)
        record = store.get_record("view", f"{graph}/{made[-1]}")
        assert record is not None
        store.save_record(replace(record, json={**record.json, "name": "twice"}))
    return made


def assert_ambiguous(store: Store, graph: str, name: str, ids: Sequence[str]) -> None:
    edges = store.graph(graph).fingerprints.edges
    views = ViewStore(store)
    assert {views.get(graph, id_, edges=edges).id for id_ in ids} == set(ids)
    with pytest.raises(InputError) as ambiguous:
        views.get(graph, name, edges=edges)
    assert (ambiguous.value.code, ambiguous.value.argument) == ("BAD_INPUT", "view")
    faults = [part for part in verify_store(store, graph=graph) if part.fault]
    assert [part.part for part in faults] == [f"view name {name}"]
    for id_ in ids:
        assert id_ in str(ambiguous.value)
        assert id_ in faults[0].fault


def test_two_views_of_one_name_are_reached_by_id_and_named_by_verify(
    store: Store, graph_name: str
) -> None:
    info = load_graph(store, graph_name, ROWS)
    ids = named_alike(store, graph_name)
    assert_ambiguous(store, graph_name, "twice", ids)
    views, edges = ViewStore(store), info.fingerprints.edges
    arrays = store.snapshot(info)
    third = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=3)
    for again in (ids[0], None):
        with raises(InputError):
            views.create(arrays, third, name="twice")
        # A name that was given twice is free when nobody has it.
        views.describe(graph_name, again or ids[1], edges=edges, name=f"{again}")
    assert views.create(arrays, third, name="twice").name == "twice"
    assert [part.fault for part in verify_store(store, graph=graph_name) if part.fault] == []


def test_a_file_of_the_last_release_with_two_views_of_one_name_opens(tmp_path: Path) -> None:
    path = tmp_path / "released.db"
    with gzip.open(STORE) as packed, path.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    copy = shutil.copy(path, tmp_path / "copy.db")
    spec = ViewSpec(Method.EDGE_DELETION, level=0.1, random_seed=77)
    with open_store(f"sqlite:///{copy}") as store:
        other = ViewStore(store).create(store.snapshot(store.graph("demo")), spec)
        record = store.get_record("view", f"demo/{other.id}")
    assert record is not None
    named = replace(record, json={**record.json, "name": "thin"})
    columns = (named.kind, named.key, named.graph, encode_fields(named), named.data, "2026")
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", columns)
    connection.close()
    with open_store(f"sqlite:///{path}", read_only=True) as store:
        ids = [view.id for view in listed(store, "demo") if view.name == "thin"]
        assert len(ids) == 2
        assert_ambiguous(store, "demo", "thin", ids)
    with open_store(f"sqlite:///{path}") as store:
        assert_ambiguous(store, "demo", "thin", ids)
        edges = store.graph("demo").fingerprints.edges
        renamed = ViewStore(store).describe("demo", other.id, edges=edges, name="other")
        assert (renamed.id, renamed.name) == (other.id, "other")
        (thin,) = (id_ for id_ in ids if id_ != other.id)
        assert ViewStore(store).get("demo", "thin", edges=edges).id == thin
        assert [part.fault for part in verify_store(store, graph="demo") if part.fault] == []
