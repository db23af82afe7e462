"""KaLMA's tables 2 to 7 and its figures 4 and 5, from one set of questions (K4 to K8, K10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from graph_service.errors import InputError
from graph_service.model.result import Strategy
from queries.datasets.case import GENERAL, SPECIFIC, Case
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer
from queries.generate.plan import Source
from queries.generate.setting import Setting
from queries.papers.table import Column, Figure, Form, PaperTable, Row, figure_of, missing
from queries.papers.workbench import Line, Workbench, groups_of, with_gold
from queries.score.citation import CitationScores
from queries.score.entailment_score import AlignmentRow, alignment_report, alignment_row
from queries.score.geval import PRESETS, GEval, GEvalRow, geval_report, rate_text
from queries.score.metric import Score
from queries.score.report import CaseReport
from queries.score.run import CitationReport, score_answers
from queries.score.withholding import (
    QuestionSetup,
    Round,
    WithheldRow,
    answer_withheld,
    plan_rounds,
    score_withheld,
)

RIGHT_SHARES = (1.0, 0.8, 0.6, 0.4, 0.2)
QUALITIES = PRESETS["kalma"].qualities
NO_WORDINGS = "the set has no general and specific wordings (--specific FILE)"
NO_PEOPLE = "people rate this; no file of their ratings was given"
_CITATIONS: Mapping[str, str] = {
    "Corr.": "correctness_micro",
    "Micro Prec.": "precision_micro",
    "Micro Rec.": "recall_micro",
    "Micro F1": "f1_micro",
    "Macro Prec.": "precision_macro",
    "Macro Rec.": "recall_macro",
    "Macro F1": "f1_macro",
}
_SHORT = ("Coh.", "Con.", "Flu.", "Rel.")


@dataclass(frozen=True, slots=True)
class KalmaSet:
    """The questions of KaLMA's tables.

    Attributes:
        cases: In one wording, or in both by kind (``both_wordings``).
        human: What people say of alignment: a mean and how many pairs; None where nobody said.
    """

    cases: tuple[Case, ...]
    human: Score | None = None


class Kalma:
    """KaLMA's tables; what several tables need is made once.

    Args:
        bench: With preset and folder.
        questions: The set.
        setting: ``KALMA`` cites as the paper prints it, ``KALMA_NUMBERED`` by numbers.
        strategy: Of the retrieval.
    """

    def __init__(
        self,
        bench: Workbench,
        questions: KalmaSet,
        /,
        *,
        setting: Setting = Setting.KALMA,
        strategy: Strategy = Strategy.PATHS,
    ) -> None:
        self._bench = bench
        self._set = questions
        self._setting = setting
        self._strategy = strategy
        self._golds: tuple[GoldQuestion, ...] | None = None
        self._answers: tuple[tuple[Answer, ...], ...] | None = None
        self._ratings: tuple[CaseReport, ...] | None = None
        self._aligned: tuple[CaseReport, ...] | None = None
        self._withheld: tuple[Round, ...] | str | None = None

    def makers(self) -> Mapping[str, Callable[[], PaperTable]]:
        """Returns what makes each table, by its id, in the paper's order."""
        return {
            "table-2": self.human,
            "table-3": self.citations,
            "table-4": self.quality,
            "table-5": self.removed,
            "figure-4": self.absent,
            "figure-5": self.accuracy,
            "table-6": self.alignment_of_people,
            "table-7": self.wordings,
        }

    def human(self) -> PaperTable:
        """Table 2, which people fill."""
        nobody = missing(NO_PEOPLE)
        rows = ("Authenticity (1)", "Relevance (1)", "Naturalness (5)", "Significance (5)")
        return PaperTable(
            "table-2",
            "KaLMA, Table 2: human evaluation of the data set",
            ("Metric (full score)",),
            (Column("General", Form.RATING), Column("Specific", Form.RATING)),
            tuple(Row((name,), (nobody, nobody)) for name in rows),
            ("`graph-service dataset kalma check` checks what a program can",),
        )

    def citations(self) -> PaperTable:
        """Table 3: alignment and citations, micro and macro."""
        reports = [self._scored(answers) for answers in self._main()]
        aligned = figure_of([report.score("alignment, micro") for report in self._alignment()])
        figures = [figure_of([report.score(name) for report in reports])
                   for name in (*_CITATIONS.values(), "precision_distinct")]  # fmt: skip
        return PaperTable(
            "table-3",
            "KaLMA, Table 3: citation quality",
            ("Model",),
            (
                Column("Align.", Form.PERCENT),
                *(Column(heading, Form.PERCENT) for heading in _CITATIONS),
                Column("Micro Prec. without repeats†", Form.PERCENT),
            ),
            (Row((self._bench.model.name,), (aligned, *figures)),),
            (
                f"alignment by {self._bench.entailment.name}",
                *self._bench.entailment.notes,
                "† not in the paper: a citation that an answer repeats counts once",
            ),
        )

    def quality(self) -> PaperTable:
        """Returns table 4: text quality by G-Eval."""
        figures = [
            figure_of([report.score(name) for report in self._rated()]) for name in QUALITIES
        ]
        return PaperTable(
            "table-4",
            "KaLMA, Table 4: text quality, 1 to 5",
            ("Model",),
            tuple(Column(heading, Form.RATING) for heading in _SHORT),
            (Row((self._bench.model.name,), tuple(figures)),),
            self._bench.notes(),
        )

    def removed(self) -> PaperTable:
        """Table 5: citations where knowledge of the minimum set is removed."""
        names = ("correctness_micro", "precision_micro", "recall_micro", "f1_micro")
        rows: list[Row] = []
        for withheld, title in enumerate(("0 (gold)", "1", "2", "3")):
            scores = [partial(_cited, name=name) for name in names]
            figures = [self._of_round(withheld, score) for score in scores]
            rows.append(Row((title,), tuple(figures)))
        return PaperTable(
            "table-5",
            "KaLMA, Table 5: citation quality with knowledge removed",
            ("Removed",),
            tuple(Column(name, Form.PERCENT) for name in ("Corr.", "Prec.", "Rec.", "F1")),
            tuple(rows),
            ("micro; recall is of the whole minimum set",),
        )

    def absent(self) -> PaperTable:
        """Figure 4: ``[NA]`` against what is removed."""
        rows: list[Row] = []
        for withheld in (1, 2, 3):
            scores = [partial(_marked, name=name) for name in ("precision", "recall", "f1")]
            figures = [self._of_round(withheld, score) for score in scores]
            rows.append(Row((str(withheld),), tuple(figures)))
        return PaperTable(
            "figure-4",
            "KaLMA, Figure 4: [NA] precision, recall and F1",
            ("Removed",),
            tuple(Column(name, Form.PERCENT) for name in ("precision", "recall", "F1-Score")),
            tuple(rows),
            (f"entailment by {self._bench.entailment.name}", "precision is the strict one"),
        )

    def accuracy(self) -> PaperTable:
        """Figure 5: citations where the knowledge of some entities is another's."""
        names = ("precision_micro", "recall_micro", "f1_micro", "correctness_micro")
        rows: list[Row] = []
        for share in RIGHT_SHARES:
            line = Line(f"right-{share:g}", self._setting, Source.GOLD, right_share=share)
            title = "gold (100)" if share == 1 else f"{100 * share:g}"
            try:
                cases = with_gold(self._set.cases)
                reports = [self._scored(made) for made in self._bench.answers(line, cases)]
            except InputError as error:
                rows.append(Row((title,), tuple(missing(error.message) for _ in names)))
                continue
            figures = [figure_of([report.score(name) for report in reports]) for name in names]
            rows.append(Row((title,), tuple(figures)))
        return PaperTable(
            "figure-5",
            "KaLMA, Figure 5: citation quality by retrieval accuracy",
            ("Retrieval Accuracy",),
            tuple(
                Column(name, Form.PERCENT)
                for name in ("precision", "recall", "F1Score", "correctness")
            ),
            tuple(rows),
            ("micro; the knowledge is each question's gold set",),
        )

    def alignment_of_people(self) -> PaperTable:
        """Table 6: alignment beside what people say."""
        aligned = figure_of([report.score("alignment, micro") for report in self._alignment()])
        people = self._set.human
        figure = missing(NO_PEOPLE) if people is None else figure_of([people])
        return PaperTable(
            "table-6",
            "KaLMA, Table 6: alignment beside people's",
            ("Model",),
            (Column("Alignment", Form.PERCENT), Column("Human Avg.", Form.PERCENT)),
            (Row((self._bench.model.name,), (aligned, figure)),),
            (
                "`--human FILE` has what people say: JSON lines with `id` and `human`, 1 where the "
                "sentence supports its citation, else 0",
            ),
        )

    def wordings(self) -> PaperTable:
        """Table 7: general and specific questions."""
        rows: list[Row] = []
        for title, kind in (("General", GENERAL), ("Specific", SPECIFIC)):
            label = (title, self._bench.model.name)
            if not any(case.kind == kind for case in self._set.cases):
                rows.append(Row(label, (missing(NO_WORDINGS),) * 9))
                continue
            citations = [
                report.by_kind.get(kind, report.scores)
                for report in map(self._scored, self._main())
            ]
            figures = [
                figure_of([_of_kind(report, kind)["alignment, micro"] for report in
                           self._alignment()]),
                *(figure_of([_named(scores, name) for scores in citations])
                  for name in ("correctness_micro", "precision_micro", "recall_micro", "f1_micro")),
                *(figure_of([_of_kind(report, kind)[name] for report in self._rated()])
                  for name in QUALITIES),
            ]  # fmt: skip
            rows.append(Row(label, tuple(figures)))
        return PaperTable(
            "table-7",
            "KaLMA, Table 7: general and specific questions",
            ("Setting", "Model"),
            (
                *(
                    Column(heading, Form.PERCENT)
                    for heading in ("Align.", "Corr.", "Prec.", "Rec.", "F1")
                ),
                *(Column(heading, Form.RATING) for heading in _SHORT),
            ),
            tuple(rows),
            self._bench.notes(),
        )

    def _main(self) -> tuple[tuple[Answer, ...], ...]:
        """The answers of all runs."""
        if self._answers is None:
            line = Line("kalma", self._setting, strategy=self._strategy)
            self._answers = self._bench.answers(line, self._set.cases)
        return self._answers

    def _gold(self) -> tuple[GoldQuestion, ...]:
        if self._golds is None:
            self._golds = self._bench.golds(self._set.cases)
        return self._golds

    def _scored(self, answers: Sequence[Answer]) -> CitationReport:
        ids = {item.question_id for item in answers}
        return score_answers(answers, [gold for gold in self._gold() if gold.id in ids])

    def _alignment(self) -> tuple[CaseReport, ...]:
        if self._aligned is None:
            entailment = self._bench.entailment
            kinds = {case.id: groups_of(case) for case in self._set.cases}
            self._aligned = tuple(
                alignment_report(
                    self._bench.rows(
                        answers,
                        lambda item: alignment_row(
                            item, entailment=entailment, groups=kinds[item.question_id]
                        ),
                        AlignmentRow,
                        id_of=lambda item: item.question_id,
                    ),
                    judged_by=entailment.name,
                )
                for answers in self._main()
            )
        return self._aligned

    def _rated(self) -> tuple[CaseReport, ...]:
        if self._ratings is None:
            preset = PRESETS["kalma"]
            by = GEval(self._bench.judge, preset)
            self._ratings = tuple(
                geval_report(
                    self._bench.rows(
                        self._bench.texts(answers, self._set.cases),
                        lambda text: rate_text(text, by=by),
                        GEvalRow,
                        id_of=lambda text: text.id,
                    ),
                    preset,
                    rated_by=by.label,
                )
                for answers in self._main()
            )
        return self._ratings

    def _rounds(self) -> tuple[Round, ...] | str:
        """The rounds of withholding, or why there are none."""
        if self._withheld is None:
            try:
                self._withheld = self._make_rounds()
            except InputError as error:
                self._withheld = error.message
        return self._withheld

    def _make_rounds(self) -> tuple[Round, ...]:
        bench = self._bench
        cases = plan_rounds(self._gold())
        how = QuestionSetup(
            model=bench.model,
            setting=self._setting,
            graph=bench.graph,
            strategy=self._strategy,
            preset=bench.preset,
        )
        bench.say(f"withheld: {len(cases)} questions")
        rows = bench.rows(
            cases,
            lambda case: answer_withheld(case, retriever=bench.client, setup=how),
            WithheldRow,
            id_of=lambda case: case.id,
            name="withheld",
        )
        triples = bench.gold_triples(bench.subjects(self._set.cases))
        lost = [id_ for case in cases for id_ in case.order if id_ not in triples]
        if lost:
            raise InputError(f"the graph lacks statement {lost[0]!r} of a minimum set")
        return score_withheld(cases, rows, triples=triples, entailment=bench.entailment)

    def _of_round(self, withheld: int, score: Callable[[Round], Score]) -> Figure:
        rounds = self._rounds()
        if isinstance(rounds, str):
            return missing(rounds)
        part = [round_ for round_ in rounds if round_.withheld == withheld]
        if not part:
            return missing(f"no minimum set has {withheld} statements")
        return figure_of([score(part[0])])


def _cited(round_: Round, /, *, name: str) -> Score:
    return round_.citations.score(name)


def _marked(round_: Round, /, *, name: str) -> Score:
    report = round_.not_available
    if report is None:
        return Score(None, 0, reason="nothing is removed")
    precision, recall = report.precision_strict, report.recall
    if name == "precision":
        return precision
    if name == "recall":
        return recall
    if precision.value is None or recall.value is None:
        return precision if precision.value is None else recall
    total = precision.value + recall.value
    f1 = 2 * precision.value * recall.value / total if total else 0.0
    return Score(f1, recall.n, recall.failed)


def _named(scores: CitationScores, name: str) -> Score:
    value: Score = getattr(scores, name)
    return value


def _of_kind(report: CaseReport, kind: str) -> Mapping[str, Score]:
    return report.by.get("kind", {}).get(kind, report.scores)
