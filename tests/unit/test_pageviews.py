"""Page views: from Wikimedia's API, politely and whatever it answers, and from tables (L1)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from graphs import load_graph
from hypothesis import given
from hypothesis import strategies as st
from jumping_clock import JumpingClock
from wikimedia_server import Fault, WikimediaServer, serve_wikimedia

import graph_service.http.host_client as polite_module
from graph_service.errors import InputError
from graph_service.http.faults import EndpointError
from graph_service.http.host_client import RequestPolicy
from graph_service.model.pageviews import LongTailLevel, level_of, months_between
from graph_service.model.statement import Entity, EntityKind
from graph_service.store.page_views import (
    EMPTY,
    RECORD_KIND,
    make_table,
    merge_tables,
    read_page_views,
)
from graph_service.store.protocol import Store
from loaders.pageviews import load as module
from loaders.pageviews.articles import article_of, read_titles
from loaders.pageviews.load import PageViewReport, fetch_page_views, load_page_views
from loaders.pageviews.wikimedia import ViewOptions

MONTHS = ("2021-01", "2021-02", "2021-03")
VIEWS = {
    "Rome": {"2021-01": 30_000, "2021-02": 30_000, "2021-03": 30_000},
    "Douglas Adams": {"2021-01": 3_000, "2021-03": 3_000, "2022-01": 9},
    "AC/DC & Who?": {"2021-02": 90},
    "Zwölf": {"2021-01": 1_000_000, "2021-02": 1, "2021-03": 1},
}
TITLES = {"Q220": "Rome", "Q42": "Douglas Adams", "Q3": "AC/DC & Who?", "Q12": "Zwölf"}
ENTITIES = [
    *(Entity(id_, labels={"en": title}) for id_, title in TITLES.items()),
    Entity("Q5"),
    Entity("P31", kind=EntityKind.PROPERTY),
    Entity("Q6", redirect="Q42"),
    Entity("http://dbpedia.org/resource/Rome"),
]

CLOCK = JumpingClock()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite_module, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr("graph_service.http.connection.time", CLOCK)


@pytest.fixture
def server() -> Iterator[WikimediaServer]:
    with serve_wikimedia(VIEWS, TITLES) as running:
        yield running


Fetch = Callable[..., PageViewReport]


@pytest.fixture
def fetch(tmp_store: Store, server: WikimediaServer, tmp_path: Path) -> Fetch:
    load_graph(tmp_store, "g", [("Q220", "P31", "Q5")], ENTITIES)

    def run(**more: Any) -> PageViewReport:
        manners = RequestPolicy(
            contact=more.pop("contact", None),
            timeout_s=600,
            max_attempts=4,
            max_wait_s=more.pop("max_wait_s", 2.0),
            cache_dir=tmp_path / "cache" if more.pop("cache", True) else None,
        )
        fields: dict[str, Any] = {
            "first": "2021-01",
            "last": "2021-03",
            "address": server.address,
            "wikidata_api": server.wikidata_api,
            "manners": manners,
        }
        names = set(ViewOptions.__dataclass_fields__)
        fields |= {name: more.pop(name) for name in list(more) if name in names}
        return fetch_page_views(store=tmp_store, graph="g", options=ViewOptions(**fields), **more)

    return run


def means(store: Store) -> dict[str, float]:
    table = read_page_views(store, "g")
    found = {entity.id: table.find(entity.id) for entity in ENTITIES}
    return {id_: round(views.mean, 3) for id_, views in found.items() if views is not None}


EXPECTED = {
    "Q220": 30_000.0,
    "Q42": 2_000.0,
    "Q3": 30.0,
    "Q12": 333_334.0,
    "http://dbpedia.org/resource/Rome": 30_000.0,
}


# The API


def test_views_are_kept_by_entity(fetch: Fetch, server: WikimediaServer, tmp_store: Store) -> None:
    """L1: the mean is over all months asked for, those without a view too; sitelinks come in one
    batch, an article of two entities is asked for once, properties and redirects not at all.
    """
    report = fetch(contact="me@example.org")
    assert means(tmp_store) == EXPECTED
    assert report.levels == {"I": 2, "II": 1, "IV": 1, "": 1}
    assert report.skipped == {module.NO_ARTICLE: 1}
    assert (report.entities, report.kept, report.complete, report.exit_code) == (5, 5, True, 0)
    assert len(server.asked("api.php")) == 1
    assert len(server.asked("per-article")) == 4
    assert all("(me@example.org)" in headers["User-Agent"] for _, headers, _ in server.requests)
    assert server.asked("AC%2FDC_%26_Who%3F")
    assert server.asked("/monthly/20210101/20210331")
    views = read_page_views(tmp_store, "g").find("Q42")
    assert views is not None
    assert (views.total, views.months, views.first, views.last) == (6_000, 3, *MONTHS[::2])
    assert views.level is LongTailLevel.II
    assert "en.wikipedia" in views.source


def test_what_is_known_is_not_asked_again(
    fetch: Fetch, server: WikimediaServer, tmp_store: Store
) -> None:
    """L1: neither what the graph has nor what lies on disk; more months are asked for anew."""
    fetch()
    before = len(server.requests)
    again = fetch()
    # Q5, which has no article, is looked up on disk.
    assert (again.entities, again.skipped[module.KNOWN], len(server.requests)) == (0, 5, before)
    tmp_store.delete_record(RECORD_KIND, "g")
    cached = fetch()
    assert (cached.from_cache, cached.requests, len(server.requests)) == (9, 0, before)
    assert means(tmp_store) == EXPECTED
    fetch(last="2022-01")
    assert len(server.asked("per-article")) == 8
    assert read_page_views(tmp_store, "g").find("Q42").total == 6_009  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, headers={"Retry-After": "0"}),
        Fault(status=500, times=2),
        Fault(status=503, headers={"Retry-After": "0"}),
        Fault(status=502),
        Fault(body=b""),
        Fault(body=b"<html>busy</html>"),
        Fault(body=b"{"),
        Fault(body=b"[]"),
        Fault(body=b'{"entities": [], "items": 5}'),
        Fault(body=b'{"items": [{"timestamp": "x", "views": 1}]}'),
        Fault(body=b'{"items": [{"timestamp": "2021010100", "views": -1}]}'),
        Fault(body=b'{"items": [{"timestamp": "1999010100", "views": 1}]}'),
        Fault(cut=20),
        Fault(drop=True),
        Fault(stalls=CLOCK.jump),
    ],
    ids=lambda fault: (
        f"{fault.status}-{fault.body!r:.20}-{fault.cut}-{fault.drop}-{fault.stalls is not None}"
    ),
)
@pytest.mark.parametrize("when", ["Rome", "api.php"])
def test_a_passing_fault_is_tried_again(
    fetch: Fetch, server: WikimediaServer, tmp_store: Store, fault: Fault, when: str
) -> None:
    """L1: every fault of the API's or of the way there; the result is as without it."""
    server.faults = [Fault(**{**vars(fault), "when": when})]
    report = fetch(cache=False)
    assert means(tmp_store) == EXPECTED
    assert report.complete
    # An answer that lacks entities is asked for in halves.
    assert report.retries or len(server.asked("api.php")) > 1


