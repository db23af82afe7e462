"""Documents of a source, in parts, so that none has to be held whole.

Formats, told by the first bytes unless named:

``text``       a file is a document, its name the title (``Douglas_Adams.txt``: Douglas Adams).
               So are plain-text extracts of Wikipedia, a page a file, where the equals signs of
               ``== Headings ==`` go and their words stay.
``jsonl``      an object a line: ``text`` (a text, or a list of paragraphs), and where they are
               known ``title``, ``source`` (or ``url``) and ``entity``. ``wikipedia_title`` and
               ``wikidata_info.wikidata_id`` are read too, as KILT's knowledge source names them.
``wikipedia``  what WikiExtractor writes: ``<doc id=.. url=.. title="..">`` lines, text, ``</doc>``.
               A first line that repeats the title goes; character references are resolved.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import check_text, normalise_entity_id
from loaders.items import Reject, excerpt
from loaders.source import STANDARD_INPUT, ByteSource, line_blocks

_BOM = b"\xef\xbb\xbf"
_DOC = re.compile(r"<doc\s+(.*)>\s*")
_TITLE = re.compile(r'\btitle="(.*)"\s*$')
_URL = re.compile(r'\burl="([^"]*)"')
_HEADING = re.compile(r"(={2,6})\s*(.*?)\s*\1\s*")
# What a position says besides: in an extract, whether nothing but empty lines came since <doc>, so
# that the title may still be repeated, or that lines go with a document that was rejected; of a
# text file, that its document has ended.
_FRESH, _LOST, _ENDED = "fresh", "lost", "ended"
_MAX_TITLE_CHARACTERS = 1_000


class PassageFormat(StrEnum):
    """How the documents of a file are written."""

    TEXT = "text"
    JSONL = "jsonl"
    WIKIPEDIA = "wikipedia"


@dataclass(frozen=True, slots=True)
class Document:
    """What is known of a document besides its text; ``entity`` as the source gives it."""

    title: str = ""
    source: str = ""
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a document, or something rejected.

    Attributes:
        document: What the text belongs to.
        text: Whole lines.
        is_first, is_last: Whether this is the document's first part, and its last.
        position: JSON-ready; given back to ``read_documents``, reading goes on right after this.
    """

    document: Document
    text: str = ""
    is_first: bool = False
    is_last: bool = False
    position: Mapping[str, Any] = field(default_factory=dict)
    rejects: tuple[Reject, ...] = ()


def recognise(source: ByteSource, /) -> PassageFormat:
    """Returns the format of an open source.

    Raises:
        InputError: It is no text.
    """
    head = source.head.removeprefix(_BOM).lstrip()
    if b"\x00" in head:
        raise InputError(
            f"{source.name} is no text (it holds NUL bytes); expected text, JSON lines or "
            "WikiExtractor's output",
            argument="source",
        )
    if head.startswith(b"{"):
        return PassageFormat.JSONL
    return PassageFormat.WIKIPEDIA if head.startswith(b"<doc ") else PassageFormat.TEXT


def read_documents(
    source: ByteSource, format_: PassageFormat, start: Mapping[str, Any], /, *, title: str | None
) -> Iterator[Part]:
    """Yields the documents of a file in parts.

    Args:
        source: An open source at its beginning.
        format_: How it is written.
        start: ``position`` of the part to go on behind; empty to begin.
        title: Title of a text file's document; None to make it from the file's name.
    """
    document = Document(**start["document"]) if start.get("document") else None
    if format_ is PassageFormat.JSONL:
        yield from _json_lines(source, start)
    elif format_ is PassageFormat.WIKIPEDIA:
        yield from _extract(source, start, document)
    elif start.get("state") != _ENDED:
        if title is None:
            name = PurePath(source.name)
            title = "" if source.name == STANDARD_INPUT else name.stem.replace("_", " ").strip()
        yield from _plain_text(source, start, document, title)


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    raw: bytes
    offset: int
    line: int
    end: int
    reject: Reject | None = None
    problem: bool = False


def _lines(source: ByteSource, start: Mapping[str, Any]) -> Iterator[_Line]:
    offset = int(start.get("offset", 0))
    for block in line_blocks(source, offset=offset, line=int(start.get("line", 1))):
        if block.problem:
            # Where it ends is not known here, so reading went on from where it begins.
            if start.get("problem") and block.offset == offset:
                continue
            problem = Reject(source.name, block.line, block.offset, block.problem)
            yield _Line("", b"", block.offset, block.line, block.offset, problem, True)
            continue
        at, line = block.offset, block.line
        for raw in io.BytesIO(block.data):
            data = raw.removeprefix(_BOM) if at == 0 else raw
            text = ""
            reject: Reject | None = None
            try:
                text = data.decode().rstrip("\r\n")
                check_text(text, what="a line")
            except UnicodeDecodeError as error:
                reason = f"not UTF-8: byte {error.start} of the line"
                reject = Reject(source.name, line, at, reason, excerpt(raw))
            except InputError as error:
                text = ""
                reject = Reject(source.name, line, at, error.message, excerpt(raw))
            yield _Line(text, raw, at, line, at + len(raw), reject)
            at += len(raw)
            line += 1


def _position(line: _Line, document: Document | None = None) -> dict[str, Any]:
    return {
        "offset": line.end,
        "line": line.line + (not line.problem),
        "problem": line.problem,
        "document": asdict(document) if document else None,
    }


