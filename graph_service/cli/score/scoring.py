"""score: citations, na, withheld, knowledge, answer-sets, entailment, factscore, safe, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cli.score.judge_model import Judges, judges
from graph_service.cli.score.options import (
    AgreementOptions,
    AnswerSetOptions,
    CitationsOptions,
    CrossEncoderOptions,
    EntailmentOptions,
    FactScoreOptions,
    KnowledgeScoreOptions,
    NotAvailableOptions,
    SafeOptions,
    WithheldOptions,
)
from graph_service.cli.score.score_cases import (
    file_of,
    files_of,
    gold_for,
    gold_of,
    groups_by_id,
    run_cases,
    text_cases,
    write_rows,
)
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.result import Triple
from graph_service.settings import read_settings
from queries.datasets.answers import (
    is_answer,
    is_foreign,
    read_answer_cases,
    read_answers_and_absent,
    read_answers_and_gold,
)
from queries.datasets.factscore import factscore_row, is_factscore
from queries.datasets.gold import NA, GoldQuestion, read_gold_questions
from queries.datasets.judged_runs import is_run, ratings_of_runs, read_judged_facts
from queries.datasets.records import read_cases, read_records
from queries.datasets.scored import (
    answer_set_case,
    knowledge_case,
    rated_case,
    read_absent,
    read_pairs,
    read_texts_by_id,
)
from queries.generate.answer import Answer, Setting
from queries.score.agreement import agreement as make_agreement
from queries.score.answer_sets import AnswerSetCase, score_answer_sets
from queries.score.calibration import calibrate_overlap
from queries.score.case import TextCase
from queries.score.cross_encoder import CrossEncoder
from queries.score.entailment import THRESHOLD, ChatEntailment, Entailment, WordOverlap
from queries.score.entailment_score import (
    AlignmentRow,
    EntailmentRow,
    alignment_report,
    alignment_row,
    entailment_report,
    judge_pairs,
)
from queries.score.fact_check import FactChecker, check_facts
from queries.score.facts import MEDIAN, FactsRow, facts_report, middle_count
from queries.score.knowledge import KnowledgeCase, score_knowledge
from queries.score.not_available import off_question_judge, score_not_available
from queries.score.report import Report, files_report
from queries.score.run import score_answers
from queries.score.withholding import (
    QuestionSetup,
    WithheldRow,
    answer_withheld,
    plan_rounds,
    rounds_report,
    score_withheld,
    withheld_statements,
)

PAGE = 500
ALL = 1000


def entailment_of(
    options: CrossEncoderOptions, who: str, judge: Judges, output: Output, /
) -> Entailment:
    """Returns the judge of entailment that is named: ``overlap``, ``model`` or ``cross-encoder``.

    Says on stderr what a reader of its scores should know.
    """
    if who == "overlap":
        overlap = _overlap(options)
        for note in overlap.notes:
            output.note(note)
        return overlap
    if options.calibrate:
        raise InputError("--calibrate chooses the threshold of word overlap", argument="calibrate")
    if who == "model":
        return ChatEntailment(judge())
    if not options.cross_encoder:
        raise InputError(
            "a cross-encoder needs a name or a folder",
            argument="cross_encoder",
            hint="Such as --cross-encoder FOLDER; none is downloaded unless it is named.",
        )
    labels = tuple(options.labels.split(",")) if options.labels else ()
    return CrossEncoder(options.cross_encoder, labels=labels)


def _overlap(options: CrossEncoderOptions) -> WordOverlap:
    if options.calibrate is None:
        return WordOverlap(THRESHOLD if options.threshold is None else options.threshold)
    if options.threshold is not None:
        raise InputError("give --threshold or --calibrate, not both", argument="calibrate")
    path = Path(options.calibrate)
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="calibrate")
    chosen = calibrate_overlap(read_pairs(path), source=path.name)
    return WordOverlap(chosen.threshold, chosen.text())


def citations(options: CitationsOptions, output: Output, /) -> Report:
    """Scores citations against gold questions (K4)."""
    answers, gold = read_answers_and_gold(file_of(options.file), fold_case=options.fold_case)
    if gold and options.gold:
        raise InputError(
            f"{options.file} brings minimum sets of its own (field gold), and --gold names others",
            argument="gold",
            hint="Give one of the two.",
        )
    return score_answers(
        answers, gold or gold_for(answers, options, output), fold_case=options.fold_case
    )


def na(options: NotAvailableOptions, output: Output, /) -> Report:
    """Scores ``[NA]`` against what was withheld (K6)."""
    answers, absent = read_answers_and_absent(file_of(options.file))
    if not answers:
        raise InputError(f"{options.file} holds no answer", argument="file")
    if [options.absent is None, options.view is None, not absent].count(False) != 1:
        raise InputError(
            "what was withheld is in the file's field absent, in --absent FILE or in --view V: one of "
            "the three was expected",
            argument="absent",
        )
    if options.absent is not None:
        absent = read_absent(options.absent)
    elif options.view is not None:
        absent = _withheld(options, options.view, output, answers)
    with judges(options) as judge:
        return score_not_available(
            answers,
            absent,
            entailment=entailment_of(options, options.judge, judge, output),
            is_off_question=off_question_judge(judge()) if options.lenient else None,
        )


def _withheld(
    options: NotAvailableOptions, view: str, output: Output, answers: Sequence[Answer]
) -> Mapping[str, tuple[Triple, ...]]:
    """What a stored view takes from each question's minimum sets."""
    removed: dict[str, Triple] = {}
    with open_from(options, output) as service:
        client = Client.over(service)
        after: str | None = None
        while True:
            page = client.view_diff(view, graph=options.graph, first=PAGE, after=after)
            if page is None:
                raise InputError(f"there is no view {view!r}", argument="view")
            for change in page.changes:
                if change.kind == "removed" and change.before is not None:
                    removed[change.before.statement_id] = change.before
            after = page.next
            if after is None:
                break
    statement_ids = {
        question.id: [id_ for listed in question.minimum_sets for id_ in listed]
        for question in gold_for(answers, options, output)
    }
    if not any(statement_ids.get(item.question_id) for item in answers):
        raise InputError(
            "none of the answers is to a question with a minimum set, from which the view could "
            "have withheld anything",
            argument="gold",
            hint="Give their questions with --gold FILE, or what was withheld with --absent FILE.",
        )
    return {
        item.question_id: tuple(
            removed[id_]
            for id_ in dict.fromkeys(statement_ids.get(item.question_id, ()))
            if id_ in removed
        )
        for item in answers
    }


