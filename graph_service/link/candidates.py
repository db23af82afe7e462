"""Runs of a question that are names in the graph, and the entities of each name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.link.countries import country_names
from graph_service.link.forms import ARTICLE, Form, other_forms
from graph_service.link.naming import NameClassifier
from graph_service.link.question_context import QuestionContext
from graph_service.link.spans import Certainty, Span
from graph_service.model.graph import Bool, Int32, KnowledgeGraph, NodeKind
from graph_service.model.identity import key64


def look_up(reading: QuestionContext, /) -> list[Span]:
    """Returns all runs of the question that are names, of whatever certainty.

    A run that is no name itself is tried in its other forms: base forms, and with an article.
    """
    judge = NameClassifier(reading)
    named = find_named(reading.graph, reading.runs)
    spans = [
        _span(reading, judge, name, run, matches)
        for name, matches in named.items()
        for run in reading.runs[name]
    ]
    taken = {run for name in named for run in reading.runs[name]}
    others = other_forms(
        reading.atoms,
        reading.lexicon,
        capitals=reading.writes_capitals,
        max_words=reading.rules.form_words,
    )
    forms = [form for form in others if (form.left, form.right) not in taken]
    listed = find_named(reading.graph, {form.name for form in forms})
    held: dict[tuple[int, int], list[Form]] = defaultdict(list)
    for form in forms:
        if form.name in listed:
            held[form.left, form.right].append(form)
    for run, of_run in held.items():
        joined = _joined([listed[form.name] for form in of_run])
        weight = reading.rules.form_weight
        span = _span(reading, judge, of_run[0].name, run, joined, weight)
        # Of a name there is no plural.
        if not all(form.plural for form in of_run) or span.certainty <= Certainty.COMMON:
            spans.append(span)
    spans = [span for span in spans if span.certainty > Certainty.NO]
    return _with_countries(reading, _with_articles(reading, spans))


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """The nodes of a name, int32, and for each whether by alias only."""

    nodes: Int32
    is_alias: Bool


def find_named(graph: KnowledgeGraph, names: Collection[str]) -> dict[str, Named]:
    """Returns the nodes of those names that the graph has, entities before properties."""
    listed = list(names)
    if not listed:
        return {}
    keys = np.array([key64(name) for name in listed], dtype=np.int64)
    index = graph.names
    begins = np.searchsorted(index.name_keys, keys)
    held = np.flatnonzero(begins < len(index.name_keys))
    held = held[index.name_keys[begins[held]] == keys[held]]
    stops = np.searchsorted(index.name_keys, keys[held], side="right")
    by_name: dict[str, Named] = {}
    for row, start, end in zip(held.tolist(), begins[held].tolist(), stops.tolist(), strict=True):
        rows = slice(start, end)
        nodes, is_alias = distinct(index.nodes[rows], index.is_alias[rows])
        entities = graph.node_kinds[nodes] == NodeKind.ENTITY
        if entities.any():
            nodes, is_alias = nodes[entities], is_alias[entities]
        by_name[listed[row]] = Named(nodes, is_alias)
    return by_name


def _joined(named: Sequence[Named]) -> Named:
    return Named(
        *distinct(
            np.concatenate([item.nodes for item in named]),
            np.concatenate([item.is_alias for item in named]),
        )
    )


def _span(
    reading: QuestionContext,
    judge: NameClassifier,
    name: str,
    run: tuple[int, int],
    named: Named,
    weight: float = 1.0,
) -> Span:
    left, right = run
    entities = bool((reading.graph.node_kinds[named.nodes] == NodeKind.ENTITY).any())
    return Span(
        left=left,
        right=right,
        start=reading.atoms[left].start,
        end=reading.atoms[right - 1].end,
        name=name,
        nodes=named.nodes,
        is_alias=tuple(named.is_alias.tolist()),
        certainty=judge.certainty(left, right, named.nodes, named.is_alias, entities),
        weight=reading.rules.part_weight if reading.may_be_last_name(left, right) else weight,
    )


def _with_articles(reading: QuestionContext, spans: Sequence[Span]) -> list[Span]:
    """Returns spans with the entities that only an article tells from theirs, as by an alias:
    of ``the Change`` those called Change, of ``Beatles`` those called The Beatles.
    """
    others = {}
    for index, span in enumerate(spans):
        first = reading.atoms[span.left]
        if span.name.startswith(ARTICLE):
            if first.first or not first.capital:
                others[index] = span.name.removeprefix(ARTICLE)
        elif first.capital and not first.first:
            others[index] = ARTICLE + span.name
    listed = find_named(reading.graph, set(others.values()))
    kinds = reading.graph.node_kinds
    result = list(spans)
    for index, name in others.items():
        span = spans[index]
        if name not in listed or (kinds[listed[name].nodes] != NodeKind.ENTITY).any():
            continue
        nodes = listed[name].nodes
        both = _joined(
            [
                Named(span.nodes, np.array(span.is_alias, dtype=np.bool_)),
                Named(nodes, np.ones(len(nodes), dtype=np.bool_)),
            ]
        )
        result[index] = replace(span, nodes=both.nodes, is_alias=tuple(both.is_alias.tolist()))
    return result


def _with_countries(reading: QuestionContext, spans: Sequence[Span]) -> list[Span]:
    """Returns spans with the countries that people call so, as by an alias: of ``China`` the
    People's Republic, beside a region that has the name as its label.
    """
    others = {span.name: country_names(span.name) for span in spans}
    listed = find_named(reading.graph, {name for names in others.values() for name in names})
    result = []
    for span in spans:
        countries = [listed[name] for name in others[span.name] if name in listed]
        if countries:
            own = Named(span.nodes, np.array(span.is_alias, dtype=np.bool_))
            by_name = [Named(each.nodes, np.ones_like(each.is_alias)) for each in countries]
            both = _joined([own, *by_name])
            span = replace(span, nodes=both.nodes, is_alias=tuple(both.is_alias.tolist()))
        result.append(span)
    return result


def distinct(nodes: Int32, is_alias: Bool, /) -> tuple[Int32, Bool]:
    """Returns each node once, by alias only if no label has the name."""
    order = np.lexsort((is_alias, nodes))
    first = np.unique(nodes[order], return_index=True)[1]
    return nodes[order][first], is_alias[order][first]
