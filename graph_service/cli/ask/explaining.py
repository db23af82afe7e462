"""What ``retrieve --explain`` says of a result: each score's parts, and where everything came from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graph_service.model.answer import Interpretation
from graph_service.model.render import triple_line
from graph_service.model.result import (
    Answer,
    RegionStats,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    SubgraphResult,
    Triple,
)
from graph_service.model.statement import Snak
from graph_service.model.values import display_value

_INDENT = " " * 15
_PARTS = {
    "relevance": "relevance of the best path",
    "below_best": "less likely to be meant than the best",
    "unmet": "constraints that it does not meet",
    "nodes": "entities and values",
    "edges": "relations",
    "cost": "cost of its steps",
}


def snaks_of(result: RetrievalResult, /) -> list[Snak]:
    """Returns all qualifiers of a result."""
    return [
        snak
        for item in result.items
        for part in (item.steps if isinstance(item, ScoredPath) else (item,))
        for snak in part.triple.qualifiers
    ]


def item_lines(
    item: ScoredTriple | ScoredPath, result: RetrievalResult, names: Mapping[str, str], /
) -> list[str]:
    """Returns what an item's score is made of, and its statements.

    Args:
        item: Of the result.
        result: For the labels of the question's entities.
        names: Labels of what qualifiers name, by id.
    """
    started = [linked.swapped_for or linked.entity for linked in result.linked]
    labels = {entity.id: entity.label for entity in started}
    label = labels.get(item.origin_id, item.origin_id)
    hangs = f"at {label} ({item.origin_id})" if item.origin_id else "at nothing asked"
    if isinstance(item, ScoredPath):
        parts = [(_PARTS.get(part.name, part.name), part.amount) for part in item.parts]
    else:
        prizes = item.prizes
        parts = [("head", prizes.head), ("relation", prizes.edge), ("value", prizes.tail)]
    amounts = ", ".join(f"{name} {amount:.4f}" for name, amount in parts if amount)
    lines = [f"{_INDENT}{hangs}; score: {amounts or '0'}"]
    lines.extend(
        f"{_INDENT}{'meets' if constraint.met else 'does not meet'} {constraint.text!r}"
        for constraint in item.constraints
    )
    if isinstance(item, ScoredPath):
        for step in item.steps:
            way = "value to head" if step.reversed else "head to value"
            lines += _statement_lines(step.triple, names, way)
    else:
        lines += _statement_lines(item.triple, names)
    return lines


def _statement_lines(triple: Triple, names: Mapping[str, str], way: str = "") -> list[str]:
    source = "" if triple.source is None else f"stated by {triple.source or 'no known source'}"
    notes = ", ".join(note for note in (f"{triple.rank.value} rank", way, source) if note)
    lines = [f"{_INDENT}statement {triple.statement_id}: {notes}"]
    lines.extend(
        f"{_INDENT}  {names.get(snak.relation, snak.relation)}: "
        f"{display_value(snak.value, lambda id_: names.get(id_, id_))}"
        for snak in triple.qualifiers
    )
    lines.extend(f"{_INDENT}  stands for {id_}, which says the same" for id_ in triple.stands_for)
    return lines


def explain_lines(result: RetrievalResult, /) -> list[str]:
    """Returns where a result came from, as lines for a person."""
    source = result.provenance
    lines = [f"     status {result.status.value}{_relevance(result)}{_confidence(result)}"]
    lines.extend(
        f"     {constraint.kind.value} constraint {constraint.text!r} is {'met' if constraint.met else 'not met'}"
        for constraint in result.constraints
    )
    if result.answer is not None:
        lines.append(f"     {result.answer.kind.value} answer {result.answer.text}, by")
        lines += [f"       {triple_line(item.triple)}" for item in result.answer.basis]
    if result.interpretation is not None:
        lines += _interpretation_lines(result.interpretation)
    if isinstance(result, SubgraphResult):
        gap = "not known" if result.gap is None else f"at most {result.gap:.2%}"
        lines.append(f"     solver {source.solver or '-'}, gap to the optimum {gap}")
    lines += [
        f"     tokens {result.tokens.count} by {result.tokens.tokenizer}",
        f"     result {result.id}",
        f"     graph {source.edition}, edges {source.fingerprints.edges[:16]}",
        f"     view {source.view_id or 'none (the base)'}",
        f"     preset {source.preset}, embedder {source.embedder}",
    ]
    if result.region is not None:
        lines.append(f"     region {_stats(result.region.before)}")
        lines.append(f"       after PageRank {_stats(result.region.after)}")
    lines += _listed("parameters", _named(source.parameters))
    lines += _listed("ms", (f"{stage} {ms:.1f}" for stage, ms in result.timings_ms.items()))
    return lines


def _interpretation_lines(read: Interpretation) -> list[str]:
    """Returns the query that a question was read as."""
    lines = [f"     read as {read.text}"]
    if read.unread:
        lines.append(f"       not read: {', '.join(read.unread)}")
    lines += ["     in Cypher", *(f"       {line}" for line in read.cypher.splitlines())]
    if read.sparql is not None:
        lines += ["     in SPARQL", *(f"       {line}" for line in read.sparql.splitlines())]
    if read.ranked:
        lines.append("     the best queries, before constraints")
        lines += [f"       {query.score:.4f}  {query.text}" for query in read.ranked]
    return lines


def answer_note(answer: Answer, /) -> str:
    """Returns of how many statements an answer is, and whether there may be more."""
    statements = f"{answer.statements} statement{'' if answer.statements == 1 else 's'}"
    return f" (by {statements}{', maybe not all' if answer.truncated else ''})"


def _relevance(result: RetrievalResult) -> str:
    """How much the best found is like the question, beside what it takes."""
    if result.relevance is None:
        return ""
    least = result.provenance.parameters.get("min_relevance")
    needed = "" if least is None else f" (min_relevance {least:g})"
    return f", relevance {result.relevance:.4f}{needed}"


def _confidence(result: RetrievalResult) -> str:
    """How probably the first answer is right, beside what it takes."""
    if result.confidence is None:
        return ""
    least = result.provenance.parameters["min_confidence"]
    return f", confidence {result.confidence:.2f} (min_confidence {least:g})"


def _named(parameters: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Yields parameters in order of their names, those of a group as ``group.name``."""
    for name, value in sorted(parameters.items()):
        if isinstance(value, Mapping):
            yield from _named(value, f"{within}{name}.")
        else:
            yield f"{within}{name}={value}"


def _stats(stats: RegionStats) -> str:
    clustering = "not counted" if stats.clustering is None else f"{stats.clustering:.3f}"
    return (
        f"{stats.nodes} nodes, {stats.edges} edges, mean degree {stats.mean_degree:.2f}, "
        f"clustering {clustering}, density {stats.density:.5f}"
    )


def _listed(name: str, parts: Iterable[str]) -> list[str]:
    return textwrap.wrap(
        f"{name} {', '.join(parts)}",
        width=100,
        initial_indent=" " * 5,
        subsequent_indent=" " * 7,
        break_long_words=False,
        break_on_hyphens=False,
    )