def withheld(options: WithheldOptions, output: Output, /) -> Report:
    """Asks on withholding views, one statement more each round, and scores (K6)."""
    settings = read_settings()
    named = bool(options.model or options.replay or settings.model_name)
    cases = plan_rounds(gold_of(options), rounds=options.rounds, random_seed=options.view_seed)
    with open_from(options, output) as service, judges(options, run=options) as judge:
        client = Client.over(service)
        how = QuestionSetup(
            judge().model if named and not options.templates else None,
            Setting(options.setting),
            options.graph,
            options.request.strategy,
            options.request.preset,
            options.request.limit,
        )
        entailment = entailment_of(options, options.judge, judge, output)
        triples = base_triples(client, withheld_statements(cases), options.graph)
        rows = run_cases(
            options,
            output,
            cases,
            lambda case: answer_withheld(case, retriever=client, setup=how),
            WithheldRow,
            basis=f"withheld from {how.label}, random seed {options.view_seed}",
        )
        rounds = score_withheld(
            cases,
            rows,
            triples=triples,
            entailment=entailment,
            is_off_question=off_question_judge(judge()) if options.lenient else None,
        )
    return rounds_report(rounds, label=how.label, judged_by=entailment.name)


def base_triples(
    client: Client,
    ids: Sequence[str],
    graph: str | None,
    /,
    *,
    entity_ids: Sequence[str] = (),
    may_lack: bool = False,
) -> Mapping[str, Triple]:
    """Returns the triples of statements by id.

    Args:
        client: Reads them.
        ids: Of statements; those of Wikidata begin with their entity.
        graph: Name of the graph.
        entity_ids: Entities that have the statements of other sources.
        may_lack: Whether the graph may lack some, which are then left out.
    """
    targets = set(ids)
    triples: dict[str, Triple] = {}
    heads = {id_.partition("$")[0] for id_ in targets if "$" in id_}
    if any("$" not in id_ for id_ in targets):
        heads |= set(entity_ids)
    for entity in sorted(heads):
        for statement in client.statements(entity, graph=graph, limit=ALL):
            if statement.triple.statement_id in targets:
                triples[statement.triple.statement_id] = statement.triple
    missing = sorted(targets - triples.keys())
    if missing and not may_lack:
        raise InputError(
            f"the graph has no statement {missing[0]} of a minimum set ({len(missing)} are missing)",
            argument="gold",
            hint="Give the graph that the questions were made for: --store URL --graph NAME",
        )
    return triples


