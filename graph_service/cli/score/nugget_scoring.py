"""score nuggets: statements that an answer must or may say, as TREC counts nuggets."""

from __future__ import annotations

from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cli.score.judge_model import judges
from graph_service.cli.score.options import NuggetsOptions
from graph_service.cli.score.score_cases import file_of, gold_of, run_cases
from graph_service.cli.score.scoring import base_triples, entailment_of
from graph_service.client import Client
from graph_service.errors import InputError
from queries.datasets.answers import read_answer_cases
from queries.score.nuggets import NuggetRow, nugget_row, nuggets_report
from queries.score.report import Report


def nuggets(options: NuggetsOptions, output: Output, /) -> Report:
    """Scores what answers say of their questions' statements."""
    answers = read_answer_cases(file_of(options.file))
    gold = {question.id: question for question in gold_of(options)}
    known = [item for item in answers if item.question_id in gold]
    if not known:
        raise InputError(
            f"none of the {len(answers)} answers is to a question of the gold file",
            argument="gold",
            hint="Give the questions that were answered: --gold FILE",
        )
    ids = [
        id_
        for item in known
        for id_ in (*gold[item.question_id].statement_ids, *gold[item.question_id].okay_ids)
    ]
    with open_from(options, output) as service, judges(options, run=options) as judge:
        triples = base_triples(
            Client.over(service),
            ids,
            options.graph,
            entity_ids=[id_ for item in known for id_ in gold[item.question_id].entity_ids],
            may_lack=True,
        )
        entailment = entailment_of(options, options.judge, judge, output)
        rows = run_cases(
            options,
            output,
            known,
            lambda item: nugget_row(item, gold[item.question_id], triples, entailment=entailment),
            NuggetRow,
            basis=f"nuggets by {entailment.name}",
            id_of=lambda item: item.question_id,
        )
    return nuggets_report(rows, judged_by=entailment.name, notes=entailment.notes)
