"""Documents that cost more than they show are refused before any rule walks them."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from demo_graph import MARIA
from error_texts import check_line
from graphql import parse
from jumping_clock import JumpingClock

from graph_service import Service
from graph_service.api import documents
from graph_service.api.documents import (
    MAX_ALIASES,
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_INVALIDITIES,
    MAX_LINES,
    MAX_SELECTIONS,
    check_document,
)
from graph_service.api.execution import GRACE_S
from graph_service.api.schema import MAX_ERRORS, MAX_IDS, execute
from graph_service.errors import LimitError, StoreUnavailableError
from graph_service.model.limits import Deadline, Stop
from graph_service.service.graphs import Graphs


def doubling(count: int, spread: str = "...F{next} ...F{next}") -> str:
    """Fragments of which each stands twice in the one before."""
    chain = [f"fragment F{i} on Query{{{spread.format(next=i + 1)}}}" for i in range(count)]
    return "{...F0} " + " ".join(chain) + f" fragment F{count} on Query{{graphs{{nodes{{name}}}}}}"


def refused(service: Service, document: str) -> dict[str, Any]:
    response = execute(service, document)
    assert "data" not in response
    error: dict[str, Any]
    (error,) = response["errors"]
    assert error["extensions"]["code"] == "LIMIT_EXCEEDED", error
    return error


@pytest.mark.parametrize(
    "document",
    [
        doubling(12),
        doubling(12, "...F{next} ... on Query{{...F{next}}}"),
        doubling(8, "...F{next} ...F{next} ...F{next}"),
        "fragment A on Query{__typename} " + doubling(12),
    ],
    ids=["spreads", "inline", "tripling", "definition-first"],
)
def test_fragments_that_double_are_refused(demo_service: Service, document: str) -> None:
    assert str(MAX_SELECTIONS) in refused(demo_service, document)["message"]


@pytest.mark.parametrize(
    ("levels", "in_digits"), [(26, True), (27, True), (28, False), (29, False), (40, False)]
)
def test_a_count_past_a_milliard_is_no_row_of_digits(
    demo_service: Service, levels: int, in_digits: bool
) -> None:
    """Each fragment holds the next one twice: the fields double at each level."""
    message = refused(demo_service, doubling(levels))["message"]
    assert f"at most {MAX_SELECTIONS} " in message
    got = message.rpartition("got ")[2]
    if in_digits:
        assert 2**levels <= int(got) < 10**9
    else:
        assert got == "more than 10^9"


def test_fragments_are_measured_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300 doubling fragments the time is that of 300, not of 2 to the power of 300."""
    seen = 0
    measure = documents._size

    def counted(*given: Any) -> Any:
        nonlocal seen
        seen += 1
        return measure(*given)

    monkeypatch.setattr(documents, "_size", counted)
    with pytest.raises(LimitError, match=r"more than 10\^9"):
        check_document(parse(doubling(300)))
    # The operation, the fragments, and the fields that have fields.
    assert seen == 1 + 301 + 2


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{" + "graphs{nodes{name}} " * 160 + "}", "same fields"),
        ("{graphs{" + "name " * 160 + "}}", "same fields"),
        ("{" + "...on Query{graphs{nodes{name}}} " * 160 + "}", "same fields"),
        ("{" + "graphs{nodes{name edition}} " * 90 + "}", "same fields"),
        (
            "{" + "".join(f"...F{i} " for i in range(150)) + "}"
            + "".join(f"fragment F{i} on Query{{graphs{{nodes{{name}}}}}}" for i in range(150)),
            "of fragments",
        ),
        ("#\n" * (MAX_LINES + 1) + "{graphs{nodes{name}}}", f"{MAX_LINES} lines"),
        ('{item(itemId:"' + "a" * MAX_CHARACTERS + '"){id}}', f"{MAX_CHARACTERS} characters"),
        ("{" + "a" * MAX_CHARACTERS + "}", f"{MAX_CHARACTERS} characters"),
        ("{" + " ".join(f"a{i}:graphs{{nodes{{name}}}}" for i in range(31)) + "}", "30 aliases"),
        ("{...A ...A} fragment A on Query{" + " ".join(f"a{i}:graphs{{nodes{{name}}}}" for i in range(16))
         + "}", "30 aliases, got 32"),
    ],
)  # fmt: skip
def test_documents_that_cost_too_much_are_refused(
    demo_service: Service, document: str, words: str
) -> None:
    assert words in refused(demo_service, document)["message"]