def knowledge(options: KnowledgeScoreOptions, _output: Output, /) -> Report:
    """Scores which answer entities are named and which relations were found (L8, L9)."""
    ks = tuple(sorted(set(options.k)))
    if ks[0] < 1:
        raise InputError(f"recall is taken at 1 or more, got {ks[0]}", argument="k")
    cases = _with_answers(read_cases(file_of(options.file), knowledge_case), options)
    rows, report = score_knowledge(cases, ks=ks)
    write_rows(options.out, rows)
    return report


def answer_sets(options: AnswerSetOptions, _output: Output, /) -> Report:
    """Scores sets of answers, refusals, attacks and errors told (B3)."""
    cases: Sequence[AnswerSetCase] = read_cases(file_of(options.file), answer_set_case)
    if options.gold:
        gold = {question.id: question for question in read_gold_questions(options.gold)}
        cases = [_held_against(case, gold.get(case.id)) for case in cases]
    if not any(
        case.answers
        or case.stale
        or case.targets
        or case.has_errors
        or case.is_answerable is not None
        for case in cases
    ):
        raise InputError(
            f"none of the {len(cases)} cases of {options.file} can be scored",
            argument="file",
            hint="Give each its field answers, targets, answerable or errors, or --gold FILE.",
        )
    rows, report = score_answer_sets(cases)
    write_rows(options.out, rows)
    return report


def _held_against(case: AnswerSetCase, gold: GoldQuestion | None) -> AnswerSetCase:
    """A case with what its gold question says, where it says nothing itself."""
    if gold is None or case.answers or case.is_answerable is False:
        return case
    hard = gold.hard
    return replace(
        case,
        answers=_names_of(gold),
        hard=case.hard or (() if hard is None else _names_of(hard)),
        stale=case.stale or tuple((name,) for name in gold.stale_answers),
        is_answerable=case.is_answerable if gold.answers == () else not gold.lacking,
    )


def _names_of(gold: GoldQuestion) -> tuple[tuple[str, ...], ...]:
    return tuple((name,) for name in gold.answers if name != NA)


def _gold_answers(options: KnowledgeScoreOptions) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The names of the answers of ``--gold``, by the question's id."""
    if not options.gold:
        return {}
    return {question.id: _names_of(question) for question in read_gold_questions(options.gold)}


def _with_answers(
    cases: Sequence[KnowledgeCase], options: KnowledgeScoreOptions
) -> Sequence[KnowledgeCase]:
    """The cases with the answers of ``--gold``, where they have none of their own.

    Raises:
        InputError: None of the cases then has anything that could be scored.
    """
    named = _gold_answers(options)
    cases = [
        case if case.answers else replace(case, answers=named.get(case.id, ())) for case in cases
    ]
    if not any(case.answers or case.reference for case in cases):
        raise InputError(
            f"none of the {len(cases)} cases of {options.file} has answers or reference relations",
            argument="file",
            hint="Give each its field answers (names of the answer entities), or --gold FILE, whose "
            "questions have them.",
        )
    return cases


def entailment(options: EntailmentOptions, output: Output, /) -> Report:
    """Scores pairs, or the alignment of answers' citations (K5, L8)."""
    path = file_of(options.file)
    with judges(options, run=options) as model:
        judge = entailment_of(options, options.judge, model, output)
        first = None if path.suffix == ".tsv" else next(iter(read_records(path)), None)
        if first is not None and (is_answer(first) or is_foreign(first)):
            return _alignment(options, output, read_answer_cases(path), judge)
        cases = read_pairs(path)
        rows = run_cases(
            options,
            output,
            cases,
            lambda case: next(iter(judge_pairs([case], entailment=judge))),
            EntailmentRow,
            basis=f"entailment by {judge.name}",
        )
    return entailment_report(rows, judged_by=judge.name, notes=judge.notes)


def _alignment(
    options: EntailmentOptions, output: Output, answers: Sequence[Answer], judge: Entailment
) -> Report:
    groups = groups_by_id(options)
    rows = run_cases(
        options,
        output,
        answers,
        lambda item: alignment_row(item, entailment=judge, groups=groups(item.question_id)),
        AlignmentRow,
        basis=f"alignment by {judge.name}",
        id_of=lambda item: item.question_id,
    )
    return alignment_report(rows, judged_by=judge.name, notes=judge.notes)


