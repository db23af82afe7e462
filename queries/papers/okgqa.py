"""OKGQA's tables 2 to 6 and its figures 4 and 6, from one set of questions (O2, O8, O9, O12 to O14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, ViewSpec
from queries.builders.okgqa.dataset import agreements
from queries.builders.okgqa.rounds import RoundAgreement
from queries.builders.okgqa.writing import QUALITIES as QUESTION_QUALITIES
from queries.datasets.case import Case
from queries.generate.plan import Source
from queries.generate.setting import Setting
from queries.papers.table import Column, Figure, Form, PaperTable, Row, figure_of, missing
from queries.papers.workbench import NO_PAGES, Line, Workbench
from queries.score.agreement import KappaWeights, Rating, cohen_kappa
from queries.score.case import TextCase
from queries.score.fact_check import FactChecker, check_facts, check_facts_again
from queries.score.facts import SAFE_NOTE, FactsRow, facts_report
from queries.score.geval import PRESETS, GEval, GEvalRow, geval_report, rate_text
from queries.score.judge import Judge
from queries.score.metric import mean_score
from queries.score.report import CaseReport

LEVELS = (0.2, 0.4, 0.6, 0.8, 1.0)
METHODS = (
    Method.RELATION_SWAPPING,
    Method.RELATION_REPLACEMENT,
    Method.EDGE_REWIRING,
    Method.EDGE_DELETION,
)
QUALITIES = PRESETS["okgqa"].qualities
ONE_JUDGE = "one judge alone; name more (--judge-model NAME, more than once)"
NO_LANGUAGES = "no other language was named (--language xx, more than once)"
NO_ROUNDS = "no folder of rounds with people's ratings was given (dataset okgqa build)"
_FORMS = {
    Strategy.TRIPLETS: ("Var-2: triplets", "FS-T"),
    Strategy.PATHS: ("Var-3: paths", "FS-P"),
    Strategy.SUBGRAPH: ("Var-4: subgraphs", "FS-SG"),
}
_COLUMNS = (
    *(
        Column(name, Form.POINTS)
        for name in ("Context Relevance", "Comprehensiveness", "Correctness", "Empowerment")
    ),
    *(
        Column(name, Form.FINE_PERCENT)
        for name in ("SAFE", "FactScore", "SAFE, merged†", "FactScore, merged†")
    ),
)
_MERGED_NOTE = "† not in the paper: facts that a text says again count once"


@dataclass(frozen=True, slots=True)
class OkgqaSet:
    """The questions of OKGQA's tables.

    Attributes:
        cases: The questions.
        languages: Of labels, for Table 5.
        rounds: Folder of a data set with its rounds, for tables 3 and 4; None where there is none.
        levels: Of the perturbed views of Figure 6.
    """

    cases: tuple[Case, ...]
    languages: tuple[str, ...] = ()
    rounds: Path | None = None
    levels: tuple[float, ...] = LEVELS


@dataclass(slots=True)
class _Judged:
    """The reports of a way of answering, one a run; made when they are needed."""

    geval: tuple[CaseReport, ...] | None = None
    facts: dict[bool, tuple[tuple[FactsRow, ...], ...]] = field(default_factory=dict)


class Okgqa:
    """OKGQA's tables; answers and judgements that several tables need are made once.

    Args:
        bench: With preset and folder.
        questions: The set.
    """

    def __init__(self, bench: Workbench, questions: OkgqaSet, /) -> None:
        self._bench = bench
        self._set = questions
        self._judged: dict[str, _Judged] = {}
        self._texts: dict[str, tuple[tuple[TextCase, ...], ...]] = {}

    def makers(self) -> Mapping[str, Callable[[], PaperTable]]:
        """Returns what makes each table, by its id, in the paper's order."""
        return {
            "table-2": self.forms,
            "figure-4": self.kinds,
            "figure-6": self.perturbed,
            "table-3": self.rounds_pearson,
            "table-4": self.rounds_kappa,
            "table-5": self.languages,
            "table-6": self.judges,
        }

    def lines(self) -> tuple[tuple[str, str, Line], ...]:
        """Returns section, name and way of answering of each row of Table 2."""
        plain = "Baseline: without external knowledge"
        rows = [
            (f"{plain} (zero-shot)", "", Line("zero", Setting.OKGQA_ZERO, Source.NONE)),
            (f"{plain} (4-shot)", "", Line("4shot", Setting.OKGQA_4SHOT, Source.NONE)),
            ("Baseline: with documents", "IRCoT", Line("ircot", Setting.OKGQA_IRCOT, Source.NONE)),
            ("Var-1: CoT", "CoT", Line("cot", Setting.OKGQA_COT, Source.NONE)),
            ("Var-1: CoT", "CoT+SC", Line("sc", Setting.OKGQA_SC, Source.NONE)),
        ]
        for strategy, (title, _) in _FORMS.items():
            word = strategy.value
            rows += [
                (title, "", Line(word, Setting.OKGQA_ZERO, strategy=strategy)),
                (title, "CoT+SC", Line(f"{word}-sc", Setting.OKGQA_SC, strategy=strategy)),
            ]
        return tuple(rows)

    def forms(self) -> PaperTable:
        """Table 2: forms of knowledge."""
        rows = [
            Row((section, self._name(more)), self._figures(line))
            for section, more, line in self.lines()
        ]
        return PaperTable(
            "table-2",
            "OKGQA, Table 2: forms of knowledge, in per cent",
            ("Setting", "Model"),
            _COLUMNS,
            tuple(rows),
            (*self._bench.notes(), _MERGED_NOTE, SAFE_NOTE),
        )

    def kinds(self) -> PaperTable:
        """Figure 4: FActScore by type of question."""
        lines = [
            ("Baseline", Line("zero", Setting.OKGQA_ZERO, Source.NONE)),
            *(
                (title.partition(": ")[2], Line(strategy.value, Setting.OKGQA_ZERO, strategy=strategy))
                for strategy, (title, _) in _FORMS.items()
            ),
        ]  # fmt: skip
        reports = [(title, self._fact_reports(line)) for title, line in lines]
        kinds = list(dict.fromkeys(case.kind or "question" for case in self._set.cases))
        rows = []
        for kind in kinds:
            figures = [
                made if isinstance(made, Figure) else figure_of(
                    [report.by.get("kind", {}).get(kind, report.scores)["supported, macro"]
                     for report in made])
                for _, made in reports
            ]  # fmt: skip
            rows.append(Row((kind,), tuple(figures)))
        return PaperTable(
            "figure-4",
            "OKGQA, Figure 4: FActScore by type of question, in per cent",
            ("Query type",),
            tuple(Column(title, Form.FINE_PERCENT) for title, _ in lines),
            tuple(rows),
            self._bench.notes(),
        )

    def perturbed(self) -> PaperTable:
        """Figure 6: FActScore on perturbed graphs."""
        rows: list[Row] = []
        for method in METHODS:
            for level in self._set.levels:
                view = ViewRef(spec=ViewSpec(method, level=level))
                figures = [
                    self._fact_figure(
                        Line(
                            f"{method.value}-{level:g}-{strategy.value}",
                            Setting.OKGQA_ZERO,
                            strategy=strategy,
                            view=view,
                        )
                    )
                    for strategy in _FORMS
                ]
                rows.append(Row((method.value, f"{level:g}"), tuple(figures)))
        return PaperTable(
            "figure-6",
            "OKGQA, Figure 6: FActScore by perturbation level, in per cent",
            ("Perturbation", "Level"),
            tuple(Column(short, Form.FINE_PERCENT) for _, short in _FORMS.values()),
            tuple(rows),
            (
                *self._bench.notes(),
                "random seed 0 of the views; `experiment run` takes several, and tests",
                "`view sweep` and `view figure` make Figure 5",
            ),
        )

    def rounds_pearson(self) -> PaperTable:
        """Table 3: agreement with people in rounds of an instruction."""
        nobody = (missing(NO_ROUNDS),) * len(QUESTION_QUALITIES)
        rows = [
            Row(
                (str(agreement.number),),
                tuple(figure_of([agreement.pearson[name]]) for name in QUESTION_QUALITIES),
            )
            for agreement in self._agreements()
        ]
        return PaperTable(
            "table-3",
            "OKGQA, Table 3: Pearson correlation of people's and the model's ratings",
            ("Round",),
            tuple(Column(name.title(), Form.CORRELATION) for name in QUESTION_QUALITIES),
            tuple(rows) or (Row(("1",), nobody),),
        )

    def rounds_kappa(self) -> PaperTable:
        """Table 4: agreement of the people who rate, in the last round that people rated."""
        rated = self._agreements()[-1:]
        pairs = [scores for agreement in rated for scores in agreement.kappa.values()]
        rows = [
            Row(
                (name.title(),),
                (figure_of([pair[name] for pair in pairs]) if pairs else missing(NO_ROUNDS),),
            )
            for name in QUESTION_QUALITIES
        ]
        return PaperTable(
            "table-4",
            "OKGQA, Table 4: Cohen's kappa of people's ratings",
            ("Metric",),
            (Column("Kappa", Form.CORRELATION),),
            tuple(rows),
            ("mean ± standard deviation over pairs of people",),
        )

    def _agreements(self) -> tuple[RoundAgreement, ...]:
        return () if self._set.rounds is None else agreements(self._set.rounds)

    def languages(self) -> PaperTable:
        """Table 5: labels of several languages."""
        plain = Line(Strategy.SUBGRAPH.value, Setting.OKGQA_ZERO, strategy=Strategy.SUBGRAPH)
        rows = [Row(("OKGQA (subgraphs)",), self._figures(plain))]
        figures: tuple[Figure, ...] = (missing(NO_LANGUAGES),) * len(_COLUMNS)
        if self._set.languages:
            line = Line(
                "languages",
                Setting.OKGQA_ZERO,
                strategy=Strategy.SUBGRAPH,
                more={"languages": self._set.languages},
            )
            figures = self._figures(line)
        rows.append(Row(("+ Multi-lingual context",), figures))
        return PaperTable(
            "table-5",
            "OKGQA, Table 5: subgraphs in one language and in several, in per cent",
            ("Setting",),
            _COLUMNS,
            tuple(rows),
            (*self._bench.notes(), _MERGED_NOTE, SAFE_NOTE),
        )

    def judges(self) -> PaperTable:
        """Table 6: do judges agree? Over the answers from subgraphs of the first run."""
        judges = self._bench.judges
        pairs = list(combinations(range(len(judges)), 2))
        headings = [f"LLM {first + 1} & {second + 1}" for first, second in pairs] or ["LLM 1 & 2"]
        rows: list[Row] = []
        for title in ("G-Eval", "FactScore", "SAFE"):
            if len(judges) < 2:
                rows.append(Row((title,), (missing(ONE_JUDGE),)))
                continue
            if self._has_no_pages():
                rows.append(Row((title,), (missing(NO_PAGES),) * len(pairs)))
                continue
            verdicts = self._verdicts(title)
            weights = KappaWeights.QUADRATIC if title == "G-Eval" else KappaWeights.NONE
            figures = [
                figure_of([cohen_kappa(verdicts[first], verdicts[second], weights=weights)])
                for first, second in pairs
            ]
            rows.append(Row((title,), tuple(figures)))
        return PaperTable(
            "table-6",
            "OKGQA, Table 6: Cohen's kappa of judges",
            ("Metric",),
            tuple(Column(heading, Form.CORRELATION) for heading in headings),
            tuple(rows),
            (
                *(f"LLM {i}: {judge.model.name}" for i, judge in enumerate(judges, 1)),
                "on one set of texts, and on the facts that LLM 1 took from them; G-Eval is the "
                "mean of its four qualities, rounded, with quadratic weights",
            ),
        )

    def _name(self, more: str) -> str:
        return " - ".join(filter(None, (self._bench.model.name, more)))

    def _has_no_pages(self) -> bool:
        return self._bench.pages is None and self._bench.passages is None

    def _lacks(self, line: Line) -> str | None:
        return self._bench.lacks(line) or (NO_PAGES if self._has_no_pages() else None)

    def _texts_of(self, line: Line) -> tuple[tuple[TextCase, ...], ...]:
        if line.name not in self._texts:
            self._texts[line.name] = tuple(
                self._bench.texts(answers, self._set.cases)
                for answers in self._bench.answers(line, self._set.cases)
            )
        return self._texts[line.name]

    def _figures(self, line: Line) -> tuple[Figure, ...]:
        """The columns of a way of answering."""
        why = self._lacks(line)
        if why is not None:
            return (missing(why),) * len(_COLUMNS)
        ratings = self._ratings(line)
        facts = {safe: self._reports(line, safe=safe) for safe in (True, False)}
        return (
            *(figure_of([report.score(f"{name}, %") for report in ratings]) for name in QUALITIES),
            *(
                figure_of([report.score(score) for report in facts[safe]])
                for score in ("supported, macro", "supported, merged, macro")
                for safe in (True, False)
            ),
        )

    def _fact_reports(self, line: Line) -> Figure | tuple[CaseReport, ...]:
        why = self._lacks(line)
        return missing(why) if why is not None else self._reports(line, safe=False)

    def _fact_figure(self, line: Line) -> Figure:
        made = self._fact_reports(line)
        if isinstance(made, Figure):
            return made
        return figure_of([report.score("supported, macro") for report in made])

    def _ratings(self, line: Line) -> tuple[CaseReport, ...]:
        judged = self._judged.setdefault(line.name, _Judged())
        if judged.geval is None:
            by = GEval(self._bench.judge, PRESETS["okgqa"])
            judged.geval = tuple(
                geval_report(self._rated(texts, by), by.preset, rated_by=by.label)
                for texts in self._texts_of(line)
            )
        return judged.geval

    def _rated(self, texts: Sequence[TextCase], by: GEval) -> tuple[GEvalRow, ...]:
        return self._bench.rows(
            texts, lambda text: rate_text(text, by=by), GEvalRow, id_of=lambda text: text.id
        )

    def _facts(self, line: Line, *, safe: bool) -> tuple[tuple[FactsRow, ...], ...]:
        judged = self._judged.setdefault(line.name, _Judged())
        if safe not in judged.facts:
            by = FactChecker(self._bench.judge, safe=safe)
            judged.facts[safe] = tuple(
                self._bench.rows(
                    texts, lambda text: check_facts(text, by=by), FactsRow, id_of=lambda text: text.id
                )
                for texts in self._texts_of(line)
            )  # fmt: skip
        return judged.facts[safe]

    def _reports(self, line: Line, *, safe: bool) -> tuple[CaseReport, ...]:
        title = "safe" if safe else "factscore"
        return tuple(facts_report(rows, title=title) for rows in self._facts(line, safe=safe))

    def _verdicts(self, title: str) -> list[list[Rating | None]]:
        """What each judge says of the same texts, or of the same facts; None where it says nothing."""
        line = Line(Strategy.SUBGRAPH.value, Setting.OKGQA_ZERO, strategy=Strategy.SUBGRAPH)
        texts = self._texts_of(line)[0]
        if title == "G-Eval":
            preset = PRESETS["okgqa"]
            return [
                [_rounded_mean(row) for row in self._rated(texts, GEval(judge, preset))]
                for judge in self._bench.judges
            ]
        safe = title == "SAFE"
        first = self._facts(line, safe=safe)[0]
        verdicts: list[list[Rating | None]] = [
            [fact.supported for row in first for fact in row.facts]
        ]
        for judge in self._bench.judges[1:]:
            rows = self._again(texts, first, judge, safe=safe)
            verdicts.append([fact.supported for row in rows for fact in row.facts])
        return verdicts

    def _again(
        self, texts: Sequence[TextCase], first: Sequence[FactsRow], judge: Judge, *, safe: bool
    ) -> tuple[FactsRow, ...]:
        by = FactChecker(judge, safe=safe)
        return self._bench.rows(
            list(zip(texts, first, strict=True)),
            lambda pair: check_facts_again(pair[0], pair[1], by=by),
            FactsRow,
            id_of=lambda pair: pair[0].id,
        )


def _rounded_mean(row: GEvalRow) -> int | None:
    """The mean of a text's qualities, rounded; None where one has no rating."""
    values = [score.value for score in row.scores.values()]
    mean = mean_score(values)
    return None if mean.value is None or None in values else round(mean.value)
