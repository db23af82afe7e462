"""Whole reports of every score over made files, as recorded: figures, intervals, counts, notes.

One test a run, so that a run of one score waits for no other.

``tests/golden/score_reports.json`` holds them to be read in a review. To record anew:
``GRAPH_SERVICE_UPDATE_SCORES=1 pytest tests/unit/test_score_recorded.py``, and read what differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli, Run
from openai_stand_in import Scripted, by_rule, ok, stand_in

from queries.score.agreement import MEASURES

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "score_reports.json"
WORDS = [
    "Ada",
    "Bea",
    "Rome",
    "Oslo",
    "sang",
    "wrote",
    "was",
    "born",
    "in",
    "a",
    "city",
    "of",
    "the",
    "north",
    "and",
    "south",
]
CRITERIA = """\
task: Say who it is.
labels:
  - name: wrong
    title: Wrong
    class: unacceptable
    description: It is wrong.
  - name: odd
    title: Odd
    class: acceptable
    description: It is odd.
rules:
  - {name: long, title: Long, class: acceptable, measure: words, most: 4}
"""


def sentence(draw: random.Random, most: int = 9) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, most)))


def ratings() -> list[dict[str, Any]]:
    draw = random.Random(1)
    rows = []
    for place in range(24):
        first = draw.randrange(1, 6)
        rated: dict[str, Any] = {
            "a": first,
            "b": max(1, first - draw.randrange(3)),
            "c": draw.random(),
        }
        if place % 7 == 3:
            del rated["b"]
        rows.append({"id": place, "ratings": rated, "system": "xyz"[place % 3]})
    return rows


def pairs() -> list[dict[str, Any]]:
    draw = random.Random(2)
    kinds = ("entailment", "neutral", "contradiction")
    rows = []
    for place in range(30):
        premise = sentence(draw)
        near = premise.rsplit(" ", 1)[0] if place % 3 == 0 else sentence(draw)
        row = {"id": str(place), "premise": premise, "hypothesis": near, "level": "I" * (place % 4)}
        rows.append(row | ({"label": kinds[place % 3]} if place % 5 else {}))
    return rows


def known() -> list[dict[str, Any]]:
    draw = random.Random(3)
    names = ["Rome", "Oslo", "Ada Lee", "1980", "C++"]
    return [
        {"id": str(place), "text": f"{sentence(draw)} {draw.choice(names)}.",
         "answers": [[draw.choice(names), "Roma"], [draw.choice(names)]][: 1 + place % 2],
         "level": ["I", "II", "IV"][place % 3], "references": [place % 3, 4],
         "oracle": [["Q1", "P19"], ["Q2", "P2"]], "reference": [["Q1", "P19"], [f"Q{place}", "P1"]]}
        for place in range(18)
    ]  # fmt: skip


def cited() -> list[dict[str, Any]]:
    draw = random.Random(4)
    facts = [
        ["Q1", "place of birth", "Rome"],
        ["Q1", "occupation", "painter"],
        ["Q2", "pet", "cat"],
    ]
    rows = []
    for place in range(16):
        parts = []
        for _ in range(draw.randrange(1, 4)):
            head, relation, value = draw.choice(facts)
            said = draw.choice([value, value.upper(), "dog"])
            mark = f"[{head}, {relation}: {said}]" if draw.random() < 0.7 else "[NA]"
            parts.append(f"{sentence(draw)} {mark}.")
        rows.append(
            {"id": str(place), "text": " ".join(parts) if place % 6 else "Nothing is known.",
             "knowledge": facts[: 1 + place % 3], "gold": facts[place % 2 :],
             "absent": facts[2:] if place % 2 else [], "answers": [["Rome", "Roma"]],
             "question": f"Who is {place}?"}
        )  # fmt: skip
    return rows


def texts() -> list[dict[str, Any]]:
    draw = random.Random(5)
    return [
        {"id": str(place), "question": "Who?", "text": f"{sentence(draw)}. {sentence(draw)}.",
         "evidence": [sentence(draw) for _ in range(3)], "knowledge": [f"{sentence(draw)} | is | it"],
         "context": sentence(draw)}
        for place in range(4)
    ]  # fmt: skip


def labelled() -> list[dict[str, Any]]:
    draw = random.Random(6)
    return [
        {"id": str(place), "question": "Who?", "text": sentence(draw), "split": "eval",
          "human": {"wrong": place % 3 == 0, "odd": place % 2, "long": place % 5 == 0}}
        for place in range(9)
    ]  # fmt: skip


def answers_in_turn(*given: str) -> Callable[[dict[str, Any]], Scripted]:
    """A judge that goes through some replies again and again, by what it is asked."""

    def reply(body: dict[str, Any]) -> Scripted:
        asked = json.dumps(body["messages"], sort_keys=True)
        return ok(given[sum(asked.encode()) % len(given)])

    return reply


def unsplit() -> list[dict[str, Any]]:
    rows = [{**row, "id": f"{place}/{row['id']}"} for place in range(2) for row in labelled()]
    return [{name: row[name] for name in row if name != "split"} for row in rows]


def others() -> list[dict[str, Any]]:
    return [row for row in texts() if row["id"] != "0"]


def facts_in_turn(body: dict[str, Any]) -> Scripted:
    """Replies of each kind that SAFE asks for, made of what it asks; some cannot be read."""
    asked = "\n".join(message["content"] for message in body["messages"])
    said = body["messages"][-1]["content"].rpartition(": ")[2].rstrip(".").split()
    first, last = " ".join(said[:3]), " ".join(said[-2:])
    if "[[relevant]]" in asked:
        given = [*["[[relevant]]", "[[irrelevant]]", "[[relevant]]"] * 4, "Perhaps."]
    elif "[[supported]]" in asked:
        given = [*["[[supported]]", "[[unsupported]]", "[[supported]]"] * 3, "Perhaps."]
    elif "Sentence: " in body["messages"][-1]["content"]:
        given = [f"- {first}.\n- {last}.", f"- {last}.\n- {first}.\n- Ada sang."]
    else:
        given = [*[f"{first}.", f"{last}.", "Oslo of the south"] * 3, "two\nlines"]
    return ok(given[hashlib.blake2b(asked.encode()).digest()[0] % len(given)])


FILES: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "ratings": ratings,
    "pairs": pairs,
    "known": known,
    "cited": cited,
    "texts": texts,
    "labelled": labelled,
    "unsplit": unsplit,
    "others": others,
}
OTHERS = ("compare", "export")
FACTS = (
    "- Ada sang.\n- Bea wrote.",
    "- Rome is a city.",
    "none",
    "[[supported]]",
    "[[unsupported]]",
)
# By name: the arguments, and the judge's replies where one is asked.
RUNS: dict[str, tuple[list[str], Callable[[dict[str, Any]], Scripted] | None]] = {
    "agreement": (["agreement", "ratings.jsonl"], None),
    "agreement by group": (["agreement", "ratings.jsonl", "--groups", "system"], None),
    "overlap": (["entailment", "pairs.jsonl"], None),
    "overlap calibrated": (["entailment", "pairs.jsonl", "--calibrate", "pairs.jsonl"], None),
    "entailment": (
        ["entailment", "pairs.jsonl", "--judge", "model"],
        answers_in_turn("[[entailment]]", "[[neutral]]", "Well. [[contradiction]]", "?"),
    ),
    "knowledge": (["knowledge", "known.jsonl", "--k", "1", "--k", "2"], None),
    "citations": (["citations", "cited.jsonl"], None),
    "citations folded": (["citations", "cited.jsonl", "--fold-case"], None),
    "not available": (["na", "cited.jsonl"], None),
    "factscore": (["factscore", "texts.jsonl", "--k", "2"], answers_in_turn(*FACTS)),
    "safe": (["safe", "texts.jsonl"], by_rule),
    "geval": (["geval", "texts.jsonl", "--runs", "2"], answers_in_turn("4", "2", "5 of 5", "x")),
    "geval okgqa": (
        ["geval", "texts.jsonl", "--preset", "okgqa", "--weighting", "sampling", "--samples", "2"],
        answers_in_turn("7", "3", "10"),
    ),
    "talec": (
        ["talec", "labelled.jsonl", "--criteria", "own.yaml", "--method", "zero-shot"],
        answers_in_turn("[[A]]", "[[B]]"),
    ),
    "talec in one": (
        ["talec", "labelled.jsonl", "--criteria", "own.yaml", "--method", "few-shot",
         "--split", "eval"],
        answers_in_turn("[[B]]", "[[A]]", "[[B]]"),
    ),
    "talec joint": (
        ["talec", "labelled.jsonl", "--criteria", "own.yaml"],
        answers_in_turn("[[A]]", "[[B]]", "Perhaps.", "[[B]]", "It is so. [[A]]"),
    ),
    "talec of all labels": (
        ["talec", "unsplit.jsonl", "--criteria", "own.yaml", "--by", "labels",
         "--split-shares", "20,40,40"],
        answers_in_turn("[[none]]", "[[wrong]]", "[[odd]]", "[[odd]] [[wrong]]", "[[long]]"),
    ),
    "talec of the score": (
        ["talec", "labelled.jsonl", "--criteria", "own.yaml", "--by", "score"],
        answers_in_turn("[[2]]", "[[0]]", "[[1]]", "[[3]]", "[[2]]"),
    ),
    "alignment": (["entailment", "cited.jsonl"], None),
    "alignment by a model": (
        ["entailment", "cited.jsonl", "--judge", "model"],
        answers_in_turn("[[entailment]]", "[[neutral]]", "[[contradiction]]", "[[entailment]]", "?"),
    ),
    "not available, lenient": (
        ["na", "cited.jsonl", "--lenient"],
        answers_in_turn("[[answers]]", "[[beside]]", "[[beside]]", "[[answers]]", "Neither."),
    ),
    "safe with faults": (
        ["safe", "texts.jsonl", "--searches", "2", "--texts", "1"], facts_in_turn
    ),
    "two files by one K": (
        ["factscore", "texts.jsonl", "others.jsonl"], answers_in_turn(*FACTS)
    ),
    "geval by sampling": (
        ["geval", "texts.jsonl", "--weighting", "sampling", "--samples", "3", "--runs", "2",
         "--quality", "fluency", "--quality", "consistency", "--scale", "2-7", "--random-seed", "5"],
        answers_in_turn("4", "2", "7", "1", "x", "3"),
    ),
    "geval without log-probabilities": (
        ["geval", "texts.jsonl", "--weighting", "logprobs", "--runs", "1"], answers_in_turn("4")
    ),
    "every measure": (
        ["agreement", "ratings.jsonl",
         *(part for name in MEASURES for part in ("--measure", name))],
        None,
    ),
}  # fmt: skip


def plain(value: Any) -> Any:
    """Figures to nine digits: those after them are the machine's."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return round(value, 9) if isinstance(value, float) else value