def test_an_article_that_does_not_come_is_said(
    fetch: Fetch, server: WikimediaServer, tmp_store: Store
) -> None:
    """L1: the others are kept, the load says that it is not complete, and goes on later."""
    server.faults = [Fault(when="Rome", times=None, status=500)]
    report = fetch()
    assert set(report.failed) == {"Rome"}
    assert (report.complete, report.exit_code) == (False, 3)
    assert any("NOT COMPLETE: 1 articles" in line for line in report.lines())
    assert set(means(tmp_store)) == {"Q42", "Q3", "Q12"}
    server.faults = []
    before = len(server.asked("per-article"))
    assert fetch().complete
    assert means(tmp_store) == EXPECTED
    assert len(server.asked("per-article")) == before + 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(times=None, status=403), "refuses"),
        (Fault(times=None, status=429, headers={"Retry-After": "600"}), "asks to wait 600"),
        (Fault(times=None, status=404, body=b"<html>not here</html>"), "no endpoint"),
        (Fault(times=None, status=404, body=b'{"type": "a#route"}'), "no endpoint"),
        (Fault(times=None, body=b"<html>proxy</html>"), "HTML page"),
    ],
)
def test_an_api_that_refuses_ends_it_and_keeps_what_came(
    fetch: Fetch, server: WikimediaServer, tmp_store: Store, fault: Fault, said: str
) -> None:
    """L1: no hammering on; what came before is there for the next run."""
    fault.when = "Zw%C3%B6lf"
    server.faults = [fault]
    with pytest.raises(EndpointError, match=said):
        fetch(workers=1)
    # Titles are asked for in their order: this one is the last.
    assert set(means(tmp_store)) == set(EXPECTED) - {"Q12"}


