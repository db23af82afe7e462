"""TALEC's tables 2 to 16, from labelled texts of some tasks and criteria for each (T1 to T8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from queries.papers.table import Column, Figure, Form, PaperTable, Row, figure_of, missing
from queries.papers.workbench import JudgeBench
from queries.score.case import TextCase
from queries.score.criteria import Criteria
from queries.score.judge import Judge
from queries.score.metric import Score
from queries.score.talec import Division, Method, Talec, TalecRow, judge_text
from queries.score.talec_report import talec_scores

SPLITS = ("eval", "test")
NO_ARBITRARY = "the task has no criteria with shots in no fixed form (NAME.arbitrary.yaml)"
NO_OTHER = "no other model was named (--other-model NAME)"
NO_TUNED = "no model tuned on the train split was named (--tuned-model NAME; score export)"
NO_INSPECTION = "people say this before their labels are inspected; the set has one label a text"
NO_TEXTS = "people labelled no text of this split"


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its criteria and its texts, which people labelled.

    Attributes:
        arbitrary: The same criteria with shots in no fixed form; None where there are none.
    """

    name: str
    criteria: Criteria
    texts: tuple[TextCase, ...]
    arbitrary: Criteria | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """A way of judging that a table compares.

    Attributes:
        name: As the paper calls it.
        division, method, restates: As ``Talec`` has them.
        judge: Who judges; None where no such model was named.
        is_arbitrary: Whether the shots are those in no fixed form.
        reason: Why nobody judges so, where nobody does.
    """

    name: str
    judge: Judge | None
    division: Division = Division.LABEL
    method: Method = Method.FEW_SHOT
    restates: bool = True
    is_arbitrary: bool = False
    reason: str = ""


