"""WiCE: claims of Wikipedia with evidence, and whether it supports them (Kamoi et al., 2023)."""

from __future__ import annotations

from queries.datasets.records import Record
from queries.score.entailment import Pair, Relation
from queries.score.entailment_score import EntailmentCase

LABELS = ("supported", "partially_supported", "not_supported")


def is_wice(record: Record, /) -> bool:
    """Returns whether a record is one of WiCE's."""
    return isinstance(record.fields.get("claim"), str) and "evidence" in record.fields


def wice_case(record: Record, /) -> EntailmentCase:
    """Returns a record as a pair: the evidence is the premise, the claim the hypothesis.

    Only ``supported`` counts as entailed: a claim that is supported in part does not follow. The
    chunks of one claim are one group.
    """
    label = record.choice("label", LABELS)
    claim = record.mapping("meta").get("id")
    if not isinstance(claim, str):
        raise record.error("meta", "an object with the claim's id")
    return EntailmentCase(
        id=f"{claim}/{record.number}",
        pair=Pair(" ".join(record.texts("evidence")), record.text("claim")),
        group=claim,
        entailed=label == "supported",
        label=Relation.ENTAILMENT.value if label == "supported" else "",
    )