@pytest.fixture
def score(cli: Cli, tmp_path: Path) -> Callable[..., Run]:
    """Scores the made files, of which one run is given at a time."""
    (tmp_path / "own.yaml").write_text(CRITERIA, encoding="utf-8")
    for name, rows in FILES.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows())
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return lambda *arguments: cli("score", *arguments)


def expect(name: str, found: dict[str, Any]) -> None:
    """Compares one run with what was recorded, or records it."""
    whole = json.loads(GOLDEN.read_text(encoding="utf-8"))
    if os.environ.get("GRAPH_SERVICE_UPDATE_SCORES"):
        whole[name] = found
        shown = {key: whole[key] for key in (*RUNS, *OTHERS) if key in whole}
        GOLDEN.write_text(json.dumps(shown, indent=1, ensure_ascii=False) + "\n")
    assert found == whole[name]


@pytest.mark.parametrize("name", RUNS)
def test_a_report_is_the_one_recorded(score: Callable[..., Run], name: str) -> None:
    arguments, judge = RUNS[name]
    with stand_in(judge or ok("never")) as server:
        model = ["--model", "judge", "--model-url", server.url] if judge else []
        done = score(*arguments, *model, "--json")
        assert done.out, done.err
        asked = len(server.requests)
        words = score(*arguments, *model).out
    expect(name, {"json": plain(json.loads(done.out)), "asked": asked, "words": words.splitlines()})


def test_two_runs_are_compared_as_recorded(score: Callable[..., Run]) -> None:
    for out, name in (("one.jsonl", "talec"), ("two.jsonl", "talec in one")):
        arguments, judge = RUNS[name]
        assert judge is not None
        with stand_in(judge) as server:
            score(*arguments, "--model", "judge", "--model-url", server.url, "--out", out)
    compared = ["compare", "one.jsonl", "two.jsonl", "--criteria", "own.yaml"]
    words = score(*compared).out
    found = plain(json.loads(score(*compared, "--json").out))
    expect("compare", {"json": found, "words": words.splitlines()})


def test_labelled_texts_are_exported_as_recorded(score: Callable[..., Run], tmp_path: Path) -> None:
    score("export", "labelled.jsonl", "--criteria", "own.yaml", "--out", "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    expect("export", {"json": [json.loads(line) for line in lines]})


def test_what_was_recorded_is_what_is_run() -> None:
    assert [*json.loads(GOLDEN.read_text(encoding="utf-8"))] == [*RUNS, *OTHERS]
