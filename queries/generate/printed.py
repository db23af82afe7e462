"""Citations by number, printed as the paper prints them (K1)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from graph_service.model.result import Triple
from queries.generate.citations import NOT_AVAILABLE
from queries.generate.reader import CitationReader, render_citations


def paper_form(text: str, knowledge: Sequence[Triple], /, *, labels: Sequence[str] = ()) -> str:
    """Returns a text with numbers that cite as ``[Q1, relation: value]``.

    A bracket with a number that stands for nothing stays as it is: it is an incorrect citation,
    and shows as what it was. Read back, the text cites the same statements.

    Args:
        text: A model's words.
        knowledge: The triples that were given, in the order of their numbers.
        labels: Further labels that the text may speak.
    """
    text = unicodedata.normalize("NFC", text)
    by_id = {triple.statement_id: triple for triple in knowledge}
    shown: list[str] = []
    end = 0
    for bracket in CitationReader(knowledge, labels=labels).brackets(text):
        cited = [citation.statement_id for citation in bracket.citations]
        if not bracket.by_number or None in cited:
            continue
        triples = [by_id[id_] for id_ in cited if id_ is not None]
        shown.append(text[end : bracket.start])
        shown.append(render_citations(triples, knowledge))
        if bracket.not_available:
            shown.append(NOT_AVAILABLE)
        end = bracket.end
    return "".join(shown) + text[end:]
