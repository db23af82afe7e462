"""Documents of entities over the network (S1): all that were asked for, or said."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pyoxigraph as ox
import pytest
from jumping_clock import JumpingClock
from sparql_server import Fault, SparqlServer, serve_sparql

import graph_service.http.host_client as polite_module
from graph_service.errors import InputError
from graph_service.http.faults import EndpointError, StoppedError
from graph_service.http.host_client import RequestPolicy
from loaders.wikibase.entity_data import EntityData

COUNT = 60
IDS = [f"Q{number}" for number in range(1, COUNT + 1)]


def document(id_: str) -> dict[str, Any]:
    return {
        "type": "item",
        "id": id_,
        "lastrevid": 7,
        "labels": {tag: {"language": tag, "value": f"{id_} {tag}"} for tag in ("en", "fr")},
        "descriptions": {},
        "aliases": {},
        "claims": {},
        "sitelinks": {"enwiki": {"site": "enwiki", "title": id_}},
    }


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr("graph_service.http.connection.time", CLOCK)


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    documents: dict[str, Any] = {id_: document(id_) for id_ in IDS}
    documents["Q1000"] = "Q1"
    with serve_sparql(ox.Store(), documents) as running:
        yield running


CLOCK = JumpingClock()
MANNERS = RequestPolicy(timeout_s=600, max_attempts=3)


def entity_data(server: SparqlServer, form: str = "api", **changes: Any) -> EntityData:
    languages = changes.pop("languages", ())
    address = server.api if form == "api" else server.entity_data
    return EntityData(address, manners=replace(MANNERS, **changes), languages=languages)


def test_batches_of_fifty_with_maxlag(server: SparqlServer) -> None:
    fetched = entity_data(server, languages=("en", "mul")).fetch(IDS)
    assert sorted(fetched.documents) == sorted(IDS)
    assert [len(ids) for ids in server.asked_entities()] == [50, 10]
    for one in server.requests:
        assert one.parameters["maxlag"] == "5"
        assert one.parameters["languages"] == "en|mul"
        assert "sitelinks" not in one.parameters["props"]
        assert one.headers["User-Agent"].startswith("graph-service/")
        assert one.headers["Accept-Encoding"] == "gzip"
    assert orjson.loads(fetched.documents["Q7"])["labels"] == {
        "en": {"language": "en", "value": "Q7 en"}
    }
    assert (fetched.failed, fetched.missing, fetched.redirects) == ({}, [], {})


@pytest.mark.parametrize("form", ["api", "address"])
def test_redirects_and_missing_entities(server: SparqlServer, form: str) -> None:
    fetched = entity_data(server, form).fetch(["Q1000", "Q2", "Q5555"])
    assert sorted(fetched.documents) == ["Q1000", "Q2"]
    assert fetched.redirects == {"Q1000": "Q1"}
    assert fetched.missing == ["Q5555"]
    assert orjson.loads(fetched.documents["Q1000"])["id"] == "Q1"
    assert len(server.requests) == (1 if form == "api" else 3)


def test_the_address_gives_the_same_documents(server: SparqlServer) -> None:
    one = entity_data(server).fetch(IDS[:3]).documents
    other = entity_data(server, "address").fetch(IDS[:3]).documents
    for id_ in IDS[:3]:
        left, right = orjson.loads(one[id_]), orjson.loads(other[id_])
        assert left["labels"] == right["labels"]
        assert left["lastrevid"] == right["lastrevid"]


def test_names_alone_have_no_claims(server: SparqlServer) -> None:
    fetched = entity_data(server).fetch(["Q1"], with_statements=False)
    assert "claims" not in orjson.loads(fetched.documents["Q1"])
    assert server.requests[0].parameters["props"] == "labels|descriptions|aliases|datatype"


PASSING = {
    "429": Fault(status=429, headers={"Retry-After": "0"}),
    "500": Fault(status=500, body=b"oops", media="text/plain"),
    "503": Fault(status=503),
    "time-out": Fault(stalls=CLOCK.jump),
    "no reply": Fault(drop=True),
    "cut": Fault(cut=40),
    "cut without length": Fault(cut=200, undeclared=True),
    "cut in gzip": Fault(cut=60, undeclared=True, packed=True),
    "empty": Fault(body=b""),
    "HTML page": Fault(body=b"<!DOCTYPE html><p>Wait", media="text/html"),
    "HTML said to be JSON": Fault(body=b"<html></html>", media="application/json"),
    "XML": Fault(body=b"<api/>", media="text/xml"),
    "other JSON": Fault(body=b'{"batchcomplete": ""}'),
    "an array": Fault(body=b"[]"),
    "entities as a list": Fault(body=b'{"entities": [], "success": 1}'),
    "busy": Fault(body=b'{"error": {"code": "ratelimited", "info": "slower"}}'),
    "inner error": Fault(body=b'{"error": {"code": "internal_api_error_X", "info": "oops"}}'),
}


@pytest.mark.parametrize("name", PASSING)
@pytest.mark.parametrize("form", ["api", "address"])
def test_faults_that_pass(server: SparqlServer, name: str, form: str) -> None:
    path = "/api.php" if form == "api" else ".json"
    fault = replace(PASSING[name], path=path)
    server.faults.append(fault)
    fetched = entity_data(server, form).fetch(IDS[:2])
    assert fault.times == 0
    assert sorted(fetched.documents) == IDS[:2]
    assert not fetched.failed


STAYING = {
    "429": (Fault(status=429), "HTTP 429, too many requests"),
    "403": (Fault(status=403), "HTTP 403, it refuses"),
    "empty": (Fault(body=b""), "an empty body"),
    "HTML page": (Fault(body=b"<html></html>", media="text/html"), "an HTML page"),
    "XML": (Fault(body=b"<api/>", media="text/xml"), "media type text/xml; expected"),
    "refused": (
        Fault(body=b'{"error": {"code": "blocked", "info": "You are blocked"}}'),
        "the API says blocked: You are blocked",
    ),
    "Retry-After": (Fault(status=503, headers={"Retry-After": "3600"}), "wait 3600 seconds"),
}


@pytest.mark.parametrize("name", STAYING)
def test_faults_that_stay_stop(server: SparqlServer, name: str) -> None:
    fault, message = STAYING[name]
    server.faults.append(replace(fault, times=None, path="/api.php"))
    with pytest.raises(EndpointError, match=message):
        entity_data(server).fetch(IDS[:2])


def test_maxlag_is_waited_for(server: SparqlServer) -> None:
    """More often than a request is tried otherwise, since the lag passes."""
    lag = Fault(
        times=6,
        body=b'{"error": {"code": "maxlag", "info": "Waiting for db1: 7 seconds lagged"}}',
        headers={"Retry-After": "0"},
        path="/api.php",
    )
    server.faults.append(lag)
    assert entity_data(server).fetch(["Q1"]).documents
    assert len(server.requests) == 7
    server.faults.append(replace(lag, times=None))
    with pytest.raises(EndpointError, match="maxlag"):
        entity_data(server, max_wait_s=0.1).fetch(["Q1"])


def test_one_bad_entity_spoils_no_other(server: SparqlServer) -> None:
    server.faults.append(
        Fault(times=None, status=500, path="/api.php", when=lambda ids: "Q7" in ids.split("|"))
    )
    fetched = entity_data(server, max_attempts=1).fetch(IDS)
    assert fetched.failed == {"Q7": "HTTP 500"}
    assert sorted(fetched.documents) == sorted(set(IDS) - {"Q7"})


def test_an_answer_cut_by_the_api_is_not_taken_for_all(server: SparqlServer) -> None:
    """An answer that grows too large comes with a warning and without the rest."""
    server.faults.append(Fault(times=None, path="/api.php", rows=lambda items: items[:20]))
    fetched = entity_data(server).fetch(IDS)
    assert sorted(fetched.documents) == sorted(IDS)
    assert [len(ids) for ids in server.asked_entities()] == [50, 30, 10, 10]


def test_an_answer_about_other_entities_is_none(server: SparqlServer) -> None:
    server.faults.append(
        Fault(times=None, path="/api.php", rows=lambda items: [("Q99", document("Q99"))])
    )
    fetched = entity_data(server).fetch(IDS[:2])
    assert fetched.documents == {}
    assert fetched.failed == dict.fromkeys(IDS[:2], "the answer does not hold it")


def test_too_many_ids_at_once(server: SparqlServer) -> None:
    server.most_ids = 13
    fetched = entity_data(server).fetch(IDS)
    assert sorted(fetched.documents) == sorted(IDS)


def test_an_id_the_api_does_not_take(server: SparqlServer) -> None:
    fetched = entity_data(server).fetch(["Q1", "Q-5", "Q2"])
    assert fetched.missing == ["Q-5"]
    assert sorted(fetched.documents) == ["Q1", "Q2"]


def test_documents_are_kept(server: SparqlServer, tmp_path: Path) -> None:
    """By entity: another batch asks only for what is not there."""
    one = entity_data(server, cache_dir=tmp_path)
    one.fetch([*IDS[:30], "Q1000", "Q5555"])
    other = entity_data(server, cache_dir=tmp_path)
    fetched = other.fetch([*IDS, "Q1000", "Q5555"])
    # What was missing may be there now.
    assert server.asked_entities()[1] == [*IDS[30:], "Q5555"]
    assert fetched.redirects == {"Q1000": "Q1"}
    assert sorted(fetched.documents) == sorted([*IDS, "Q1000"])
    assert other.traffic.from_cache == 31
    # Names alone, and other languages, are other answers.
    other.fetch(["Q1"], with_statements=False)
    entity_data(server, cache_dir=tmp_path, languages=("fr",)).fetch(["Q1"])
    assert len(server.requests) == 4
    kept = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    for path in kept:
        path.write_bytes(b"damaged")
    assert other.fetch(["Q1"]).documents
    assert len(server.requests) == 5


def test_text_that_no_store_can_hold_spoils_no_document(server: SparqlServer) -> None:
    server.documents["Q3"]["labels"]["en"]["value"] = "half \ud83d"
    fetched = entity_data(server).fetch(IDS[:4])
    assert sorted(fetched.documents) == IDS[:4]
    assert json.loads(fetched.documents["Q3"])["labels"]["en"]["value"] == "half \ud83d"


def test_long_requests_go_by_post(server: SparqlServer) -> None:
    languages = tuple(f"l{number}" for number in range(400))
    entity_data(server, languages=languages).fetch(["Q1"])
    entity_data(server).fetch(["Q1"])
    assert [one.method for one in server.requests] == ["POST", "GET"]


@pytest.mark.parametrize(
    "address", ["https://example.org/", "https://example.org/sparql", "ftp://h/w/api.php"]
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(InputError):
        EntityData(address, manners=MANNERS)


def test_wikimedia_wants_a_contact() -> None:
    with pytest.raises(InputError, match=r"www\.wikidata\.org"):
        EntityData("https://www.wikidata.org/w/api.php", manners=MANNERS)


def test_stopping(server: SparqlServer) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        EntityData(server.api, manners=MANNERS, stop=stop).fetch(["Q1"])
    assert server.requests == []
