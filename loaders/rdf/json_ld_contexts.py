"""Contexts of JSON-LD: no context is fetched, and that of schema.org is a copy of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

_VOCABULARY = "http://schema.org/"
_DATES = """
    arrivalTime availabilityEnds availabilityStarts birthDate bookingTime checkinTime checkoutTime
    coverageEndTime coverageStartTime dateCreated dateIssued dateModified datePosted datePublished
    dateVehicleFirstRegistered deathDate departureTime dissolutionDate doorTime endDate endTime
    expires foundingDate lastReviewed orderDate ownedFrom ownedThrough paymentDueDate
    previousStartDate priceValidUntil productionDate purchaseDate releaseDate scheduledTime
    sdDatePublished startDate startTime uploadDate validFrom validThrough validUntil
    vehicleModelDate
"""
_NUMBERS = """
    bestRating highPrice latitude longitude lowPrice maxPrice maximumAttendeeCapacity minPrice
    offerCount price ratingCount ratingValue remainingAttendeeCapacity reviewCount worstRating
"""
_CHOICES = """
    actionStatus availability bookFormat businessFunction dayOfWeek eventAttendanceMode eventStatus
    itemCondition itemListOrder orderStatus paymentStatus reservationStatus suitableForDiet
"""
"""Terms whose values are one of schema.org's own, written as its address or its name alone."""


def _terms() -> dict[str, object]:
    coerced = chain(
        ((name, "schema:Date") for name in _DATES.split()),
        ((name, "http://www.w3.org/2001/XMLSchema#decimal") for name in _NUMBERS.split()),
        ((name, "@vocab") for name in _CHOICES.split()),
        ((name, "@id") for name in ("sameAs", "additionalType")),
    )
    return {name: {"@id": _VOCABULARY + name, "@type": type_} for name, type_ in coerced}


_SCHEMA_CONTEXT: Mapping[str, object] = {
    "@vocab": _VOCABULARY,
    "schema": _VOCABULARY,
    "id": "@id",
    "type": "@type",
    **_terms(),
}
_SCHEMA_ADDRESS = re.compile(
    r"(?:https?:)?//(?:www\.)?schema\.org(?:/|/docs/jsonldcontext\.json(?:ld)?)?", re.IGNORECASE
)
_CONTEXT = re.compile(r'"@context"\s*:\s*')
_DECODER = json.JSONDecoder()


class RemoteContextError(Exception):
    """A document needs a context that lies elsewhere.

    Attributes:
        address: Of the context.
        line: Of the document, from 1.
    """

    def __init__(self, address: str, line: int) -> None:
        super().__init__(address)
        self.address = address
        self.line = line


def with_local_contexts(text: str, /) -> str:
    """Returns a document with schema.org's context written out; lines keep their numbers.

    Raises:
        RemoteContextError: It names another context by its address.
    """
    parts: list[str] = []
    end = 0
    for match in _CONTEXT.finditer(text):
        begin = match.end()
        if begin < end:
            continue
        try:
            context, stop = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            # The parser says what is wrong with it, and where.
            break
        local = _local(context, text.count("\n", 0, begin) + 1)
        if local != context:
            lines = "\n" * text.count("\n", begin, stop)
            parts += (text[end:begin], json.dumps(local), lines)
            end = stop
    return "".join((*parts, text[end:])) if parts else text


def _local(context: Any, line: int) -> Any:
    """Returns a context in which no address of another is left."""
    if isinstance(context, str):
        if _SCHEMA_ADDRESS.fullmatch(context):
            return _SCHEMA_CONTEXT
        raise RemoteContextError(context, line)
    if isinstance(context, list):
        return [_local(part, line) for part in context]
    if isinstance(context, dict):
        imported = context.get("@import")
        own = {key: _local_term(term, line) for key, term in context.items() if key != "@import"}
        return {**_local(imported, line), **own} if isinstance(imported, str) else own
    return context


def _local_term(term: Any, line: int) -> Any:
    if isinstance(term, dict) and "@context" in term:
        return {**term, "@context": _local(term["@context"], line)}
    return term
