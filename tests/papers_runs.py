"""Sets and a rule that the tests of the papers' tables share."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from openai_stand_in import Scripted, by_rule, ok

from queries.datasets.demo_set import demo_questions

IDS = ("one-01", "one-03", "one-04", "two-01")
GOLD = {question.id: question for question in demo_questions()}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def question_rows(*ids: str, suffix: str = "", **fields: Any) -> list[dict[str, Any]]:
    """Questions of the demo as lines of a file."""
    return [
        {
            "id": f"{id_}{suffix}",
            "question": GOLD[id_].question,
            "kind": f"level {'I' if id_ == 'one-01' else 'IV'}",
            "entity_ids": GOLD[id_].entity_ids,
            "statement_ids": GOLD[id_].statement_ids,
            "answers": GOLD[id_].answers,
            **fields,
        }
        for id_ in ids or IDS
    ]


def passage_rows() -> list[dict[str, Any]]:
    """One passage a question, which says its answer."""
    return [
        {"id": id_, "title": "", "text": f"{GOLD[id_].question} {GOLD[id_].answers[0]}."}
        for id_ in IDS
    ]


def spoken(body: dict[str, Any]) -> Scripted:
    """The stand-in's rule, and where a prompt shows knowledge its lines said again.

    A judge supports a fact if its evidence has its last word, entails a reference whose last word
    is said, and rates by the length of the text. A text with A2 has the fault ``wrong-model``.
    """
    asked = body["messages"][-1]["content"]
    whole = "\n".join(part["content"] for part in body["messages"])
    hypothesis = re.search(r"^Premise: (.*)\n+Hypothesis: (.*)$", whole, re.MULTILINE)
    fact = re.search(r"^Statement: (.+)$", asked, re.MULTILINE)
    if hypothesis:
        is_said = hypothesis[2].rstrip(".").split()[-1] in hypothesis[1]
        return ok(f"[[{'entailment' if is_said else 'contradiction'}]]")
    if fact and "[[supported]]" in whole:
        evidence = asked.replace(fact[0], "")
        last = fact[1].strip(" .").split()[-1]
        return ok(f"[[{'supported' if last in evidence else 'unsupported'}]]")
    if "\nText: " in asked and "[[A]]" in whole:
        return ok(f"It says so. [[{'A' if 'A2' in asked else 'B'}]]")
    if not re.search(r"\[\[|Rating for|^Sentence: ", whole, re.MULTILINE):
        facts = re.findall(r"^.*? \| (.+?) \| (.+)$", whole, re.MULTILINE)
        if facts and not asked.startswith("[") and "Relations:" not in asked:
            words = " ".join(f"The {name} is {value}." for name, value in facts[:3])
            return ok(f"ANSWER: {words}" if "ANSWER:" in whole else words)
    return by_rule(body)