def test_all_workers_wait_when_told_to(
    fetch: Fetch, server: WikimediaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L1: Retry-After holds everyone back, and no more ask at once than allowed."""
    monkeypatch.setattr("loaders.pageviews.wikimedia.time", CLOCK)
    server.faults = [Fault(when="Rome", status=429, headers={"Retry-After": "5000"})]
    answer = server.answer
    first_pauses = threading.Event()
    # The clock jumps before either goes on: a request under way would time out.
    both_pause = threading.Barrier(2, action=lambda: CLOCK.jump(5000))
    pauses: list[float] = []

    def held(path: str) -> tuple[int, bytes]:
        # The other worker gets this article once the one that was refused waits.
        if "Douglas" in path:
            assert first_pauses.wait(600)
        return answer(path)

    class Stop(threading.Event):
        """Lets the time of a pause pass at once, when both workers are in one."""

        def wait(self, timeout: float | None = None) -> bool:
            if timeout:
                pauses.append(timeout)
                first_pauses.set()
                both_pause.wait(600)
            return self.is_set()

    monkeypatch.setattr(server, "answer", held)
    assert fetch(workers=2, cache=False, stop=Stop(), max_wait_s=5000).complete
    assert len(pauses) == 2
    assert server.most_running <= 2


def test_stopping(
    fetch: Fetch, server: WikimediaServer, tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L1: what came is kept, the report says stopped, the next run goes on."""
    stop = threading.Event()
    answer = server.answer

    def held(path: str) -> tuple[int, bytes]:
        # The third of four articles waits for the stop, so that the fourth is never asked for.
        if "Rome" in path:
            stop.wait(600)
        return answer(path)

    monkeypatch.setattr(server, "answer", held)
    report = fetch(workers=1, stop=stop, progress=lambda at: stop.set() if at.done == 2 else None)
    assert report.stopped
    assert not report.complete
    assert 1 <= len(means(tmp_store)) < 5
    assert fetch().complete
    assert means(tmp_store) == EXPECTED


def test_entities_titles_and_draws(
    fetch: Fetch,
    server: WikimediaServer,
    tmp_store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """L1: some entities only, titles from a table, a draw by random seed that is nested."""
    fetch(entity_ids=["Q6"])
    assert set(means(tmp_store)) == {"Q42"}
    (tmp_path / "titles.tsv").write_text("Q5\tRome\n")
    fetch(entity_ids=["Q5"], titles=tmp_path / "titles.tsv")
    assert means(tmp_store)["Q5"] == 30_000.0
    with pytest.raises(InputError, match="no entity Q99"):
        fetch(entity_ids=["Q99"])
    drawn = []
    for count in (2, 4):
        tmp_store.delete_record(RECORD_KIND, "g")
        fetch(count=count, random_seed=7)
        drawn.append(set(means(tmp_store)))
    assert drawn[0] <= drawn[1]
    # However few are held at a time.
    monkeypatch.setattr(module, "_MOST_HELD", 0)
    tmp_store.delete_record(RECORD_KIND, "g")
    fetch(count=4, random_seed=7)
    assert set(means(tmp_store)) == drawn[1]
    with pytest.raises(InputError, match="count"):
        fetch(count=0)


def test_an_entity_unknown_to_wikidata_spoils_no_batch(
    fetch: Fetch, tmp_store: Store, server: WikimediaServer
) -> None:
    """L1: the batch is asked for in halves; alone it has no article."""
    load_graph(tmp_store, "g", [], [Entity("Q404")])
    report = fetch()
    assert means(tmp_store) == EXPECTED
    assert report.skipped[module.NO_ARTICLE] == 2


def test_a_wrong_project_is_noticed(
    fetch: Fetch, server: WikimediaServer, tmp_store: Store
) -> None:
    """L1: where no article has a view at all, nothing is kept."""
    server.views = {}
    load_graph(tmp_store, "g", [], [Entity("http://dbpedia.org/resource/X")])
    with pytest.raises(InputError, match="none of 5"):
        fetch()
    assert means(tmp_store) == {}
    report = fetch(entity_ids=["Q42"])
    assert (means(tmp_store), report.skipped) == ({"Q42": 0.0}, {module.NO_VIEWS: 1})


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"project": "wikipedia"}, "project"),
        ({"first": "2021-13"}, None),
        ({"first": "2021-04"}, "first"),
        ({"first": "2014-01"}, "first"),
        ({"last": time.strftime("%Y-%m", time.gmtime())}, "last"),
        ({"access": "phone"}, "access"),
        ({"agent": "bot"}, "agent"),
        ({"workers": 11}, "concurrency"),
        ({"address": "https://wikimedia.org/x"}, "contact"),
        ({"contact": "me"}, "contact"),
        ({"address": "file:///etc/passwd"}, "endpoint"),
    ],
)
def test_options_are_checked_first(
    fetch: Fetch, server: WikimediaServer, options: dict[str, Any], argument: str | None
) -> None:
    """L1: a contact is asked for, never guessed, where the address is Wikimedia's."""
    with pytest.raises(InputError) as raised:
        fetch(**options)
    assert raised.value.argument == argument
    assert server.requests == []


