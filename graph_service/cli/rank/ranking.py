"""rank: train, measure and keep rankers of relations, and rank those of a question's entities."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graph_service.cli.opening import open_from, settings_of
from graph_service.cli.output import Output, counted
from graph_service.cli.rank.options import (
    AddOptions,
    DeleteOptions,
    ListOptions,
    MeasureOptions,
    RelationsOptions,
    TrainOptions,
)
from graph_service.cli.rank.relation_ranking import is_of_api, step_limits
from graph_service.cli.score.judge_model import judges
from graph_service.client import Client
from graph_service.embed import open_embedder, open_vectors
from graph_service.errors import InputError
from graph_service.model.ranking import Encoding, RelationRanker, TextEncoder, encode_queries
from graph_service.rank.embedding import EmbeddingRanker
from graph_service.rank.file import read_ranker, write_ranker
from graph_service.rank.parses import Parse
from graph_service.rank.trained import TrainedRanker
from graph_service.service import Service
from graph_service.settings import Settings
from queries.datasets.amr import by_question, read_parses
from queries.datasets.simple_questions import ids_in, read_labels, read_relation_questions
from queries.llm import ChatModel
from queries.rank.measure import (
    RankingReport,
    candidates_of,
    measure_held_out,
    measure_ranking,
)
from queries.rank.prompted import PromptedRanker
from queries.rank.steps import RELATIONS_AN_ENTITY, EntityRelations, RelationRetriever
from queries.rank.training import Example, train_ranker

_STEP = 1024
_QUIET_S = 5.0


@contextlib.contextmanager
def open_encoder(settings: Settings, /) -> Iterator[TextEncoder]:
    """Opens the embedder of the settings, with the file that keeps its vectors."""
    embedder = open_embedder(
        settings.embedder,
        model_dir=settings.model_dir or None,
        base_url=settings.embedder_url or None,
        api_key=settings.model_key or None,
    )
    with open_vectors(embedder, settings.vector_file) as vectors:
        yield Encoding(vectors.embedder.name, vectors.encode, vectors.queries.encode)


@contextlib.contextmanager
def open_ranker(
    name: str,
    settings: Settings,
    model: Callable[[], ChatModel],
    /,
    *,
    parses: Mapping[str, Parse] | None = None,
) -> Iterator[RelationRanker]:
    """Opens the ranker that is named: ``embedding``, ``model``, or a trained one's file.

    Args:
        name: The ranker.
        settings: Name the embedder.
        model: Opens the chat model.
        parses: AMR parses by question, for a ranker that was trained with some.

    Raises:
        InputError: The file is no ranker's, was trained with another embedder, or without parses
            where some are given.
    """
    if name == "model":
        yield PromptedRanker(model())
        return
    weights = None if name == "embedding" else read_ranker(name)
    if parses is not None and (weights is None or weights.graphs is None):
        raise InputError(
            f"ranker {name} reads no AMR parses",
            argument="amr",
            hint="Train one that does: graph-service rank train FILE --amr FILE --out ranker.npz",
        )
    with open_encoder(settings) as encoder:
        if weights is None:
            yield EmbeddingRanker(encoder)
        else:
            yield TrainedRanker(weights, encoder, parses=parses)


def train(options: TrainOptions, output: Output, /) -> int:
    """Trains a ranker and writes its file."""
    started = time.monotonic()
    _require_folder(options.out)
    (examples,) = _read([options.file], options.label_files, output)
    if options.amr is not None:
        examples = _parsed(examples, options.amr, output)
    with open_encoder(settings_of(options)) as encoder:
        _embed(examples, encoder, output)
        weights = train_ranker(examples, encoder, random_seed=options.random_seed)
    seconds = round(time.monotonic() - started, 1)
    write_ranker(options.out, replace(weights, notes={**weights.notes, "seconds": seconds}))
    output.show(
        {
            "out": options.out,
            "data": weights.data,
            "embedder": weights.embedder,
            "relations": len(weights.relations),
            **weights.notes,
            "seconds": seconds,
        },
        f"{options.out}: {len(weights.relations)} signed relations, {len(examples):,} questions "
        f"(hash {weights.data}), {seconds:g} s",
    )
    return 0


def measure(options: MeasureOptions, output: Output, /) -> int:
    """Measures recall at k of a ranker, or of rankers trained without a part of the relations."""
    ks = tuple(sorted(set(options.k)))
    if ks[0] < 1:
        raise InputError(f"recall is taken at 1 or more, got {ks[0]}", argument="k")
    if options.train:
        return _measure_held_out(options, options.train, output, ks)
    examples, *others = _read([options.file, *options.also], options.label_files, output)
    if options.ranker == "model":
        raise InputError("measure takes embedding or a ranker's file", argument="ranker")
    candidates = candidates_of([*examples, *(each for other in others for each in other)])
    parses = None
    if options.amr is not None:
        examples = _parsed(examples, options.amr, output)
        parses = {each.question: each.parse for each in examples if each.parse is not None}
    with open_ranker(options.ranker, settings_of(options), _no_model, parses=parses) as ranker:
        report = measure_ranking(ranker, examples, candidates, ks=ks)
    output.show(_plain(report), *report.lines())
    return 0


def _measure_held_out(
    options: MeasureOptions, train_file: str, output: Output, ks: tuple[int, ...]
) -> int:
    if options.ranker != "embedding" or options.also or options.amr:
        raise InputError(
            "--train trains the rankers that are measured: give neither --ranker, --also nor --amr",
            argument="train",
        )
    valid, trained = _read([options.file, train_file], options.label_files, output)
    with open_encoder(settings_of(options)) as encoder:
        _embed([*trained, *valid], encoder, output)
        report = measure_held_out(
            trained,
            valid,
            encoder,
            EmbeddingRanker(encoder),
            folds=options.folds,
            ks=ks,
            random_seed=options.random_seed,
        )
    output.show(
        {
            "folds": [
                {
                    "relations": fold.relations,
                    "unseen": _plain(fold.unseen),
                    "seen": _plain(fold.seen),
                    "embedding": _plain(fold.embedding),
                }
                for fold in report.folds
            ],
            "mean": {
                part: {str(k): report.mean(part, k) for k in ks}
                for part in ("unseen", "seen", "embedding")
            },
        },
        *report.lines(),
    )
    return 0


def add(options: AddOptions, output: Output, /) -> int:
    """Puts a trained ranker into the store."""
    weights = read_ranker(options.file)
    with open_from(options, output) as service:
        stored = service.rankers.add(weights)
    output.show(
        {"ranker": stored, "name": stored.name},
        f"ranker {stored.name}: {stored.relations} relations, on {stored.embedder}",
        "a retrieval ranks by it with --preset ltgen --ranker trained",
    )
    return 0


def list_(options: ListOptions, output: Output, /) -> int:
    """Lists the trained rankers of the store."""
    with open_from(options, output) as service:
        rankers = service.rankers.list()
    output.listing(
        {"rankers": [{"name": stored.name, "ranker": stored} for stored in rankers]},
        ["name", "relations", "data", "embedder", "added"],
        [
            [each.name, str(each.relations), each.data[:8], each.embedder, each.created_at]
            for each in rankers
        ],
        empty="no trained ranker; put one into the store: graph-service rank add FILE",
    )
    return 0


def delete(options: DeleteOptions, output: Output, /) -> int:
    """Deletes a trained ranker from the store."""
    with open_from(options, output) as service:
        name = service.rankers.delete(options.name)
    output.show({"deleted": name}, f"deleted ranker {name}")
    return 0


def relations(options: RelationsOptions, output: Output, /) -> int:
    """Tags a question's entities and prints their relations, best first."""
    with (
        open_from(options, output) as service,
        judges(options) as judge,
        _ranker_of(service, options.ranker, lambda: judge().model) as ranker,
    ):
        limits = step_limits(options.request)
        _, entities = RelationRetriever(Client.over(service), ranker, limits=limits).rank(
            options.question,
            graph=options.graph,
            view=options.request.view,
            entity_ids=options.request.entity_ids,
        )
    most = limits.relations_per_entity or RELATIONS_AN_ENTITY
    output.show(
        {"ranker": ranker.name, "entities": [_entity(each, most) for each in entities]},
        f"ranked by {ranker.name}",
    )
    if not entities:
        output.line("no entity of the graph was tagged")
    for each in entities:
        entity = each.entity
        output.line(f"{entity.entity.id} {entity.entity.label} (confidence {entity.score:.2f})")
        for position, item in enumerate(each.ranked[:most], 1):
            score = "" if item.score is None else f"  {item.score:.3f}"
            # A source without ids has the name for one.
            named = item.relation.words != item.relation.id
            shown = f"{item.relation.key} {item.relation.words}" if named else item.relation.key
            output.line(f"  {position}. {shown}{score}")
    return 0