def test_documents_of_clients_that_reuse_fragments_are_served(demo_service: Service) -> None:
    used = "".join(f"a{i}: graph {{ ...G }} " for i in range(10))
    document = f"{{ {used} }} fragment G on Graph {{ ...H source }} fragment H on Graph {{ name }}"
    assert len(execute(demo_service, document)["data"]) == 10


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{...F}", "Unknown fragment 'F'"),
        ("{...A} fragment A on Query{...B} fragment B on Query{...A}", "within itself"),
        ("{...A} fragment A on Query{...A ...A}", "within itself"),
    ],
)
def test_fragments_at_fault_are_bad_input(
    demo_service: Service, document: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = execute(demo_service, document)["errors"][0]
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert words in error["message"]
    assert not caplog.records


def test_of_very_many_faults_of_a_document_the_first_are_listed(demo_service: Service) -> None:
    """Each quotes the document: 950 unknown fields of one object took seconds."""
    unknown = " ".join(f"x{i}: 1" for i in range(MAX_INVALIDITIES * 2))
    document = f'{{ triplets(input: {{question: "a" {unknown}}}) {{ id }} }}'
    errors = execute(demo_service, document)["errors"]
    assert len(errors) == MAX_INVALIDITIES + 1
    assert "Too many" in errors[-1]["message"]


def test_of_very_many_failed_fields_the_first_are_listed(demo_service: Service) -> None:
    ids = f'["{MARIA}"' + f', "{MARIA}"' * (MAX_ERRORS + 4) + "]"
    document = f"{{ items(itemIds: {ids}) {{ statements(first: 0) {{ totalCount }} }} }}"
    errors = execute(demo_service, document)["errors"]
    assert len(errors) == MAX_ERRORS + 1
    assert errors[-1]["extensions"]["code"] == "LIMIT_EXCEEDED"
    assert f"{MAX_ERRORS + 5} errors" in errors[-1]["message"]


# While it runs

INTROSPECTION = "{ __schema { types { fields { name } } } }"


def ended(response: dict[str, Any]) -> dict[str, Any]:
    assert response["data"] is None
    error: dict[str, Any]
    (error,) = response["errors"]
    assert error["extensions"]["requestId"]
    return error


@pytest.mark.parametrize("document", ["{ graphs { nodes { name } } }", INTROSPECTION])
def test_a_query_ends_whatever_is_left_of_it(demo_service: Service, document: str) -> None:
    """Introspection reads no store, and so met no deadline at all."""
    late = Deadline(time.monotonic() - 2 * GRACE_S, waited_s=1.5)
    error = ended(execute(demo_service, document, deadline=late))
    assert error["extensions"]["code"] == "TIMEOUT"
    check_line(error["message"], "1.5 s")


def test_a_store_that_is_away_until_the_time_is_over_is_what_is_told(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To ask for less would not help."""
    clock = JumpingClock()
    monkeypatch.setattr("graph_service.api.execution.time", clock)
    monkeypatch.setattr("graph_service.model.limits.time", clock)

    def away(*_: object) -> None:
        clock.jump()
        raise StoreUnavailableError("no answer")

    monkeypatch.setattr(Graphs, "list", away)
    document = "{ a: graphs { nodes { name } } b: graphs { nodes { name } } }"
    error = ended(execute(demo_service, document))
    assert error["extensions"]["code"] == "STORE_UNAVAILABLE"


def test_a_query_that_nobody_waits_for_ends(demo_service: Service) -> None:
    deadline = Deadline(time.monotonic() + 600, Stop(requested=True))
    assert "given up" in ended(execute(demo_service, INTROSPECTION, deadline=deadline))["message"]


def test_what_a_query_had_when_its_time_was_over_is_given(demo_service: Service) -> None:
    just_late = Deadline(time.monotonic() - 0.01)
    response = execute(demo_service, f'{{ __typename item(itemId: "{MARIA}") {{ id }} }}',
                       deadline=just_late)  # fmt: skip
    assert response["data"] == {"__typename": "Query", "item": None}
    assert response["errors"][0]["extensions"]["code"] == "TIMEOUT"


def test_what_a_mutation_says_of_its_work_has_a_limit_of_its_own(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its work has none: what was written is written."""
    spec = '{graph: "demo", spec: {method: EDGE_DELETION, count: 2}}'
    document = (
        f"mutation {{ createView(input: {spec}) {{ view {{ diff {{ nodes {{ words }} }} }} }} }}"
    )
    late = Deadline(time.monotonic() - 60)
    made = execute(own_service, document, writable=True, deadline=late)["data"]["createView"]
    assert len(made["view"]["diff"]["nodes"]) == 2
    over = SimpleNamespace(after=lambda _: late)
    monkeypatch.setattr("graph_service.api.execution.Deadline", over)
    error = ended(execute(own_service, document, writable=True))
    assert error["extensions"]["code"] == "TIMEOUT"


def test_an_answer_has_an_end(demo_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    document = f'{{ item(itemId: "{MARIA}") {{ statements {{ nodes {{ id }} }} }} }}'
    count = len(execute(demo_service, document)["data"]["item"]["statements"]["nodes"])
    monkeypatch.setattr("graph_service.api.execution.MAX_OBJECTS", count)
    assert execute(demo_service, document)["data"]
    monkeypatch.setattr("graph_service.api.execution.MAX_OBJECTS", count - 1)
    assert ended(execute(demo_service, document))["extensions"]["code"] == "LIMIT_EXCEEDED"


def test_all_that_a_mutation_says_of_one_piece_of_work_has_one_limit(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many lists there are: a limit that each of them set anew would never be over."""
    allowed: list[float] = []

    def after(seconds: float) -> Deadline:
        allowed.append(seconds)
        return Deadline.none()

    monkeypatch.setattr("graph_service.api.execution.Deadline", SimpleNamespace(after=after))
    made = 'createView(input: {{graph: "demo", spec: {{method: EDGE_DELETION, count: {}}}}})'
    lists = "{ view { diff { nodes { words } } again: diff { nodes { words } } } }"
    document = f"mutation {{ one: {made.format(1)} {lists} two: {made.format(2)} {lists} }}"
    answer = execute(own_service, document, writable=True)
    assert "errors" not in answer, answer
    assert allowed == [own_service.settings.read_timeout_s] * 2


def test_a_document_that_is_kept_is_read_and_checked_once(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading and checking a client's document costs more than answering it."""
    read: list[str] = []

    def reading(text: str, *given: Any, **named: Any) -> Any:
        read.append(text)
        return parse(text, *given, **named)

    monkeypatch.setattr("graph_service.api.documents.parse", reading)
    monkeypatch.setattr("strawberry.schema.schema.parse", reading)
    document = "query Often { graphs { nodes { name } } }"
    answers = [execute(own_service, document) for _ in range(3)]
    assert answers[0]["data"]["graphs"]
    assert answers[1:] == answers[:1] * 2
    assert read == [document]


GRAPHS = "{ graphs { nodes { name } } }"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (GRAPHS.ljust(MAX_CHARACTERS), None),
        (GRAPHS.ljust(MAX_CHARACTERS + 1), f"{MAX_CHARACTERS} characters"),
        (GRAPHS + "\n" * MAX_LINES, None),
        (GRAPHS + "\r" * (MAX_LINES // 2) + "\n" * (MAX_LINES - MAX_LINES // 2), None),
        (GRAPHS + "\n" * (MAX_LINES + 1), f"lines, got {MAX_LINES + 1}"),
        (GRAPHS + "\r" + "\n" * MAX_LINES, f"lines, got {MAX_LINES + 1}"),
    ],
    ids=["characters", "one more", "lines", "lines of both sorts", "a line more", "one of another"],
)
def test_a_document_may_be_as_long_as_its_limit(
    demo_service: Service, document: str, said: str | None
) -> None:
    if said is None:
        assert execute(demo_service, document)["data"]["graphs"]
    else:
        assert said in refused(demo_service, document)["message"]


@pytest.mark.parametrize("over", [0, 1])
def test_a_document_may_ask_for_as_much_as_its_limits(over: int) -> None:
    """To the last selection, level and alias."""
    wide = " ".join(f"f{i}" for i in range(MAX_SELECTIONS + over))
    deep = "a{" * (MAX_DEPTH + over) + "a" + "}" * (MAX_DEPTH + over)
    other = " ".join(f"a{i}: f{i}" for i in range(MAX_ALIASES + over))
    for document, limit in (
        (f"{{{wide}}}", f"at most {MAX_SELECTIONS} selections"),
        (f"{{{deep}}}", f"at most {MAX_DEPTH} levels of depth"),
        (f"{{{other}}}", f"at most {MAX_ALIASES} aliases"),
    ):
        if not over:
            check_document(parse(document))
            continue
        with pytest.raises(LimitError, match=limit):
            check_document(parse(document))


def test_as_many_items_are_given_by_id_as_are_allowed(demo_service: Service) -> None:
    ids = ", ".join([f'"{MARIA}"', *(f'"Q{10**9 + i}"' for i in range(MAX_IDS - 1))])
    found = execute(demo_service, f"{{ items(itemIds: [{ids}]) {{ itemId }} }}")["data"]["items"]
    assert [item["itemId"] for item in found if item is not None] == [MARIA]
