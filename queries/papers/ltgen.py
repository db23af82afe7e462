"""LTGen's tables 2, 4 and 5 and its figures 3 to 6, from questions and turns (L4, L5, L7 to L9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from graph_service.errors import InputError
from graph_service.model.result import RetrievalResult, Strategy, Triple, triples_of
from queries.datasets.case import Case
from queries.experiment.subjects import Subject
from queries.generate.answer import Answer, search_text
from queries.generate.plan import Source
from queries.generate.setting import Setting
from queries.llm import ReplyError
from queries.papers.table import Column, Figure, Form, PaperTable, Row, figure_of, missing
from queries.papers.workbench import Line, Workbench, groups_of
from queries.rank.prompted import PromptedRanker
from queries.rank.steps import PRESET, RelationRetriever, by_relation
from queries.retriever import Retriever
from queries.score.case import case_of_answer
from queries.score.entailment import Pair
from queries.score.entailment_score import (
    EntailmentCase,
    EntailmentRow,
    entailment_report,
    judge_pairs,
)
from queries.score.knowledge import (
    KnowledgeCase,
    KnowledgeRow,
    knowledge_report,
    knowledge_row,
)
from queries.score.report import CaseReport

SETTINGS = (
    ("No Knowledge", Line("ltgen-none", Setting.LTGEN_NONE, Source.NONE)),
    ("Passages", Line("ltgen-passages", Setting.LTGEN_PASSAGES, Source.NONE)),
    ("KG Triples", Line("ltgen-triples", Setting.LTGEN_TRIPLES)),
    ("Passages + KG Triples", Line("ltgen-both", Setting.LTGEN_BOTH)),
)
MATCHES = ("KM", "eKM", "rKM")
NO_TURNS = "the set has no turns of conversations (--turns FILE)"
NO_QUESTIONS = "the set has no questions"
NO_REFERENCES = "there are no reference replies (--references FILE: id and reference)"
NO_LEVELS = "the set does not say the long-tail level of its questions"
NO_GOLD = "the set names no gold statements"
OTHER_SET = "it is of Natural Questions and TriviaQA, whose questions this set has not"
_VIEWS = {"I": "(10^4, 10^5)", "II": "(10^3, 10^4)", "III": "(10^2, 10^3)", "IV": "(10^1, 10^2)"}


@dataclass(frozen=True, slots=True)
class LtgenSet:
    """The questions of LTGen's tables.

    Attributes:
        questions: Single questions (LTGen-QA).
        turns: Turns of conversations (LTGen-Conv), with what was said before each.
        references: What the agent said at a turn, by its id.
    """

    questions: tuple[Case, ...]
    turns: tuple[Case, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Part:
    """One of both sets of questions, and what scores need of it."""

    word: str
    title: str
    cases: tuple[Case, ...]
    empty: str
    subjects: Mapping[str, Subject]
    gold: Mapping[str, Triple]

    def reference(self, id_: str) -> tuple[tuple[str, str], ...]:
        """Gold pairs of entity and signed relation."""
        subject = self.subjects[id_]
        triples = [self.gold[id_] for id_ in subject.gold.statement_ids if id_ in self.gold]
        return pairs_of(subject.gold.entity_ids, triples)


def pairs_of(
    entity_ids: Sequence[str], triples: Sequence[Triple], /
) -> tuple[tuple[str, str], ...]:
    """Returns each entity with the signed relations that some triples have of it."""
    return tuple((id_, key) for id_ in entity_ids for key in by_relation(id_, triples)[0])


class Ltgen:
    """LTGen's tables; answers that several tables need are made once.

    Args:
        bench: With its folder; its preset is not used.
        questions: The set.
    """

    def __init__(self, bench: Workbench, questions: LtgenSet, /) -> None:
        self._bench = bench
        self._set = questions
        self._parts = (
            self._part("qa", "LTGen-QA", questions.questions, NO_QUESTIONS),
            self._part("conv", "LTGen-Conv", questions.turns, NO_TURNS),
        )
        self._made: dict[str, tuple[tuple[Answer, ...], ...]] = {}
        self._matched: dict[str, tuple[CaseReport, ...]] = {}
        self._entailed: dict[str, tuple[CaseReport, ...]] = {}

    def makers(self) -> Mapping[str, Callable[[], PaperTable]]:
        """Returns what makes each table, by its id, in the paper's order."""
        return {
            "table-2": self.statistics,
            "table-4": self.settings,
            "figure-3": lambda: self.by_group("level"),
            "figure-4": lambda: self.by_group("references"),
            "table-5": self.ranking,
            "table-a6": self.kilt,
        }

    def statistics(self) -> PaperTable:
        """Table 2: what the set holds, by long-tail level."""
        rows: list[Row] = []
        for part in self._parts:
            if not part.cases:
                rows.append(Row((part.title, "Overall", ""), (missing(part.empty),) * 4))
                continue
            levels = sorted({groups_of(case).level for case in part.cases} - {""})
            rows.append(Row((part.title, "Overall", ""), self._counts(part, part.cases)))
            for level in levels:
                of_level = [case for case in part.cases if groups_of(case).level == level]
                label = (part.title, level, _VIEWS.get(level, ""))
                rows.append(Row(label, self._counts(part, of_level)))
        return PaperTable(
            "table-2",
            "LTGen, Table 2: the data set",
            ("Set", "Long-tail Level", "WPV range"),
            (
                Column("Entities", Form.COUNT),
                Column("Relations", Form.COUNT),
                Column("Samples", Form.COUNT),
                Column("avg. Turns", Form.MEAN),
            ),
            tuple(rows),
            ("turns with gold statements of a conversation",),
        )

    def settings(self) -> PaperTable:
        """Table 4: four kinds of knowledge."""
        qa, conv = self._parts
        rows = [
            Row(
                (title, self._bench.model.name),
                (
                    *(self._match(qa, line, name) for name in MATCHES),
                    *(self._match(conv, line, name) for name in MATCHES),
                    *(
                        self._entailment(conv, line, name)
                        for name in ("E (mean probability)", "C (mean probability)", "E - C")
                    ),
                ),
            )
            for title, line in SETTINGS
        ]
        return PaperTable(
            "table-4",
            "LTGen, Table 4: end to end",
            ("Knowledge", "Model"),
            tuple(
                Column(f"{part} {name}")
                for part, names in (("QA", MATCHES), ("Conv", (*MATCHES, "E", "C", "E-C")))
                for name in names
            ),
            tuple(rows),
            (
                f"entailment by {self._bench.entailment.name}",
                *self._bench.entailment.notes,
                *self._bench.notes(),
                "eKM is 1 where all answer entities are named; the paper's columns eKM and rKM seem "
                "exchanged",
            ),
        )

    def by_group(self, axis: str, /) -> PaperTable:
        """Figures 3 and 5 (``level``), or 4 and 6 (``references``): rKM and E - C by group."""
        figure, heading = {
            "level": ("figure-3", "Long-tail Level"),
            "references": ("figure-4", "Reference Triples"),
        }[axis]
        numbers = {"level": "3 and 5: by long-tail level", "references": "4 and 6: by references"}
        groups = list(
            dict.fromkeys(
                group
                for part in self._parts
                for case in sorted(part.cases, key=_order)
                for name, group in groups_of(case).named()
                if name == axis
            )
        )
        qa, conv = self._parts
        rows: list[Row] = []
        for title, line in SETTINGS:
            if not groups:
                why = NO_LEVELS if axis == "level" else NO_GOLD
                rows.append(Row((title, "all"), (missing(why),) * 3))
            for group in groups:
                figures = (
                    self._match(qa, line, "rKM", (axis, group)),
                    self._match(conv, line, "rKM", (axis, group)),
                    self._entailment(conv, line, "E - C", (axis, group)),
                )
                rows.append(Row((title, group), figures))
        return PaperTable(
            figure,
            f"LTGen, Figures {numbers[axis]}",
            ("Knowledge", heading),
            (Column("QA rKM"), Column("Conv rKM"), Column("Conv E-C")),
            tuple(rows),
        )

    def ranking(self) -> PaperTable:
        """Table 5: relation recall, on tagged entities and on the gold ones."""
        rankers: list[tuple[str, Callable[[], Retriever]]] = [
            (self._bench.model.name, self._by_model),
            ("by embedding", lambda: self._bench.client),
        ]
        rows = [
            Row(
                (title,),
                tuple(
                    self._recall(part, open_retriever, oracle=oracle)
                    for part in self._parts
                    for oracle in (False, True)
                ),
            )
            for title, open_retriever in rankers
        ]
        return PaperTable(
            "table-5",
            "LTGen, Table 5: recall of relations",
            ("Model",),
            tuple(
                Column(f"{part} {name}")
                for part in ("QA", "Conv")
                for name in ("Recall", "Recall (oracle)")
            ),
            tuple(rows),
            (
                "micro: pairs of entity and signed relation among the five best of each entity",
                "a ranker that was trained with parses is measured by `rank measure`",
            ),
        )

    def kilt(self) -> PaperTable:
        """Table A.6, which is of other sets of questions."""
        return PaperTable(
            "table-a6",
            "LTGen, Table A.6: Natural Questions and TriviaQA",
            ("Model",),
            (Column("EM"), Column("F1")),
            (Row((self._bench.model.name,), (missing(OTHER_SET),) * 2),),
        )

    def _part(self, word: str, title: str, cases: tuple[Case, ...], empty: str) -> _Part:
        subjects = self._bench.subjects(cases) if cases else ()
        gold = self._bench.gold_triples(subjects)
        return _Part(word, title, cases, empty, {item.case.id: item for item in subjects}, gold)

    def _counts(self, part: _Part, cases: Sequence[Case]) -> tuple[Figure, ...]:
        entities = {id_ for case in cases for id_ in case.entity_ids}
        relations = {key for case in cases for _, key in part.reference(case.id)}
        conversations = {case.id.rpartition("#")[0] for case in cases if "#" in case.id}
        turns = missing("single questions have no turns")
        if conversations:
            turns = Figure(len(cases) / len(conversations), n=len(conversations))
        return (
            Figure(float(len(entities)), n=len(cases)),
            Figure(float(len(relations)), n=len(cases)) if relations else missing(NO_GOLD),
            Figure(float(len(cases)), n=len(cases)),
            turns,
        )

    def _answers(self, part: _Part, line: Line) -> tuple[tuple[Answer, ...], ...]:
        name = f"{part.word}-{line.name}"
        if name not in self._made:
            of_part = Line(name, line.setting, line.source, Strategy.TRIPLETS)
            self._made[name] = self._bench.answers(of_part, part.cases)
        return self._made[name]

    def _lacks(self, part: _Part, line: Line, group: tuple[str, str] | None) -> str | None:
        """Why a way of answering, or a group of questions, has no figures; None where it has."""
        if not part.cases:
            return part.empty
        if group and not any(group in groups_of(case).named() for case in part.cases):
            return f"{part.title} has no questions of {group[0]} {group[1]}"
        return self._bench.lacks(line)

    def _match(
        self, part: _Part, line: Line, name: str, group: tuple[str, str] | None = None
    ) -> Figure:
        why = self._lacks(part, line, group)
        if why is not None:
            return missing(why)
        key = f"{part.word}-{line.name}"
        if key not in self._matched:
            cases = {case.id: case for case in part.cases}
            self._matched[key] = tuple(
                knowledge_report([_matched(item, cases[item.question_id]) for item in answers])
                for answers in self._answers(part, line)
            )
        return _of_group(self._matched[key], name, group)

    def _entailment(
        self, part: _Part, line: Line, name: str, group: tuple[str, str] | None = None
    ) -> Figure:
        why = self._lacks(part, line, group)
        if why is None and not self._set.references:
            why = NO_REFERENCES
        if why is not None:
            return missing(why)
        key = f"{part.word}-{line.name}"
        if key not in self._entailed:
            self._entailed[key] = tuple(
                entailment_report(
                    self._judged(part, answers), judged_by=self._bench.entailment.name
                )
                for answers in self._answers(part, line)
            )
        if name not in self._entailed[key][0].scores:
            return missing(f"{self._bench.entailment.name} does not tell contradiction")
        return _of_group(self._entailed[key], name, group)

    def _judged(self, part: _Part, answers: Sequence[Answer]) -> tuple[EntailmentRow, ...]:
        groups = {case.id: groups_of(case) for case in part.cases}
        pairs = [
            EntailmentCase(
                item.question_id,
                Pair(case_of_answer(item).text, self._set.references[item.question_id]),
                groups=groups[item.question_id],
                failure=item.failure,
            )
            for item in answers
            if item.question_id in self._set.references
        ]
        return self._bench.rows(
            pairs,
            lambda pair: next(judge_pairs([pair], entailment=self._bench.entailment)),
            EntailmentRow,
            id_of=lambda pair: pair.id,
        )

    def _by_model(self) -> Retriever:
        return RelationRetriever(self._bench.client, PromptedRanker(self._bench.model))

    def _recall(
        self, part: _Part, open_retriever: Callable[[], Retriever], *, oracle: bool
    ) -> Figure:
        if not part.cases:
            return missing(part.empty)
        retriever = open_retriever()

        def row_of(case: Case) -> KnowledgeRow:
            failure, relations = None, None
            try:
                result = retriever.retrieve(
                    Strategy.TRIPLETS,
                    search_text(case.history, case.question),
                    graph=self._bench.graph,
                    preset=PRESET,
                    entity_ids=case.entity_ids if oracle else (),
                )
                relations = _relations(result)
            except ReplyError as error:
                failure = f"{error.fault.value}: {error.message}"
            made = KnowledgeCase(
                case.id,
                None,
                found=relations,
                reference=part.reference(case.id),
                failure=failure,
            )
            return knowledge_row(made)

        try:
            rows = self._bench.rows(part.cases, row_of, KnowledgeRow, id_of=lambda case: case.id)
        except InputError as error:
            return missing(error.message)
        report = knowledge_report(rows)
        if "relation recall, micro" not in report.scores:
            return missing(NO_GOLD)
        return figure_of([report.score("relation recall, micro")])


def _relations(result: RetrievalResult) -> tuple[tuple[str, str], ...]:
    return pairs_of([item.entity.id for item in result.linked], triples_of(result))


def _matched(item: Answer, case: Case) -> KnowledgeRow:
    text = None if item.failure else case_of_answer(item).text
    return knowledge_row(
        KnowledgeCase(
            item.question_id,
            text,
            tuple((name,) for name in case.answers),
            groups=groups_of(case),
            failure=item.failure,
        )
    )


def _of_group(reports: Sequence[CaseReport], name: str, group: tuple[str, str] | None) -> Figure:
    if group is None:
        return figure_of([report.score(name) for report in reports])
    axis, value = group
    # An axis with one group is left out: it is that of all cases.
    return figure_of(
        [report.by.get(axis, {}).get(value, report.scores)[name] for report in reports]
    )


def _order(case: Case) -> tuple[str, int]:
    groups = groups_of(case)
    return groups.level, groups.references or 0
