"""Wikibase JSON as a source: one document, JSON lines, or a dump's array with an entity a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from loaders.items import FULL, Parsed, Reject, excerpt
from loaders.options import LoadOptions
from loaders.source import ByteSource, LineBlock, line_blocks
from loaders.subset.filters import ENTITY_REASON, Choice, DocumentFilter
from loaders.wikibase.documents import EntityDocument, Languages, document_id, expand, read_document
from loaders.wikibase.values import MalformedError

_ESCAPED_TROUBLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")

_ARRAY_BEGINS = re.compile(r"\s*\[\s*")
_NEXT_ELEMENT = re.compile(r"\s*,\s*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """How documents are read; it can be sent to another process.

    Attributes:
        name: Of the source, for rejects.
        languages: Languages of terms that are kept.
        documents: Which documents are wanted; None for all.
        batch_size: Statements of a piece, more or less.
        as_rows: Whether statements are given as ``Parsed.rows``.
    """

    name: str
    languages: Languages
    documents: DocumentFilter | None
    batch_size: int
    as_rows: bool = False

    def read_block(self, block: LineBlock, /) -> list[Parsed]:
        """Returns the entities of a block of lines, in pieces that each end at a line."""
        parsed = Parsed()
        offset, line = block.offset, block.line
        if block.problem:
            parsed.rejects.append(Reject(self.name, line, offset, block.problem))
            parsed.counts.rejected += block.lost_lines
            parsed.position, parsed.line = {"offset": offset, "line": line}, line
            return [parsed]
        pieces, records = [parsed], set[str]()
        for text in _split(block.data):
            if len(parsed.statements) + len(parsed.rows) >= self.batch_size:
                parsed.position, parsed.line = {"offset": offset, "line": line}, line
                parsed, records = Parsed(), set()
                pieces.append(parsed)
            piece = text.strip()
            if piece[-1:] == b",":
                piece = piece[:-1]
            if piece.startswith(b"\xef\xbb\xbf"):
                piece = piece[3:]
            piece = _without_brackets(piece)
            if piece and piece not in (b"[", b"]"):
                document = Parsed()
                self.read_piece(piece, document, line, offset)
                document.counts = document.counts.as_one_record()
                document.mark(line)
                new = document.records
                if not new.isdisjoint(records):
                    # A batch takes one document of an entity: a later one replaces it.
                    parsed.position, parsed.line = {"offset": offset, "line": line}, line
                    parsed, records = Parsed(), set()
                    pieces.append(parsed)
                records |= new
                parsed.add(document)
            offset += len(text)
            line += 1
        parsed.position, parsed.line = {"offset": offset, "line": line}, line
        return pieces

    def read_piece(
        self,
        piece: bytes,
        parsed: Parsed,
        line: int,
        offset: int,
        /,
        *,
        spans_lines: bool = False,
        revision: int | None = None,
    ) -> None:
        """Adds what one JSON text holds to ``parsed``; what can't be read is a reject there.

        A reject stands at the beginning of the text, or, where it ``spans_lines``, at the fault.
        Documents that do not say their ``revision`` are of the one given.
        """
        name, documents = self.name, self.documents

        def reject(reason: str, at_line: int = line, at_offset: int = offset) -> None:
            parsed.rejects.append(Reject(name, at_line, at_offset, reason, excerpt(piece)))

        counts = parsed.counts
        if documents is not None and not documents.may_hold(piece):
            parsed.skipped[ENTITY_REASON] += 1
            counts.passed_over += 1
            return
        suspect = _ESCAPED_TROUBLE.search(piece) is not None
        fault: orjson.JSONDecodeError | None = None
        try:
            try:
                value = _load_json(piece, suspect_text=suspect)
            except orjson.JSONDecodeError as error:
                value, fault = _elements_before_fault(piece), error
            for document in expand(value):
                if revision is not None:
                    document = {"lastrevid": revision, **document}
                try:
                    chosen = self._chosen(document)
                    if chosen is None:
                        parsed.skipped[ENTITY_REASON] += 1
                        counts.passed_over += 1
                        continue
                    result = read_document(chosen, languages=self.languages, suspect_text=suspect)
                except MalformedError as error:
                    reject(f"{document.get('id', 'document')}: {error}")
                    counts.rejected += 1
                    continue
                self._add(result, parsed)
                has_content = bool(result.entities or result.rows)
                counts.rejected += bool(result.problems) and not has_content
                counts.passed_over += not (result.problems or has_content)
                counts.read += has_content
                for problem in result.problems:
                    reject(problem)
        except MalformedError as error:
            counts.rejected += 1
            reject(str(error))
        except RecursionError:
            counts.rejected += 1
            reject("JSON nested too deeply")
        if fault is not None:
            counts.rejected += 1
            if spans_lines:
                at = _byte_offset(piece, fault)
                reject(f"not JSON: {fault.msg}", line + fault.lineno - 1, offset + at)
            else:
                reject(f"not JSON: {fault.msg} (character {fault.pos + 1} of the line)")

    def _add(self, result: EntityDocument, parsed: Parsed) -> None:
        parsed.entities.extend(result.entities)
        if result.rows:
            if self.as_rows:
                parsed.rows.extend(result.rows)
            else:
                parsed.statements.extend(result.statements)
            parsed.forms.add(FULL)
        if result.complete_id is not None:
            parsed.documents.add(result.complete_id)
        parsed.skipped.update(result.skipped)

    def _chosen(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Returns what of a document is read: all, its names, or None."""
        if self.documents is None:
            return document
        id_ = document_id(document)
        if id_ is None:
            return document
        choice = self.documents.choice(document, id_)
        if choice is Choice.LEAVE_OUT:
            return None
        if choice is Choice.TAKE or "missing" in document:
            return document
        return {key: part for key, part in document.items() if key not in ("claims", "statements")}


