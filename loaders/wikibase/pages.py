"""MediaWiki's XML dumps as a source: the Wikibase JSON that stands in their pages.

A page of an item or property has one document as the text of each revision; of several
revisions (a dump of histories) the newest is read. Source of the format:
https://www.mediawiki.org/wiki/Help:Export#Export_format
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from loaders.items import Parsed, Reject
from loaders.options import LoadOptions
from loaders.source import ByteSource, DamagedSourceError
from loaders.subset.filters import DocumentFilter
from loaders.wikibase.documents import LEXEME_REASON, MEDIA_REASON
from loaders.wikibase.reader import document_blocks

NO_TEXT_REASON = "pages of items whose text the dump does not have"
OTHER_PAGE_REASON = "pages of no item or property"
_LEFT_OUT = {"wikibase-lexeme": LEXEME_REASON, "wikibase-mediainfo": MEDIA_REASON}
_PIECE_PAGES = 1_000
_READ_BYTES = 1 << 16


@dataclass(slots=True)
class _Revision:
    """A revision as it comes by; ``size`` counts the characters of its text."""

    line: int
    offset: int
    id: int = 0
    model: str = ""
    text: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def holds_document(self) -> bool:
        return self.model in ("wikibase-item", "wikibase-property")


class _XmlRefusedError(ValueError):
    """What stands in this XML is not read, whatever comes after it."""


class _PageParser:
    """Takes the bytes of a dump, and keeps the newest revision of each page.

    Attributes:
        pages: The newest revisions of the pages that ended since they were taken last.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._path: list[str] = []
        self._text: list[str] = []
        self._revision: _Revision | None = None
        self._newest: _Revision | None = None
        self.pages: list[_Revision] = []
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._refuse

    def feed(self, data: bytes, /, *, last: bool = False) -> None:
        """Takes bytes; raises ``ExpatError`` or ``_XmlRefusedError`` where they can't be read."""
        self._parser.Parse(data, last)

    @property
    def position(self) -> tuple[int, int]:
        """Line and byte offset reached."""
        return self._parser.CurrentLineNumber, max(0, self._parser.CurrentByteIndex)

    def _refuse(self, *_: object) -> None:
        raise _XmlRefusedError("a document type declaration, which a MediaWiki dump does not have")

    def _start(self, name: str, _attributes: object) -> None:
        if not self._path and name != "mediawiki":
            raise _XmlRefusedError(f"expected a MediaWiki dump, came XML that begins with <{name}>")
        self._path.append(name)
        self._text = []
        inside = self._path[1:]
        if inside == ["page", "revision"]:
            self._revision = _Revision(*self.position)
        elif inside == ["page", "revision", "text"] and self._revision is not None:
            self._revision.line, self._revision.offset = self.position

    def _characters(self, text: str) -> None:
        inside = self._path[1:]
        if inside == ["page", "revision", "text"] and self._revision is not None:
            self._revision.size += len(text)
            # A text that is too long is counted, not kept.
            if self._revision.size <= self._limit:
                self._revision.text.append(text)
        elif inside[:2] == ["page", "revision"] and len(inside) == 3:
            self._text.append(text)

    def _end(self, name: str) -> None:
        inside = self._path[1:]
        self._path.pop()
        revision = self._revision
        if inside == ["page"]:
            if self._newest is not None:
                self.pages.append(self._newest)
            self._newest = None
        elif inside == ["page", "revision"] and revision is not None:
            if self._newest is None or revision.id >= self._newest.id:
                self._newest = revision
            self._revision = None
        elif inside[:2] == ["page", "revision"] and len(inside) == 3 and revision is not None:
            text = "".join(self._text).strip()
            if name == "id":
                if not text.isdecimal():
                    raise _XmlRefusedError(f"expected a number as a revision's id, got {text!r}")
                revision.id = int(text)
            elif name == "model":
                revision.model = text


def read_pages(
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    documents: DocumentFilter | None = None,
) -> Iterator[Parsed]:
    """Yields the items and properties of a dump's pages; pages of anything else are counted.

    A revision's id is the revision of its document. Memory holds one page's text at a time. A
    page that can't be read is a reject; XML that can't be read is one, and ends the reading.
    """
    reader = document_blocks(source, options, documents)
    pages = _PageParser(source.limits.max_line_bytes)
    done = int(start.get("pages", 0))
    count = 0
    parsed, records = Parsed(), set[str]()
    ended = False
    while not ended:
        problem = ""
        try:
            data = source.read(_READ_BYTES)
            ended = not data
            pages.feed(data, last=ended)
        except DamagedSourceError as error:
            problem = error.message
        except (expat.ExpatError, _XmlRefusedError, LookupError, ValueError) as error:
            problem = f"no MediaWiki dump that can be read: {error}"
        taken, pages.pages = pages.pages, []
        for page in taken:
            count += 1
            if count <= done:
                continue
            piece = Parsed()
            reason = _left_out(page)
            if reason:
                piece.skipped[reason] += 1
                piece.counts.passed_over += 1
            elif page.size > source.limits.max_line_bytes:
                problem_text = (
                    f"a page of {page.size} characters; at most {source.limits.max_line_bytes}"
                )
                piece.rejects.append(
                    Reject(source.name, page.line, page.offset, f"{problem_text} are read")
                )
                piece.counts.rejected += 1
            else:
                text = "".join(page.text).encode()
                reader.read_piece(text, piece, page.line, page.offset, revision=page.id or None)
            piece.mark(page.line)
            new = piece.records
            if (
                len(parsed.statements) >= options.batch_size
                or len(parsed.entities) >= _PIECE_PAGES
                or not new.isdisjoint(records)
            ):
                yield parsed
                parsed, records = Parsed(), set()
            records |= new
            parsed.add(piece)
            parsed.position, parsed.line = {"pages": count}, page.line
        if problem:
            parsed.rejects.append(Reject(source.name, *pages.position, problem))
            ended = True
    parsed.position, parsed.line = {"pages": count}, pages.position[0]
    yield parsed


def _left_out(page: _Revision) -> str:
    if not page.holds_document:
        return _LEFT_OUT.get(page.model, OTHER_PAGE_REASON)
    return "" if page.size else NO_TEXT_REASON
