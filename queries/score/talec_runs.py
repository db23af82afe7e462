"""Two runs of TALEC side by side, while shots are adjusted (T6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph_service.errors import InputError
from graph_service.model.serialise import from_plain
from queries.datasets.records import Record, read_records
from queries.score.metric import Score
from queries.score.report import Part, Report, Section
from queries.score.talec import TalecRow
from queries.score.talec_report import human_score, talec_scores


@dataclass(frozen=True, slots=True)
class Changed:
    """A verdict or a score that two runs give differently.

    Attributes:
        name: A label, or ``score``.
        human: What people say, where they do.
        closer: Whether the second run is closer to people than the first; None where unknown.
    """

    id: str
    name: str
    first: float | None
    second: float | None
    human: float | None
    closer: bool | None

    def text(self) -> str:
        """Returns ``q7 score: 2 -> 0 (people: 0, better)``."""
        shown = ["none" if value is None else f"{value:g}" for value in (self.first, self.second)]
        judged_text = ""
        if self.human is not None:
            judged = {True: ", better", False: ", worse", None: ""}[self.closer]
            judged_text = f" (people: {self.human:g}{judged})"
        return f"{self.id} {self.name}: {shown[0]} -> {shown[1]}{judged_text}"


@dataclass(frozen=True, slots=True)
class RunsCompared(Report):
    """Two runs over the same texts, side by side (T6).

    Attributes:
        cases: Texts that both runs have; ``only_first`` and ``only_second`` are in no figure.
        first, second: The scores of each over those texts.
        changed: What they judge differently, in the order of ids.
    """

    cases: int
    only_first: int
    only_second: int
    first: Mapping[str, Score]
    second: Mapping[str, Score]
    changed: tuple[Changed, ...]

    def parts(self) -> Iterator[Part]:
        """Yields which texts are compared, the scores of both runs, and what changed."""
        yield f"{self.cases} texts in both runs"
        if self.only_first or self.only_second:
            yield f"{self.only_first} in the first alone, {self.only_second} in the second alone"
        yield {name: _moved(score, self.second[name]) for name, score in self.first.items()}
        yield Section(
            f"{len(self.changed)} verdicts changed",
            tuple(change.text() for change in self.changed),
        )


def _moved(first: Score, second: Score) -> str:
    """The two scores, and how far they are apart where both have a value."""
    text = f"{first.text()} -> {second.text()}"
    if first.value is None or second.value is None:
        return text
    return f"{text}  {second.value - first.value:+.3f}"


def compare_runs(
    first: Sequence[TalecRow],
    second: Sequence[TalecRow],
    classes: Mapping[str, bool],
    /,
) -> RunsCompared:
    """Returns two runs side by side over the texts that both have, with what changed (T6).

    Args:
        first: Rows of the run before shots were adjusted.
        second: Rows of the run after.
        classes: Whether each label is unacceptable, by name.

    Raises:
        InputError: They have no text in common.

    >>> from queries.score.report import Groups
    >>> before = TalecRow("7", Groups(), "eval", {}, 2, {"score": 0.0})
    >>> compared = compare_runs([before], [replace(before, score=0)], {})
    >>> [change.text() for change in compared.changed]
    ['7 score: 2 -> 0 (people: 0, better)']
    """
    before = {row.id: row for row in first}
    after = {row.id: row for row in second}
    ids = sorted(before.keys() & after.keys())
    if not ids:
        raise InputError("the two runs have no case in common; were they of the same file?")
    changed: list[Changed] = []
    for id_ in ids:
        earlier, other = before[id_], after[id_]
        # People's words are taken from the later run: labels are mended while shots are adjusted.
        human = other.human
        # A run that asks for the score directly judges no label: that is no change of one.
        pairs = [
            (name, _number(earlier, name), _number(other, name), human.get(name))
            for name in classes
            if name in earlier.labels and name in other.labels
        ]
        pairs.append(
            (
                "score",
                None if earlier.score is None else float(earlier.score),
                None if other.score is None else float(other.score),
                human_score(human, classes),
            )
        )
        for name, old, new, people in pairs:
            if old != new:
                changed.append(Changed(id_, name, old, new, people, _closer(old, new, people)))
    left = [replace(before[id_], human=after[id_].human) for id_ in ids]
    right = [after[id_] for id_ in ids]
    scores = [talec_scores(rows, classes) for rows in (left, right)]
    names = [name for name in scores[0] if name in scores[1]]
    return RunsCompared(
        len(ids),
        len(before) - len(ids),
        len(after) - len(ids),
        {name: scores[0][name] for name in names},
        {name: scores[1][name] for name in names},
        tuple(changed),
    )


def _number(row: TalecRow, name: str) -> float | None:
    verdict = row.labels.get(name)
    return None if verdict is None or verdict.present is None else float(verdict.present)


def _closer(old: float | None, new: float | None, people: float | None) -> bool | None:
    if old is None or new is None or people is None or abs(old - people) == abs(new - people):
        return None
    return abs(new - people) < abs(old - people)


def read_run(path: str, /) -> tuple[TalecRow, ...]:
    """Returns the rows that ``score talec --out`` wrote, the last one of each id.

    Raises:
        InputError: The file holds something else; names the line.
    """
    rows: dict[str, TalecRow] = {}
    for record in read_records(path):
        row = _row_of(record)
        rows[row.id] = row
    if not rows:
        raise InputError(f"{path} holds no judged text", argument="run")
    return tuple(rows.values())


def _row_of(record: Record) -> TalecRow:
    if "row" not in record.fields:
        raise record.error("row", "a text judged by `score talec --out`")
    try:
        return from_plain(TalecRow, record.fields["row"])
    except InputError as error:
        raise InputError(
            f"{record.where}: a text judged by `score talec --out` was expected; {error.message}"
        ) from error
