"""Formats that are known and not read: refused by their name, with what to do instead.

Archives and packed files are refused by ``loaders.packing``, which looks at bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import WIKIDATA_ID

_RDF_HINT = "Convert it to N-Quads or Turtle, for instance with Jena's riot."
_TABLE_HINT = "Write it as CSV: the names of the columns in the first line, commas between cells."
_XML: Mapping[str, tuple[str, str]] = {
    "TriX": ("is RDF in TriX, which is not read", _RDF_HINT),
    "sparql": (
        "is the result of a SPARQL query in XML, which is not read",
        "Ask the endpoint for TSV: Accept: text/tab-separated-values.",
    ),
    "graphml": (
        "is a graph in GraphML, which is not read",
        "Write its edges as CSV with the columns head, relation and tail.",
    ),
    "gexf": (
        "is a graph in GEXF, which is not read",
        "Export its edges from Gephi as CSV, and load them with --edge-relation.",
    ),
}
_OWN_KEYS = frozenset(
    {"entities", "claims", "labels", "descriptions", "aliases", "mainsnak", "graph-service"}
)
"""Keys of documents of Wikibase and of files that ``export`` wrote."""
_N3_NAMES = re.compile(
    rb"(?P<long>\"\"\"|\'\'\')(?s:.)*?(?P=long)|(?P<mark>[\"'])(?:\\.|(?!(?P=mark))[^\\\n])*+(?P=mark)"
    rb"|<[^<>\s]*>|#[^\n]*"
)
_N3_RULES = re.compile(rb"\}\s*(?:=>|<=)|@for(?:All|Some)\b")
_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_FEWEST_LINES = 3
_MARKDOWN_LINE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")
_BOX_LINE = re.compile(r"\+?-{2,}(?:\+-{2,})+\+?")
_GAP = re.compile(r"\S {2,}\S")


def refuse_xml(root: str, name: str, /) -> None:
    """Raises ``InputError`` for XML that is in none of the formats that are read.

    Args:
        root: Name of its first element; "" if it has none.
        name: Of the file.
    """
    what, hint = _XML.get(
        root,
        (
            f"is XML that begins with <{root or '?'}>, expected RDF/XML or a MediaWiki dump",
            "Convert it to a format that is known, for instance N-Triples or a table.",
        ),
    )
    raise _refused(name, what, hint)


def refuse_notation3(head: bytes, name: str, /) -> None:
    """Raises ``InputError`` for RDF with rules or variables, which only Notation3 has."""
    if _N3_RULES.search(_N3_NAMES.sub(b" ", head)):
        raise _refused(
            name,
            "is Notation3 with rules or variables, which is not read: its formulas are no facts",
            "Run the rules, for instance with EYE or cwm, and load the triples as Turtle.",
        )


def refuse_text_table(head: bytes, name: str, /) -> None:
    """Raises ``InputError`` for a table of text whose cells no single character separates."""
    lines = [
        line.rstrip()
        for line in head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").splitlines()
        if line.strip()
    ][:_SAMPLE_LINES]
    if any(map(_BOX_LINE.fullmatch, map(str.strip, lines))):
        raise _refused(
            name,
            "is a table as a database prints it for people, with lines around its cells",
            "Let the database write CSV, for instance psql --csv, mysql --batch or sqlite3 -csv.",
        )
    if any(
        _MARKDOWN_LINE.fullmatch(line.strip()) and "|" in line and "|" in before
        for before, line in pairwise(lines)
    ):
        raise _refused(name, "is a table in Markdown, which is not read", _TABLE_HINT)
    if _has_fixed_width(lines):
        raise _refused(
            name,
            "is a table of fixed width, whose cells are told by their places in the line",
            "Convert it to CSV, for instance in Python: "
            "pandas.read_fwf(FILE).to_csv(NEW_FILE, index=False).",
        )


def _has_fixed_width(lines: list[str]) -> bool:
    """Returns whether all lines have spaces in the same places, and no separator in the first."""
    if len(lines) < _FEWEST_LINES or any(mark in lines[0] for mark in _DELIMITERS):
        return False
    if sum(_GAP.search(line) is not None for line in lines) * 2 <= len(lines):
        return False
    width = max(map(len, lines))
    blank = [all(line[at : at + 1] in ("", " ") for line in lines) for at in range(width)]
    begins = sum(was and not is_blank for was, is_blank in pairwise(blank))
    return begins > 0 and _GAP.search(lines[0]) is not None


def refuse_json(head: bytes, name: str, /, *, complete: bool) -> None:
    """Raises ``InputError`` for JSON that holds neither entities nor rows.

    Args:
        head: Its beginning.
        name: Of the file.
        complete: Whether that is all of it.
    """
    if not complete:
        return
    try:
        value = json.loads(head.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return
    refusal = _list_refusal(value) if isinstance(value, list) else _object_refusal(value)
    if refusal is not None:
        raise _refused(name, *refusal)


def _list_refusal(value: list[Any]) -> tuple[str, str] | None:
    if value and all(isinstance(row, list) for row in value):
        return (
            "is JSON with a list for each row, which is not read",
            "Write it as CSV, for instance: jq -r '.[] | @csv' FILE > NEW_FILE.csv",
        )
    if value and not any(isinstance(row, dict | list) for row in value):
        return "is a JSON list of single values, which are no rows", _TABLE_HINT
    return None


def _object_refusal(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, dict) or not value or not _OWN_KEYS.isdisjoint(value):
        return None
    if {"head", "results"} <= value.keys() or {"head", "boolean"} <= value.keys():
        return (
            "is the answer to a SPARQL query in JSON, which is not read",
            "Ask the endpoint for TSV: Accept: text/tab-separated-values.",
        )
    if value.get("type") == "Topology":
        return (
            "is TopoJSON, which is not read",
            "Convert it to GeoJSON, for instance with ogr2ogr; features are rows then.",
        )
    members = list(value.values())
    if all(map(_is_rdf_json_subject, members)):
        return "is RDF/JSON, which is not read", _RDF_HINT
    lists = [key for key, member in value.items() if is_list_of_objects(member)]
    if len(lists) > 1:
        return (
            f"has several lists of objects ({', '.join(lists[:8])}), and a file is one table",
            "Write each as a file of its own into a folder, and load the folder; for instance: "
            f"jq .{lists[0]} FILE > FOLDER/{lists[0]}.json",
        )
    if any(map(WIKIDATA_ID.fullmatch, value)):
        return None
    if len(members) > 1 and all(isinstance(member, dict) for member in members):
        return (
            "is a JSON object of objects by their keys, which is not read",
            "Write it as an array, for instance: "
            "jq '[to_entries[] | {id: .key} + .value]' FILE > NEW_FILE.json",
        )
    if len(members) > 1 and all(_is_list_of_values(member) for member in members):
        return (
            "is JSON with a list for each column, which is not read",
            "Write an object for each row, for instance in pandas: to_json(orient='records').",
        )
    return None


def is_list_of_objects(value: Any, /) -> bool:
    """Returns whether a value of JSON is a list that begins with an object."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _is_list_of_values(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(part, dict | list) for part in value)


def _is_rdf_json_subject(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(
            is_list_of_objects(terms)
            and all(isinstance(term, dict) and {"type", "value"} <= term.keys() for term in terms)
            for terms in value.values()
        )
    )


def is_script(name: str, /) -> bool:
    """Returns whether a file is a program or a page of text by its name, and so no table.

    >>> is_script("load.cypher"), is_script("edges.list"), is_script("edges")
    (True, False, False)
    """
    return PurePath(name).suffix.lower() in _SCRIPTS


_SCRIPTS = frozenset(
    {".cypher", ".cql", ".sql", ".py", ".js", ".sh", ".r", ".md", ".rst", ".html", ".log"}
    | {".yaml", ".yml", ".toml", ".ini", ".dot", ".gv", ".gml", ".sparql", ".rq", ".tex", ".bib"}
)


def _refused(name: str, what: str, hint: str) -> InputError:
    return InputError(f"{name} {what}", argument="source", hint=hint)
