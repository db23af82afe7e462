"""Truthy statements of Wikidata's beside full ones: which of them are copies.

A truthy statement is a copy where the same load has a full statement of its entity, relation and
value, of any rank. That is known once all of the load is read, so truthy statements are held
back until then where a load has both. Neither the order nor the number of files matters.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator

import numpy as np
import orjson

from graph_service.model.identity import key64
from graph_service.model.statement import Rank
from graph_service.model.values import (
    JULIAN,
    Coordinates,
    Quantity,
    Time,
    Value,
    encode_value,
)
from graph_service.store.encoded import StatementRow
from loaders.formats import Format
from loaders.items import FULL, TRUTHY, Parsed
from loaders.rdf.values import gregorian_time
from loaders.rdf.wikidata import holds_full_statements
from loaders.source import ByteSource
from loaders.subset.edges import KeySet
from loaders.subset.selection import Selection
from loaders.wikibase.normal_form import normal_value

COPY_REASON = "truthy copies of full Wikidata statements"
OWN_REASON = "truthy Wikidata statements without a full one, loaded as statements of their own"
RDF_FORMATS = frozenset(
    (
        *(Format.NTRIPLES, Format.NQUADS, Format.TURTLE, Format.TRIG),
        *(Format.RDF_XML, Format.JSON_LD),
    )
)
_PIECE_ROWS = 500
_DAY = 11


class BothFormsError(Exception):
    """A load that was read as if it had one form of statements has truthy and full ones.

    It begins anew with truthy statements held back; nothing of it was published.
    """


def begins_full(format_: Format, source: ByteSource, /) -> bool:
    """Returns whether a source is RDF and has full statements of Wikidata's at its beginning."""
    return format_ in RDF_FORMATS and holds_full_statements(source.head)


class HeldTruthy:
    """Truthy statements of a load, held back until all of its full ones are known.

    The truthy ones lie in a temporary file. Memory holds 8 bytes for each full one.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the load
        self._keys: array[int] = array("q")

    def close(self) -> None:
        """Gives the temporary file back."""
        self._file.close()

    def take(self, parsed: Parsed, /) -> None:
        """Takes the truthy statements out of a block, and notes the full ones."""
        for row in parsed.truthy:
            self._file.write(orjson.dumps([*row[:5], row.context]) + b"\n")
        parsed.truthy = []
        if FULL in parsed.forms:
            for statement in parsed.all_statements:
                self._keys.extend(
                    _key(statement.head, statement.relation, text)
                    for text in _truthy_texts(statement.value)
                )

    def pieces(self, selection: Selection | None, /) -> Iterator[Parsed]:
        """Yields what was held back and is no copy, in the order it came; copies are counted.

        Args:
            selection: What of the source is loaded; None for everything.
        """
        full = KeySet(np.frombuffer(self._keys, dtype=np.int64) if self._keys else _NO_KEYS)
        self._file.seek(0)
        while lines := self._file.readlines(1 << 20):
            for first in range(0, len(lines), _PIECE_ROWS):
                rows = [
                    StatementRow(id_, head, relation, tail, value, Rank.NORMAL, None, None, context)
                    for id_, head, relation, tail, value, context in map(
                        orjson.loads, lines[first : first + _PIECE_ROWS]
                    )
                ]
                yield _unmatched(rows, full, selection)


_NO_KEYS = np.zeros(0, dtype=np.int64)


def _unmatched(rows: list[StatementRow], full: KeySet, selection: Selection | None) -> Parsed:
    parsed = Parsed(terms_only=True, statements=[row.statement() for row in rows])
    if selection is not None:
        # First, for it may move statements to what their entities redirect to.
        selection.apply(parsed, chosen=False)
    keys = np.array(
        [
            _key(statement.head, statement.relation, _plain_text(statement.value))
            for statement in parsed.statements
        ],
        dtype=np.int64,
    )
    copies = full.holds(keys).tolist()
    own = [statement for statement, copy in zip(parsed.statements, copies, strict=True) if not copy]
    parsed.skipped[COPY_REASON] += len(parsed.statements) - len(own)
    parsed.kept[OWN_REASON] += len(own)
    parsed.statements = own
    if own:
        parsed.forms.add(TRUTHY)
    return parsed


def _key(head: str, relation: str, text: str) -> int:
    return key64(f"{head}\n{relation}\n{text}")


def _truthy_texts(value: Value) -> set[str]:
    """Returns what a full statement's value may be in truthy form.

    Truthy RDF has a date in the Gregorian calendar with 01 where the precision says that month
    or day is not known, and a quantity without unit and bounds.
    """
    if not isinstance(value, Time):
        return {_plain_text(value)}
    if value.calendar == JULIAN and value.precision >= _DAY:
        value = Time(gregorian_time(value.time), value.precision, value.calendar)
    cut = normal_value(value)
    return {_plain_text(value), _plain_text(cut)}


def _plain_text(value: Value) -> str:
    """Returns a value as text that is equal for a truthy statement and the full one behind it."""
    match value:
        case Time(time=time):
            date, _, clock = time.partition("T")
            year, month, day = date.rsplit("-", 2)
            return f"{year}-{month.replace('00', '01')}-{day.replace('00', '01')}T{clock}"
        case Quantity(amount=amount):
            return _plain_decimal(amount)
        case Coordinates(latitude=latitude, longitude=longitude, globe=globe):
            return f"{latitude!r} {longitude!r} {globe}"
        case _:
            return encode_value(normal_value(value))


def _plain_decimal(text: str) -> str:
    """Returns decimal text without zeros that say nothing; an exponent stays as it is.

    >>> _plain_decimal("+012.50"), _plain_decimal("-0.0"), _plain_decimal("1E+99")
    ('12.5', '0', '1E+99')
    """
    if "e" in text or "E" in text:
        return text
    sign = "-" if text.startswith("-") else ""
    integer, _, fraction = text.lstrip("+-").partition(".")
    integer, fraction = integer.lstrip("0"), fraction.rstrip("0")
    if not (integer or fraction):
        return "0"
    return f"{sign}{integer or '0'}" + (f".{fraction}" if fraction else "")