@pytest.mark.parametrize(
    ("id_", "same_as", "language", "title"),
    [
        ("http://dbpedia.org/resource/New_York_City", (), "en", "New York City"),
        ("http://de.dbpedia.org/resource/K%C3%B6ln", (), "de", "Köln"),
        ("http://dbpedia.org/resource/Rome", (), "de", None),
        ("Q220", ("http://dbpedia.org/resource/Rome",), "en", "Rome"),
        ("Q220", ("https://it.wikipedia.org/wiki/Roma",), "it", "Roma"),
        ("http://example.org/Rome", (), "en", None),
    ],
)
def test_article_of(id_: str, same_as: tuple[str, ...], language: str, title: str | None) -> None:
    """L1: addresses that are called like their article, in the project's language."""
    assert article_of(Entity(id_, same_as=same_as), language) == title


def test_a_bad_table_of_titles_is_refused(tmp_path: Path) -> None:
    """L1: with the line."""
    path = tmp_path / "t"
    path.write_text("Q1\tA_b\n\nQ2\n")
    with pytest.raises(InputError, match="line 3"):
        read_titles(path)


# Tables


def load(store: Store, path: Path, **more: Any) -> PageViewReport:
    linked = {"Rome": "Q220", "Roma": "Q220"}
    return load_page_views(
        path, store=store, graph="g", linker=linked.get, rejects_path=path.parent / "r", **more
    )