@contextlib.contextmanager
def _ranker_of(
    service: Service, name: str, model: Callable[[], ChatModel]
) -> Iterator[RelationRanker]:
    """Opens the ranker that is named, those of the service's store included."""
    if not is_of_api(name):
        with open_ranker(name, service.settings, model) as ranker:
            yield ranker
        return
    vectors = service.vectors
    encoding = Encoding(vectors.embedder.name, vectors.encode, vectors.queries.encode)
    yield service.rankers.open(name, encoding)


def _require_folder(path: str) -> None:
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", argument="out")


def _embed(examples: Sequence[Example], encoder: TextEncoder, output: Output) -> None:
    """Computes the vectors of all questions, telling how far it is; kept ones take no time."""
    texts = list(dict.fromkeys(each.question for each in examples))
    last = time.monotonic()
    for start in range(0, len(texts), _STEP):
        encode_queries(encoder, texts[start : start + _STEP])
        if time.monotonic() - last > _QUIET_S:
            last = time.monotonic()
            output.note(f"{min(start + _STEP, len(texts)):,} of {len(texts):,} questions embedded")


def _read(paths: Sequence[str], labels: Sequence[str], output: Output) -> list[tuple[Example, ...]]:
    for path in [*paths, *labels]:
        if not Path(path).is_file():
            raise InputError(f"there is no file {path}", argument="file")
    ids = set().union(*(ids_in(path) for path in paths))
    named = read_labels(labels, ids)
    examples = [read_relation_questions(path, labels=named) for path in paths]
    nameless = sorted(
        {each.relation.id for part in examples for each in part if not each.relation.label}
    )
    if nameless:
        shown = ", ".join(nameless[:5]) + (", ..." if len(nameless) > 5 else "")
        relations = counted(len(nameless), "relation")
        output.note(f"{relations} without a name, ranked by id: {shown}")
    return examples


def _parsed(examples: Sequence[Example], path: str, output: Output) -> tuple[Example, ...]:
    """The examples with their parses, by id; how many have none is told."""
    parses = read_parses(path)
    _, without = by_question(parses, {each.id: each.question for each in examples})
    if without:
        output.note(f"questions without a parse: {without:,} of {len(examples):,}")
    return tuple(replace(each, parse=parses.get(each.id)) for each in examples)


def _no_model() -> ChatModel:
    raise InputError("rank measure takes no ranker that asks a model", argument="ranker")


def _plain(report: RankingReport) -> dict[str, object]:
    return {
        "ranker": report.ranker,
        "candidates": report.candidates,
        "recall": {str(k): score for k, score in report.recall.items()},
    }


def _entity(each: EntityRelations, most: int) -> dict[str, object]:
    return {
        "entity": each.entity.entity,
        "confidence": each.entity.score,
        "relations": [
            {
                "relation": item.relation.key,
                "label": item.relation.words,
                "score": item.score,
            }
            for item in each.ranked[:most]
        ],
    }
