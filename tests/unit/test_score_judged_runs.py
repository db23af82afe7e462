"""Agreement of judges from the rows that their runs wrote (O14)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from error_texts import raises

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.datasets.judged_runs import ratings_of_runs
from queries.score.agreement import RatedCase, agreement
from queries.score.entailment import Judgement
from queries.score.entailment_score import EntailmentRow
from queries.score.facts import Fact, FactsRow
from queries.score.geval import GEvalRow, QualityScore
from queries.score.report import Groups
from queries.score.talec import TalecRow

NO = Groups()


def run(folder: Path, name: str, kind: str, rows: Sequence[Any]) -> str:
    file = folder / f"{name}.jsonl"
    file.write_text(
        "\n".join(json.dumps({"basis": f"{kind} by {name}", "row": to_plain(row)}) for row in rows)
    )
    return str(file)


def pair(id_: str, entailed: bool | None, gold: bool | None = None) -> EntailmentRow:
    failure = "timeout" if entailed is None else None
    score = None if entailed is None else float(entailed)
    return EntailmentRow(id_, "", NO, gold, Judgement(entailed, score), "", failure)


def test_verdicts_on_one_fixed_set_of_facts_o14(tmp_path: Path) -> None:
    one = run(tmp_path, "one", "entailment", [pair("1", True), pair("2", False), pair("3", True),
                                              pair("4", None), pair("4", True)])  # fmt: skip
    two = run(tmp_path, "two", "entailment", [pair("1", True), pair("2", True), pair("3", True),
                                              pair("4", False), pair("5", True)])  # fmt: skip
    cases = ratings_of_runs([one, two])
    assert cases[3] == RatedCase("4", {"one": True, "two": False}, "4")
    report = agreement(cases)
    # Both judged 1 to 4 and agree on 1 and 3; the fifth only one of them has.
    assert (report.cases, report.unscored) == (4, 1)
    assert report.pairs[0].scores["equal"].value == 0.5
    people = run(tmp_path, "three", "entailment", [pair("1", True, True), pair("2", False, True)])
    assert agreement(ratings_of_runs([people])).raters == ("people", "three")


def test_ratings_facts_and_scores_become_ratings(tmp_path: Path) -> None:
    rated = GEvalRow("1", NO, {"fluency": QualityScore((4.0, 5.0))}, {"fluency": 3.0})
    assert ratings_of_runs([run(tmp_path, "g", "geval", [rated])]) == (
        RatedCase("1/fluency", {"g": 4.5, "people": 3.0}, "1"),
    )
    facts = FactsRow("1", NO, (Fact("Ada sang.", 0, True), Fact("Ada slept.", 1, None)))
    assert [case.ratings for case in ratings_of_runs([run(tmp_path, "f", "safe", [facts])])] == [
        {"f": True}, {}
    ]  # fmt: skip
    judged = TalecRow("1", NO, "eval", {}, 1, {"score": 2})
    file = run(tmp_path, "t", "talec", [judged])
    assert ratings_of_runs([file])[0].ratings == {"t": 1, "people": 2}
    with raises(InputError):
        ratings_of_runs([file, run(tmp_path, "f", "factscore", [facts])])
    with raises(InputError):
        ratings_of_runs([file, file])
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": 1}')
    with raises(InputError):
        ratings_of_runs([bad])
