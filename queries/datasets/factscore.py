"""FActScore's biographies with facts that people labelled (Min et al., 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from queries.datasets.records import Record
from queries.score.facts import Fact, FactsRow
from queries.score.report import Groups

LABELS = ("S", "NS", "IR")


def is_factscore(record: Record, /) -> bool:
    """Returns whether a record is one of FActScore's."""
    return "annotations" in record.fields and "topic" in record.fields


def factscore_row(record: Record, /) -> FactsRow:
    """Returns one biography's facts as people labelled them: supported, not supported, irrelevant.

    A biography without annotations is one that the model would not write.
    """
    annotations = record.fields["annotations"]
    if annotations is None:
        return FactsRow(record.text("topic"), _groups(record), ())
    if not isinstance(annotations, list):
        raise record.error("annotations", "a list or null")
    facts: list[Fact] = []
    for index, sentence in enumerate(annotations):
        listed = sentence.get("human-atomic-facts") if isinstance(sentence, dict) else 0
        if listed is None:
            continue
        if not isinstance(listed, list):
            raise record.error("annotations", "objects with a list human-atomic-facts")
        facts.extend(_fact(record, fact, index) for fact in listed)
    return FactsRow(record.text("topic"), _groups(record), tuple(facts))


def _fact(record: Record, fact: Any, sentence: int) -> Fact:
    if not isinstance(fact, Mapping) or fact.get("label") not in LABELS:
        raise record.error("annotations", f"facts with a text and a label of {', '.join(LABELS)}")
    label = fact["label"]
    return Fact(str(fact.get("text", "")), sentence, label == "S", label != "IR")


def _groups(record: Record) -> Groups:
    """A person's rarity is the level: FActScore takes it from page views, as LTGen does."""
    rarity, *_ = *record.texts("cat"), ""
    return Groups(level=rarity)
