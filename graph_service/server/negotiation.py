"""What a client accepts: media types and content codings with their weights (RFC 9110, 12.5)."""

from __future__ import annotations

from collections.abc import Iterator

GRAPHQL_RESPONSE = "application/graphql-response+json"
JSON = "application/json"
HTML = "text/html"


def response_type(accept: str | None, /) -> str | None:
    """Returns the media type of a GraphQL response; None if the client accepts neither.

    The one with the greater weight wins. At equal weights the one that is named wins over the one
    that a wildcard covers, and of two named ones GraphQL's own, whose status says more.

    >>> response_type("application/graphql-response+json, application/json;q=0.9")
    'application/graphql-response+json'
    >>> response_type("*/*"), response_type(None), response_type("text/event-stream")
    ('application/json', 'application/json', None)
    """
    if accept is None or not accept.strip():
        return JSON
    of_json, of_graphql = weight(accept, JSON), weight(accept, GRAPHQL_RESPONSE)
    if not of_json and not of_graphql:
        return None
    if of_graphql == of_json:
        return GRAPHQL_RESPONSE if _names(accept, GRAPHQL_RESPONSE) else JSON
    return GRAPHQL_RESPONSE if of_graphql > of_json else JSON


def prefers_html(accept: str | None, /) -> bool:
    """Returns whether a client wants a page rather than JSON, as browsers do."""
    if accept is None:
        return False
    of_html = weight(accept, HTML)
    return of_html > max(weight(accept, JSON), weight(accept, GRAPHQL_RESPONSE))


def weight(accept: str, media_type: str, /) -> float:
    """Returns the weight of a media type, from 0 (not accepted) to 1.

    The most specific entry that covers it decides.

    >>> weight("text/*;q=0.3, text/html;q=0.7, */*;q=0.1", "text/html")
    0.7
    """
    family = f"{media_type.partition('/')[0]}/*"
    entries = dict(_entries(accept))
    for name in (media_type, family, "*/*"):
        if name in entries:
            return entries[name]
    return 0.0


def accepts_gzip(accept_encoding: str, /) -> bool:
    """Returns whether a client accepts gzip.

    >>> [accepts_gzip(one) for one in ("gzip, br", "gzip;q=0", "*", "*;q=0", "br", "")]
    [True, False, True, False, False, False]
    """
    entries = dict(_entries(accept_encoding))
    return entries.get("gzip", entries.get("x-gzip", entries.get("*", 0.0))) > 0


def _names(accept: str, media_type: str) -> bool:
    return any(name == media_type for name, _ in _entries(accept))


def _entries(header: str) -> Iterator[tuple[str, float]]:
    """Yields what a header lists, in lower case, with its weight; other parameters don't count."""
    for entry in header.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        if not name:
            continue
        value = 1.0
        for parameter in parameters:
            key, _, weight = parameter.partition("=")
            if key.strip() == "q":
                value = _weight_of(weight.strip())
        yield name, value


def _weight_of(text: str) -> float:
    """Returns a weight; one that can't be read counts as 0: nobody may have meant it."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0.0 <= value <= 1.0 else 0.0
