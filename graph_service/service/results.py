"""What was selected for a question as a result: labels, the token budget, and where it is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import graph_service
from graph_service.artifacts.views import AppliedView
from graph_service.link import LINKING_RULES
from graph_service.link.starts import START_RULES
from graph_service.model.graph_info import GraphInfo
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    PathsResult,
    Provenance,
    RegionReport,
    RetrievalResult,
    Status,
    Strategy,
    SubgraphResult,
    TripletsResult,
)
from graph_service.model.serialise import to_plain
from graph_service.options import options_of
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import Selection
from graph_service.service.graph_slice import GraphSlice
from graph_service.service.interpretation import make_answer_set, make_interpretation
from graph_service.service.linking import QuestionLinker
from graph_service.service.question_vector import vector_hash
from graph_service.service.selection import Selected
from graph_service.service.shaping import fit_budget, make_answer, make_items
from graph_service.service.stopwatch import Stopwatch
from graph_service.service.triples import TripleRenderer
from graph_service.store.recall import recall_cuts

# Options that the provenance has under names of its own, or that change nothing in a result's id.
_NAMED_ELSEWHERE = {"question", "strategy", "graph", "view", "preset", "details"}


def shape_result(
    source: GraphSlice,
    request: RetrieveRequest,
    selected: Selected,
    /,
    *,
    linker: QuestionLinker,
    watch: Stopwatch,
) -> RetrievalResult:
    """Returns what was selected as a result with labels, without an id.

    Args:
        source: What the question is answered from.
        request: The question.
        selected: What fits it.
        linker: Describes the entities that the question names.
        watch: Counts the stage ``shape``, and is finished.
    """
    base, preset, overlay = source.named, source.preset, source.overlay
    asking, selection = selected.asking, selected.selection
    embedder = selected.vectors.embedder
    if selected.part is not None:
        base, overlay = replace(base, arrays=selected.part.arrays), selected.part.overlay
    renderer = TripleRenderer(base.arrays, overlay, request.languages)
    fitted = fit_budget(
        make_items(selection, renderer) if selection else (),
        strategy=request.strategy,
        budget=request.token_budget,
        embedder=embedder,
        thing_of=renderer.thing_of,
    )
    watch.stage("shape")
    learned_rules: Mapping[str, Any] = {}
    if asking is not None:
        learned_rules = {
            "starts": START_RULES.parameters(),
            "constraints": CONSTRAINT_RULES.parameters(),
            "classes": CLASS_RULES.parameters(),
            "ranker": asking.ranker.name,
        }
    fields: dict[str, Any] = {
        "id": "",
        "question": request.question,
        "status": _status(selection, request),
        "linked": linker.meant(base, request, source.linking, selected.mentions),
        "truncated": (
            *source.linking.cuts,
            *(selection.cuts if selection else ()),
            *selected.encoder.cuts,
            *fitted.cuts,
            *recall_cuts(),
        ),
        "tokens": fitted.tokens,
        "region": RegionReport(selection.region_before, selection.region_after)
        if selection
        else None,
        "provenance": make_provenance(
            base.info,
            source.view,
            strategy=request.strategy,
            preset=preset.name,
            parameters={
                **preset.parameters(),
                "linking": LINKING_RULES.parameters(),
                **learned_rules,
                **_request_parameters(request),
            },
            embedder=embedder.name,
            solver=selection.solver if selection else None,
        ),
        "timings_ms": watch.finish(),
        "items": fitted.items,
        "relevance": selection.relevance if selection else None,
        "confidence": selection.confidence if selection else None,
        "constraints": selection.constraints if selection else (),
        "answer": make_answer(selection.answer, renderer)
        if selection and selection.answer
        else None,
        "interpretation": make_interpretation(selection.read, renderer, graph=base.info.name)
        if selection and selection.read
        else None,
        "answer_set": make_answer_set(selection.answer_set, renderer)
        if selection and selection.answer_set
        else None,
    }
    match request.strategy:
        case Strategy.TRIPLETS:
            return TripletsResult(**fields)
        case Strategy.PATHS:
            return PathsResult(**fields)
        case Strategy.SUBGRAPH:
            objective = selection.objective if selection else None
            gap = selection.gap if selection else None
            return SubgraphResult(**fields, objective=objective, gap=gap)


def _status(selection: Selection | None, request: RetrieveRequest) -> Status:
    if selection is None:
        return Status.NO_ENTITY_LINKED
    # Of what was selected: that a budget was too small for any of it is in the cut.
    if not selection.triples and not selection.paths:
        return Status.NOTHING_RELEVANT
    if selection.confident:
        return Status.OK
    # The graph may state what a filter left out.
    is_filtered = request.relation_ids or request.exclude_relation_ids or request.type_ids
    if selection.unstated and not (is_filtered or request.ranks):
        return Status.NOT_IN_GRAPH
    return Status.LOW_CONFIDENCE


def _request_parameters(request: RetrieveRequest) -> dict[str, Any]:
    """Returns the options that are neither the preset's nor elsewhere in the provenance."""
    options = {
        each.name: getattr(request, each.name)
        for each in options_of(RetrieveRequest).values()
        if each.facts.preset is None and each.name not in _NAMED_ELSEWHERE
    }
    # So that a result without any has the id that it had before there were some.
    if not request.earlier:
        del options["earlier"]
    if request.coverage is None:
        del options["coverage"]
    if request.question_vector is not None:
        options["question_vector"] = vector_hash(request.question_vector)
    plain: dict[str, Any] = to_plain(options)
    return plain


def make_provenance(
    info: GraphInfo,
    applied: AppliedView | None,
    /,
    *,
    strategy: Strategy,
    preset: str,
    parameters: Mapping[str, Any],
    embedder: str,
    solver: str | None,
) -> Provenance:
    """Returns what a result is made of: graph, view, parameters, embedder and version."""
    return Provenance(
        graph=info.name,
        edition=info.edition,
        fingerprints=info.fingerprints,
        view_id=applied.id if applied else None,
        view_spec=applied.spec.to_json() if applied else None,
        strategy=strategy,
        preset=preset,
        parameters=parameters,
        embedder=embedder,
        solver=solver,
        version=graph_service.__version__,
    )