class TalecTables:
    """TALEC's tables; judgements that several tables need are made once.

    Args:
        bench: With its judges; the first is the paper's GPT-4.
        tasks: What is judged.
        other: A weaker model, asked with shots; None for none.
        tuned: The same one, tuned on the train split and asked without shots; None for none.
    """

    def __init__(
        self,
        bench: JudgeBench,
        tasks: Sequence[Task],
        /,
        *,
        other: Judge | None = None,
        tuned: Judge | None = None,
    ) -> None:
        self._bench = bench
        self._tasks = tuple(tasks)
        judge = bench.judge
        self._standard = Way("Standard Prompt Paradigm", judge)
        self._undivided = Way("Non-division", judge, Division.SCORE)
        self._by_labels = Way("Non-division", judge, Division.LABELS)
        self._joint = Way("Multi-turn with Zero-shot", judge, method=Method.JOINT)
        self._unrepeated = Way("Non-repetition", judge, restates=False)
        self._arbitrary = Way("Arbitrariness", judge, is_arbitrary=True, reason=NO_ARBITRARY)
        self._other = Way(f"{_name(other)} + ICL", other, reason=NO_OTHER)
        self._tuned = Way(f"{_name(tuned)} + SFT", tuned, method=Method.ZERO_SHOT, reason=NO_TUNED)
        self._judged: dict[tuple[str, Way], tuple[tuple[TalecRow, ...], ...]] = {}

    def makers(self) -> Mapping[str, Callable[[], PaperTable]]:
        """Returns what makes each table, by its id, in the paper's order."""
        standard, named = self._standard, replace
        pairs: Mapping[str, tuple[str, tuple[Way, ...]]] = {
            "table-2": (
                "criteria division",
                (named(standard, name="Standard (Division)"), self._undivided),
            ),
            "table-4": (
                "zero-shot beside few-shot",
                (named(standard, name="Standard (Single-turn wo Zero-shot)"), self._joint),
            ),
            "table-6": (
                "in-context learning and fine-tuning",
                (
                    named(standard, name=f"Standard ({self._bench.judge.model.name} + ICL)"),
                    self._other,
                    self._tuned,
                ),
            ),
            "table-7": (
                "repeating the description",
                (named(standard, name="Standard (Repeat descriptions)"), self._unrepeated),
            ),
            "table-8": (
                "form of the shots",
                (named(standard, name="Standard (Standard Format)"), self._arbitrary),
            ),
        }
        labels = {
            "table-3": ("labels, divided and not", (standard, self._by_labels)),
            "table-5": ("labels, single-turn and multi-turn", (standard, self._joint)),
        }
        overall = {
            "table-10": self._arbitrary,
            "table-11": standard,
            "table-12": self._joint,
            "table-13": self._tuned,
            "table-14": self._other,
            "table-15": self._by_labels,
            "table-16": self._unrepeated,
        }
        makers: dict[str, Callable[[], PaperTable]] = {
            id_: partial(self._correlations, id_, title, ways)
            for id_, (title, ways) in pairs.items()
        }
        makers |= {
            id_: partial(self._labels, id_, title, ways, with_score=False)
            for id_, (title, ways) in labels.items()
        }
        makers["table-9"] = self._inspection
        makers |= {
            id_: partial(self._labels, id_, f"overall results of {way.name}", (way,))
            for id_, way in overall.items()
        }
        return dict(sorted(makers.items(), key=lambda entry: int(entry[0].partition("-")[2])))

    def _correlations(self, id_: str, title: str, ways: Sequence[Way]) -> PaperTable:
        rows = [
            Row(
                (way.name, task.name),
                tuple(self._figure(task, way, split, "Spearman with people") for split in SPLITS),
            )
            for way in ways
            for task in self._tasks
        ]
        return PaperTable(
            id_,
            f"TALEC, Table {id_.partition('-')[2]}: {title}",
            ("Method", "Task"),
            tuple(Column(f"Spearman {split}", Form.CORRELATION) for split in SPLITS),
            tuple(rows),
        )

    def _labels(
        self, id_: str, title: str, ways: Sequence[Way], *, with_score: bool = True
    ) -> PaperTable:
        """Figures of each label; ``with_score`` puts the correlations of the score before them."""
        rows = [
            Row(
                (way.name, task.name, label),
                (
                    *(
                        self._figure(task, way, split, f"{measure} with people")
                        for measure in (("Spearman", "Pearson", "tau-b") if with_score else ())
                        for split in SPLITS
                    ),
                    *(
                        self._figure(task, way, split, f"{label}: {measure}")
                        for measure in ("accuracy", "F1", "precision", "recall")
                        for split in SPLITS
                    ),
                ),
            )
            for way in ways
            for task in self._tasks
            for label in task.criteria.classes
        ]
        headings = [
            *(("Spearman", "Pearson", "Kendall") if with_score else ()),
            *("Acc", "F1", "Precision", "Recall"),
        ]
        return PaperTable(
            id_,
            f"TALEC, Table {id_.partition('-')[2]}: {title}",
            ("Method", "Task", "Label"),
            tuple(
                Column(f"{heading} {split}", Form.CORRELATION)
                for heading in headings
                for split in SPLITS
            ),
            tuple(rows),
            ("Spearman, Pearson and Kendall (tau-b) are of the score, and so of the whole task",)
            if with_score
            else (),
        )

    def _inspection(self) -> PaperTable:
        nobody = missing(NO_INSPECTION)
        return PaperTable(
            "table-9",
            "TALEC, Table 9: people before their labels are inspected",
            ("Task",),
            (Column("Spearman", Form.CORRELATION),),
            tuple(Row((task.name,), (nobody,)) for task in self._tasks),
        )

    def _figure(self, task: Task, way: Way, split: str, name: str) -> Figure:
        if way.judge is None or (way.is_arbitrary and task.arbitrary is None):
            return missing(way.reason)
        scores: list[Score] = []
        for rows in self._rows(task, way):
            part = [row for row in rows if row.split == split]
            known = talec_scores(part, task.criteria.classes)
            scores.append(known.get(name, Score(None, 0, reason=NO_TEXTS)))
        return figure_of(scores)

    def _rows(self, task: Task, way: Way) -> tuple[tuple[TalecRow, ...], ...]:
        """The judgements of each run."""
        unnamed = replace(way, name="")
        key = (task.name, unnamed)
        if key not in self._judged:
            criteria = task.arbitrary if way.is_arbitrary else task.criteria
            assert criteria is not None
            assert way.judge is not None
            self._bench.say(f"{task.name}: {len(task.texts)} texts, {way.name}")
            runs: list[tuple[TalecRow, ...]] = []
            for run in range(self._bench.runs):
                # Run 1 has no random seed, so that it is that of `score talec`.
                judge = replace(way.judge, random_seed=run) if run else way.judge
                by = Talec(judge, criteria, way.division, way.method, way.restates)
                runs.append(
                    self._bench.rows(
                        [text for text in task.texts if text.split in SPLITS],
                        partial(_judged, by=by),
                        TalecRow,
                        id_of=lambda text: text.id,
                    )
                )
            self._judged[key] = tuple(runs)
        return self._judged[key]


def _judged(text: TextCase, /, *, by: Talec) -> TalecRow:
    return judge_text(text, by=by)


def _name(judge: Judge | None) -> str:
    return "another model" if judge is None else judge.model.name
