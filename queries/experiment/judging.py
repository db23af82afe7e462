"""Scores that a model gives: faults by criteria (TALEC), ratings (G-Eval), citations entailed (K5),
facts supported (FActScore, SAFE; O9).

Each is taken answer by answer, so that cells can be paired like by any other score.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from queries.datasets.scored import read_texts_by_id
from queries.experiment.plan import JudgeKind, JudgePlan
from queries.generate.answer import Answer
from queries.llm import ChatModel, Message, Reply, Usage, estimate_tokens
from queries.score.case import case_of_answer
from queries.score.criteria import load_criteria
from queries.score.entailment import ChatEntailment
from queries.score.entailment_score import alignment_row
from queries.score.fact_check import FactChecker, check_facts
from queries.score.facts import FactsRow, supported_share
from queries.score.geval import PRESETS, GEval, rate_text
from queries.score.judge import Judge
from queries.score.talec import Talec, judge_text

NO_PAIR = "the answer has no citation with a relation and a value"
NO_FACT = "the answer states no fact"
UNJUDGED = "not judged"

JUDGED_TITLES: Mapping[str, str] = {
    "talec": "TALEC score, 0 to 2",
    "alignment": "citations that their sentence entails",
    "factscore": "facts supported, FActScore",
    "safe": "facts supported, SAFE",
    **{
        f"geval_{quality}": f"G-Eval {quality}, {preset.low} to {preset.high}"
        for preset in (PRESETS["kalma"],)
        for quality in preset.qualities
    },
}
"""What each score by a model is, by name."""
JUDGED_RANGES: Mapping[str, tuple[float, float]] = {
    "talec": (0.0, 2.0),
    **{
        f"geval_{quality}": (float(preset.low), float(preset.high))
        for preset in (PRESETS["kalma"],)
        for quality in preset.qualities
    },
}
"""Least and greatest value of each that is no share."""
CHECKS_FACTS = (JudgeKind.FACTSCORE, JudgeKind.SAFE)
"""The judges that check facts against passages or triples."""

_STATED = re.compile(r"^(?:Sentence|Statement): (.+)$", re.MULTILINE)
_VERDICTS = " [[relevant]] [[supported]]"


@dataclass(frozen=True, slots=True)
class OpenJudge:
    """A judge of a plan, and the model that it asks.

    Attributes:
        passages: Texts that facts are checked against, by question id; None for the triples that
            the answer was given.
    """

    plan: JudgePlan
    model: ChatModel
    passages: Mapping[str, tuple[str, ...]] | None = None

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of the scores that it gives."""
        if self.plan.kind is JudgeKind.GEVAL:
            return tuple(f"geval_{quality}" for quality in PRESETS["kalma"].qualities)
        return (self.plan.kind.value,)

    def score(self, item: Answer, /) -> dict[str, float | str]:
        """Returns its scores of an answer by name: a value, or why there is none.

        Raises:
            SetupError: The model's key, address or name is wrong.
            LimitError: The run's budget is spent; replies until then are kept.
        """
        judge = Judge(self.model, random_seed=self.plan.random_seed)
        if self.plan.kind is JudgeKind.TALEC:
            by = Talec(
                judge, load_criteria(self.plan.criteria), self.plan.division, self.plan.method
            )
            judged = judge_text(case_of_answer(item), by=by)
            return {"talec": _value(judged.score, judged.failure)}
        if self.plan.kind is JudgeKind.GEVAL:
            rated = rate_text(case_of_answer(item), by=GEval(judge, PRESETS["kalma"]))
            scores: dict[str, float | str] = {}
            for quality, rating in rated.scores.items():
                why = rating.missing or next(iter(rating.failures), None)
                scores[f"geval_{quality}"] = _value(rating.value, why)
            return scores
        if self.plan.kind in CHECKS_FACTS:
            case = case_of_answer(item)
            if self.passages is not None:
                case = replace(case, evidence=self.passages.get(item.question_id, ()))
            checker = FactChecker(judge, safe=self.plan.kind is JudgeKind.SAFE)
            return {self.plan.kind.value: _supported(check_facts(case, by=checker))}
        row = alignment_row(item, entailment=ChatEntailment(judge))
        if row.failure is not None or not row.pairs:
            return {"alignment": row.failure or NO_PAIR}
        return {"alignment": row.entailed / row.pairs}


def open_judge(plan: JudgePlan, model: ChatModel, /) -> OpenJudge:
    """Returns a judge of a plan with the passages of its file.

    Raises:
        InputError: A line of the file is wrong; names line and field.
    """
    passages = None if plan.passages is None else read_texts_by_id(plan.passages, "passages")
    return OpenJudge(plan, model, passages)


def _supported(row: FactsRow) -> float | str:
    share = supported_share(row.judged)
    if share is None:
        return row.failure or row.missing or next(iter(row.failures), NO_FACT)
    return share


def _value(value: float | None, why: str | None) -> float | str:
    return (why or UNJUDGED) if value is None else float(value)


@dataclass(frozen=True, slots=True)
class Judging:
    """What judging some answers takes, replies that are kept not left out.

    Attributes:
        requests: To models.
        prompt_tokens: Of them, as ``estimate_tokens`` counts.
        reply_tokens: At most.
    """

    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


class CountingChat:
    """A model that asks nobody: it counts, and says what every judge can read.

    Each sentence is one fact, which bears on the question and is supported.
    """

    name = "counted"

    def __init__(self, kind: JudgeKind, /) -> None:
        self._kind = kind
        # The last choice in brackets that a prompt offers is read; [[none]] where labels are named.
        rating = str(PRESETS["kalma"].low)
        self._text = rating if kind is JudgeKind.GEVAL else "[[0]] [[B]] [[entailment]]\n[[none]]"
        self._lock = threading.Lock()
        self.requests = self.prompt_tokens = self.reply_tokens = 0

    def complete(
        self,
        messages: Sequence[Message],
        /,
        *,
        max_tokens: int = 1024,
        **_: object,
    ) -> Reply:
        """Returns a reply that can be read."""
        with self._lock:
            self.requests += 1
            self.prompt_tokens += sum(estimate_tokens(message.content) for message in messages)
            self.reply_tokens += max_tokens
        text = self._text
        if self._kind in CHECKS_FACTS:
            text = _stated_again(messages[-1].content)
        return Reply(text, self.name, "stop", Usage())


def _stated_again(stated: str) -> str:
    """What a prompt shows to be checked, as one line that is a fact, a search and a verdict."""
    shown = _STATED.findall(stated) or stated.strip().splitlines()
    return f"- {shown[-1].removesuffix(_VERDICTS)}{_VERDICTS}"


def count_judging(judges: Sequence[JudgePlan], answers: Sequence[Answer], /) -> Judging:
    """Returns what judging some answers would take; asks no model."""
    judging = Judging()
    for plan in judges:
        counted = CountingChat(plan.kind)
        judge = open_judge(plan, counted)
        for item in answers:
            judge.score(item)
        judging = Judging(
            judging.requests + counted.requests,
            judging.prompt_tokens + counted.prompt_tokens,
            judging.reply_tokens + counted.reply_tokens,
        )
    return judging


def judged_scores(
    judges: Sequence[OpenJudge], item: Answer, /
) -> Iterator[tuple[str, float | str]]:
    """Yields the scores of all judges of an answer that did not fail."""
    for judge in judges:
        scores = judge.score(item)
        for name in judge.scores:
            yield name, scores.get(name, UNJUDGED)
