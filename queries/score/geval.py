"""G-Eval: a chat model rates a text on one quality at a time (K8, O9).

The rating is the raw whole number, or its mean weighted by the model's own probabilities, taken from
log-probabilities or by sampling; every result says which. The scale is kept beside the number: a percentage
is (x - low) / (high - low). A reply that is no whole number of the scale is a failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from graph_service.errors import InputError
from queries.generate.citations import one_line
from queries.llm import Message, Reply, ReplyError, TokenChoice, Usage, set_aside
from queries.llm.reply import CUT, UnreadableReplyError, cut_note, read_reply
from queries.score.agreement import MEASURES
from queries.score.case import TextCase
from queries.score.judge import Judge, request_verdict
from queries.score.metric import Score, mean_score
from queries.score.prompts import load_score_prompt
from queries.score.rating import (
    SplitNumberError,
    begins_longer,
    digits_after,
    read_rating,
    weighted_rating,
)
from queries.score.report import CaseReport, Groups, RunSpread, make_report, over_runs
from queries.score.rubric import load_rubric

NO_RATING = "no text was rated"
TOP = 20
MORE_REPLIES = 5
"""Replies asked for to see what follows a token that may be two numbers."""
ENOUGH_ALONE = 3
"""Replies that end with such a token after which it counts as that number alone."""
_OTHER_SEED = 1_000_003


class Weighting(StrEnum):
    """How a rating is made of the model's replies."""

    RAW = "raw"
    LOGPROBS = "logprobs"
    SAMPLING = "sampling"


@dataclass(frozen=True, slots=True)
class Preset:
    """Which qualities are rated, on which scale, how, and how often.

    Attributes:
        material: What the model sees beside question and text: ``knowledge`` or ``context``, by
            quality; a quality that is not here sees neither.
        runs: How often everything is rated; each run has a random seed of its own.
        samples: Replies a rating, where it is by sampling.
        temperature: Of the model.
    """

    name: str
    qualities: tuple[str, ...]
    low: int
    high: int
    weighting: Weighting
    material: Mapping[str, str]
    runs: int = 1
    samples: int = 20
    temperature: float = 1.0


