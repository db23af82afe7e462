"""Terms and rows of answers, and the writing of terms into queries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox

from graph_service.errors import InputError
from loaders.rdf.terms import tagged_literal

# What the grammar's IRIREF leaves out; \u escapes are undone before it is read, so none helps.
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]|[\ud800-\udfff]')
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_STRING_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def can_write_iri(iri: str, /) -> bool:
    """Returns whether SPARQL can hold this IRI."""
    return _ABSOLUTE.match(iri) is not None and _NOT_IN_IRI.search(iri) is None


def write_iri(iri: str, /) -> str:
    """Returns an absolute IRI as SPARQL writes it, always in full.

    Raises:
        InputError: It is not absolute, or holds what no IRI may.

    >>> write_iri("http://dbpedia.org/resource/Harry_Potter_and_the_Philosopher's_Stone")
    "<http://dbpedia.org/resource/Harry_Potter_and_the_Philosopher's_Stone>"
    """
    if not can_write_iri(iri):
        raise InputError(
            f"{iri!r} is no absolute IRI: it has no scheme, or holds a space, a quote or one of "
            '< > " { } | ^ ` \\; write such characters as % and two hexadecimal digits',
            argument="source",
        )
    return f"<{iri}>"


def write_string(text: str, /) -> str:
    r"""Returns text as a SPARQL string.

    >>> print(write_string('say "no"\n'))
    "say \"no\"\n"
    """
    return '"' + re.sub(r'[\\"\n\r\t]', lambda match: _STRING_ESCAPES[match[0]], text) + '"'


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """One term of an answer.

    Attributes:
        kind: ``uri``, ``literal`` or ``bnode``.
        datatype: IRI, empty for none; ``language`` a tag, empty for none.
    """

    kind: str
    value: str
    datatype: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One triple of an answer."""

    subject: Term
    predicate: Term
    object: Term

    def quad(self) -> ox.Quad:
        """Returns the row as RDF; raises ``ValueError`` for a term that RDF forbids."""
        if self.subject.kind != "uri" or self.predicate.kind != "uri":
            raise ValueError("a subject or predicate that is no IRI")
        return ox.Quad(
            ox.NamedNode(self.subject.value),
            ox.NamedNode(self.predicate.value),
            _rdf_object(self.object),
        )


def _rdf_object(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    if term.kind == "uri":
        return ox.NamedNode(term.value)
    if term.kind == "bnode":
        return ox.BlankNode()
    if term.language:
        return tagged_literal(term.value, term.language)
    if term.datatype:
        return ox.Literal(term.value, datatype=ox.NamedNode(term.datatype))
    return ox.Literal(term.value)


def read_term(payload: Any, /) -> Term:
    """Returns a term of SPARQL's JSON; raises ``ValueError`` for anything else."""
    kind = payload.get("type") if isinstance(payload, dict) else None
    value = payload.get("value") if isinstance(payload, dict) else None
    if not isinstance(value, str):
        raise ValueError(f"not a term: {str(payload)[:100]}")
    if kind in ("uri", "bnode"):
        return Term(str(kind), value)
    # Older engines say typed-literal.
    if kind in ("literal", "typed-literal"):
        # Some write null for what is not there.
        datatype, language = payload.get("datatype") or "", payload.get("xml:lang") or ""
        if not (isinstance(datatype, str) and isinstance(language, str)):
            raise ValueError(f"not a term: {str(payload)[:100]}")
        return Term("literal", value, datatype, language)
    raise ValueError(f"a term of unknown kind {kind!r}")
