"""search, item; and how a result reads."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from graph_service.cli.ask.explaining import answer_note, explain_lines, item_lines
from graph_service.cli.ask.options import ItemOptions, SearchOptions
from graph_service.cli.graph.pageviews import views_line
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.embed.minilm import NAME as MINILM
from graph_service.errors import InputError
from graph_service.model.render import (
    citation,
    default_format,
    item_text,
    path_line,
    triple_line,
)
from graph_service.model.result import (
    AnswerSet,
    ResultPart,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    SearchHit,
    Status,
    SubgraphResult,
    TripleChange,
    single_results,
)
from graph_service.model.statement import Entity, Snak
from graph_service.model.values import EntityValue, Quantity, display_value
from graph_service.model.view_spec import ChangeKind
from graph_service.service import Service
from graph_service.text.function_words import is_plainly_foreign

_IN_ENGLISH = (
    "the encoder reads English; for a question in another language: --embedder multilingual"
)
_SET_LABELS = 5
"""Answers of a reading that a line shows."""


def search(options: SearchOptions, output: Output, /) -> int:
    """Finds entities by name, and prints them best first."""
    with open_from(options, output) as service, service.one_reading():
        hits = _hits(options, service, prefix=options.prefix)
        output.object({"hits": hits})
        for hit in hits:
            label = hit.entity.labels.get("en", hit.matched)
            note = f" ({hit.matched})" if hit.matched != label else ""
            text = hit.entity.descriptions.get("en", "")
            output.line(f"{_named(hit.entity.id, label)}{note}{'  -  ' + text if text else ''}")
        if not hits:
            output.line("nothing found")
            if not options.prefix and (begun := _hits(options, service, prefix=True)):
                output.line(
                    f"names that begin so, such as {begun[0].matched}: "
                    f"graph-service search {shlex.quote(options.query)} --prefix"
                )
            if options.query in service.entities([options.query], graph=options.graph).entities:
                output.line(f"it is an id, though: graph-service item {options.query}")
    return 0


def _hits(options: SearchOptions, service: Service, *, prefix: bool) -> list[SearchHit]:
    return service.search(
        options.query,
        graph=options.graph,
        view=options.view,
        languages=options.languages,
        limit=options.limit,
        prefix=prefix,
    )


def item(options: ItemOptions, output: Output, /) -> int:
    """Shows an entity and its statements."""
    languages = options.languages
    with open_from(options, output) as service, service.one_reading():
        lookup = service.entities([options.id], graph=options.graph, argument="id")
        if lookup.missing:
            name = service.graph(options.graph).name
            raise InputError(
                f"graph {name} has no entity {options.id!r}",
                argument="id",
                hint=f"Look for it by name: graph-service search NAME --graph {name}",
            )
        entity = lookup.entities[options.id]
        statements = service.statements.of(
            options.id,
            graph=options.graph,
            view=options.view,
            relation_ids=options.relation_ids,
            languages=languages,
            # One more, to know whether that is all; what is out of bounds is refused as it is.
            limit=options.limit + (1 <= options.limit < service.settings.max_items),
        )
        is_cut = len(statements) > options.limit
        statements = statements[: options.limit]
        views = service.long_tail.page_views([options.id], graph=options.graph).get(options.id)
        output.show(
            {"entity": entity, "statements": statements, "page_views": views},
            _named(entity.id, _label(entity, languages) or entity.id),
        )
        if "en" in entity.descriptions:
            output.line(f"  {entity.descriptions['en']}")
        if views is not None:
            output.line(f"  {views_line(views)}")
        snaks = [snak for shown in statements for snak in shown.statement.qualifiers]
        names = names_in(snaks, service, options.graph, languages)
        for shown in statements:
            triple = shown.edge.triple
            rank = "" if triple.rank.value == "normal" else f"  ({triple.rank.value})"
            output.line(
                f"  {triple.relation.label}: {triple.value_label}{rank}"
                f"{_changed(shown.edge.change)}"
            )
            for snak in shown.statement.qualifiers:
                value = display_value(snak.value, lambda id_: names.get(id_, id_))
                output.line(f"      {names.get(snak.relation, snak.relation)}: {value}")
        if is_cut:
            output.line("  ... and more; --limit shows more")
    return 0


def _label(entity: Entity, languages: Sequence[str]) -> str | None:
    codes = (*languages, "en", "mul", *sorted(entity.labels))
    return next((entity.labels[code] for code in codes if code in entity.labels), None)


def names_in(
    snaks: Iterable[Snak], service: Service, graph: str | None, languages: Sequence[str]
) -> dict[str, str]:
    """Returns the labels of what qualifiers name, by id; those without one are absent."""
    ids: set[str] = set()
    for snak in snaks:
        ids.add(snak.relation)
        match snak.value:
            case EntityValue(id=id_) | Quantity(unit=str(id_)):
                ids.add(id_)
    if not ids:
        return {}
    entities = service.entities(sorted(ids), graph=graph).entities
    labels = {id_: _label(entity, languages) for id_, entity in entities.items()}
    return {id_: label for id_, label in labels.items() if label}


def _named(id_: str, label: str) -> str:
    """Returns an id and its label; once where a source has names for ids."""
    return id_ if id_ == label else f"{id_}  {label}"


def result_lines(
    result: RetrievalResult, /, *, explain: Mapping[str, str] | None = None
) -> list[str]:
    """Returns a result as lines for a person.

    Args:
        result: Of any strategy.
        explain: Labels of what its qualifiers name, by id, where all there is to it is to be said.
    """
    lines = []
    for linked in result.linked:
        others = ", ".join(f"{ref.label} ({ref.id})" for ref in linked.alternatives[:3])
        swapped = linked.swapped_for
        named = f'"{linked.mention}" is ' if linked.mention else ""
        lines.append(
            f"{named}{linked.entity.label} ({linked.entity.id})"
            + (f"; not {others}" if others else "")
            + (f"; swapped for {swapped.label} ({swapped.id})" if swapped else "")
        )
    if result.status is not Status.OK:
        lines.append(
            {
                Status.NO_ENTITY_LINKED: "no entity of the graph was recognised in the question",
                Status.LOW_CONFIDENCE: "no answer is sure: nothing that the graph says fits the "
                "question well, or a name means something else; what comes nearest:",
                Status.NOT_IN_GRAPH: "the graph does not say this; what comes nearest:",
                Status.NOTHING_RELEVANT: "nothing in the graph bears on the question",
            }[result.status]
        )
        if result.provenance.embedder == MINILM and is_plainly_foreign(result.question):
            lines.append(_IN_ENGLISH)
    unmet = ", ".join(
        f'"{constraint.text}"' for constraint in result.constraints if not constraint.met
    )
    # That nothing meets it is what *no* says.
    if unmet and not (result.answer and result.answer.value == "no"):
        lines.append(f"not met: {unmet}")
    if result.confidence is not None:
        lines.append(f"confidence: {result.confidence:.2f}")
    if result.answer is not None:
        lines.append(f"answer: {result.answer.text}{answer_note(result.answer)}")
    if result.answer_set is not None:
        lines += _set_lines(result.answer_set)
    for position, (part, single) in enumerate(
        zip(result.parts, single_results(result), strict=False), 1
    ):
        lines += _part_lines(position, part, single)
    entries: list[ScoredTriple | ScoredPath] = [*result.items]
    for rank, entry in enumerate(entries, 1):
        if isinstance(entry, ScoredPath):
            lines.append(f"{rank:3}. {entry.score:8.4f}  {path_line(entry.steps)}")
            lines.extend(
                f"{'':15}{citation([step.triple])}{_changed(step.change)}" for step in entry.steps
            )
        else:
            lines.append(
                f"{rank:3}. {entry.score:8.4f}  {triple_line(entry.triple)}"
                f"  [{entry.triple.head.id}]{_changed(entry.change)}"
            )
        if explain is not None:
            lines.extend(item_lines(entry, result, explain))
    if isinstance(result, SubgraphResult) and result.objective is not None:
        gap = f", gap at most {result.gap:.1%}" if result.gap is not None else ""
        lines.append(f"     objective {result.objective:.4f}{gap}")
    lines.extend(f"     {cut.text()}" for cut in result.truncated)
    return lines if explain is None else [*lines, *explain_lines(result)]


def _set_lines(answer_set: AnswerSet) -> list[str]:
    """Returns the readings that hold the right answer with a coverage, one a line."""
    share = f"{answer_set.coverage:.0%} of such questions"
    count = len(answer_set.readings)
    head = f"one of these {count} readings is right in {share}:"
    if not answer_set.is_attained:
        head = f"no set is right in {share}, as far as it was tried; all {count} readings:"
    lines = [head]
    for reading in answer_set.readings:
        more = f", and {reading.count - _SET_LABELS} more" if reading.count > _SET_LABELS else ""
        named = ", ".join(reading.labels[:_SET_LABELS])
        lines.append(f"  {reading.gap:8.2f}  {named}{more} ({reading.text})")
    return lines


def _part_lines(position: int, part: ResultPart, single: RetrievalResult) -> list[str]:
    """Returns one of several questions: how sure it is, its answer, and which items are its."""
    sure = "" if part.confidence is None else f", confidence {part.confidence:.2f}"
    lines = [f"question {position}: {part.question}  ({part.status.value}{sure})"]
    if part.answer is not None:
        lines.append(f"  answer: {part.answer.text}{answer_note(part.answer)}")
    elif part.status is Status.OK and single.items:
        text = item_text(single.items[0], text_format=default_format(single))
        lines.append(f"  first: {text}")
    return lines


def _changed(change: TripleChange) -> str:
    if change.kind is ChangeKind.UNCHANGED:
        return ""
    if change.base is None:
        return "  <- added by the view"
    if change.kind is ChangeKind.RELATION_CHANGED:
        return f"  <- relation was {change.base.relation.label}"
    if change.kind is ChangeKind.RANK_CHANGED:
        return f"  <- rank was {change.base.rank.value}"
    if change.kind is ChangeKind.HEAD_CHANGED:
        return f"  <- was said of {change.base.head.label}"
    return f"  <- value was {change.base.value_label}"