def _plain_text(
    source: ByteSource, start: Mapping[str, Any], document: Document | None, title: str
) -> Iterator[Part]:
    is_first = document is None
    here = document or Document(title=title, source=source.name)
    last: _Line | None = None
    for line in _lines(source, start):
        last = line
        heading = _HEADING.fullmatch(line.text)
        text = heading[2] if heading else line.text
        rejects = (line.reject,) if line.reject else ()
        yield Part(here, text, is_first, False, _position(line, here), rejects)
        is_first = False
    position = dict(start) if last is None else _position(last)
    yield Part(here, "", is_first, True, {**position, "document": None, "state": _ENDED})


def _extract(
    source: ByteSource, start: Mapping[str, Any], document: Document | None
) -> Iterator[Part]:
    state = str(start.get("state", ""))
    last: _Line | None = None
    for line in _lines(source, start):
        last = line
        rejects = [line.reject] if line.reject else []
        text, is_first, is_last = "", False, False
        here = document or Document()
        if line.text.startswith("<doc "):
            if document is not None:
                # Going on behind this part reads the line again, with no document open.
                before = {"offset": line.offset, "line": line.line, "problem": False}
                early = _reject(source, line, "a document begins before </doc> ended one")
                yield Part(document, is_last=True, position=before, rejects=(early,))
            made = _document(line.text, source.name)
            if isinstance(made, Document):
                document, state, is_first, here = made, _FRESH, True, made
            else:
                rejects.append(_reject(source, line, made))
                document, state, here = None, _LOST, Document()
        elif line.text.strip() == "</doc>":
            if document is None and state != _LOST:
                rejects.append(_reject(source, line, "</doc> where no document was begun"))
            is_last = document is not None
            document, state = None, ""
        elif document is not None:
            text = html.unescape(line.text)
            repeated = state == _FRESH and " ".join(text.split()) == document.title
            if text.strip():
                state = ""
            heading = _HEADING.fullmatch(text)
            text = "" if repeated else heading[2] if heading else text
        elif line.text.strip() and state != _LOST:
            rejects.append(_reject(source, line, "text outside of <doc> and </doc>"))
        position = {**_position(line, document), "state": state}
        yield Part(here, text, is_first, is_last, position, tuple(rejects))
    if document is not None:
        # A load that was killed behind the last line finds no line here, and ends alike.
        end = dict(start) if last is None else _position(last)
        position = {**end, "document": None, "state": ""}
        reason = "the file ends before </doc>; what came of it is kept"
        at_line = position["line"] - (not position["problem"])
        reject = Reject(source.name, at_line, position["offset"], reason, "")
        yield Part(document, is_last=True, position=position, rejects=(reject,))


def _document(line: str, source: str) -> Document | str:
    """Returns the document of a ``<doc>`` line, or why there is none."""
    match = _DOC.fullmatch(line)
    # WikiExtractor puts the title last and leaves quotes in it as they are.
    title = _TITLE.search(match[1]) if match else None
    if match is None or title is None:
        return 'expected <doc id=".." url=".." title="..">'
    url = _URL.search(match[1])
    return _checked(html.unescape(title[1]), html.unescape(url[1]) if url else source, None)


def _json_lines(source: ByteSource, start: Mapping[str, Any]) -> Iterator[Part]:
    for line in _lines(source, start):
        if line.reject is not None:
            yield Part(Document(), position=_position(line), rejects=(line.reject,))
            continue
        if not line.text.strip():
            continue
        made = _of_json(line.text, source.name)
        if isinstance(made, str):
            reject = _reject(source, line, made)
            yield Part(Document(), position=_position(line), rejects=(reject,))
        else:
            document, text = made
            yield Part(document, text, True, True, _position(line))


def _of_json(line: str, source: str) -> tuple[Document, str] | str:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return f"not JSON: {error}"
    if not isinstance(row, dict):
        return f"expected a JSON object, got {type(row).__name__}"
    text = row.get("text")
    if isinstance(text, list) and all(isinstance(part, str) for part in text):
        text = "\n".join(text)
    if not isinstance(text, str):
        return 'expected "text": a text or a list of texts'
    linked = row.get("wikidata_info")
    names = {
        "title": row.get("title", row.get("wikipedia_title")),
        "source": row.get("source", row.get("url")),
        "entity": row.get(
            "entity", linked.get("wikidata_id") if isinstance(linked, dict) else None
        ),
    }
    for name, value in names.items():
        if value is not None and not isinstance(value, str):
            return f'expected "{name}" to be a text, got {type(value).__name__}'
    try:
        check_text(text, what="the text")
    except InputError as error:
        return error.message
    made = _checked(names["title"] or "", names["source"] or source, names["entity"] or None)
    return made if isinstance(made, str) else (made, text)


def _checked(title: str, source: str, entity: str | None) -> Document | str:
    try:
        for text in (title, source):
            check_text(text, what="a title or source")
        if entity is not None:
            entity = normalise_entity_id(entity)
    except InputError as error:
        return error.message
    title = " ".join(title.split())
    if len(title) > _MAX_TITLE_CHARACTERS:
        return f"a title of {len(title)} characters; at most {_MAX_TITLE_CHARACTERS} are kept"
    return Document(title, source, entity)


def _reject(source: ByteSource, line: _Line, reason: str) -> Reject:
    return Reject(source.name, line.line, line.offset, reason, excerpt(line.raw))
