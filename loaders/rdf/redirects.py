"""Redirects of entities, resolved in the statements of an RDF source."""

from __future__ import annotations

from collections.abc import Mapping

from graph_service.model.identity import normalise_statement_guid
from graph_service.model.statement import Reference, Snak, Statement, make_statement
from graph_service.model.values import EntityValue, Value


def resolve_statement(statement: Statement, redirects: Mapping[str, str], /) -> Statement:
    """Returns a statement with every entity that is a redirect as what it redirects to."""
    head = redirects.get(statement.head, statement.head)
    value = _resolve_value(statement.value, redirects)
    qualifiers = _resolve_snaks(statement.qualifiers, redirects)
    references = tuple(
        reference if (parts := _resolve_snaks(reference.parts, redirects)) is reference.parts
        else Reference(parts)
        for reference in statement.references
    )  # fmt: skip
    if (
        head is statement.head
        and value is statement.value
        and qualifiers is statement.qualifiers
        and all(
            reference is original
            for reference, original in zip(references, statement.references, strict=True)
        )
    ):
        return statement
    return make_statement(
        head,
        statement.relation,
        value,
        id=normalise_statement_guid(statement.id),
        rank=statement.rank,
        qualifiers=qualifiers,
        references=references,
        context=statement.context,
    )


def _resolve_value(value: Value, redirects: Mapping[str, str]) -> Value:
    if type(value) is EntityValue and value.id in redirects:
        return EntityValue(redirects[value.id])
    return value


def _resolve_snaks(snaks: tuple[Snak, ...], redirects: Mapping[str, str]) -> tuple[Snak, ...]:
    if not any(type(snak.value) is EntityValue and snak.value.id in redirects for snak in snaks):
        return snaks
    return tuple(Snak(snak.relation, _resolve_value(snak.value, redirects)) for snak in snaks)


def resolve_chains(redirects: Mapping[str, str], /) -> dict[str, str]:
    """Returns what each redirect leads to in the end; those that lead in a circle are left out.

    >>> resolve_chains({"a": "b", "b": "c", "x": "y", "y": "x"})
    {'a': 'c', 'b': 'c'}
    """
    resolved: dict[str, str] = {}
    for first in redirects:
        seen = {first}
        target = redirects[first]
        while target in redirects and target not in seen:
            seen.add(target)
            target = redirects[target]
        if target not in seen:
            resolved[first] = target
    return resolved
