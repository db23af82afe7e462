"""papers kalma, okgqa, ltgen and talec."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph_service.cli.answer.answering import passage_finder
from graph_service.cli.answer.chat_model import openai_chat
from graph_service.cli.opening import open_from, settings_of
from graph_service.cli.output import Output
from graph_service.cli.papers.options import (
    AnswerTableOptions,
    KalmaOptions,
    LtgenOptions,
    OkgqaOptions,
    PaperOptions,
    TalecOptions,
)
from graph_service.cli.score.scoring import entailment_of
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.result import Strategy
from graph_service.model.serialise import to_plain
from queries.builders.kalma.dataset import GENERAL_NAME, SPECIFIC_NAME
from queries.builders.ltgen.dataset import QUESTIONS_NAME, REFERENCES_NAME, TURNS_NAME
from queries.builders.okgqa.rounds import round_folder, rounds_in
from queries.datasets.case import Case, both_wordings
from queries.datasets.cases import read_question_file
from queries.datasets.demo_set import demo_question_file
from queries.datasets.records import read_records
from queries.datasets.scored import read_text_cases, read_texts_by_id
from queries.generate.setting import Setting
from queries.llm import CachedChat, ChatModel, TokenMeter, open_cache
from queries.lock import one_writer
from queries.papers.kalma import Kalma, KalmaSet
from queries.papers.ltgen import Ltgen, LtgenSet
from queries.papers.okgqa import Okgqa, OkgqaSet
from queries.papers.table import PaperTable
from queries.papers.talec import TalecTables, Task
from queries.papers.workbench import JudgeBench, Workbench
from queries.papers.writing import LOCK_NAME, TABLES_NAME, bind_folder, write_tables
from queries.score.criteria import load_criteria
from queries.score.judge import Judge
from queries.score.metric import mean_score
from queries.score.talec_report import assign_splits

REPLIES_NAME = "replies.db"
RUNS = {"kalma": 3, "okgqa": 3, "ltgen": 1, "talec": 1}
"""How often the papers asked every question."""
TEMPERATURES = {"kalma": 0.5, "okgqa": 0.7, "ltgen": 0.0}
"""Of the answers: KaLMA's and LTGen's own; OKGQA does not say one."""

TITLES = {"kalma": "KaLMA", "okgqa": "OKGQA", "ltgen": "LTGen", "talec": "TALEC"}
Makers = Mapping[str, Callable[[], PaperTable]]


def kalma(options: KalmaOptions, output: Output, /) -> int:
    """Makes the tables of the paper on KaLMA and prints them."""
    path = options.questions or demo_question_file()
    general, specific = path, options.specific
    if path.is_dir():
        general, specific = path / GENERAL_NAME, path / SPECIFIC_NAME
    cases = _cases(general, options.first)
    files = [general]
    if specific is not None:
        cases = both_wordings(cases, _cases(specific, options.first), source=specific.name)
        files.append(specific)
    human = None
    if options.human is not None:
        values = [float(record.node("human").decimal()) for record in read_records(options.human)]
        human = mean_score(values)

    def makers(bench: Workbench) -> Makers:
        return Kalma(
            bench,
            KalmaSet(cases, human),
            setting=Setting(options.setting),
            strategy=Strategy(options.strategy),
        ).makers()

    how = {"setting": options.setting, "strategy": options.strategy}
    return _answered(
        "kalma",
        options,
        output,
        makers,
        files,
        sizes=str(len(cases)),
        preset=options.preset,
        how=how,
    )


def okgqa(options: OkgqaOptions, output: Output, /) -> int:
    """Makes the tables of the paper on OKGQA and prints them."""
    path, rounds = options.questions or demo_question_file(), None
    if path.is_dir():
        rounds = path
        path = round_folder(path, rounds_in(path)[-1]) / QUESTIONS_NAME
    questions = OkgqaSet(_cases(path, options.first), options.language, rounds, options.levels)
    pages = None if options.pages is None else read_texts_by_id(options.pages, "passages")

    def makers(bench: Workbench) -> Makers:
        return Okgqa(replace(bench, pages=pages), questions).makers()

    files = [path, *([] if options.pages is None else [options.pages])]
    return _answered(
        "okgqa",
        options,
        output,
        makers,
        files,
        sizes=str(len(questions.cases)),
        preset=options.preset,
    )


def ltgen(options: LtgenOptions, output: Output, /) -> int:
    """Makes the tables of the paper on LTGen and prints them."""
    path = options.questions or demo_question_file()
    turns, references = options.turns, options.references
    if path.is_dir():
        turns = turns or path / TURNS_NAME
        references = references or path / REFERENCES_NAME
        path = path / QUESTIONS_NAME
    questions = LtgenSet(
        _cases(path, options.first),
        _cases(turns, options.first) if turns is not None else (),
        {}
        if references is None
        else {record.text("id"): record.text("reference") for record in read_records(references)},
    )

    def makers(bench: Workbench) -> Makers:
        return Ltgen(bench, questions).makers()

    files = [file for file in (path, turns, references) if file is not None]
    sizes = f"{len(questions.questions)}, and {len(questions.turns)} turns of conversations"
    return _answered("ltgen", options, output, makers, files, sizes=sizes, preset="ltgen")


def talec(options: TalecOptions, output: Output, /) -> int:
    """Makes the tables of the paper on TALEC and prints them."""
    if options.texts.is_dir():
        texts = sorted(options.texts.glob("*.jsonl"))
        named = [(path.stem, path, str(path.with_suffix(".yaml"))) for path in texts]
        if not named:
            raise InputError(
                f"{options.texts} has no NAME.jsonl with labelled texts", argument="texts"
            )
    else:
        named = [(options.texts.stem, options.texts, options.criteria)]
    tasks: list[Task] = []
    files: list[Path] = []
    for name, path, criteria in named:
        arbitrary = path.with_suffix(".arbitrary.yaml")
        files += [path, *(Path(each) for each in (criteria, arbitrary) if Path(each).is_file())]
        tasks.append(
            Task(
                name,
                load_criteria(criteria),
                assign_splits(read_text_cases(path)[: options.first]),
                load_criteria(str(arbitrary)) if arbitrary.is_file() else None,
            )
        )
    options.out.mkdir(parents=True, exist_ok=True)
    more = [name for name in (options.other_model, options.tuned_model) if name]
    with (
        one_writer(options.out / LOCK_NAME),
        _models(options, more) as models,
    ):
        made_of = {"paper": "talec", "model": models.model.name}
        bind_folder(options.out, made_of, files)
        bench = JudgeBench(
            folder=options.out,
            # The model of TALEC's tables is a judge.
            judges=models.judges(),
            runs=options.runs or RUNS["talec"],
            concurrency=options.concurrency,
            say=output.note,
        )
        others = {name: Judge(models.named[name]) for name in more}
        makers = TalecTables(
            bench,
            tasks,
            other=others.get(options.other_model or ""),
            tuned=others.get(options.tuned_model or ""),
        ).makers()
        sizes = ", ".join(f"{len(task.texts)} of {task.name}" for task in tasks)
        about = {"judge": ", ".join(models.names), "texts": sizes}
        return _write("talec", makers, about, options, output)


def _answered(
    paper: str,
    options: AnswerTableOptions,
    output: Output,
    makers: Callable[[Workbench], Makers],
    files: Sequence[Path],
    /,
    *,
    sizes: str,
    preset: str,
    how: Mapping[str, Any] | None = None,
) -> int:
    """Makes the tables of a paper whose questions are answered."""
    runs = options.runs or RUNS[paper]
    temperature = TEMPERATURES[paper] if options.temperature is None else options.temperature
    if runs > 1 and not temperature:
        raise InputError(
            f"at temperature 0 all {runs} runs are one",
            argument="runs",
            hint="Give a temperature (--temperature 0.7), or --runs 1.",
        )
    options.out.mkdir(parents=True, exist_ok=True)
    with (
        one_writer(options.out / LOCK_NAME),
        open_from(options, output) as service,
        _models(options, ()) as models,
    ):
        client = Client.over(service)
        info = client.graph(options.graph)
        passages = passage_finder(options.passages, client, graph=options.graph)
        made_of = {
            "paper": paper,
            "model": models.model.name,
            "graph": {"name": info.name, **to_plain(info.fingerprints)},
            "passages": "" if passages is None else passages.name,
            "preset": preset,
            "embedder": settings_of(options).embedder,
            "given_entities": options.given_entities,
            "temperature": temperature,
            **(how or {}),
        }
        bind_folder(options.out, made_of, files)
        judges = models.judges()
        bench = Workbench(
            folder=options.out,
            client=client,
            model=models.model,
            judges=judges,
            entailment=entailment_of(options, options.entailment, lambda: judges[0], output),
            graph=info.name,
            preset=preset,
            entities_of_file=options.given_entities,
            passages=passages,
            runs=runs,
            temperature=temperature,
            concurrency=options.concurrency,
            retry_failed=options.retry_failed,
            say=output.note,
        )
        about = {
            "model": models.model.name,
            "judges": ", ".join(models.names),
            "entailment": bench.entailment.name,
            "graph": f"{info.name}, edges {info.fingerprints.edges}",
            "questions": sizes,
            "passages": "none" if passages is None else passages.name,
            "runs": f"{runs}, temperature {temperature:g}",
        }
        return _write(paper, makers(bench), about, options, output)


def _write(
    paper: str, makers: Makers, about: Mapping[str, str], options: PaperOptions, output: Output
) -> int:
    """Makes the tables, writes them all after each, and says what is in them."""
    unknown = [name for name in options.only if name not in makers]
    if unknown:
        raise InputError(
            f"{paper} has no {unknown[0]}; it has {', '.join(makers)}", argument="only"
        )
    tables: list[PaperTable] = []
    for id_, make in makers.items():
        if options.only and id_ not in options.only:
            continue
        table = make()
        tables.append(table)
        written = write_tables(options.out, TITLES[paper], about, tables)
        cells = [figure for row in table.rows for figure in row.figures]
        known = sum(figure.value is not None for figure in cells)
        output.line(f"{table.id}: {known} of {len(cells)} cells filled, {table.title}")
        for why in table.reasons():
            output.line(f"  not available: {why}")
    output.object({"tables": [table.to_plain() for table in tables], "written": written})
    output.line(f"written: {options.out / TABLES_NAME}")
    return 0


def _cases(path: Path, first: int | None) -> tuple[Case, ...]:
    return read_question_file(path)[:first]


@dataclass(frozen=True, slots=True)
class _Models:
    """The model whose tables these are, and those that judge.

    Attributes:
        names: Of the judges.
        named: All of them, by name.
    """

    model: ChatModel
    names: tuple[str, ...]
    named: Mapping[str, ChatModel]

    def judges(self) -> tuple[Judge, ...]:
        """Returns the judges, the one that fills the columns first."""
        return tuple(Judge(self.named[name]) for name in self.names)


@contextlib.contextmanager
def _models(options: PaperOptions, more: Sequence[str]) -> Iterator[_Models]:
    """Opens the models with one cache of replies; in a replay the cache alone."""
    settings = settings_of(options)
    name = options.model or settings.model_name
    if not name:
        raise InputError(
            "the tables are of a chat model",
            argument="model",
            hint="Name one: --model NAME [--model-url URL], or GRAPH_SERVICE_MODEL.",
        )
    judges = tuple(dict.fromkeys(options.judge_model)) or (name,)
    options.out.mkdir(parents=True, exist_ok=True)
    meter = TokenMeter(limit=options.token_limit)
    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(
            open_cache(options.out / REPLIES_NAME, must_exist=options.replay)
        )
        named: dict[str, ChatModel] = {}
        for each in dict.fromkeys((name, *judges, *more)):
            inner = None
            if not options.replay:
                is_judge = each in options.judge_model and each != name
                inner = stack.enter_context(
                    openai_chat(
                        each,
                        settings,
                        options,
                        url=(is_judge and options.judge_url) or options.model_url,
                        concurrency=options.concurrency,
                        meter=meter,
                    )
                )
            named[each] = CachedChat(cache, each, inner=inner, retry_failed=options.retry_failed)
        yield _Models(named[name], judges, named)