def test_a_table_of_views(tmp_store: Store, tmp_path: Path) -> None:
    """L1: ids and titles, months in any form, titles of one entity together, bad lines rejected."""
    load_graph(tmp_store, "g", [], ENTITIES)
    path = tmp_path / "views.tsv"
    path.write_bytes(
        b"\xef\xbb\xbfname\tmonth\tviews\nQ42\t2021-01\t10\nQ42\t2021020100\t20\r\nRome\t202101\t5\n"
        b"Roma\t2021-01-01\t6\nNowhere\t2021-01\t1\nQ42\t2021-01\t9\nQ42\t2021-1\t1\n"
        b"Q42\t2021-02\t-1\nQ42 2021-01 4\n\xff\t2021-01\t1\n\n"
    )
    report = load(tmp_store, path)
    assert means(tmp_store) == {"Q42": 15.0, "Q220": 5.5}
    assert (report.entities, report.rejected, report.exit_code) == (2, 5, 3)
    assert report.skipped == {module.NOT_IN_GRAPH: 1}
    assert [reject.line for reject in report.rejects] == [7, 8, 9, 10, 11]
    assert "given before" in report.rejects[0].reason
    reasons = [json.loads(line)["reason"] for line in (tmp_path / "r").read_text().splitlines()]
    assert reasons == [reject.reason for reject in report.rejects]
    # What is loaded later takes the place of the months it has, and leaves the others.
    (tmp_path / "more.tsv").write_text("Q42\t2021-02\t40\nQ42\t2021-03\t10\n")
    load(tmp_store, tmp_path / "more.tsv")
    assert means(tmp_store) == {"Q42": 20.0, "Q220": 5.5}


def test_a_table_without_views_is_refused(tmp_store: Store, tmp_path: Path) -> None:
    """L1: nothing is kept, also where a strict load stops."""
    load_graph(tmp_store, "g", [], ENTITIES)
    path = tmp_path / "views.tsv"
    path.write_text("Nowhere\t2021-01\t5\n")
    with pytest.raises(InputError, match="no page views"):
        load(tmp_store, path)
    path.write_text("Q42\t2021-01\t5\nbad\n")
    with pytest.raises(InputError, match="line 2, byte 14:"):
        load(tmp_store, path, strict=True)
    assert means(tmp_store) == {}


# What is kept


TABLES = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.dictionaries(st.sampled_from(MONTHS), st.integers(0, 10**12)),
    max_size=4,
)


@given(TABLES, TABLES)
def test_merging_two_tables(old: dict[str, dict[str, int]], new: dict[str, dict[str, int]]) -> None:
    """L1: by hand: the new months of an entity over the old ones, a month without a line is 0."""
    tables = (make_table(old, months=MONTHS[:2], source="old"),
              make_table(new, months=MONTHS[1:], source="new"))  # fmt: skip
    merged = merge_tables(merge_tables(EMPTY, tables[0]), tables[1])
    for entity in "abcd":
        known: dict[str, int] = {}
        for views, months in ((old, MONTHS[:2]), (new, MONTHS[1:])):
            if entity in views:
                known |= {month: views[entity].get(month, 0) for month in months}
        found = merged.find(entity)
        if not known:
            assert found is None
            continue
        assert found is not None
        assert (found.total, found.months) == (sum(known.values()), len(known))
        assert (found.first, found.last) == (min(known), max(known))
        assert found.mean == pytest.approx(sum(known.values()) / len(known))
        assert found.source == ("new" if entity in new else "old")
    assert merged.known("abcd", MONTHS) == set(old) & set(new)


@pytest.mark.parametrize(
    ("mean", "level"),
    [(9.99, None), (10, "IV"), (100, "III"), (1_000, "II"), (10_000, "I"), (100_000, None)],
)
def test_levels(mean: float, level: str | None) -> None:
    """L1: the lower bound is in, the upper is not."""
    assert level_of(mean) == level


def test_months() -> None:
    """L1: LTGen's two years are 24 months."""
    assert len(months_between("2021-01", "2022-12")) == 24
    for wrong in (("2021-1", "2021-02"), ("2021-02", "2021-01")):
        with pytest.raises(InputError):
            months_between(*wrong)
