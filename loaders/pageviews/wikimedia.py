"""Wikimedia's pageview API, asked politely for the monthly views of articles, and Wikidata's for
which article an entity has.

Several workers ask at once, up to a cap, and each pauses between its requests; where the API says
when to come back (429, 503), all of them wait. Answers are kept on disk: views of months that
are over do not change.
"""

from __future__ import annotations

import calendar
import queue
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from graph_service.errors import InputError
from graph_service.http.faults import (
    EndpointError,
    Fault,
    RequestFailedError,
    StoppedError,
    is_html,
)
from graph_service.http.host_client import HostClient, RequestPolicy, Traffic
from graph_service.http.retry import retry_after_seconds
from graph_service.http.transfer import Reply, get, judge_status
from graph_service.model.pageviews import months_between

VIEWS_ADDRESS = "https://wikimedia.org/api/rest_v1/metrics/pageviews/per-article"
WIKIDATA_API = "https://www.wikidata.org/w/api.php"
# The study's months (LTGen, footnote 2): 1 January 2021 to 1 January 2023.
FIRST_MONTH, LAST_MONTH = "2021-01", "2022-12"
# Wikimedia counts views in this way since then.
EARLIEST_MONTH = "2015-07"
MOST_WORKERS = 10
CACHE_DAYS = 3_650.0
_PROJECT = re.compile(
    r"[a-z][a-z0-9-]{1,29}\.(?:wikipedia|wikivoyage|wikiquote|wikisource)(?:\.org)?"
)
_TIMESTAMP = re.compile(r"(\d{4})(0[1-9]|1[0-2])\d{2}(?:\d{2})?")
_IDS_A_REQUEST = 50
_MAXLAG_S = 5
NO_VIEWS = b'{"items":[]}'

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What is asked for, and how.

    Attributes:
        project: ``en.wikipedia`` and so on.
        first, last: Months, both included; over, for the views of a month grow until then.
        access: ``all-access``, ``desktop``, ``mobile-web`` or ``mobile-app``.
        agent: ``user``, ``all-agents``, ``spider`` or ``automated``.
        workers: Requests at once, at most.
        address, wikidata_api: Where to ask.
        manners: Contact, pauses, limits, cache.
    """

    project: str = "en.wikipedia"
    first: str = FIRST_MONTH
    last: str = LAST_MONTH
    access: str = "all-access"
    agent: str = "user"
    workers: int = 4
    address: str = VIEWS_ADDRESS
    wikidata_api: str = WIKIDATA_API
    manners: RequestPolicy = field(default_factory=RequestPolicy)

    @property
    def months(self) -> tuple[str, ...]:
        """All months that are asked for."""
        return months_between(self.first, self.last)

    @property
    def language(self) -> str:
        """The language of the project."""
        return self.project.partition(".")[0]

    def check(self) -> None:
        """Raises ``InputError`` for a value out of range."""
        if not _PROJECT.fullmatch(self.project):
            raise InputError(
                f"{self.project!r} is no project; expected one such as en.wikipedia",
                argument="project",
            )
        months_between(self.first, self.last)
        now = datetime.now(UTC)
        if self.last >= f"{now.year:04}-{now.month:02}":
            raise InputError(
                f"month {self.last} is not over; its views would still grow", argument="last"
            )
        if self.first < EARLIEST_MONTH:
            raise InputError(
                f"views are counted since {EARLIEST_MONTH}, got {self.first}", argument="first"
            )
        for name, value, known in (
            ("access", self.access, ("all-access", "desktop", "mobile-web", "mobile-app")),
            ("agent", self.agent, ("user", "all-agents", "spider", "automated")),
        ):
            if value not in known:
                raise InputError(f"{value!r} is no {name}; expected {', '.join(known)}",
                                 argument=name)  # fmt: skip
        if not 1 <= self.workers <= MOST_WORKERS:
            raise InputError(
                f"requests at once must be 1 to {MOST_WORKERS}, got {self.workers}",
                argument="concurrency",
            )


@dataclass(frozen=True, slots=True)
class ArticleViews:
    """The views of an article by month; ``failed`` says why they did not come."""

    title: str
    views: Mapping[str, int] = field(default_factory=dict)
    failed: str = ""


class _Gate:
    """Keeps all workers back until the moment that a host named."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._until = 0.0
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def wait(self) -> None:
        while (left := self._until - time.monotonic()) > 0:
            if self._stop.wait(left):
                raise StoppedError


