"""Samples for ragas: answers exported, and contexts retrieved (B18).

from queries.evaluators.ragas import export_answers

exported = export_answers("answers.jsonl", gold="questions.jsonl")
evaluate(exported.dataset, metrics=[...])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graph_service.adapters import framework
from graph_service.errors import InputError
from queries.evaluators.samples import ContextRetriever, Sample, read_samples

with framework("ragas", module=__name__):
    from ragas import EvaluationDataset, SingleTurnSample


@dataclass(frozen=True, slots=True)
class ExportedAnswers:
    """Answers for ragas.

    Attributes:
        dataset: One sample an answer, in file order.
        failures: Why there is no answer, by question id; no sample of these is in the dataset.
    """

    dataset: EvaluationDataset
    failures: Mapping[str, str]


def export_answers(path: str | Path, /, *, gold: str | Path | None = None) -> ExportedAnswers:
    """Returns a file of answers as a dataset of ragas.

    Args:
        path: What ``graph-service answer --out`` wrote, or another system's answers.
        gold: A file of gold questions, matched by id; None takes what the answers bring.

    Raises:
        InputError: A line is not as expected; names line and field.
    """
    read = read_samples(path, gold=gold)
    samples = [sample_for_ragas(sample) for sample in read.samples]
    return ExportedAnswers(EvaluationDataset(samples=samples), read.failures)


def sample_for_ragas(sample: Sample, /) -> SingleTurnSample:
    """Returns a sample in ragas's fields; the ids are those of statements."""
    return SingleTurnSample(
        user_input=sample.question,
        response=sample.response,
        retrieved_contexts=list(sample.contexts.texts),
        retrieved_context_ids=list(sample.contexts.statement_ids),
        reference=sample.reference,
        reference_context_ids=list(sample.reference_ids) or None,
    )


class GraphServiceRetriever(ContextRetriever):
    """Fills ``retrieved_contexts`` and ``retrieved_context_ids`` of samples from a graph."""

    def fill(self, sample: SingleTurnSample, /) -> SingleTurnSample:
        """Returns a copy of a sample with what its ``user_input`` retrieves.

        Raises:
            InputError: The sample has no ``user_input``.
        """
        if not sample.user_input:
            raise InputError("a sample with a user_input was expected; it has none")
        contexts = self.retrieve(sample.user_input)
        return sample.model_copy(
            update={
                "retrieved_contexts": list(contexts.texts),
                "retrieved_context_ids": list(contexts.statement_ids),
            }
        )

    def fill_dataset(self, dataset: EvaluationDataset, /) -> EvaluationDataset:
        """Returns a copy of a dataset of single turns, each sample filled."""
        return EvaluationDataset(samples=[self.fill(sample) for sample in dataset.samples])
