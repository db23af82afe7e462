"""Reports of TALEC: verdicts against people's, two runs side by side, fine-tuning records (T6, T8)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import orjson

from graph_service.errors import InputError
from graph_service.model.plain import from_plain, to_plain
from queries.datasets.records import Record, read_records
from queries.generate.citations import one_line
from queries.llm import Message
from queries.score.agreement import equal_share, kendall_tau_b, pearson, spearman
from queries.score.case import TextCase
from queries.score.criteria import Criteria, Shot
from queries.score.metric import Score, divide, mean_score, ratio_score
from queries.score.prompts import load_score_prompt
from queries.score.report import Report, make_report
from queries.score.resample import bootstrap_score
from queries.score.talec import (
    ABSENT,
    PRESENT,
    TalecRow,
    final_score,
    label_messages,
    shot_messages,
)

NO_SCORE = "no text could be scored"
NO_HUMAN = "no text has a score by people"
SPLITS = ("train", "eval", "test")


def assign_splits(
    cases: Sequence[TextCase],
    /,
    *,
    shares: tuple[float, float, float] = (0.2, 0.4, 0.4),
    random_seed: int = 0,
) -> tuple[TextCase, ...]:
    """Returns the cases, those without a split in train, eval or test by a hash of their ids (T6).

    The same on every machine, whatever else is in the file.

    Args:
        cases: In any order; a split that a case has stays.
        shares: Of train, eval and test, summing to 1.
        random_seed: Of the draw.

    Raises:
        InputError: The shares do not sum to 1.
    """
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise InputError(
            f"shares of train, eval and test that sum to 1 were expected; {shares} came"
        )
    return tuple(
        case if case.split else replace(case, split=_drawn(case.id, shares, random_seed))
        for case in cases
    )


def _drawn(id_: str, shares: tuple[float, float, float], random_seed: int) -> str:
    drawn = hashlib.blake2b(f"{random_seed}/{id_}".encode(), digest_size=8, person=b"split")
    place = int.from_bytes(drawn.digest(), "big") / 2**64
    if place < shares[0]:
        return SPLITS[0]
    return SPLITS[1] if place < shares[0] + shares[1] else SPLITS[2]


def human_score(human: Mapping[str, float], classes: Mapping[str, bool], /) -> float | None:
    """Returns the score that people gave, else the one that their labels come to (T5).

    None without a score and without a word on every label.
    """
    if "score" in human:
        return human["score"]
    if not classes or any(name not in human for name in classes):
        return None
    return final_score({name: bool(human[name]) for name in classes}, classes)


def label_scores(
    rows: Sequence[TalecRow], name: str, /, *, random_seed: int = 0
) -> dict[str, Score]:
    """Returns accuracy, F1, precision and recall of one label against people (T6).

    Cases that people did not label are unscored; those that could not be judged failed.
    """
    labelled = [row for row in rows if name in row.human]
    pairs = [
        (row.labels[name].present, bool(row.human[name]))
        for row in labelled
        if name in row.labels and row.labels[name].present is not None
    ]
    failed = len(labelled) - len(pairs)
    unscored = len(rows) - len(labelled)

    def ratio(above: list[bool], below: list[bool], empty: str) -> Score:
        return ratio_score(
            [int(hit) for hit in above], [int(counted) for counted in below],
            failed=failed, unscored=unscored, empty=empty, random_seed=random_seed,
        )  # fmt: skip

    both = [bool(said) and wanted for said, wanted in pairs]
    said = [bool(value) for value, _ in pairs]
    wanted = [value for _, value in pairs]
    twice = 2 * np.asarray(both, dtype=np.float64)
    sums = np.asarray(said, dtype=np.float64) + np.asarray(wanted, dtype=np.float64)
    return {
        f"{name}: accuracy": ratio(
            [a == b for a, b in zip(said, wanted, strict=True)], [True] * len(pairs),
            "people labelled no text that was judged",
        ),
        f"{name}: F1": bootstrap_score(
            lambda drawn: divide(drawn @ twice, drawn @ sums),
            len(pairs),
            failed=failed,
            unscored=unscored,
            empty="people labelled no text that was judged",
            undefined="neither people nor the judge find it in any text",
            random_seed=random_seed,
        ),
        f"{name}: precision": ratio(both, said, "the judge finds it in no text"),
        f"{name}: recall": ratio(both, wanted, "people find it in no text"),
    }  # fmt: skip


def talec_scores(
    rows: Sequence[TalecRow], classes: Mapping[str, bool], /, *, random_seed: int = 0
) -> dict[str, Score]:
    """Returns the mean score, its agreement with people, and every label's figures (T6)."""
    failed = sum(row.score is None for row in rows)
    scores: dict[str, Score] = {
        "score (0 to 2)": mean_score(
            [float(row.score) for row in rows if row.score is not None],
            failed=failed,
            empty=NO_SCORE,
            random_seed=random_seed,
        )
    }
    people = [human_score(row.human, classes) for row in rows]
    if any(value is not None for value in people):
        ours = [None if row.score is None else float(row.score) for row in rows]
        for name, measure in (
            ("Spearman", spearman),
            ("Pearson", pearson),
            ("tau-b", kendall_tau_b),
            ("equal", equal_share),
        ):
            scores[f"{name} with people"] = measure(ours, people, random_seed=random_seed)
    for name in classes:
        if any(name in row.human for row in rows):
            if any(name in row.labels for row in rows):
                scores.update(label_scores(rows, name, random_seed=random_seed))
        else:
            known = [row.labels[name].present for row in rows if name in row.labels]
            if known:
                scores[f"{name}: share"] = mean_score(
                    [float(value) for value in known if value is not None],
                    failed=sum(value is None for value in known),
                    random_seed=random_seed,
                )
    return scores