class Wikimedia:
    """The two APIs; ``stop`` ends all waiting.

    Raises:
        InputError: An option is wrong, or no contact is given for an address of Wikimedia's.
    """

    def __init__(self, options: ViewOptions, /, *, stop: threading.Event | None = None) -> None:
        options.check()
        self.options = options
        self._stop = stop or threading.Event()
        self._gate = _Gate(self._stop)
        manners = replace(options.manners, cache_days=CACHE_DAYS)
        # Made here, so that an address or contact that will not do is an error at once.
        self._workers = [
            HostClient(options.address, manners=manners, stop=self._stop)
            for _ in range(options.workers)
        ]
        self._wikidata = HostClient(options.wikidata_api, manners=options.manners, stop=self._stop)

    def traffic(self) -> Traffic:
        """Returns what was exchanged so far, by all workers."""
        total = Traffic()
        for worker in (*self._workers, self._wikidata):
            total.requests += worker.traffic.requests
            total.retries += worker.traffic.retries
            total.from_cache += worker.traffic.from_cache
            total.bytes_read += worker.traffic.bytes_read
        return total

    def views(self, titles: Sequence[str], /) -> Iterator[ArticleViews]:
        """Yields the views of articles as they come, in any order.

        Raises:
            EndpointError: The API refuses, is away or asks to come back much later.
            StoppedError: The work was stopped.
        """
        yield from _together(self._workers, titles, self._article, self._stop)

    def articles(self, ids: Sequence[str], /) -> dict[str, str]:
        """Returns the titles of Wikidata's entities in the project; those without one are absent.

        Raises:
            EndpointError: The API refuses, is away or asks to come back much later.
            StoppedError: The work was stopped.
        """
        polite, site = self._wikidata, f"{self.options.language.replace('-', '_')}wiki"
        titles: dict[str, str] = {}
        left: list[str] = []
        for id_ in ids:
            cached = polite.cache.get(polite.address, f"{site} {id_}") if polite.cache else None
            if cached is None:
                left.append(id_)
            else:
                polite.traffic.from_cache += 1
                titles[id_] = cached.decode()
        for start in range(0, len(left), _IDS_A_REQUEST):
            batch = left[start : start + _IDS_A_REQUEST]
            fetched = self._sitelinks(polite, batch, site)
            for id_ in batch:
                titles[id_] = fetched.get(id_, "")
                if polite.cache is not None:
                    polite.cache.put(polite.address, f"{site} {id_}", titles[id_].encode())
        return {id_: title for id_, title in titles.items() if title}

    def _article(self, polite: HostClient, title: str) -> ArticleViews:
        options = self.options
        name = urllib.parse.quote(title.replace(" ", "_"), safe="")
        # Months that the range does not hold whole are left out of the answer.
        last_day = calendar.monthrange(int(options.last[:4]), int(options.last[5:]))[1]
        end = f"{options.last.replace('-', '')}{last_day}"
        path = "/".join(
            (options.project, options.access, options.agent, name, "monthly",
             f"{options.first.replace('-', '')}01", end)
        )  # fmt: skip
        base = options.address.rstrip("/")
        body = polite.cache.get(base, path) if polite.cache else None
        if body is not None:
            polite.traffic.from_cache += 1
            views = read_views(body, options.months)
            if not isinstance(views, str):
                return ArticleViews(title, views)

        def attempt() -> bytes | Fault:
            self._gate.wait()
            reply = get(polite, f"{base}/{path}")
            result = reply if isinstance(reply, Fault) else self._judge(reply)
            if isinstance(result, Fault) and result.retry_after_s is not None:
                self._gate.hold(min(result.retry_after_s, options.manners.max_wait_s))
            return result

        polite.go_on()
        try:
            body = polite.run(attempt)
        except RequestFailedError as error:
            return ArticleViews(title, failed=error.reason)
        if polite.cache is not None:
            polite.cache.put(base, path, body)
        views = read_views(body, options.months)
        assert not isinstance(views, str)
        return ArticleViews(title, views)

    def _judge(self, reply: Reply) -> bytes | Fault:
        """Returns a body whose views can be read, or what the reply means."""
        if reply.code == 404 and _says_no_data(reply.body):
            return NO_VIEWS
        fault = judge_status(reply)
        if fault is not None:
            return fault
        problem = read_views(reply.body, self.options.months)
        if isinstance(problem, str):
            if is_html(reply.body):
                return Fault("HTTP 200 with an HTML page in place of an answer", of_query=False)
            return Fault(problem, of_query=True)
        return reply.body

    def _sitelinks(self, polite: HostClient, ids: Sequence[str], site: str) -> dict[str, str]:
        parameters = {
            "action": "wbgetentities",
            "format": "json",
            "ids": "|".join(ids),
            "props": "sitelinks",
            "sitefilter": site,
            "maxlag": str(_MAXLAG_S),
        }

        def attempt() -> dict[str, str] | Fault:
            reply = get(polite, polite.address, parameters=parameters)
            if isinstance(reply, Fault):
                return reply
            return judge_status(reply) or read_sitelinks(reply, ids, site)

        polite.go_on()
        try:
            return polite.run(attempt)
        except RequestFailedError as error:
            if len(ids) == 1:
                raise EndpointError(
                    f"{polite.address} gives no article of {ids[0]}: {error.reason}",
                    argument="wikidata_api",
                    hint="Give titles in a table: --titles FILE.",
                ) from error
            # One entity must not cost its whole batch the answer.
            middle = len(ids) // 2
            halves = (ids[:middle], ids[middle:])
            return {k: v for half in halves for k, v in self._sitelinks(polite, half, site).items()}