def factscore(options: FactScoreOptions, output: Output, /) -> Report:
    """Scores atomic facts as FActScore does, or people's labels of them (O9)."""
    return _facts(options, output, "factscore")


def safe(options: SafeOptions, output: Output, /) -> Report:
    """Scores atomic facts as SAFE does (O9)."""
    return _facts(options, output, "safe")


@dataclass(frozen=True, slots=True)
class _FactsFile:
    """The judged facts of one file, who judged them, and what a reader should know of that."""

    path: Path
    checked_by: str
    rows: tuple[FactsRow, ...]
    notes: tuple[str, ...] = ()


def _facts(options: FactScoreOptions, output: Output, title: str) -> Report:
    paths = files_of(options.files)
    if options.out and len(paths) > 1:
        raise InputError(
            f"--out keeps the rows of one file, and {len(paths)} came",
            argument="out",
            hint="Score each file with an --out of its own, then give what they wrote together.",
        )
    files = [_judged_facts(path, title) or path for path in paths]
    left = [file for file in files if isinstance(file, Path)]
    if options.out and not left:
        raise InputError(
            f"the facts of {paths[0]} are judged already: --out has nothing to keep", argument="out"
        )
    checked = iter(_check_files(options, output, left, title) if left else ())
    judged = [next(checked) if isinstance(file, Path) else file for file in files]
    k, k_from = options.k, "given"
    if k is None and len(judged) > 1:
        k = middle_count([row for file in judged for row in file.rows])
        k_from = f"{MEDIAN} of all {len(judged)} files"
    reports = [
        facts_report(
            file.rows,
            title=title,
            checked_by=file.checked_by,
            notes=file.notes,
            k=k,
            k_from=k_from,
        )
        for file in judged
    ]
    if len(reports) == 1:
        return reports[0]
    return files_report(
        {str(file.path): report for file, report in zip(judged, reports, strict=True)}
    )


def _judged_facts(path: Path, title: str) -> _FactsFile | None:
    """The facts of a file in which they are judged; None where there are texts in it."""
    first = next(iter(read_records(path)), None)
    if first is not None and is_run(first):
        return _FactsFile(path, *read_judged_facts(path, title))
    if first is not None and title == "factscore" and is_factscore(first):
        return _FactsFile(path, "people", read_cases(path, factscore_row))
    return None


def _check_files(
    options: FactScoreOptions, output: Output, paths: Sequence[Path], title: str
) -> list[_FactsFile]:
    """Takes the texts of some files apart and checks their facts."""
    passages = read_texts_by_id(options.passages, "passages") if options.passages else None
    texts: list[tuple[Path, tuple[TextCase, ...]]] = []
    for path in paths:
        cases = text_cases(options, output, path, needs=("question",) if title == "safe" else ())
        if passages is not None:
            cases = tuple(replace(case, evidence=passages.get(case.id, ())) for case in cases)
        if cases and not any(case.evidence for case in cases):
            raise InputError(
                f"none of the {len(cases)} texts of {path} has passages or triples to check its "
                "facts against",
                argument="passages",
                hint="Give passages with --passages FILE, by the ids of the texts.",
            )
        texts.append((path, cases))
    with judges(options, run=options) as judge:
        who = options.verifier
        verifier = None if who == "model" else entailment_of(options, who, judge, output)
        checker = FactChecker(
            judge(),
            verifier=verifier,
            safe=title == "safe",
            passages=options.texts,
            searches=options.searches if isinstance(options, SafeOptions) else 1,
        )
        return [
            _FactsFile(
                path,
                checker.label,
                run_cases(
                    options,
                    output,
                    cases,
                    lambda case: check_facts(case, by=checker),
                    FactsRow,
                    basis=f"{title} by {checker.label}",
                ),
                () if verifier is None else verifier.notes,
            )
            for path, cases in texts
        ]


def agreement(options: AgreementOptions, _output: Output, /) -> Report:
    """Scores the agreement of raters (K8, O14)."""
    for path in options.files:
        if not Path(path).is_file():
            raise InputError(f"there is no file {path}", argument="file")
    first = next(iter(read_records(options.files[0])), None)
    if len(options.files) > 1 or (first is not None and is_run(first)):
        cases = ratings_of_runs(options.files, groups=options.groups)
    else:
        cases = read_cases(
            options.files[0], lambda record: rated_case(record, groups=options.groups)
        )
    return make_agreement(cases, measures=options.measures, by_group=bool(options.groups))