def talec_report(
    rows: Sequence[TalecRow],
    criteria: Criteria,
    /,
    *,
    judged_by: str,
    notes: Sequence[str] = (),
    random_seed: int = 0,
) -> Report:
    """Returns the report of judged texts, over all and by split (T6).

    Args:
        rows: One a text.
        criteria: By which they were judged.
        judged_by: Who judged, and how.
        notes: What a reader should know.
        random_seed: Of the bootstrap.
    """
    classes = criteria.classes

    def summarise(part: Sequence[TalecRow]) -> dict[str, Score]:
        return talec_scores(part, classes, random_seed=random_seed)

    report = make_report("talec", rows, summarise, basis={"judged by": judged_by}, notes=notes)
    splits = {
        name: [row for row in rows if row.split == name]
        for name in SPLITS
        if any(row.split == name for row in rows)
    }
    if len(splits) < 2:
        return report
    by_split = {name: summarise(part) for name, part in splits.items()}
    return replace(report, by={**report.by, "split": by_split})


def shot_notes(cases: Sequence[TextCase], criteria: Criteria, /) -> list[str]:
    """Returns a note where cases are shots of the criteria: their verdicts are given away."""
    shown = {
        (one_line(shot.question), one_line(shot.text))
        for label in criteria.labels
        for shot in label.shots
    }
    same = [
        case.id
        for case in cases
        if (one_line(case.question), one_line(case.cited or case.text)) in shown
    ]
    if not same:
        return []
    return [f"{len(same)} cases are shots of the criteria themselves, such as {same[0]}"]


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
        said = ""
        if self.human is not None:
            judged = {True: ", better", False: ", worse", None: ""}[self.closer]
            said = f" (people: {self.human:g}{judged})"
        return f"{self.id} {self.name}: {shown[0]} -> {shown[1]}{said}"


@dataclass(frozen=True, slots=True)
class RunsCompared:
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

    def lines(self) -> list[str]:
        """Returns the comparison for people."""
        shown = [f"{self.cases} texts in both runs"]
        if self.only_first or self.only_second:
            shown.append(
                f"{self.only_first} in the first alone, {self.only_second} in the second alone"
            )
        width = max(len(name) for name in self.first)
        for name, score in self.first.items():
            other = self.second[name]
            moved = ""
            if score.value is not None and other.value is not None:
                moved = f"  {other.value - score.value:+.3f}"
            before = "none" if score.value is None else f"{score.value:.3f}"
            after = "none" if other.value is None else f"{other.value:.3f}"
            shown.append(f"{name:<{width}}  {before:>6} -> {after:>6}{moved}")
        shown.append(f"{len(self.changed)} verdicts changed")
        shown.extend(f"  {change.text()}" for change in self.changed)
        return shown


