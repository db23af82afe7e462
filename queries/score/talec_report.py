"""Reports of TALEC: splits, and verdicts against people's (T6)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from graph_service.errors import InputError
from queries.generate.citations import one_line
from queries.score.agreement import equal_share, kendall_tau_b, pearson, spearman
from queries.score.case import TextCase
from queries.score.criteria import Criteria
from queries.score.metric import Score, divide, mean_score, ratio_score
from queries.score.report import CaseReport, make_report
from queries.score.resample import bootstrap_score
from queries.score.talec import (
    TalecRow,
    final_score,
)

NO_SCORE = "no text could be scored"
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
        case if case.split else replace(case, split=_sampled_split(case.id, shares, random_seed))
        for case in cases
    )


def _sampled_split(id_: str, shares: tuple[float, float, float], random_seed: int) -> str:
    hashed = hashlib.blake2b(f"{random_seed}/{id_}".encode(), digest_size=8, person=b"split")
    position = int.from_bytes(hashed.digest(), "big") / 2**64
    if position < shares[0]:
        return SPLITS[0]
    return SPLITS[1] if position < shares[0] + shares[1] else SPLITS[2]


def human_score(human: Mapping[str, float], classes: Mapping[str, bool], /) -> float | None:
    """Returns the score that people gave, else the one that their labels come to (T5).

    None without a score and without a word on every label.
    """
    if "score" in human:
        return human["score"]
    if not classes or any(name not in human for name in classes):
        return None
    return final_score({name: bool(human[name]) for name in classes}, classes)


def label_scores(rows: Sequence[TalecRow], name: str, /) -> dict[str, Score]:
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
            failed=failed, unscored=unscored, empty=empty,
        )  # fmt: skip

    both = [bool(predicted) and actual for predicted, actual in pairs]
    judged = [bool(value) for value, _ in pairs]
    people = [value for _, value in pairs]
    twice = 2 * np.asarray(both, dtype=np.float64)
    sums = np.asarray(judged, dtype=np.float64) + np.asarray(people, dtype=np.float64)
    return {
        f"{name}: accuracy": ratio(
            [a == b for a, b in zip(judged, people, strict=True)], [True] * len(pairs),
            "people labelled no text that was judged",
        ),
        f"{name}: F1": bootstrap_score(
            lambda resampled: divide(resampled @ twice, resampled @ sums),
            len(pairs),
            failed=failed,
            unscored=unscored,
            empty="people labelled no text that was judged",
            undefined="neither people nor the judge find it in any text",
        ),
        f"{name}: precision": ratio(both, judged, "the judge finds it in no text"),
        f"{name}: recall": ratio(both, people, "people find it in no text"),
    }  # fmt: skip


def talec_scores(rows: Sequence[TalecRow], classes: Mapping[str, bool], /) -> dict[str, Score]:
    """Returns the mean score, its agreement with people, and every label's figures (T6)."""
    failed = sum(row.score is None for row in rows)
    scores: dict[str, Score] = {
        "score (0 to 2)": mean_score(
            [float(row.score) for row in rows if row.score is not None],
            failed=failed,
            empty=NO_SCORE,
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
            scores[f"{name} with people"] = measure(ours, people)
    for name in classes:
        if any(name in row.human for row in rows):
            if any(name in row.labels for row in rows):
                scores.update(label_scores(rows, name))
        else:
            known = [row.labels[name].present for row in rows if name in row.labels]
            if known:
                scores[f"{name}: share"] = mean_score(
                    [float(value) for value in known if value is not None],
                    failed=sum(value is None for value in known),
                )
    return scores


def talec_report(
    rows: Sequence[TalecRow],
    criteria: Criteria,
    /,
    *,
    judged_by: str,
    notes: Sequence[str] = (),
) -> CaseReport:
    """Returns the report of judged texts, over all and by split (T6).

    Args:
        rows: One a text.
        criteria: By which they were judged.
        judged_by: Who judged, and how.
        notes: What a reader should know.

    >>> from queries.score.criteria import load_criteria
    >>> from queries.score.report import Groups
    >>> rows = [
    ...     TalecRow("1", Groups(), "eval", {}, 2, {"score": 2.0}),
    ...     TalecRow("2", Groups(), "eval", {}, 0, {"score": 1.0}),
    ...     TalecRow("3", Groups(), "eval", {}, None, failure="unreadable"),
    ... ]
    >>> report = talec_report(rows, load_criteria(), judged_by="rule")
    >>> report.score("score (0 to 2)").value, report.score("score (0 to 2)").failed
    (1.0, 1)
    >>> report.score("equal with people").value
    0.5
    """
    classes = criteria.classes

    def summarise(part: Sequence[TalecRow]) -> dict[str, Score]:
        return talec_scores(part, classes)

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
