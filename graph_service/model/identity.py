"""Identity of entities, statements and states of a graph.

* Entity id: ``Q42`` and ``P31`` for Wikidata, from whatever source; any other absolute IRI as
  it is; bare strings where a source has no IRIs.
* Statement id: the Wikidata GUID in one normal form, else a BLAKE2b-128 of its content.
* Key: a signed 64-bit hash of an id, the sort order of everything that is numbered.
* Fingerprint: an order-free hash of a set of statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct

from graph_service.errors import InputError

# Items, properties, entity schemas, media info; lexemes with their forms and senses.
_LOCAL = r"(?:[QPEM][1-9][0-9]*|L[1-9][0-9]*(?:-[FS][1-9][0-9]*)?)"
WIKIDATA_ID = re.compile(_LOCAL)
"""An id of Wikidata's, for ``fullmatch``."""
_WIKIDATA = re.compile(
    r"(?:https?://(?:www\.)?wikidata\.org/"
    r"(?:entity|prop|wiki|prop/direct|prop/statement|prop/qualifier|prop/reference)/"
    rf"(?:Special:EntityData/)?(?:(?:Property|Lexeme|EntitySchema):)?|wdt?:)(?P<id>{_LOCAL})"
)
_GUID = re.compile(
    rf"(?P<entity>{_LOCAL})[$-](?P<guid>[0-9A-F]{{8}}(?:-[0-9A-F]{{4}}){{3}}-[0-9A-F]{{12}})",
    re.ASCII | re.IGNORECASE,
)
_PAGE = re.compile(r"(?P<id>[QPL][1-9][0-9]*)(-(?P<part>[FS][1-9][0-9]*))?", re.ASCII)
_WEB_ADDRESS = re.compile(r"https?://[^\s\x00-\x20<>\"{}|\\^`]+")
MAX_ID_BYTES = 1_000_000
# A copy of a state costs less than a new one; a load makes a key for each of its statements.
_KEY_STATE = blake2b(digest_size=8)
_SIGNED = Struct("<q")


def normalise_entity_id(raw: str, /, *, base_iri: str | None = None) -> str:
    """Returns the one id under which an entity is kept.

    Args:
        raw: ``Q42``, an IRI, a prefixed Wikidata name (``wd:Q42``) or a bare name.
        base_iri: Put before bare names, if given.

    Raises:
        InputError: The id is empty, or holds NUL, a lone surrogate or over 1,000,000 bytes.

    >>> normalise_entity_id("http://www.wikidata.org/entity/Q42")
    'Q42'
    >>> normalise_entity_id("https://www.wikidata.org/wiki/Lexeme:L525-F2")
    'L525-F2'
    >>> normalise_entity_id("Rome", base_iri="http://example.org/")
    'http://example.org/Rome'
    """
    check_text(raw, what="an entity id")
    if not raw:
        raise InputError("an entity id is empty")
    match = _WIKIDATA.fullmatch(raw)
    if match:
        return match["id"]
    if base_iri and "://" not in raw and not WIKIDATA_ID.fullmatch(raw):
        return base_iri + raw
    return raw


def web_address(id_: str, /) -> str | None:
    """Returns the web page of an entity or a relation: Wikidata's, or its IRI; None for none.

    >>> web_address("Q42"), web_address("P31")
    ('https://www.wikidata.org/wiki/Q42', 'https://www.wikidata.org/wiki/Property:P31')
    >>> web_address("L525-F2"), web_address("http://example.org/Rome")
    ('https://www.wikidata.org/wiki/Lexeme:L525#F2', 'http://example.org/Rome')
    >>> web_address("Rome"), web_address("urn:isbn:0"), web_address("https://a b")
    (None, None, None)
    """
    match = _PAGE.fullmatch(id_)
    if match is None:
        return id_ if _WEB_ADDRESS.fullmatch(id_) else None
    space = {"P": "Property:", "L": "Lexeme:"}.get(id_[0], "")
    part = f"#{match['part']}" if match["part"] else ""
    return f"https://www.wikidata.org/wiki/{space}{match['id']}{part}"


def check_text(text: str, /, *, what: str) -> None:
    """Raises ``InputError`` for text that no store can hold: NUL, lone surrogates, too long."""
    if "\x00" in text:
        raise InputError(f"{what} holds a NUL character: {text[:80]!r}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InputError(f"{what} holds a lone surrogate: {text[:80]!r}") from error
    if size > MAX_ID_BYTES:
        raise InputError(f"{what} has {size} bytes; at most {MAX_ID_BYTES} are kept")


def normalise_statement_guid(raw: str, /) -> str | None:
    """Returns a Wikidata statement GUID as ``Q42$F078E5B3-...`` in capitals, or None.

    JSON separates by ``$`` and RDF by ``-``, and their case differs.

    >>> normalise_statement_guid("q42-f078e5b3-f9a8-480e-b7ac-d97778cbbef9")
    'Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9'
    """
    match = _GUID.fullmatch(raw)
    if match is None:
        return None
    return raw.upper() if "$" in raw else f"{match['entity']}${match['guid']}".upper()


def digest(parts: Iterable[str], /, *, size: int = 16, person: bytes = b"") -> bytes:
    """Returns BLAKE2b of length-prefixed texts, so that no two sequences are alike."""
    state = blake2b(digest_size=size, person=person)
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()


def key64(id_: str, /) -> int:
    """Returns the signed 64-bit key of an id.

    >>> key64("Q42") == key64("Q42"), -(2**63) <= key64("Q42") < 2**63
    (True, True)
    """
    state = _KEY_STATE.copy()
    state.update(id_.encode())
    key: int = _SIGNED.unpack(state.digest())[0]
    return key


def content_statement_id(
    head: str,
    relation: str,
    value: str,
    /,
    *,
    qualifiers: Sequence[tuple[str, str]] = (),
    context: str | None = None,
) -> str:
    """Returns the id of a statement that has no GUID: 32 hexadecimal digits of its content.

    Args:
        head: Entity id.
        relation: Relation id.
        value: The value, encoded.
        qualifiers: Pairs of relation id and encoded value, in order.
        context: The fourth term of an N-Quad.
    """
    parts = [head, relation, value, str(len(qualifiers))]
    for pair in qualifiers:
        parts.extend(pair)
    parts.append(context or "")
    return digest(parts, person=b"statement").hex()


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Two order-free hashes of a published graph, 48 hexadecimal digits each.

    ``edges`` covers statement id, head, relation, value and rank: what views and arrays are
    bound to. ``content`` covers also qualifiers, references and the terms of entities.
    """

    edges: str
    content: str


def edge_hash(id_: str, head: str, relation: str, value: str, rank: str, /) -> bytes:
    """Returns the 16 bytes that a statement adds to the ``edges`` fingerprint."""
    return digest((id_, head, relation, value, rank), person=b"edge")
