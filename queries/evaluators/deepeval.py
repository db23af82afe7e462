"""Test cases for deepeval: answers exported, and contexts retrieved (B18).

from queries.evaluators.deepeval import export_answers

exported = export_answers("answers.jsonl", gold="questions.jsonl")
evaluate(exported.test_cases, metrics=[...])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graph_service.adapters import framework
from queries.evaluators.samples import ContextRetriever, Sample, read_samples

with framework("deepeval", module=__name__):
    from deepeval.test_case import LLMTestCase


@dataclass(frozen=True, slots=True)
class ExportedAnswers:
    """Answers for deepeval.

    Attributes:
        test_cases: One an answer, in file order.
        failures: Why there is no answer, by question id; no test case of these is there.
    """

    test_cases: list[LLMTestCase]
    failures: Mapping[str, str]


def export_answers(path: str | Path, /, *, gold: str | Path | None = None) -> ExportedAnswers:
    """Returns a file of answers as test cases of deepeval.

    Args:
        path: What ``graph-service answer --out`` wrote, or another system's answers.
        gold: A file of gold questions, matched by id; None takes what the answers bring.

    Raises:
        InputError: A line is not as expected; names line and field.
    """
    read = read_samples(path, gold=gold)
    return ExportedAnswers([case_for_deepeval(sample) for sample in read.samples], read.failures)


def case_for_deepeval(sample: Sample, /) -> LLMTestCase:
    """Returns a sample in deepeval's fields; the ids of statements are in ``metadata``."""
    return LLMTestCase(
        name=sample.id or None,
        input=sample.question,
        actual_output=sample.response,
        expected_output=sample.reference,
        retrieval_context=list(sample.contexts.texts),
        metadata={
            **sample.contexts.metadata,
            "retrieved_ids": list(sample.contexts.statement_ids),
            "reference_ids": list(sample.reference_ids),
        },
    )


class GraphServiceRetriever(ContextRetriever):
    """Fills ``retrieval_context`` of test cases from a graph."""

    def fill(self, case: LLMTestCase, /) -> LLMTestCase:
        """Returns a copy of a test case with what its ``input`` retrieves.

        ``metadata`` gets the statements' ids (``retrieved_ids``), ``status`` and ``provenance``.
        """
        contexts = self.retrieve(case.input)
        return case.model_copy(
            update={
                "retrieval_context": list(contexts.texts),
                "metadata": {
                    **(case.metadata or {}),
                    **contexts.metadata,
                    "retrieved_ids": list(contexts.statement_ids),
                },
            }
        )
