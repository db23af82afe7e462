"""Wikibase JSON as a source: one document, JSON lines, or a dump's array with an entity a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from loaders.items import Parsed, Reject, excerpt
from loaders.options import LoadOptions
from loaders.source import ByteSource, line_blocks
from loaders.wikibase_json import expand, read_document
from loaders.wikibase_values import MalformedError

_ESCAPED_TROUBLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


def read_lines(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields the entities of JSON lines or of a dump array, a block at a time.

    ``[``, ``]`` and the commas between entities are passed over.
    """
    languages = frozenset(options.languages)
    for block in line_blocks(
        source, offset=int(start.get("offset", 0)), line=int(start.get("line", 1))
    ):
        parsed = Parsed()
        offset, line = block.offset, block.line
        if block.problem:
            parsed.rejects.append(Reject(source.name, line, offset, block.problem))
            parsed.position, parsed.line = {"offset": offset, "line": line}, line
            yield parsed
            continue
        for text in _split(block.data):
            piece = text.strip()
            if piece[-1:] == b",":
                piece = piece[:-1]
            if piece.startswith(b"\xef\xbb\xbf"):
                piece = piece[3:]
            if piece and piece not in (b"[", b"]"):
                read_piece(piece, parsed, source.name, line, offset, languages)
            offset += len(text)
            line += 1
            if len(parsed.statements) >= options.batch_size:
                parsed.position, parsed.line = {"offset": offset, "line": line}, line
                yield parsed
                parsed = Parsed()
        parsed.position, parsed.line = {"offset": offset, "line": line}, line
        yield parsed


def _split(data: bytes) -> Iterator[bytes]:
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start : end + 1]
        start = end + 1
    if start < len(data):
        yield data[start:]


def read_whole(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields the entities of one JSON document that spans lines; at most the line limit long."""
    parsed = Parsed(position={"done": True})
    if start.get("done"):
        return
    data, problem = source.read_whole(
        what="a JSON document", instead="write it as JSON lines, one entity a line"
    )
    if problem:
        parsed.rejects.append(Reject(source.name, 1, 0, problem))
    else:
        text = data.removeprefix(b"\xef\xbb\xbf")
        read_piece(text, parsed, source.name, 1, 0, frozenset(options.languages), spans_lines=True)
    yield parsed


def read_piece(
    piece: bytes,
    parsed: Parsed,
    name: str,
    line: int,
    offset: int,
    languages: frozenset[str],
    /,
    *,
    spans_lines: bool = False,
) -> None:
    """Adds what one JSON text holds to ``parsed``; what can't be read is a reject there.

    A reject stands at the beginning of the text, or, where it ``spans_lines``, at the fault.
    """

    def reject(reason: str, at_line: int = line, at_offset: int = offset) -> None:
        parsed.rejects.append(Reject(name, at_line, at_offset, reason, excerpt(piece)))

    suspect = _ESCAPED_TROUBLE.search(piece) is not None
    try:
        value = orjson.loads(piece)
    except orjson.JSONDecodeError as error:
        if not suspect:
            if spans_lines:
                at = _byte_offset(piece, error)
                reject(f"not JSON: {error.msg}", line + error.lineno - 1, offset + at)
            else:
                reject(f"not JSON: {error.msg} (character {error.pos + 1} of the line)")
            return
        try:
            # A lone surrogate spoils one text, not the entity: the standard library reads on.
            value = json.loads(piece)
        except (ValueError, RecursionError) as again:
            reject(f"not JSON: {again}")
            return
    try:
        for document in expand(value):
            try:
                result = read_document(document, languages=languages, suspect_text=suspect)
            except MalformedError as error:
                reject(f"{document.get('id', 'document')}: {error}")
                continue
            parsed.entities.extend(result.entities)
            parsed.statements.extend(result.statements)
            if result.whole is not None:
                parsed.documents.add(result.whole)
            parsed.skipped.update(result.skipped)
            for problem in result.problems:
                reject(problem)
    except MalformedError as error:
        reject(str(error))
    except RecursionError:
        reject("JSON nested too deeply")


def _byte_offset(piece: bytes, error: orjson.JSONDecodeError) -> int:
    # orjson counts characters; what comes before the fault is good text, so it can be encoded.
    text = piece.decode("utf-8", "replace")
    return len(text[: error.pos].encode("utf-8", "replace"))