def read_piece(
    piece: bytes,
    parsed: Parsed,
    name: str,
    line: int,
    offset: int,
    languages: frozenset[str],
    /,
) -> None:
    """Adds what one JSON text holds to ``parsed``, as ``DocumentReader.read_piece`` does."""
    DocumentReader(name, Languages(languages), None, 0).read_piece(piece, parsed, line, offset)


def document_blocks(
    source: ByteSource,
    options: LoadOptions,
    documents: DocumentFilter | None,
    /,
    *,
    as_rows: bool = False,
) -> DocumentReader:
    """Returns the reader of blocks of lines."""
    languages = Languages(frozenset(options.languages), options.fallback_languages)
    return DocumentReader(source.name, languages, documents, options.batch_size, as_rows)


def read_lines(
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    documents: DocumentFilter | None = None,
) -> Iterator[Parsed]:
    """Yields the entities of JSON lines or of a dump array, a block at a time.

    ``[``, ``]`` and the commas between entities are passed over.
    """
    reader = document_blocks(source, options, documents)
    for block in line_blocks(
        source, offset=int(start.get("offset", 0)), line=int(start.get("line", 1))
    ):
        yield from reader.read_block(block)


def _without_brackets(piece: bytes) -> bytes:
    """Returns an entity without the bracket of its array that stands on its line."""
    if piece.startswith(b"{") and piece.endswith(b"}]"):
        return piece[:-1]
    if piece.startswith(b"[") and piece.endswith(b"}"):
        try:
            orjson.loads(piece[1:])
        except orjson.JSONDecodeError:
            return piece
        return piece[1:]
    return piece


def _split(data: bytes) -> Iterator[bytes]:
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start : end + 1]
        start = end + 1
    if start < len(data):
        yield data[start:]


def read_all(
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    documents: DocumentFilter | None = None,
) -> Iterator[Parsed]:
    """Yields the entities of one JSON document that spans lines; at most the line limit long."""
    parsed = Parsed(position={"done": True})
    if start.get("done"):
        return
    data, problem = source.read_all(
        what="a JSON document",
        instead="where each line has one entity, load it with --format wikibase-json-lines",
    )
    if problem:
        parsed.rejects.append(Reject(source.name, 1, 0, problem))
        parsed.counts.rejected += not data
    if data:
        text = data.removeprefix(b"\xef\xbb\xbf")
        document_blocks(source, options, documents).read_piece(text, parsed, 1, 0, spans_lines=True)
    yield parsed


def _load_json(piece: bytes, *, suspect_text: bool) -> Any:
    """Returns the value of a JSON text.

    A lone surrogate spoils one text, not the entity: the standard library reads on where orjson
    refuses a ``suspect_text``.
    """
    try:
        return orjson.loads(piece)
    except orjson.JSONDecodeError:
        if not suspect_text:
            raise
    try:
        return json.loads(piece)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"not JSON: {error}") from error


def _elements_before_fault(piece: bytes) -> list[Any]:
    """Returns the elements of an array that come before its fault; none of any other text."""
    text = piece.decode("utf-8", "replace")
    elements: list[Any] = []
    separator = _ARRAY_BEGINS.match(text)
    while separator is not None:
        try:
            value, at = _DECODER.raw_decode(text, separator.end())
        except (ValueError, RecursionError):
            break
        elements.append(value)
        separator = _NEXT_ELEMENT.match(text, at)
    return elements


def _byte_offset(piece: bytes, error: orjson.JSONDecodeError) -> int:
    # orjson counts characters; what comes before the fault is good text, so it can be encoded.
    text = piece.decode("utf-8", "replace")
    return len(text[: error.pos].encode("utf-8", "replace"))
