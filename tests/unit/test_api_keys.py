"""API keys: the file that has them, who is let in by it, and what they may do."""

from __future__ import annotations

import json
import logging
import os
import stat
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from demo_graph import ARNOLD, MARIA, QUESTION
from error_texts import check_answer, check_error, check_line, raises
from graphs import load_graph
from made_keys import made_key
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.api.schema import schema
from graph_service.api.scopes import Scope
from graph_service.errors import InputError, SetupError
from graph_service.model.statement import Entity
from graph_service.server import key_file, operations
from graph_service.server.app import make_app
from graph_service.server.key_file import encode_keys, read_keys, revoke_key
from graph_service.server.keyring import Keyring
from graph_service.server.keys import OPERATOR, PREFIX, Caller, Key, token_hash
from graph_service.server.options import ServerOptions
from graph_service.server.rates import Rates

GRAPHS = {"query": "{ graphs { nodes { name } } }"}
COSTLY = "query($q: String!) { triplets(input: {question: $q, prove: true}) { text } }"
NUMBERS = count()


def costly() -> dict[str, Any]:
    """A question that costs 11, and that nobody has asked before."""
    return {"query": COSTLY, "variables": {"q": f"zorblax {next(NUMBERS)}"}}


VIEW = 'graph: "demo", spec: {method: EDGE_DELETION, level: 0.1, randomSeed: 1}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


Ask = Callable[..., Any]


@pytest.fixture
def ask(own_service: Service, file: Path) -> Ask:
    """Gives ``ask(token, body)``: the response of a server with the file of keys."""

    def made_with(**options: Any) -> Ask:
        server = TestClient(
            make_app(own_service, ServerOptions(keys=file, **options)), base_url="http://localhost"
        )

        def ask(token: str, body: object = GRAPHS, header: str = "authorization") -> Any:
            value = f"Bearer {token}" if header == "authorization" else token
            headers = {header: value} if token else {}
            return server.post("/graphql", json=body, headers=headers)

        return ask

    return made_with


def test_a_key_lets_in_until_it_is_revoked(ask: Ask, file: Path) -> None:
    alice = made_key(file)
    asked = ask()
    assert [asked(alice).status_code, asked(alice, header="x-api-key").status_code] == [200, 200]
    for wrong in ("", alice[:-1], alice + "0", alice.upper(), token_hash(alice.encode()), PREFIX):
        refused = asked(wrong)
        assert refused.status_code == 401
        assert refused.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    # The running server sees both changes.
    bob = made_key(file, "bob")
    assert [asked(alice).status_code, asked(bob).status_code] == [200, 200]
    revoke_key(file, "alice")
    assert [asked(alice).status_code, asked(bob).status_code] == [401, 200]


def test_the_file_is_its_owners_and_has_no_token(file: Path) -> None:
    token = made_key(file, note="of the page")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in file.read_text()
    (key,) = read_keys(file)
    assert (key.caller.name, key.note) == ("alice", "of the page")
    assert os.listdir(file.parent) == [file.name]
    with raises(InputError):
        made_key(file)
    with raises(InputError):
        revoke_key(file, "bob")
    assert os.listdir(file.parent) == [file.name]


