"""The JSON lines of ``graph-service export``, in which nothing is left out, as a source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import check_text
from graph_service.model.statement import (
    Entity,
    Rank,
    Statement,
    decode_entity,
    decode_references,
    decode_snaks,
)
from graph_service.model.values import decode_value
from loaders.items import Parsed, Reject, excerpt
from loaders.options import LoadOptions
from loaders.source import ByteSource, line_blocks
from loaders.terms import with_terms_in

LINES_VERSION = 1
CUT_SHORT = (
    "the file ends before its last line, which says how many there are; it was cut short, or is "
    "still being written"
)


class _OtherCountError(ValueError):
    """The last line is there, and says another number of lines than came."""


def read_graph_lines(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields an exported graph block by block; each line that can't be read is a reject."""
    counts = {
        "entities": int(start.get("entities", 0)),
        "statements": int(start.get("statements", 0)),
    }
    ended = bool(start.get("ended", False))
    line = int(start.get("line", 1))
    for block in line_blocks(source, offset=int(start.get("offset", 0)), line=line):
        parsed = Parsed()
        if block.problem:
            parsed.rejects.append(Reject(source.name, block.line, block.offset, block.problem))
            parsed.counts.rejected += block.lost_lines
        offset, line = block.offset, block.line
        for data in block.data.removesuffix(b"\n").split(b"\n") if block.data else ():
            if data.strip():
                try:
                    before = sum(counts.values())
                    ended = _take(data, parsed, counts, options.term_languages) or ended
                    parsed.counts.read += sum(counts.values()) - before
                    parsed.counts.passed_over += sum(counts.values()) == before
                except (InputError, ValueError, TypeError, KeyError, AttributeError) as error:
                    ended = ended or isinstance(error, _OtherCountError)
                    parsed.counts.rejected += 1
                    reason = error.message if isinstance(error, InputError) else _words(error)
                    parsed.rejects.append(
                        Reject(source.name, line, offset, reason, excerpt(data.strip()))
                    )
            parsed.mark(line)
            offset += len(data) + 1
            line += 1
        end = block.offset + len(block.data)
        line = block.line + block.data.count(b"\n")
        parsed.position = {"offset": end, "line": line, "ended": ended, **counts}
        parsed.line = line
        yield parsed
    if not ended:
        yield Parsed(
            position={"offset": 2**62, "line": line, "ended": True, **counts},
            rejects=[Reject(source.name, line, 0, CUT_SHORT)],
            line=line,
        )


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"a line without {error}"
    return f"no line of an exported graph: {error}"


def _take(data: bytes, parsed: Parsed, counts: dict[str, int], languages: frozenset[str]) -> bool:
    """Adds a line; returns whether it is the last one."""
    row = orjson.loads(data)
    if "statement" in row:
        parsed.statements.append(_statement(row))
        counts["statements"] += 1
    elif "entity" in row:
        parsed.entities.append(_entity(row, languages, parsed.skipped))
        counts["entities"] += 1
    elif "end" in row:
        for what, came in counts.items():
            if row[what] != came:
                raise _OtherCountError(
                    f"expected {row[what]} {what}, as its last line says, got {came}"
                )
        return True
    elif row.get("graph-service") == "graph-lines":
        if row["version"] > LINES_VERSION:
            raise InputError(
                f"the file has version {row['version']}; this program reads up to {LINES_VERSION}"
            )
    else:
        raise ValueError("expected an entity or a statement")
    return False


def _statement(row: Mapping[str, Any]) -> Statement:
    for name in ("statement", "head", "relation"):
        if not isinstance(row[name], str) or not row[name]:
            raise ValueError(f"expected text as {name}, got {str(row[name])[:80]}")
    context = row.get("context")
    if context is not None:
        check_text(context, what="a context")
    return Statement(
        id=row["statement"],
        head=row["head"],
        relation=row["relation"],
        value=decode_value(orjson.dumps(row["value"])),
        rank=Rank(row.get("rank", Rank.NORMAL)),
        qualifiers=decode_snaks(orjson.dumps(row.get("qualifiers", ()))),
        references=decode_references(orjson.dumps(row.get("references", ()))),
        context=context,
    )


def _entity(row: Mapping[str, Any], languages: frozenset[str], skipped: Counter[str]) -> Entity:
    id_ = row["entity"]
    if not isinstance(id_, str) or not id_:
        raise ValueError(f"expected text as entity, got {str(id_)[:80]}")
    terms = orjson.dumps(row.get("terms", {}))
    entity = decode_entity(id_, row.get("kind", "item"), row.get("redirect"), terms)
    return with_terms_in(entity, languages, skipped)
