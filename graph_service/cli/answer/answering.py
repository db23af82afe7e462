"""The verb ``answer`` of the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph_service.artifacts.rankers import EMBEDDING
from graph_service.cli.answer.chat_model import chat_model, refuse_model_options
from graph_service.cli.answer.options import AnswerOptions
from graph_service.cli.opening import cases_of_file, open_from, refuse_store_options, settings_of
from graph_service.cli.output import Output, counted
from graph_service.cli.progress import ProgressPrinter
from graph_service.cli.rank.relation_ranking import (
    is_of_api,
    other_options,
    preset_of,
    ranks_relations,
    step_limits,
    strategy_of,
)
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.settings import Settings
from queries.datasets.case import Case
from queries.datasets.cases import has_gold
from queries.generate.answer import Answer, Request, search_text
from queries.generate.passages import GraphPassages, PassageFinder, read_passages
from queries.generate.plan import Plan, Source, answer_case, estimate, gold_sets
from queries.generate.run import AnswerFile, run_cases
from queries.generate.setting import RECIPES, Generation, Join, Setting, default_generation
from queries.generate.verbalise import VERBALISER
from queries.llm import (
    CachedChat,
    ChatModel,
    ReplyCache,
    TokenMeter,
    open_cache,
)
from queries.lock import one_writer
from queries.rank.steps import MAX_ENTITIES, RelationRetriever
from queries.retriever import Retriever
from queries.run import Progress


def answer(options: AnswerOptions, output: Output, /) -> int:
    """Answers one question or many, with citations."""
    with one_writer(options.out):
        return _answer(options, output)


def _answer(options: AnswerOptions, output: Output) -> int:
    cases = cases_of(options)
    many = options.questions is not None
    without_gold = 0
    if options.knowledge == Source.GOLD and RECIPES[Setting(options.setting)].facts:
        with_gold = [case for case in cases if has_gold(case)]
        # Where none has one, the first of them says what is missing.
        without_gold = len(cases) - len(with_gold) if with_gold else 0
        cases = with_gold or cases
    out = AnswerFile(Path(options.out), retry_failed=options.retry_failed) if options.out else None
    pending = out.pending(cases) if out else cases
    skipped = len(cases) - len(pending)
    answers: list[Answer] = []
    failed = 0
    with (
        contextlib.ExitStack() as stack,
        _client(options, output) as client,
        _replies(options, settings_of(options)) as replies,
    ):
        retriever, ranking = stack.enter_context(_retriever(options, client, replies, cases))
        plan = replace(_plan(options, cases, client), ranking=ranking)
        if out is not None:
            out.require(plan.to_parameters(replies.model.name if replies.model else VERBALISER))
        asks = many and pending and replies.model is not None and not options.replay
        if options.estimate or asks:
            by_model = options.ranker == "model"
            expected = estimate(
                pending,
                plan,
                retriever=_unranked(options, client) if by_model else retriever,
                ranked_entities=(options.request.max_entities or MAX_ENTITIES) if by_model else 0,
            )
            output.note(expected.text())
            if options.estimate:
                output.object(expected)
                return 0
        print_progress = ProgressPrinter()
        # The last count is printed after the last answer.
        last: list[Progress] = []

        def tell(progress: Progress) -> None:
            with_cache = replace(progress, detail=replies.from_cache)
            if progress.done < progress.total:
                print_progress(with_cache)
            else:
                last.append(with_cache)

        run = run_cases(
            pending,
            lambda case: answer_case(case, plan, retriever=retriever, model=replies.model),
            out=out,
            cache=replies.cache,
            concurrency=options.concurrency,
            progress=tell if many else None,
        )
        for item in run:
            failed += item.failure is not None
            answers.append(item)
            if many:
                output.line(f"# {item.question_id}: {item.question}")
            for line in answer_lines(item):
                output.line(line)
        for progress in last:
            print_progress(progress)
    if out is not None:
        out.put_in_order(cases)
    if options.question is not None and answers:
        output.object(answers[0])
    else:
        output.object(
            {"answers": answers, "skipped": skipped, "failed": failed, "without_gold": without_gold}
        )
    if without_gold:
        output.note(
            f"not asked, since their file has no gold set: {counted(without_gold, 'question')}"
        )
    lost = out.failed_among(cases) if out is not None else failed
    if skipped:
        before = f", {lost - failed} failed (--retry-failed asks them again)" * (lost > failed)
        output.note(
            f"{counted(skipped, 'question was', 'questions were')} answered in {options.out} before{before}"
        )
    return 1 if lost else 0


@contextlib.contextmanager
def _client(options: AnswerOptions, output: Output) -> Iterator[Client]:
    """Opens the store that the options name, or reaches the server that they name."""
    if options.server:
        refuse_store_options(options)
        with Client.connect(options.server, api_key=settings_of(options).api_key) as client:
            output.note(f"server {options.server}")
            yield client
        return
    with open_from(options, output) as service:
        yield Client.over(service)


def cases_of(options: AnswerOptions, /) -> Sequence[Case]:
    """Returns the question given, or those of a file."""
    if options.question is not None and options.questions is None:
        return [Case("1", options.question)]
    if options.questions is None or options.question is not None:
        raise InputError("give either a question or --questions FILE", argument="question")
    return cases_of_file(options.questions, options)


@dataclass(frozen=True, slots=True)
class _Replies:
    """Who answers: the model, what it counts, and where its replies are kept."""

    model: ChatModel | None
    cache: ReplyCache | None

    @property
    def from_cache(self) -> str:
        """How many requests were asked and how many were kept, in words."""
        if not isinstance(self.model, CachedChat):
            return ""
        return f"{self.model.sent} requests asked, {self.model.reused} kept before"


@contextlib.contextmanager
def _replies(options: AnswerOptions, settings: Settings) -> Iterator[_Replies]:
    """Opens the model and its cache; in a replay the cache alone."""
    if options.replay:
        if options.cache or options.model_url:
            raise InputError(
                "--replay asks no endpoint and keeps nothing: give neither --cache nor --model-url",
                argument="replay",
            )
        with open_cache(options.replay, must_exist=True) as cache:
            if cache.is_empty():
                raise InputError(
                    f"{options.replay} keeps nothing of any run: there is nothing to replay",
                    argument="replay",
                )
            name = options.model or settings.model_name
            models = cache.models()
            if not name and len(models) > 1:
                raise InputError(
                    f"{options.replay} holds replies of {', '.join(models)}; say which: --model",
                    argument="model",
                )
            name = name or (models[0] if models else "")
            yield _Replies(CachedChat(cache, name) if name else None, cache)
        return
    with contextlib.ExitStack() as stack:
        model = stack.enter_context(
            chat_model(
                options,
                settings,
                endpoint=options,
                concurrency=options.concurrency,
                meter=TokenMeter(limit=options.token_limit),
            )
        )
        if model is None:
            refuse_model_options(options)
        path = options.cache
        if path is None and model is not None and options.out:
            path = f"{options.out}.replies.db"
        if path is None:
            yield _Replies(model, None)
            return
        cache = stack.enter_context(open_cache(path))
        if model is not None:
            model = CachedChat(cache, model.name, inner=model, retry_failed=options.retry_failed)
        yield _Replies(model, cache)


@contextlib.contextmanager
def _retriever(
    options: AnswerOptions, client: Client, replies: _Replies, cases: Sequence[Case]
) -> Iterator[tuple[Retriever, Mapping[str, Any]]]:
    """Opens what fetches knowledge, and returns it with what is written down of it."""
    if options.amr is not None and is_of_api(options.ranker or EMBEDDING):
        raise InputError(
            "--amr needs a ranker's file, trained with parses: --ranker FILE", argument="amr"
        )
    if not ranks_relations(options.request):
        yield client, {}
        return
    limits, name = step_limits(options.request), options.ranker or EMBEDDING
    if options.knowledge != "retrieved":
        raise InputError(
            "relations are ranked in a retrieval: give no other --knowledge",
            argument="ranker",
        )
    if is_of_api(name):
        steps = RelationRetriever(client, name, limits=limits)
        yield steps, steps.parameters()
        return
    from graph_service.cli.rank.ranking import open_ranker

    def model() -> ChatModel:
        if replies.model is None:
            raise InputError("--ranker model needs --model NAME", argument="model")
        return replies.model

    parses = None
    if options.amr is not None:
        from queries.datasets.amr import by_question, read_parses

        texts = {case.id: search_text(case.history, case.question) for case in cases}
        parses, _ = by_question(read_parses(options.amr), texts)
    with open_ranker(name, settings_of(options), model, parses=parses) as ranker:
        steps = RelationRetriever(client, ranker, limits=limits)
        yield steps, steps.parameters()


def _unranked(options: AnswerOptions, client: Client) -> Retriever:
    """What an estimate fetches by where a model would rank: as much, and no model is asked."""
    return RelationRetriever(client, limits=step_limits(options.request))


def _plan(options: AnswerOptions, cases: Sequence[Case], client: Client) -> Plan:
    setting, source = Setting(options.setting), Source(options.knowledge)
    request = options.request
    if source is not Source.GOLD:
        if options.right_share != 1.0:
            raise InputError("--right-share needs --knowledge gold", argument="right_share")
        if options.swap_seed:
            raise InputError("--swap-seed needs --knowledge gold", argument="swap_seed")
    gold = {}
    if source is Source.GOLD and RECIPES[setting].facts:
        gold = gold_sets(
            cases,
            client,
            graph=options.graph,
            view=request.view,
            right_share=options.right_share,
            random_seed=options.swap_seed,
        )
    return Plan(
        setting=setting,
        generation=_generation(options, setting),
        request=Request(
            strategy_of(request),
            request.graph,
            request.view,
            request.entity_ids,
            preset_of(request),
            request.limit,
            other_options(request),
        ),
        source=source,
        gold=gold,
        passages=passage_finder(options.passages, client, graph=options.graph),
        given_entities=options.given_entities,
        right_share=options.right_share,
        swap_seed=options.swap_seed,
    )


def _generation(options: AnswerOptions, setting: Setting) -> Generation:
    chosen: dict[str, Any] = {
        "max_tokens": options.max_tokens,
        "random_seed": options.random_seed,
        "samples": options.samples,
        "join": Join(options.join) if options.join else None,
        "steps": options.steps,
        "passages": options.passage_count,
    }
    overrides = {name: value for name, value in chosen.items() if value is not None}
    generation = replace(default_generation(setting), **overrides)
    if options.temperature is None:
        return generation
    if options.temperature == "none":
        return replace(generation, temperature=None)
    try:
        return replace(generation, temperature=float(options.temperature))
    except ValueError as error:
        raise InputError(
            f"--temperature is a number or none, got {options.temperature!r}",
            argument="temperature",
        ) from error


def passage_finder(
    source: str | None, client: Client, /, *, graph: str | None
) -> PassageFinder | None:
    """Returns what finds passages: those of the graph, those of a file, or None for none."""
    if source is None:
        return None
    if source == "graph":
        return GraphPassages(client, graph=graph)
    return read_passages(source)


def answer_lines(item: Answer, /) -> list[str]:
    """Returns an answer as lines for a person: invented citations are marked, a cut is told."""
    if item.failure is not None:
        return [f"no answer: {item.failure}", f"({item.model})"]
    lines = item.text.splitlines()
    unmatched = [
        citation.raw
        for sentence in item.sentences
        for citation in sentence.citations
        if not citation.statement_ids
    ]
    lines.extend(f"  not in what was given: {raw}" for raw in unmatched)
    lines.extend(f"  {note}" for note in item.notes)
    lines.append(f"({item.model})")
    return lines


__all__ = ["answer", "answer_lines"]
