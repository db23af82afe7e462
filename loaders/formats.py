"""The formats that can be read, and how one is told from a source's first bytes and name."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path, PurePath

import orjson
import pyoxigraph

from graph_service.errors import InputError
from loaders.packing import refuse_archive
from loaders.rdf.recognition import is_json_ld, turtle_format, xml_kind
from loaders.refusals import (
    is_script,
    refuse_json,
    refuse_notation3,
    refuse_text_table,
    refuse_xml,
)
from loaders.source import HEAD_BYTES, MAX_BLANK_BYTES, ByteSource, open_source


class Format(StrEnum):
    """Name of a format, as it is printed and as ``--format`` takes it."""

    WIKIBASE_JSON = "wikibase-json"
    WIKIBASE_JSON_LINES = "wikibase-json-lines"
    MEDIAWIKI_XML = "mediawiki-xml"
    NTRIPLES = "ntriples"
    NQUADS = "nquads"
    TURTLE = "turtle"
    TRIG = "trig"
    RDF_XML = "rdf-xml"
    JSON_LD = "json-ld"
    TSV = "tsv"
    CSV = "csv"
    KGTK = "kgtk"
    LABELS = "labels"
    DESCRIPTIONS = "descriptions"
    TYPES = "types"
    SAME_AS = "same-as"
    GRAPH_LINES = "graph-lines"
    GRAPH_PARQUET = "graph-parquet"
    ROWS = "rows"


GRAPH_LINES_MARK = b'{"graph-service":"graph-lines"'
"""Begins what ``graph-service export`` wrote as JSON lines."""

# Files that go with others, and are named rather than recognised.
_EXTRA_FORMATS = frozenset(
    (
        *(Format.LABELS, Format.DESCRIPTIONS, Format.TYPES, Format.SAME_AS, Format.ROWS),
        Format.GRAPH_PARQUET,
    )
)
_COMPRESSED = {".gz", ".bz2", ".xz", ".zst", ".zip", ".7z", ".rar", ".tar", ".lzma", ".lz4"}
_BY_SUFFIX = {
    ".json": Format.WIKIBASE_JSON,
    ".geojson": Format.WIKIBASE_JSON,
    ".jsonl": Format.WIKIBASE_JSON_LINES,
    ".ndjson": Format.WIKIBASE_JSON_LINES,
    ".nt": Format.NTRIPLES,
    ".nq": Format.NQUADS,
    ".tql": Format.NQUADS,
    ".ttl": Format.TURTLE,
    ".turtle": Format.TURTLE,
    ".trig": Format.TRIG,
    ".n3": Format.TURTLE,
    ".rdf": Format.RDF_XML,
    ".owl": Format.RDF_XML,
    ".xml": Format.RDF_XML,
    ".jsonld": Format.JSON_LD,
    ".tsv": Format.TSV,
    ".txt": Format.TSV,
    ".csv": Format.CSV,
}
_FORMATS_OF_TURTLE = {
    pyoxigraph.RdfFormat.TURTLE: Format.TURTLE,
    pyoxigraph.RdfFormat.TRIG: Format.TRIG,
}
# Names of files that were meant to be loaded, although not every one is of a format read here.
_DATA_SUFFIXES = {*_BY_SUFFIX, ".hdt", ".parquet", ".xlsx", ".tgz"} - {".txt"}
_SYSTEM_FILES = frozenset((".ds_store", "thumbs.db", "desktop.ini"))
_PROSE = frozenset(("README", "LICENSE", "NOTICE"))
_WEB_PAGE = re.compile(rb"<(?:!doctype\s+html|html)\b", re.I)
_TERM = rb'(?:<[^<>\n]*>|_:[^\s<>"]+|"(?:[^"\\\n]|\\.)*"(?:@[^\s.]+|\^\^<[^<>\n]*>)?)'
_STATEMENT_LINE = re.compile(
    rb"^[ \t]*(?:<[^<>\n]*>|_:\S+)[ \t]*<[^<>\n]*>[ \t]*"
    + _TERM
    + rb"[ \t]*(<[^<>\n]*>|_:\S+)?[ \t]*\.[ \t]*(?:#.*)?\r?$"
)
_RELATIVE = re.compile(rb"[^\"]*<(?![A-Za-z][A-Za-z0-9+.-]*:)")
_JSON = re.compile(rb'\{\s*(?:["}]|\Z)|\[\s*(?:[{\["]|\]\s*\Z|\Z)')
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# A file of such a name whose content is something else is not read as what it is called.
_ONLY_BY_CONTENT = frozenset(
    (Format.WIKIBASE_JSON, Format.WIKIBASE_JSON_LINES, Format.RDF_XML, Format.JSON_LD)
)
_WIKIDATA_ITEM = re.compile(rb"[QP][1-9][0-9]*")
_KGTK_HEADS = {b"node1", b"from", b"subject"}
_KGTK_RELATIONS = {b"label", b"pred", b"predicate", b"relation", b"relationship"}


def recognise(path: str | Path, /) -> Format:
    """Returns the format of a file, told by its first bytes, with its name as a hint.

    Raises:
        InputError: It can't be read or is in no format that is known here.
    """
    with open_source(path) as source:
        return recognise_source(source)


def recognise_source(source: ByteSource, /) -> Format:
    """Returns the format of an open source, without taking bytes from it.

    Raises:
        InputError: It is in no format that is known here, or empty.
    """
    refuse_archive(source.head, source.name)
    head = source.head.removeprefix(b"\xef\xbb\xbf")
    start = head.lstrip()
    hint = _hint(source.name)
    if not start:
        if len(head) >= MAX_BLANK_BYTES:
            raise _refused(
                source.name,
                f"begins with more than {MAX_BLANK_BYTES:,} bytes of white space",
                "Load it without them.",
            )
        source.require_sound()
        raise InputError(f"{source.name} is empty", argument="source")
    if start.startswith(GRAPH_LINES_MARK):
        return Format.GRAPH_LINES
    if source.head.startswith(_UTF_16):
        raise _refused(
            source.name,
            "is UTF-16 that is packed, and only plain files of UTF-16 are read",
            "Unpack it.",
        )
    complete = len(source.head) < HEAD_BYTES
    if start[:1] in (b"{", b"["):
        if hint is Format.JSON_LD or is_json_ld(start):
            return Format.JSON_LD
        refuse_json(start, source.name, complete=complete)
        if _JSON.match(start) or _rdf_format(head, hint, complete=complete) is None:
            format_ = _json_format(start, complete=complete)
            if format_ is not None:
                return format_
    if b"\x00" in start[:4096] and hint is None:
        raise _unknown(source.name)
    xml = xml_kind(start)
    format_ = _xml_format(start, xml, source.name) or _rdf_format(head, hint, complete=complete)
    if format_ in _FORMATS_OF_TURTLE.values() or _is_notation3(source.name):
        refuse_notation3(head, source.name)
    if format_ is not None:
        return format_
    if xml is not None or start[:5].lower() == b"<?xml":
        refuse_xml(xml or "", source.name)
    refuse_text_table(start, source.name)
    table = None if hint is None and is_script(source.name) else _table_format(start, hint)
    if table is not None:
        return table
    if hint is not None and hint not in _ONLY_BY_CONTENT:
        return hint
    raise _unknown(source.name)


def _xml_format(start: bytes, kind: str | None, name: str) -> Format | None:
    """Returns the format of XML that is read, by its ``xml_kind``; None of any other text.

    Raises:
        InputError: It is a web page.
    """
    if _WEB_PAGE.match(start) or kind == "html":
        raise _refused(
            name,
            "is a web page (HTML), which holds no statements that can be read",
            "Download the file that the page leads to; a page in its place often says why that "
            "failed. A table that a program wrote as HTML: open it in Excel, and save it as .xlsx.",
        )
    return {"mediawiki": Format.MEDIAWIKI_XML, "rdf": Format.RDF_XML}.get(kind or "")


def _is_notation3(name: str) -> bool:
    return _suffix(name) == ".n3"


def may_be_prose(source: ByteSource, format_: Format, /) -> bool:
    """Returns whether what was taken for a table may be a text with commas, such as a README.

    A table has a table's name, or tabs, as many in every line.
    """
    if format_ not in (Format.TSV, Format.CSV, Format.LABELS):
        return False
    if _hint(source.name) in (Format.TSV, Format.CSV):
        return PurePath(source.name).stem.upper() in _PROSE
    lines = source.head.split(b"\n")[:50]
    counts = {line.count(b"\t") for line in (lines[:-1] if len(lines) > 1 else lines)}
    return len(counts) != 1 or counts == {0}


def is_system_file(name: str, /) -> bool:
    """Returns whether a file is one that a system or a program keeps beside the data.

    >>> [is_system_file(name) for name in ("d/._a.csv", "~$a.xlsx", "desktop.ini", "a.csv")]
    [True, True, True, False]
    """
    path = PurePath(name)
    return path.name.startswith(("._", "~$", ".~lock.")) or path.name.lower() in _SYSTEM_FILES


def is_named_as_data(name: str, /) -> bool:
    """Returns whether a file's name says that it is data, of a format that is read or not.

    >>> is_named_as_data("a/b.nt.zst"), is_named_as_data("README.md"), is_named_as_data("x.zip")
    (True, False, True)
    """
    path = PurePath(name)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in _COMPRESSED
    if path.name.partition(".")[0].upper() in _PROSE or not suffixes:
        return False
    while len(suffixes) > 1 and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] in _DATA_SUFFIXES or (packed and suffixes[-1] in _COMPRESSED)


def _unknown(name: str) -> InputError:
    names = ", ".join(format_ for format_ in Format if format_ not in _EXTRA_FORMATS)
    return InputError(
        f"the format of {name} is not recognised; known are {names}",
        argument="format",
        hint="Name the format if it is one of them, for instance --format tsv.",
    )


def _refused(name: str, what: str, hint: str) -> InputError:
    return InputError(f"{name} {what}", argument="source", hint=hint)


def _rdf_format(head: bytes, hint: Format | None, *, complete: bool) -> Format | None:
    """Returns which RDF a text is, told by its statements; by its name where these are none."""
    by_lines = _statement_lines(head)
    if by_lines == 4 or (by_lines == 3 and hint is Format.NQUADS):
        return Format.NQUADS
    turtle, all_good = turtle_format(head, complete=complete)
    if hint is Format.TRIG and turtle is pyoxigraph.RdfFormat.TRIG:
        return Format.TRIG
    if by_lines is not None:
        # A Turtle file may be called .nt; an N-Triples file with a bad line is N-Triples.
        if turtle is not None and (
            _has_turtle_lines(head) or (all_good and _is_turtle_alone(head, hint))
        ):
            return _FORMATS_OF_TURTLE[turtle]
        return Format.NTRIPLES
    if turtle is not None:
        return _FORMATS_OF_TURTLE[turtle]
    if hint in (Format.NTRIPLES, Format.NQUADS) and head.lstrip()[:1] in (b"<", b"_", b"#"):
        return hint
    return None


def _suffix(name: str) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _hint(name: str) -> Format | None:
    return _BY_SUFFIX.get(_suffix(name))


def _json_format(start: bytes, *, complete: bool) -> Format | None:
    first, newline, rest = start.partition(b"\n")
    line = first.strip()
    if line == b"[" and rest.lstrip()[:1] == b"{":
        second = rest.lstrip().partition(b"\n")[0].strip().removesuffix(b",")
        # A dump has one entity a line; a pretty-printed list does not.
        return (
            Format.WIKIBASE_JSON_LINES
            if _is_json(second) or not complete and len(second) > 1000
            else Format.WIKIBASE_JSON
        )
    if not newline:
        # One long line: a document of its own, which is also a line.
        return Format.WIKIBASE_JSON_LINES if line[:1] in (b"{", b"[") else None
    if _is_json(line.removesuffix(b",")):
        return Format.WIKIBASE_JSON_LINES
    if line[:1] == b"{" and line[1:].lstrip()[:1] not in (b'"', b"}", b""):
        return None
    # A first line that is broken among lines that are not.
    for other in rest.split(b"\n")[:20]:
        text = other.strip().removesuffix(b",")
        if text[:1] == b"{" and len(text) > 2 and other[:1] == b"{" and _is_json(text):
            return Format.WIKIBASE_JSON_LINES
    return Format.WIKIBASE_JSON


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _statement_lines(head: bytes) -> int | None:
    """Returns the number of terms a line if most of the first lines are RDF statements."""
    lines = [
        line
        for line in head.split(b"\n")[:200]
        if line.strip() and not line.lstrip().startswith(b"#")
    ]
    if not lines:
        return None
    matches = [match for line in lines if (match := _STATEMENT_LINE.match(line))]
    if 2 * len(matches) < len(lines):
        return None
    return 4 if any(match[1] for match in matches) else 3


def _has_turtle_lines(head: bytes) -> bool:
    """Returns whether some lines are whole Turtle statements and no N-Triples."""
    for line in head.split(b"\n")[:200]:
        if line.strip() and not _STATEMENT_LINE.match(line) and line.lstrip()[:1] == b"<":
            in_turtle = _triples(line, pyoxigraph.RdfFormat.TURTLE)
            if in_turtle and not _triples(line, pyoxigraph.RdfFormat.N_QUADS):
                return True
    return False


def _is_turtle_alone(head: bytes, hint: Format | None) -> bool:
    """Returns whether lines are there that are no N-Triples, or have relative IRIs."""
    by_name = hint in (Format.NTRIPLES, Format.NQUADS)
    lines = [line for line in head.split(b"\n")[:200] if line.strip()]
    for line in lines[:-1] if len(lines) > 1 else lines:
        if line.lstrip().startswith(b"#"):
            continue
        if _STATEMENT_LINE.match(line):
            if not by_name and _RELATIVE.match(line):
                return True
        elif not _triples(line, pyoxigraph.RdfFormat.N_QUADS):
            return True
    return False


def _triples(line: bytes, format_: pyoxigraph.RdfFormat) -> int:
    try:
        return sum(1 for _ in pyoxigraph.parse(line, format=format_))
    except SyntaxError:
        return 0


def _are_names(lines: list[bytes]) -> bool:
    """Returns whether rows of three cells are Wikidata ids, names and a language or source."""
    rows = [line.split(b"\t") for line in lines]
    if len(rows) < 3 or any(len(row) != 3 for row in rows):
        return False
    ids, names, others = zip(*rows, strict=True)
    return (
        all(_WIKIDATA_ITEM.fullmatch(cell) for cell in ids)
        and not any(_WIKIDATA_ITEM.fullmatch(cell) for cell in (*names, *others))
        # Relations come again and again, names hardly; languages the other way round.
        and 2 * len(set(names)) > len(rows) >= 3 * len(set(others))
    )


def _table_format(start: bytes, hint: Format | None) -> Format | None:
    lines = [line.rstrip(b"\r") for line in start.split(b"\n")[:50] if line.strip()]
    if not lines:
        return None
    header = {name.strip().lower() for name in lines[0].split(b"\t")}
    # Where two columns could be the relation, a guess would make wrong statements in silence.
    if {b"node1", b"label"} <= header or (
        len(header & _KGTK_HEADS) == len(header & _KGTK_RELATIONS) == 1
    ):
        return Format.KGTK
    complete = lines[:-1] if len(lines) > 1 else lines
    if all(line.count(b"\t") == 1 for line in complete):
        # Two columns are no statements: ids and their names.
        return Format.LABELS
    if _are_names(complete):
        return Format.LABELS
    tabs = sum(line.count(b"\t") >= 1 for line in complete)
    if tabs * 2 > len(complete):
        return Format.TSV
    for mark in (b",", b";", b"|"):
        marks = [line.count(mark) for line in complete]
        if hint is Format.CSV and sum(map(bool, marks)) * 2 > len(complete):
            return Format.CSV
        # Without a table's name, a text with commas is one unless its rows are equally long.
        often = max(set(marks), key=marks.count)
        if hint is None and often >= 2 and marks.count(often) * 2 > len(complete):
            return Format.CSV
    return None