def compare_runs(
    first: Sequence[TalecRow],
    second: Sequence[TalecRow],
    classes: Mapping[str, bool],
    /,
    *,
    random_seed: int = 0,
) -> RunsCompared:
    """Returns two runs side by side over the texts that both have, with what changed (T6).

    Args:
        first: Rows of the run before shots were adjusted.
        second: Rows of the run after.
        classes: Whether each label is unacceptable, by name.
        random_seed: Of the bootstrap.

    Raises:
        InputError: They have no text in common.
    """
    before = {row.id: row for row in first}
    after = {row.id: row for row in second}
    ids = sorted(before.keys() & after.keys())
    if not ids:
        raise InputError("the two runs have no case in common; were they of the same file?")
    changed: list[Changed] = []
    for id_ in ids:
        one, other = before[id_], after[id_]
        # People's words are taken from the later run: labels are mended while shots are adjusted.
        human = other.human
        pairs = [
            (name, _number(one, name), _number(other, name), human.get(name)) for name in classes
        ]
        pairs.append(
            (
                "score",
                None if one.score is None else float(one.score),
                None if other.score is None else float(other.score),
                human_score(human, classes),
            )
        )
        for name, old, new, wanted in pairs:
            if old != new:
                changed.append(Changed(id_, name, old, new, wanted, _closer(old, new, wanted)))
    left = [replace(before[id_], human=after[id_].human) for id_ in ids]
    right = [after[id_] for id_ in ids]
    scores = [talec_scores(rows, classes, random_seed=random_seed) for rows in (left, right)]
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


def _closer(old: float | None, new: float | None, wanted: float | None) -> bool | None:
    if old is None or new is None or wanted is None or abs(old - wanted) == abs(new - wanted):
        return None
    return abs(new - wanted) < abs(old - wanted)


def read_run(path: str, /) -> tuple[TalecRow, ...]:
    """Returns the rows that ``score talec --out`` wrote, the last one of each id.

    Raises:
        InputError: The file holds something else; names the line.
    """
    found: dict[str, TalecRow] = {}
    for record in read_records(path):
        row = _row_of(record)
        found[row.id] = row
    if not found:
        raise InputError(f"{path} holds no judged text", argument="run")
    return tuple(found.values())


def _row_of(record: Record) -> TalecRow:
    if "row" not in record.fields:
        raise record.error("row", "a text judged by `score talec --out`")
    try:
        return from_plain(TalecRow, record.fields["row"])
    except InputError as error:
        raise InputError(f"{record.where}: {error.message}") from error


@dataclass(frozen=True, slots=True)
class TuningRecord:
    """One labelled case as a conversation, for fine-tuning (T8)."""

    messages: tuple[Message, ...]

    def to_json(self) -> str:
        """Returns it as one line of JSON, ``{"messages": [...]}``."""
        return orjson.dumps(to_plain(self)).decode()


def tuning_records(
    criteria: Criteria,
    cases: Sequence[TextCase],
    /,
) -> tuple[TuningRecord, ...]:
    """Returns the labelled data as fine-tuning records, one a text and label (T8).

    The shots come first, then the cases that people labelled, in their order; the reply has the form
    that the judge is asked for. A case's verdict without a reason has the line of its judgement left out.

    Args:
        criteria: With shots.
        cases: With ``human`` labels, and perhaps reasons; a label that people did not give makes no record.
    """
    found: list[TuningRecord] = []
    for label in criteria.labels:
        for shot in label.shots:
            system, *_ = label_messages(criteria, label, _case_of(shot), shots=False)
            found.append(TuningRecord((system, *shot_messages(label, shot))))
    for case in cases:
        for label in criteria.labels:
            if label.name not in case.human or case.failure is not None:
                continue
            asked = label_messages(criteria, label, case, shots=False)
            reason = case.reasons.get(label.name, "")
            (told,) = load_score_prompt("talec-shot").render(
                title=label.title,
                description=one_line(label.description),
                reason=one_line(reason) or "-",
                verdict=f"[[{PRESENT if case.human[label.name] else ABSENT}]]",
            )
            content = told.content
            if not reason.strip():
                content = "\n".join(
                    line for line in content.splitlines() if not line.startswith("Judgement: ")
                )
            found.append(TuningRecord((*asked, Message(told.role, content))))
    return tuple(found)


def _case_of(shot: Shot) -> TextCase:
    return TextCase("", shot.question, shot.text, knowledge=shot.knowledge, cited=shot.text)
