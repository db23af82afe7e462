"""Documents of Wikibase entities over the network, checked to be all that were asked for.

From the action API (``.../w/api.php``, ``wbgetentities``, 50 entities a request, with
``maxlag``) or from the entity-data address (``.../wiki/Special:EntityData``, one a request). What
comes is what ``loaders.wikibase.documents`` reads. A batch that fails is asked for in halves, so that one bad
entity spoils no other; an answer that lacks an entity (the API cuts answers that grow too large)
is a batch that failed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.http.faults import Fault, RequestFailedError, is_html
from graph_service.http.host_client import HostClient, RequestPolicy, Traffic
from graph_service.http.retry import retry_after_seconds
from graph_service.http.transfer import Reply, get, judge_status
from graph_service.model.identity import WIKIDATA_ID

WIKIDATA_API = "https://www.wikidata.org/w/api.php"
# The API's limit for clients without rights of their own.
ENTITIES_PER_REQUEST = 50
# Seconds that Wikidata's replicas may be behind before the API turns clients like us away.
MAXLAG_S = 5
_NAMES = ("labels", "descriptions", "aliases", "datatype")
_WITH_STATEMENTS = ("info", *_NAMES, "claims")
_REVISION = ("info",)
# Faults of the server's state, which pass; those of one entity are told apart by halving.
_BUSY = frozenset(("ratelimited", "readonly", "internal_api_error_DBQueryTimeoutError"))
_REFUSED = frozenset(
    ("unknown_action", "badvalue", "unknown_format", "permissiondenied", "blocked", "readapidenied")
)


@dataclass(slots=True)
class Fetched:
    """What came of some entities.

    Attributes:
        documents: JSON of one entity each, by the id asked for; that of a redirect is its
            target's document.
        redirects: Targets, by the id asked for.
        missing: Ids that there is no entity of.
        failed: Why an entity's document did not come, by the id asked for.
        unchanged: Revisions, by id, of documents that were not asked for, since they are still
            of the revision that is known.
    """

    documents: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    unchanged: dict[str, int] = field(default_factory=dict)


class EntityData:
    """Where entities' documents come from; one request at a time.

    Args:
        address: Of the API (its path ends in ``api.php``) or of ``Special:EntityData``.
        manners: Timeouts, pauses, contact, cache.
        languages: Languages of the terms that the API is asked for; empty for all.
        stop: When set, waiting ends with ``StoppedError``.

    Raises:
        InputError: The address is neither, or is Wikimedia's and no contact is given.
    """

    def __init__(
        self,
        address: str,
        /,
        *,
        manners: RequestPolicy,
        languages: Sequence[str] = (),
        stop: threading.Event | None = None,
    ) -> None:
        self._polite = HostClient(address, manners=manners, stop=stop)
        path = self._polite.parts.path
        self.is_api = path.endswith("/api.php")
        if not self.is_api and "Special:EntityData" not in path:
            raise InputError(
                f"{address!r} gives no entities; expected the address of an API such as "
                f"{WIKIDATA_API}, or one such as https://www.wikidata.org/wiki/Special:EntityData",
                argument="entity_data",
            )
        self._base = address.rstrip("/")
        self._languages = tuple(languages)
        self._batch = ENTITIES_PER_REQUEST if self.is_api else 1

    @property
    def traffic(self) -> Traffic:
        """What was exchanged so far."""
        return self._polite.traffic

    def fetch(self, ids: Sequence[str], /, *, with_statements: bool = True) -> Fetched:
        """Returns the documents of entities.

        Args:
            ids: Distinct ids such as ``Q42``.
            with_statements: Whether statements are wanted, not names alone.

        Raises:
            EndpointError: The host refuses, is away or asks to come back much later.
            StoppedError: The load was stopped.
        """
        return self._fetch(ids, _WITH_STATEMENTS if with_statements else _NAMES)

    def revisions(self, ids: Sequence[str], /) -> dict[str, int]:
        """Returns the revisions that entities' documents have now, without the documents.

        What is missing, redirects to another or could not be told is absent.

        Args:
            ids: Distinct ids such as ``Q42``.

        Raises:
            EndpointError: The host refuses, is away or asks to come back much later.
            StoppedError: The load was stopped.
        """
        fetched = self._fetch(ids, _REVISION)
        last_revisions = {
            id_: _loaded(body).get("lastrevid")
            for id_, body in fetched.documents.items()
            if id_ not in fetched.redirects
        }
        return {
            id_: revision for id_, revision in last_revisions.items() if isinstance(revision, int)
        }

    def _fetch(self, ids: Sequence[str], props: tuple[str, ...]) -> Fetched:
        fetched = Fetched()
        left = [id_ for id_ in ids if not self._from_cache(id_, props, fetched)]
        first = 0
        while first < len(left):
            batch = left[first : first + self._batch]
            first += len(batch)
            self._fetch_batch(batch, props, fetched)
        return fetched

    def prune_cache(self) -> None:
        """Deletes documents on disk that are past their time."""
        if self._polite.cache is not None:
            self._polite.cache.prune()

    def _fetch_batch(self, ids: Sequence[str], props: tuple[str, ...], fetched: Fetched) -> None:
        self._polite.go_on()
        try:
            documents = self._polite.run(lambda: self._attempt(ids, props))
        except RequestFailedError as error:
            if len(ids) == 1:
                fetched.failed[ids[0]] = error.reason
                return
            documents = {}
        present = [id_ for id_ in ids if id_ in documents]
        for id_ in present:
            self._store(id_, documents[id_], props, fetched)
        left = [id_ for id_ in ids if id_ not in documents]
        if not left:
            return
        if len(ids) == 1:
            fetched.failed[ids[0]] = "the answer does not hold it"
        elif present:
            self._fetch_batch(left, props, fetched)
        else:
            middle = len(left) // 2
            self._fetch_batch(left[:middle], props, fetched)
            self._fetch_batch(left[middle:], props, fetched)

    def _attempt(self, ids: Sequence[str], props: tuple[str, ...]) -> Mapping[str, Any] | Fault:
        """Returns the documents by id asked for; None stands for a missing entity."""
        if not self.is_api:
            return self._attempt_single(ids[0])
        parameters = {
            "action": "wbgetentities",
            "format": "json",
            "ids": "|".join(ids),
            "props": "|".join(props),
            "redirects": "yes",
            "maxlag": str(MAXLAG_S),
        }
        if self._languages:
            parameters["languages"] = "|".join(self._languages)
        reply = get(self._polite, self._base, parameters=parameters)
        if isinstance(reply, Fault):
            return reply
        payload = _payload(reply)
        if isinstance(payload, Fault):
            return payload
        if "error" in payload:
            return self._api_error(payload["error"], reply, ids)
        return _by_requested_id(payload, ids)

    def _attempt_single(self, id_: str) -> Mapping[str, Any] | Fault:
        reply = get(self._polite, f"{self._base}/{id_}.json")
        if isinstance(reply, Fault):
            return reply
        # 410 is said of deleted entities.
        if reply.code in (404, 410):
            return {id_: None}
        payload = _payload(reply)
        if isinstance(payload, Fault):
            return payload
        requested = _by_requested_id(payload, [id_])
        if isinstance(requested, Fault) or requested:
            return requested
        # A redirect is answered with its target, and not named.
        documents = [document for document in payload["entities"].values() if _is_entity(document)]
        return {id_: documents[0]} if len(documents) == 1 else {}

    def _api_error(self, error: Any, reply: Reply, ids: Sequence[str]) -> Mapping[str, Any] | Fault:
        fields = error if isinstance(error, Mapping) else {}
        code = str(fields.get("code", "error"))
        reason = f"the API says {code}: {str(fields.get('info', error))[:200]}"
        after = retry_after_seconds(reply.headers.get("Retry-After"))
        if code == "maxlag":
            return Fault(reason, of_query=False, retry_after_s=after, patient=True)
        if code in _BUSY:
            return Fault(reason, of_query=False, retry_after_s=after)
        if code == "no-such-entity":
            # It names the first of them, and says nothing of the others.
            named = fields.get("id")
            missing = ids[0] if len(ids) == 1 else named if named in ids else None
            return {missing: None} if missing else Fault(reason, of_query=True, retry=False)
        if code == "toomanyvalues":
            self._batch = max(1, len(ids) // 2)
            return Fault(reason, of_query=True, retry=False)
        return Fault(reason, of_query=code not in _REFUSED, retry=code not in _REFUSED)

    def _store(self, id_: str, document: Any, props: tuple[str, ...], fetched: Fetched) -> None:
        body = _dumped(document)
        there = document is not None and "missing" not in document
        if self._polite.cache is not None and there:
            self._polite.cache.put(self._base, self._cache_key(id_, props), body)
        _note(id_, document, body, fetched)

    def _from_cache(self, id_: str, props: tuple[str, ...], fetched: Fetched) -> bool:
        cache = self._polite.cache
        body = cache.get(self._base, self._cache_key(id_, props)) if cache is not None else None
        if body is None:
            return False
        try:
            document = _loaded(body)
        except ValueError:
            # Damaged: it is asked for again.
            return False
        self.traffic.from_cache += 1
        _note(id_, document, body, fetched)
        return True

    def _cache_key(self, id_: str, props: tuple[str, ...]) -> str:
        # Special:EntityData has one answer to all questions.
        parameters = (",".join(self._languages), "|".join(props)) if self.is_api else ()
        return "\n".join((id_, *parameters))


def _note(id_: str, document: Any, body: bytes, fetched: Fetched) -> None:
    if document is None or "missing" in document:
        fetched.missing.append(id_)
        return
    fetched.documents[id_] = body
    if document["id"] != id_:
        fetched.redirects[id_] = document["id"]


def _payload(reply: Reply) -> Mapping[str, Any] | Fault:
    """Returns the JSON object of a reply, or what is wrong with it."""
    refused = judge_status(reply)
    if refused is not None:
        return refused
    if not reply.body.strip():
        return Fault("HTTP 200 with an empty body", of_query=False)
    try:
        payload = _loaded(reply.body)
    except ValueError as error:
        media = reply.media_type
        if is_html(reply.body) or media == "text/html":
            return Fault("HTTP 200 with an HTML page in place of an answer", of_query=False)
        if "json" not in media:
            return Fault(
                f"an answer of media type {media}; expected application/json", of_query=False
            )
        return Fault(f"an answer that is no JSON ({error})", of_query=True)
    if not isinstance(payload, Mapping) or not ("entities" in payload or "error" in payload):
        return Fault("an answer that holds no entities", of_query=True)
    return payload


def _by_requested_id(payload: Mapping[str, Any], ids: Sequence[str]) -> Mapping[str, Any] | Fault:
    """Returns documents by the id asked for, leaving out any that was not."""
    entities = payload.get("entities")
    if not isinstance(entities, Mapping):
        # An empty mapping comes as a list.
        return Fault("an answer that holds no entities", of_query=True)
    by_source: dict[str, Any] = {}
    for key, document in entities.items():
        if not isinstance(document, Mapping):
            continue
        complete = document if "id" in document else {**document, "id": key}
        if not ("missing" in document or _is_entity(complete)):
            continue
        by_source[key] = by_source[complete["id"]] = complete
        redirects = document.get("redirects")
        if isinstance(redirects, Mapping):
            by_source[str(redirects.get("from"))] = complete
    return {id_: by_source[id_] for id_ in ids if id_ in by_source}


def _is_entity(document: Any) -> bool:
    id_ = document.get("id") if isinstance(document, Mapping) else None
    return isinstance(id_, str) and WIKIDATA_ID.fullmatch(id_) is not None


def _loaded(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # A lone surrogate in one text spoils no entity: the standard library reads on.
        try:
            return json.loads(body)
        except RecursionError as error:
            raise ValueError("JSON nested too deeply") from error


def _dumped(document: Any) -> bytes:
    try:
        return orjson.dumps(document)
    except orjson.JSONEncodeError:
        return json.dumps(document).encode()
