"""Turtle and TriG cut into statements, and a statement into its triples.

pyoxigraph parses; this module knows no more of the grammar than where a statement, a list of
objects and a bracket end, so that what can't be read costs no more than itself.
Source: https://www.w3.org/TR/turtle/#sec-grammar and https://www.w3.org/TR/trig/#sec-grammar
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from loaders.source import ByteSource, StreamReader

_READ_BYTES = 1 << 16
_NAME = rb"""[^\s"'<>#.;,\[\](){}|\\]|\\."""
# A full stop inside a name or a number is followed by more of it.
_WORD = rb"(?:" + _NAME + rb")++(?:\.++(?:" + _NAME + rb")++)*+"
_LONG = rb'"""(?:[^"\\]|\\.|"(?!""))*+"""' + rb"|'''(?:[^'\\]|\\.|'(?!''))*+'''"
_SHORT = rb'"(?!"")(?:[^"\\\n]|\\[^\n])*+"' + rb"|'(?!'')(?:[^'\\\n]|\\[^\n])*+'"
# A string without an end is taken to end with its line, before the marks that end a triple.
_TO_LINE_END = (
    rb"(?:[^ \t.;,\r\n]++|[ \t.;,]++(?=[^ \t.;,\r\n]|\r(?!\n))|\r(?!\n))*+"
    rb"(?=[ \t.;,]*+\r?\n)"
)
_BROKEN = rb"""["'](?!""|'')""" + _TO_LINE_END
_BROKEN_LONG = rb"""(?:\"{3}|'{3})""" + _TO_LINE_END
_IRI = rb"<[^<>\n]*+>"
_DECIMAL_POINT = rb"\.(?=\d)"
# A bracket that begins no IRI; at the end of what was read it may begin one.
_OTHER = rb"\{\||\|\}?+|[>\\]|<(?=[^<>\n]*[<\n])|" + _DECIMAL_POINT


def _statement(*strings: bytes) -> re.Pattern[bytes]:
    tokens = (rb"[\s;,\[\]()]++", _WORD, _IRI, *strings, rb"#[^\n]*+", _OTHER)
    return re.compile(
        rb"(?>" + rb"|".join(tokens) + rb")*+(?:\.(?=[\s\S])|\{(?=[^|])|\})", re.DOTALL
    )


_STATEMENT = _statement(_LONG, _SHORT, _BROKEN)
_BROKEN_STATEMENT = _statement(_LONG, _SHORT, _BROKEN, _BROKEN_LONG)
_TOKEN = re.compile(
    rb"(?P<space>\s++|#[^\n]*+)|(?P<mark>[;,\[\]()])|(?P<end>\.(?!\d))|(?P<term>"
    + rb"|".join(
        (
            _LONG,
            _SHORT,
            _IRI,
            _DECIMAL_POINT + _WORD,
            _WORD,
            rb"\{\||\|\}",
            _BROKEN,
            _BROKEN_LONG,
            rb".",
        )
    )
    + rb")",
    re.DOTALL,
)
_LEADING = re.compile(rb"(?:\s++|#[^\n]*+\n)*+")
# SPARQL's directives have no full stop; one that is written all the same is passed over.
_SPARQL_DIRECTIVE = re.compile(
    rb"(?:prefix\s+[^\s:<>]*:|base)\s*<[^<>\n]*>(?:[ \t]*\.(?=\s))?(?=[\s\S])", re.IGNORECASE
)
_MAYBE_DIRECTIVE = re.compile(rb"(?:prefix|base)[\s<]", re.IGNORECASE)
_DIRECTIVE = re.compile(rb"@(?:prefix|base)\b", re.IGNORECASE)
_ANONYMOUS_GRAPH = re.compile(
    rb"\A((?:graph(?:\s|#[^\n]*+\n)*+)?)\[(?:\s|#[^\n]*+\n)*+\](?:\s|#[^\n]*+\n)*+\{", re.IGNORECASE
)
_OPENING, _CLOSING = (b"[", b"(", b"{|"), (b"]", b")", b"|}")
_MAX_DEPTH = 50


class Kind(Enum):
    """What a piece of Turtle is."""

    TRIPLES = auto()
    DIRECTIVE = auto()
    GRAPH_BEGINS = auto()
    GRAPH_END = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement, a directive, or the beginning or end of a graph.

    Attributes:
        data: As it stands there, with comments and white space before it.
        offset: Bytes of the document before its first term.
        line: Number of the line of its first term, from 1.
        is_complete: Whether its end was found.
    """

    kind: Kind
    data: bytes
    offset: int
    line: int
    is_complete: bool = True

    @property
    def text(self) -> bytes:
        """The piece without what stands before its first term."""
        return self.data[_leading(self.data) :]


def _leading(data: bytes, at: int = 0) -> int:
    match = _LEADING.match(data, at)
    return match.end() if match else at


class Pieces:
    """The pieces of a document; an iterator.

    Args:
        source: Open, at its beginning.

    Attributes:
        damage: What was wrong with the bytes, "" if nothing.
        line: Number of the line up to which pieces were given.
    """

    def __init__(self, source: ByteSource, /) -> None:
        self._reader = StreamReader(source)
        self._limit = source.limits.max_line_bytes
        self._data = b""
        self._at = 0
        self._offset = 0
        self._ended = False
        self.line = 1
        self._more(_READ_BYTES)
        if self._data.startswith(b"\xef\xbb\xbf"):
            self._at = self._offset = 3

    @property
    def damage(self) -> str:
        """What was wrong with the bytes, "" if nothing."""
        return self._reader.damage

    @property
    def position(self) -> int:
        """Bytes of the document read so far."""
        return self._reader.position

    def __iter__(self) -> Iterator[Piece]:
        size = _READ_BYTES
        while True:
            piece = self._next()
            if piece is not None:
                size = _READ_BYTES
                yield piece
            elif self._ended:
                break
            elif len(self._data) - self._at > self._limit:
                size = _READ_BYTES
                yield self._broken()
            else:
                self._more(size)
                # What spans many reads is not looked at from its beginning for each of them.
                size = min(2 * size, self._limit + 1)
        while (piece := self._next()) is not None or _leading(self._data, self._at) < len(
            self._data
        ):
            yield piece or self._broken()

    def _more(self, size: int) -> None:
        pieces = [self._data[self._at :]]
        self._at = 0
        while size > 0:
            buffer = bytearray(min(size, 1 << 20))
            count = self._reader.readinto(buffer)
            if not count:
                self._ended = True
                # So that a full stop or a string at the very end is seen to end there.
                pieces.append(b"\n")
                break
            pieces.append(bytes(buffer[:count]))
            size -= count
        self._data = b"".join(pieces)

    def _next(self) -> Piece | None:
        """Returns the piece that is whole in what was read."""
        start = _leading(self._data, self._at)
        if _MAYBE_DIRECTIVE.match(self._data, start):
            directive = _SPARQL_DIRECTIVE.match(self._data, start)
            if directive is not None:
                return self._piece(Kind.DIRECTIVE, start, directive.end())
        match = _STATEMENT.match(self._data, start)
        if match is None:
            return None
        last = self._data[match.end() - 1 : match.end()]
        if last == b"{":
            return self._piece(Kind.GRAPH_BEGINS, start, match.end())
        if last == b"}":
            if start == match.end() - 1:
                return self._piece(Kind.GRAPH_END, start, match.end())
            # The last statement of a graph may have no full stop.
            return self._piece(Kind.TRIPLES, start, match.end() - 1)
        directive_begins = _DIRECTIVE.match(self._data, start) is not None
        return self._piece(Kind.DIRECTIVE if directive_begins else Kind.TRIPLES, start, match.end())

    def _broken(self) -> Piece:
        """Returns a statement whose end can't be found, as it seems to end."""
        start = _leading(self._data, self._at)
        match = _BROKEN_STATEMENT.match(self._data, start)
        end = match.end() if match is not None else len(self._data)
        return self._piece(Kind.TRIPLES, start, end, is_complete=match is not None)

    def _piece(self, kind: Kind, start: int, end: int, *, is_complete: bool = True) -> Piece:
        data = self._data[self._at : end]
        line = self.line + self._data.count(b"\n", self._at, start)
        piece = Piece(kind, data, self._offset + start - self._at, line, is_complete)
        self.line += data.count(b"\n")
        self._offset += len(data)
        self._at = end
        return piece


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: bytes
    at: int


def parts(piece: Piece, /) -> list[Piece]:
    """Returns a statement as statements of one object each.

    A blank node in brackets gets a label, so that all it says is apart too. What does not look
    like a statement is one part.
    """
    tokens = [
        _Token(match.lastgroup or "", match[0], match.start())
        for match in _TOKEN.finditer(piece.data)
        if match.lastgroup != "space"
    ]
    if tokens and tokens[-1].kind == "end":
        tokens.pop()
    triples: list[tuple[bytes, int]] = []
    _add_statement(tokens, triples)
    before = _leading(piece.data)
    line, offset = piece.line, piece.offset
    pieces: list[Piece] = []
    for text, at in triples:
        line += piece.data.count(b"\n", before, at)
        offset += at - before
        before = at
        pieces.append(Piece(Kind.TRIPLES, text, offset, line))
    return pieces or [piece]


def _add_statement(tokens: list[_Token], triples: list[tuple[bytes, int]]) -> None:
    end = _term_end(tokens, 0)
    if not end:
        return
    subject = _joined(tokens[:end])
    if tokens[0].text == b"[" and end > 2:
        subject = _new_label()
        _add_list(subject, tokens[1 : end - 1], triples, depth=1)
    _add_list(subject, tokens[end:], triples, depth=0)


def _add_list(
    subject: bytes, tokens: list[_Token], triples: list[tuple[bytes, int]], *, depth: int
) -> None:
    """Adds a triple for each object of a list of predicates and objects."""
    at = 0
    while at < len(tokens):
        if tokens[at].text == b";":
            at += 1
            continue
        predicate = tokens[at]
        at += 1
        while True:
            end = _object_end(tokens, at)
            _add_object(subject, predicate, tokens[at:end], triples, depth)
            at = end + 1
            if end >= len(tokens) or tokens[end].text != b",":
                break


def _add_object(
    subject: bytes,
    predicate: _Token,
    tokens: list[_Token],
    triples: list[tuple[bytes, int]],
    depth: int,
) -> None:
    at = tokens[0].at if tokens else predicate.at
    value = _joined(tokens)
    nested = len(tokens) > 2 and tokens[0].text == b"[" and depth < _MAX_DEPTH
    nested = nested and _term_end(tokens, 0) == len(tokens) and tokens[-1].text == b"]"
    if nested:
        value = _new_label()
    triples.append((b"%s %s %s ." % (subject, predicate.text, value), at))
    if nested:
        _add_list(value, tokens[1:-1], triples, depth=depth + 1)


def _joined(tokens: list[_Token]) -> bytes:
    # A language tag or a datatype stands right behind its string.
    return b"".join(
        token.text if token.text.startswith((b"@", b"^^")) or before == b"^^" else b" " + token.text
        for token, before in zip(tokens, (b"", *(token.text for token in tokens)), strict=False)
    ).strip()


def graph_name(text: bytes, /) -> bytes:
    """Returns the beginning of a graph, with a label where its name is a blank node without one.

    The statements of a graph are parsed in pieces, and each would get a graph of its own.
    """
    return _ANONYMOUS_GRAPH.sub(lambda match: match[1] + _new_label() + b" {", text)


def _new_label() -> bytes:
    # No document has it, and blank nodes are numbered as they come, whatever their labels.
    return b"_:" + uuid.uuid4().hex.encode()


def _term_end(tokens: list[_Token], at: int) -> int:
    """Returns the place behind the term at a place: behind its bracket, where it is one."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += tokens[index].text in _OPENING
        depth -= tokens[index].text in _CLOSING
        if depth <= 0:
            return index + 1
    return len(tokens)


def _object_end(tokens: list[_Token], at: int) -> int:
    """Returns the place of the mark that ends an object."""
    depth = 0
    for index in range(at, len(tokens)):
        text = tokens[index].text
        depth += text in _OPENING
        depth -= text in _CLOSING
        if depth <= 0 and text in (b";", b","):
            return index
    return len(tokens)