def test_keys_that_are_added_at_once_are_all_there(file: Path) -> None:
    made_key(file, "first")
    threads = [threading.Thread(target=made_key, args=(file, f"key-{n}")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {key.caller.name for key in read_keys(file)}
    assert names == {"first", *(f"key-{n}" for n in range(8))}


def test_who_was_killed_while_writing_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_key(file)
    before = file.read_bytes()
    (file.parent / ".keys.json.new").touch()
    monkeypatch.setattr(key_file, "LOCK_S", 0.01)
    with pytest.raises(SetupError, match="remove that file"):
        made_key(file, "bob")
    assert file.read_bytes() == before


def test_a_file_that_goes_bad_leaves_the_keys_as_they_were(
    ask: Ask, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    alice = made_key(file)
    asked = ask()
    good = file.read_bytes()
    for bad in (b"{", b"", b'{"version": 2, "keys": []}'):
        caplog.clear()
        file.write_bytes(bad)
        with caplog.at_level(logging.ERROR, logger="graph_service.keys"):
            assert [asked(alice).status_code, asked("x").status_code] == [200, 401]
        # Once, not for each request.
        assert len(caplog.records) == 1
        check_line(caplog.messages, "stay as they")
    file.unlink()
    assert asked(alice).status_code == 200
    file.write_bytes(good.replace(b'"alice"', b'"carol"'))
    file.chmod(0o600)
    assert asked(alice).status_code == 200
    file.write_bytes(encode_keys(()))
    assert asked(alice).status_code == 401


ROW = {"name": "a", "hash": "sha256:" + "0" * 64, "scope": "read", "graphs": "*"}


@pytest.mark.parametrize(
    "row",
    [
        {"hash": "0" * 64},
        {"hash": "sha256:" + "g" * 64},
        {"scope": "root"},
        {"graphs": "demo"},
        {"graphs": ["a b"]},
        {"graphs": None},
        {"rate": "5"},
        {"rate": -1},
        {"maxCost": 0},
        {"expires": "soon"},
        {"name": ""},
        {"name": "a\nb"},
        {"readOnly": True},
    ],
)
def test_a_bad_file_says_what_is_wrong(file: Path, row: dict[str, Any]) -> None:
    file.write_text(json.dumps({"version": 1, "keys": [{**ROW, **row}]}))
    with raises(SetupError):
        read_keys(file)


def test_a_file_that_others_may_write_to_is_refused(file: Path) -> None:
    made_key(file)
    file.chmod(0o620)
    with pytest.raises(SetupError, match="chmod 600"):
        Keyring(file)
    file.chmod(0o644)
    Keyring(file)
    with pytest.raises(SetupError, match="graph-service keys add"):
        Keyring(file.with_name("none.json"))
    file.write_text(json.dumps({"version": 1, "keys": [ROW, ROW]}))
    with raises(SetupError):
        Keyring(file)


def test_the_one_key_may_do_everything_beside_the_file(file: Path) -> None:
    token = made_key(file, graphs=frozenset({"a"})).encode()
    ring = Keyring(file, api_key="clé")
    assert ring.find(["clé".encode()]) == OPERATOR
    assert ring.find([b"wrong", token]) == Caller("alice", Scope.READ, frozenset({"a"}))
    assert ring.find([]) is None
    assert Keyring().find([]) == OPERATOR
    assert not Keyring().asks
    assert Keyring(file).find([b""]) is None


def test_a_key_ends_when_it_expires(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = made_key(file, expires="2027-01-31").encode()
    ring = Keyring(file)
    # 2027-01-31T00:00:00Z
    for now, is_there in ((1801353599.0, True), (1801353600.0, False)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        assert (ring.find([token]) is not None) is is_there
        assert (ring.named("alice") is not None) is is_there


def test_a_look_up_compares_with_no_key(file: Path) -> None:
    """As many look-ups in a table as tokens, however many keys there are."""
    for name in ("a", "b", "c"):
        made_key(file, name)
    ring = Keyring(file)

    class Counted(dict[bytes, Key]):
        asked = 0

        def get(self, key: bytes, default: Any = None) -> Any:
            Counted.asked += 1
            return super().get(key, default)

    ring._by_mark = Counted(ring._by_mark)
    assert ring.find([b"x", b"y"]) is None
    assert Counted.asked == 2
    # What is compared is a hash by a secret of this process.
    assert token_hash(b"x").encode() not in ring._by_mark
    assert not any(key.hash.encode() in mark for mark, key in ring._by_mark.items())


# What each mutation asks for; a new one has to be put here and into docs/how-to/keys.md.
MUTATIONS = {
    "createView": ("write", f"input: {{{VIEW}}}"),
    "updateView": ("write", 'input: {graph: "demo", reference: "none", note: ""}'),
    "cancelJob": ("write", 'input: {graph: "demo", reference: "none"}'),
    "deleteView": ("write", 'input: {graph: "demo", reference: "none"}'),
    "deleteGraph": ("admin", 'input: {name: "none"}'),
    "deletePassages": ("admin", 'input: {graph: "none"}'),
}


def test_each_mutation_needs_its_scope(ask: Ask, file: Path) -> None:
    mutation = schema._schema.mutation_type
    assert mutation is not None
    assert mutation.fields.keys() == MUTATIONS.keys()
    tokens = {scope: made_key(file, scope.value, scope=scope) for scope in Scope}
    asked, reads = ask(writable=True), ask()
    for name, (needed, given) in MUTATIONS.items():
        body = {"query": f"mutation {{ {name}({given}) {{ __typename }} }}"}
        for scope, token in tokens.items():
            codes = [
                error["extensions"]["code"] for error in asked(token, body).json().get("errors", [])
            ]
            assert ("FORBIDDEN" in codes) is not scope.includes(Scope(needed)), (name, scope)
            (error,) = reads(token, body).json()["errors"]
            assert error["extensions"]["code"] == "READ_ONLY"
    (error,) = asked(tokens[Scope.READ], body).json()["errors"]
    check_answer(error)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(
        operations, "Rates", lambda *given, **also: Rates(*given, clock=lambda: now[0], **also)
    )
    return now


def test_each_key_has_its_own_limits(ask: Ask, file: Path, clock: list[float]) -> None:
    slow = made_key(file, "slow", rate=1.0, max_cost=12.0)
    other = made_key(file, "other", rate=1.0, max_cost=12.0)
    small = made_key(file, "small", max_cost=5.0)
    free = made_key(file, "free", rate=0.0)
    asked = ask(rate=2.0, max_cost=20.0, cache_bytes=0)
    # Of one address, and each with a bucket of its own.
    assert [asked(slow, costly()).status_code for _ in range(2)] == [200, 429]
    assert asked(other, costly()).status_code == 200
    (error,) = asked(small, costly()).json()["errors"]
    assert (error["extensions"]["code"], error["extensions"]["maxCost"]) == ("MAX_COST_EXCEEDED", 5)
    for _ in range(3):
        cost = asked(free, costly()).json()["extensions"]["cost"]
        assert cost["limit"] == 20
        assert "throttleStatus" not in cost
    clock[0] += 11
    status = asked(slow, costly()).json()["extensions"]["cost"]["throttleStatus"]
    assert (status["maximumAvailable"], status["restoreRate"]) == (12.0, 1.0)


def test_the_log_has_the_keys_name(ask: Ask, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    alice = made_key(file)
    asked = ask()
    with caplog.at_level(logging.INFO, logger="graph_service.requests"):
        asked(alice)
        asked("x")
    fields = [record.fields for record in caplog.records]  # type: ignore[attr-defined]
    assert [one.get("key") for one in fields] == ["alice", None]
    assert alice not in caplog.text


def test_the_command_line_makes_lists_and_revokes(cli: Cli, tmp_path: Path) -> None:
    assert cli("keys", "add", "alice").code == 2
    assert "--all-graphs" in cli("keys", "add", "alice", "--keys", "k.json").err
    run = cli(
        "keys", "add", "alice", "--keys", "k.json", "--graph", "b", "--graph", "a", "--rate", "2",
        "--max-cost", "50", "--scope", "write", "--expires", "2027-01-31", "--json",
    )  # fmt: skip
    token = run.json["token"]
    assert token.startswith(PREFIX)
    bob = cli("keys", "add", "bob", "--keys", "k.json", "--all-graphs")
    assert bob.out.startswith(PREFIX)
    assert bob.out.count("\n") == 1
    ring = Keyring(tmp_path / "k.json")
    assert ring.find([token.encode()]) == Caller(
        "alice", Scope.WRITE, frozenset({"a", "b"}), 2.0, 50.0
    )
    assert ring.find([bob.out.strip().encode()]) == Caller("bob", Scope.READ)
    listed = cli("keys", "list", "--keys", "k.json")
    assert "alice  write  a b" in listed.out
    hashes = [token_hash(one.encode()) for one in (token, bob.out.strip())]
    for secret in (token, bob.out.strip(), *hashes):
        assert secret not in listed.out + cli("keys", "list", "--keys", "k.json", "--json").out
    assert cli("keys", "revoke", "alice", "--keys", "k.json").code == 0
    assert ring.find([token.encode()]) is None
    assert cli("keys", "revoke", "alice", "--keys", "k.json").code == 2


def test_a_server_does_not_start_without_its_file(cli: Cli, demo_file: Path) -> None:
    run = cli("serve", "--store", f"sqlite:///{demo_file}", "--keys", "none.json")
    assert run.code == 4
    check_error(run.err)


def test_answers_name_no_key(ask: Ask, file: Path) -> None:
    alice = made_key(file)
    body = {"query": "query($q: String!) { triplets(input: {question: $q}) { resultId } }"}
    answer = ask()(alice, {**body, "variables": {"q": QUESTION}})
    assert answer.status_code == 200
    assert "alice" not in answer.text


def test_a_graph_that_a_key_may_not_see_does_not_exist_for_it(ask: Ask, file: Path) -> None:
    other = made_key(file, "other", graphs=frozenset({"films"}), scope=Scope.ADMIN)
    own = made_key(file, "own", graphs=frozenset({"demo"}))
    asked = ask(writable=True)
    listed = {name: asked(token).json()["data"] for name, token in (("other", other), ("own", own))}
    assert listed["own"] == {"graphs": {"nodes": [{"name": "demo"}]}}
    assert listed["other"] == {"graphs": {"nodes": []}}
    (hidden,), (never,) = (
        asked(other, {"query": f'{{ graph(name: "{name}") {{ name }} }}'}).json()["errors"]
        for name in ("demo", "dema")
    )
    check_answer(hidden)
    assert never["message"] == hidden["message"].replace("demo", "dema")
    body = {"query": 'mutation { deleteGraph(input: {name: "demo"}) { name } }'}
    (error,) = asked(other, body).json()["errors"]
    assert error["extensions"]["code"] == "GRAPH_NOT_FOUND"
    assert asked(own).json()["data"] == listed["own"]


def test_one_question_of_two_keys_is_answered_to_each(
    ask: Ask, file: Path, own_service: Service
) -> None:
    """Also where it was just asked by the other, so that an answer could be given again."""
    maria = Entity(MARIA, labels={"en": "another Maria"})
    load_graph(own_service.store, "films", [(MARIA, "P1", ARNOLD)], [maria])
    item = {"query": f'{{ item(itemId: "{MARIA}") {{ id label }} }}'}
    search = {"query": '{ searchItems(query: "Maria") { nodes { label } } }'}
    tokens = {
        name: made_key(file, name, graphs=frozenset({graph}), max_cost=cost)
        for name, graph, cost in (
            ("films", "films", 20.0), ("demo", "demo", 10.0), ("same", "demo", 30.0),
        )
    }  # fmt: skip
    tokens = {"none": made_key(file, "none", graphs=frozenset()), **tokens}
    asked = ask()
    answers: dict[str, list[Any]] = {graph: [] for graph in tokens}
    for _ in range(3):
        for graph, token in tokens.items():
            answers[graph].append([asked(token, body).json() for body in (item, search)])
    for graph, label, limit in (
        ("demo", "Maria Shriver", 10), ("films", "another Maria", 20), ("same", "Maria Shriver", 30),
    ):  # fmt: skip
        for found, searched in answers[graph]:
            assert found["data"]["item"]["label"] == label
            assert label in {one["label"] for one in searched["data"]["searchItems"]["nodes"]}
            assert found["extensions"]["cost"]["limit"] == limit
    for found, searched in answers["none"]:
        assert found["data"]["item"] is searched["data"]["searchItems"] is None
    # Rights that a key loses are lost for what it has asked before, too.
    revoke_key(file, "films")
    assert asked(tokens["films"], item).status_code == 401