def read_views(body: bytes, months: Sequence[str], /) -> dict[str, int] | str:
    """Returns the views by month of an answer, or what is wrong with it.

    >>> read_views(b'{"items": [{"timestamp": "2021010100", "views": 5}]}', ["2021-01"])
    {'2021-01': 5}
    """
    if not body.strip():
        return "HTTP 200 with an empty body"
    try:
        items = orjson.loads(body)["items"]
        views_by_month: dict[str, int] = {}
        for item in items:
            when, views = _TIMESTAMP.fullmatch(item["timestamp"]), item["views"]
            if when is None or not isinstance(views, int) or isinstance(views, bool) or views < 0:
                return f"an answer with {str(item)[:120]} for a month"
            views_by_month[f"{when[1]}-{when[2]}"] = views
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        return f"an answer that is none of the pageview API's ({type(error).__name__}: {error})"
    strange = sorted(set(views_by_month) - set(months))
    return f"an answer for {strange[0]}, which was not asked for" if strange else views_by_month


def read_sitelinks(reply: Reply, ids: Sequence[str], site: str, /) -> dict[str, str] | Fault:
    """Returns the titles of a ``wbgetentities`` answer by id, or why there are none."""
    if is_html(reply.body):
        return Fault("HTTP 200 with an HTML page in place of an answer", of_query=False)
    try:
        payload = orjson.loads(reply.body)
        error = payload.get("error")
        if error is not None:
            code = str(error.get("code"))
            if code == "no-such-entity" and len(ids) == 1:
                return {}
            return Fault(
                f"the API says {code}: {str(error.get('info'))[:200]}",
                # An entity that the API does not know spoils the batch it is in.
                of_query=code in ("no-such-entity", "param-invalid"),
                retry=code in ("maxlag", "ratelimited", "readonly"),
                retry_after_s=retry_after_seconds(reply.headers.get("Retry-After")),
                patient=code == "maxlag",
            )
        entities = payload["entities"]
        missing = [id_ for id_ in ids if id_ not in entities]
        if missing:
            return Fault(f"an answer without {missing[0]}", of_query=True, retry=False)
        links = {id_: entities[id_].get("sitelinks") or {} for id_ in ids}
        return {
            id_: str(links_of[site]["title"]) for id_, links_of in links.items() if site in links_of
        }
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        return Fault(f"an answer that is no entities ({type(error).__name__})", of_query=True)


def _says_no_data(body: bytes) -> bool:
    """The API answers 404 with a JSON object where an article had no view; a wrong address is
    answered with a page, or with an object that says that there is no such route.
    """
    try:
        payload: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return (
        isinstance(payload, dict)
        and bool({"type", "detail"} & set(payload))
        and b"#route" not in body
    )


def _together(
    workers: Sequence[T],
    jobs: Sequence[str],
    work: Callable[[T, str], U],
    stop: threading.Event,
) -> Iterator[U]:
    """Yields what work gives for each job, done by all workers at once; the first error ends it."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    done: queue.Queue[U | BaseException | None] = queue.Queue(maxsize=4 * len(workers))
    ended = threading.Event()

    def run(worker: T) -> None:
        try:
            while not ended.is_set() and not stop.is_set():
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    break
                _offer(done, work(worker, job), ended)
        except BaseException as error:
            # Raised again where the results are waited for.
            _offer(done, error, ended)
        finally:
            _offer(done, None, ended)

    threads = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            result = done.get()
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                raise result
            else:
                yield result
        if stop.is_set():
            raise StoppedError
    finally:
        ended.set()


def _offer(done: queue.Queue[Any], item: Any, ended: threading.Event) -> None:
    """Hands over a result, unless nobody waits for it any more."""
    while not ended.is_set():
        try:
            done.put(item, timeout=0.1)
        except queue.Full:
            continue
        return