PRESETS: Mapping[str, Preset] = {
    "kalma": Preset(
        "kalma",
        ("coherence", "consistency", "fluency", "relevance"),
        1,
        5,
        Weighting.RAW,
        {"consistency": "knowledge"},
        runs=3,
        # KaLMA, appendix B.2: temperature 0, three runs.
        temperature=0.0,
    ),
    "okgqa": Preset(
        "okgqa",
        ("context-relevance", "comprehensiveness", "correctness", "empowerment"),
        1,
        10,
        Weighting.LOGPROBS,
        dict.fromkeys(
            ("context-relevance", "comprehensiveness", "correctness", "empowerment"), "context"
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class QualityScore:
    """Ratings of one text on one quality.

    Attributes:
        runs: One a run; None where it failed.
        failures: Why runs failed.
        lost: Samples that could not be read, in all runs.
        missing: What the text could not be rated without (knowledge, a context); None where
            nothing lacks.
    """

    runs: tuple[float | None, ...]
    failures: tuple[str, ...] = ()
    lost: int = 0
    missing: str | None = None

    @property
    def value(self) -> float | None:
        """Mean over the runs that have a rating; None where none has."""
        known = [value for value in self.runs if value is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class GEvalRow:
    """One text's ratings, by quality.

    Attributes:
        human: People's ratings, by quality.
        failure: Why the text has no rating at all; a failed run of one quality is told there.
    """

    id: str
    groups: Groups
    scores: Mapping[str, QualityScore]
    human: Mapping[str, float] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None

    @property
    def failures(self) -> tuple[str, ...]:
        """Why ratings failed, one each."""
        return tuple(reason for score in self.scores.values() for reason in score.failures)


@dataclass(frozen=True, slots=True)
class GEval:
    """Who rates, and how.

    Attributes:
        judge: Whom to ask; its temperature is not used.
        preset: Qualities, scale, weighting, runs.
    """

    judge: Judge
    preset: Preset

    @property
    def label(self) -> str:
        """Judge, prompt, qualities, scale and weighting, as reports show them."""
        preset = self.preset
        names = ", ".join(f"{name}@{load_rubric(name).version}" for name in preset.qualities)
        how = preset.weighting.value
        if preset.weighting is Weighting.SAMPLING:
            how += f" of {preset.samples}"
        seed = self.judge.random_seed or 0
        return (
            f"{self.judge.model.name} (temperature {preset.temperature:g}, random seed {seed}), "
            f"{how}, {preset.low} to {preset.high}, {preset.runs} runs, prompt "
            f"{load_score_prompt('geval').label}, qualities {names}"
        )


def rate_text(case: TextCase, /, *, by: GEval) -> GEvalRow:
    """Returns a text's ratings on every quality of the preset.

    Args:
        case: The text, with knowledge or context where a quality needs it.
        by: Who rates, and how.

    >>> from queries.llm import Reply
    >>> class Model:  # any ChatModel
    ...     name = "rule"
    ...
    ...     def complete(self, messages, /, **_):
    ...         return Reply("4", "rule", "stop", Usage(9, 1))
    >>> text = TextCase("7", "Who?", "Ada.", knowledge=("Ada | is | a poet",))
    >>> row = rate_text(text, by=GEval(Judge(Model()), PRESETS["kalma"]))
    >>> row.scores["fluency"].runs
    (4.0, 4.0, 4.0)
    >>> report = geval_report([row], PRESETS["kalma"], rated_by="rule")
    >>> report.score("fluency").value, report.score("fluency, %").value
    (4.0, 75.0)
    """
    if case.failure is not None:
        return GEvalRow(case.id, case.groups, {}, case.human, failure=case.failure)
    preset = by.preset
    rater = _Rater(by)
    scores: dict[str, QualityScore] = {}
    for name in preset.qualities:
        try:
            messages = rating_prompt(case, name, preset)
        except InputError as error:
            # The other qualities may need neither knowledge nor context.
            scores[name] = QualityScore((), missing=error.message)
            continue
        runs: list[float | None] = []
        failures: list[str] = []
        lost = 0
        for run in range(preset.runs):
            value, failure, unread = rater.rate(messages, run)
            runs.append(value)
            lost += unread
            if failure is not None:
                failures.append(failure)
        scores[name] = QualityScore(tuple(runs), tuple(failures), lost)
    rated = [score for score in scores.values() if score.missing is None]
    failed = bool(rated) and all(score.value is None for score in rated)
    reasons = [reason for score in rated for reason in score.failures]
    return GEvalRow(
        case.id,
        case.groups,
        scores,
        case.human,
        rater.usage,
        reasons[0] if failed and reasons else None,
    )


def can_be_rated(case: TextCase, preset: Preset, /) -> bool:
    """Returns whether a text has what any of the qualities is rated against."""
    has = {"knowledge": bool(case.knowledge), "context": bool(case.context.strip())}
    return any(has.get(preset.material.get(name, ""), True) for name in preset.qualities)


def rating_prompt(case: TextCase, quality: str, preset: Preset, /) -> Sequence[Message]:
    """Returns the rendered prompt of one quality.

    Raises:
        InputError: The quality needs knowledge or a context, and the case has none.
    """
    rubric = load_rubric(quality)
    needs = preset.material.get(quality)
    material = ""
    if needs == "knowledge":
        if not case.knowledge:
            raise InputError(f"no knowledge: {quality} is rated against the knowledge given")
        listed = "\n".join(f"- {one_line(line)}" for line in case.knowledge)
        material = f"Knowledge:\n{listed}\n"
    elif needs == "context":
        if not case.context.strip():
            raise InputError(f"no context: {quality} is rated against an evaluation context")
        material = f"Context:\n{case.context.strip()}\n"
    return load_score_prompt("geval").render(
        quality=rubric.title,
        criterion=rubric.criterion,
        steps=rubric.steps,
        low=str(preset.low),
        high=str(preset.high),
        question=one_line(case.question),
        material=material,
        text=case.text.strip() or "(empty)",
    )


class _Rater:
    """Rates prompts, and counts the tokens."""

    def __init__(self, by: GEval) -> None:
        self.by = by
        self.usage = Usage()

    def rate(self, messages: Sequence[Message], run: int) -> tuple[float | None, str | None, int]:
        """The rating, why there is none, and how many samples could not be read."""
        preset = self.by.preset
        seed = self.by.judge.random_seed or 0
        if preset.weighting is Weighting.LOGPROBS:
            value, failure = self.by_logprobs(messages, seed + run)
            return value, failure, 0
        if preset.weighting is Weighting.RAW:
            value, failure = self.once(messages, seed + run)
            return value, failure, 0
        sampled = [
            self.once(messages, seed + run * preset.samples + sample)
            for sample in range(preset.samples)
        ]
        read = [value for value, _ in sampled if value is not None]
        reasons = [failure for _, failure in sampled if failure is not None]
        if not read:
            return None, reasons[0], len(reasons)
        return sum(read) / len(read), None, len(reasons)

    def once(
        self, messages: Sequence[Message], random_seed: int
    ) -> tuple[float | None, str | None]:
        preset = self.by.preset
        verdict = request_verdict(
            self.by.judge,
            messages,
            lambda text: read_rating(text, preset.low, preset.high),
            temperature=preset.temperature,
            random_seed=random_seed,
        )
        self.usage += verdict.usage
        value = None if verdict.value is None else float(verdict.value)
        return value, verdict.failure

    def by_logprobs(
        self, messages: Sequence[Message], random_seed: int
    ) -> tuple[float | None, str | None]:
        """The rating by log-probabilities, or why there is none.

        A token that may be two numbers needs the token after it. It is in a reply that begins so,
        therefore a few more replies are asked for, each with a random seed of its own.
        """
        low, high = self.by.preset.low, self.by.preset.high
        first: tuple[Sequence[TokenChoice], int] | None = None
        next_digits: dict[str, Mapping[str, float]] = {}
        alone = 0
        failure = ""
        for index in range(1 + MORE_REPLIES):
            reply, why = self.reply(messages, random_seed + index * _OTHER_SEED)
            if reply is None:
                return None, why
            try:
                reply_text = read_reply(reply.text)
                if reply.finish_reason == CUT:
                    raise UnreadableReplyError(cut_note(self.by.judge.max_tokens))
                rating = read_rating(reply_text.text, low, high)
                tokens = _tokens_from(reply.logprobs, reply_text.start)
                first = first or (tokens, rating)
                next_digits |= digits_after(tokens, rating, low, high)
                is_alone = begins_longer(rating, low, high) and str(rating) not in next_digits
                alone += is_alone
                if alone == ENOUGH_ALONE:
                    # Of so many replies that begin so, none went on.
                    next_digits[str(rating)] = {}
                return weighted_rating(*first, low, high, next_digits=next_digits), None
            except SplitNumberError as error:
                failure = f"unreadable: {error}"
            except UnreadableReplyError as error:
                if not index:
                    set_aside(self.by.judge.model, [reply])
                    return None, f"unreadable: {error}"
        return None, failure

    def reply(self, messages: Sequence[Message], random_seed: int) -> tuple[Reply | None, str]:
        """A reply with log-probabilities, or why there is none."""
        try:
            reply = self.by.judge.model.complete(
                messages,
                temperature=self.by.preset.temperature,
                max_tokens=self.by.judge.max_tokens,
                random_seed=random_seed,
                top_logprobs=TOP,
            )
        except ReplyError as error:
            return None, f"{error.fault.value}: {error.message}"
        self.usage += reply.usage
        return reply, ""


def _tokens_from(tokens: Sequence[TokenChoice], start: int) -> Sequence[TokenChoice]:
    """The tokens of a reply from a position of its text on: those of its thoughts left out."""
    length = 0
    for index, choice in enumerate(tokens):
        if length >= start:
            return tokens[index:]
        length += len(choice.token)
    return ()


def geval_report(rows: Sequence[GEvalRow], preset: Preset, /, *, rated_by: str) -> CaseReport:
    """Returns the mean of every quality, raw and as a percentage of its scale (K8, O9).

    A text whose runs of a quality all failed is failed in it; one that lacks what the quality is
    rated against is unscored in it. Mean and deviation over runs are among the notes. Where people rated too, the correlations with them stand beside (K8).

    Args:
        rows: One a text.
        preset: What was rated.
        rated_by: Who rated.
    """
    width = preset.high - preset.low

    def summarise(part: Sequence[GEvalRow]) -> dict[str, Score]:
        scores: dict[str, Score] = {}
        for name in preset.qualities:
            rated = [row.scores[name].value if name in row.scores else None for row in part]
            reasons = [
                row.scores[name].missing
                for row in part
                if name in row.scores and row.scores[name].missing is not None
            ]
            known = [value for value in rated if value is not None]
            failed = len(rated) - len(known) - len(reasons)
            empty = NO_RATING if failed or not reasons else str(reasons[0])
            unscored = [None] * len(reasons)
            scores[name] = mean_score([*known, *unscored], failed=failed, empty=empty)
            scores[f"{name}, %"] = mean_score(
                [*(100 * (value - preset.low) / width for value in known), *unscored],
                failed=failed,
                empty=empty,
            )
            people = [row.human.get(name) for row in part]
            if any(value is not None for value in people):
                for measure in ("pearson", "spearman", "tau-b"):
                    scores[f"{name}, {measure} with people"] = MEASURES[measure](rated, people)
        return scores

    notes = [f"scale {preset.low} to {preset.high}; weighting {preset.weighting.value}"]
    for name, spread in run_spreads(rows, preset).items():
        if preset.runs > 1:
            notes.append(f"{name} over runs: {spread.text()}")
    lost = sum(score.lost for row in rows for score in row.scores.values())
    if lost:
        notes.append(f"{lost} samples could not be read, in no rating")
    reasons = Counter(
        score.missing for row in rows for score in row.scores.values() if score.missing is not None
    )
    notes.extend(f"{texts} texts unscored, {why}" for why, texts in reasons.items())
    failures = Counter(reason.partition(":")[0] for row in rows for reason in row.failures)
    if failures:
        first = {reason.partition(":")[0]: reason for row in rows[::-1] for reason in row.failures}
        why = "; ".join(f"{count} {first[reason]}" for reason, count in failures.most_common())
        notes.append(f"{failures.total()} ratings failed ({why})")
    return make_report("geval", rows, summarise, basis={"rated by": rated_by}, notes=notes)


def run_spreads(rows: Sequence[GEvalRow], preset: Preset, /) -> dict[str, RunSpread]:
    """Returns mean and deviation over runs of each quality's mean over texts."""
    spreads: dict[str, RunSpread] = {}
    for name in preset.qualities:
        by_run: list[Score] = []
        for run in range(preset.runs):
            values = [
                row.scores[name].runs[run]
                for row in rows
                if name in row.scores and run < len(row.scores[name].runs)
            ]
            known = [value for value in values if value is not None]
            unscored = sum(
                name in row.scores and row.scores[name].missing is not None for row in rows
            )
            failed = len(rows) - len(known) - unscored
            by_run.append(mean_score(known, failed=failed, empty=NO_RATING))
        spreads[name] = over_runs(by_run)
    return spreads
