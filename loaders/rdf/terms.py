"""Terms that RDF's grammar allows and its rules do not: bad language tags, relative IRIs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pyoxigraph as ox

LANGUAGE_TAG_REASON = (
    "texts whose language tag is none by BCP 47 (such as zh-classical), with the tag as it is"
)


def lenient_quads(
    data: bytes, /, *, format: ox.RdfFormat, base_iri: str | None = None
) -> Iterator[tuple[ox.Quad, str, bool]]:
    """Yields triples with what is wrong with their terms.

    Returns:
        The triple; why it can't be loaded, "" if it can; whether it has a language tag that
        is none by BCP 47.

    Raises:
        SyntaxError: It does not follow the grammar.
    """
    for quad in list(ox.parse(data, format=format, base_iri=base_iri, lenient=True)):
        terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
        iris = [term for term in terms if isinstance(term, ox.NamedNode)]
        literal = quad.object if isinstance(quad.object, ox.Literal) else None
        if literal is not None:
            iris.append(literal.datatype)
        problem = next((reason for iri in iris if (reason := iri_problem(iri.value))), "")
        tag = literal.language if literal is not None else None
        yield quad, problem, tag is not None and not is_language_tag(tag)


@lru_cache(maxsize=4096)
def iri_problem(iri: str, /) -> str:
    """Returns why an IRI is none, "" if it is one.

    >>> iri_problem("http://a/b"), iri_problem("b")
    ('', 'not RDF: the relative IRI <b>, with no address to resolve it against; give --base-iri')
    """
    try:
        ox.NamedNode(iri)
    except ValueError as error:
        if "No scheme" in str(error):
            return (
                f"not RDF: the relative IRI <{iri}>, with no address to resolve it against; give "
                "--base-iri"
            )
        return f"not RDF: {error} in the IRI <{iri}>"
    return ""


@lru_cache(maxsize=4096)
def is_language_tag(tag: str, /) -> bool:
    """Returns whether a language tag is well-formed by BCP 47.

    >>> is_language_tag("zh-min-nan"), is_language_tag("zh-classical")
    (True, False)
    """
    try:
        ox.Literal("", language=tag)
    except ValueError:
        return False
    return True


def tagged_literal(text: str, language: str, /) -> ox.Literal:
    """Returns a literal whose language tag need not be one by BCP 47.

    Raises:
        ValueError: It is not even what the grammar takes for a tag.
    """
    try:
        return ox.Literal(text, language=language)
    except ValueError:
        quoted = str(ox.Literal(text))
        try:
            [quad] = ox.parse(
                f"<a:a> <a:a> {quoted}@{language} .",
                format=ox.RdfFormat.N_TRIPLES,
                lenient=True,
            )
        except SyntaxError as error:
            raise ValueError(f"{language!r} is no language tag") from error
        assert isinstance(quad.object, ox.Literal)
        return quad.object
