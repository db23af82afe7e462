"""TALEC: a chat model judges texts by criteria of one's own (T2 to T5, T7).

Divided, every label is judged by itself; undivided, the model names all the faults of a text at once, or gives the
final score directly. Each judgement is zero-shot, few-shot, or joint: a third one that sees the two,
which were made without knowing of each other. Rules are checked by a program beside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from queries.generate.citations import one_line
from queries.llm import Message, Rendered, Usage
from queries.llm.reply import UnreadableReplyError
from queries.score.case import TextCase
from queries.score.criteria import Criteria, Label, Shot
from queries.score.judge import Judge, Verdict, read_choice, request_verdict
from queries.score.prompts import load_score_prompt
from queries.score.report import Groups

T = TypeVar("T")

PRESENT, ABSENT = "A", "B"
NONE = "none"
FULL_SCORE = 2
_BRACKETS = re.compile(r"\[\[\s*([^\[\]\n]+?)\s*\]\]")


class Division(StrEnum):
    """What one judgement covers: one label, all labels, or the final score."""

    LABEL = "label"
    LABELS = "labels"
    SCORE = "score"


class Method(StrEnum):
    """How a judgement is made."""

    ZERO_SHOT = "zero-shot"
    FEW_SHOT = "few-shot"
    JOINT = "joint"


@dataclass(frozen=True, slots=True)
class Talec:
    """Who judges, by which criteria, and how.

    Attributes:
        restates: Whether the judge, and each shot, says the criterion again before the judgement
            (T4); without it the prompts are those of TALEC's comparison.
    """

    judge: Judge
    criteria: Criteria
    division: Division = Division.LABEL
    method: Method = Method.JOINT
    restates: bool = True

    @property
    def label(self) -> str:
        """All of it, as reports show it."""
        names = [_named("talec-label", self.restates), "talec-labels", "talec-score"]
        prompt_names = [names[list(Division).index(self.division)]]
        if self.method is not Method.ZERO_SHOT and self.division is Division.LABEL:
            prompt_names.append(_named("talec-shot", self.restates))
        if self.method is Method.JOINT:
            prompt_names.append("talec-joint")
        prompts = ", ".join(load_score_prompt(name).label for name in prompt_names)
        return (
            f"{self.judge.label}, criteria {self.criteria.label}, by {self.division.value}, "
            f"{self.method.value}, prompts {prompts}"
        )


@dataclass(frozen=True, slots=True)
class LabelVerdict:
    """Whether a text has one fault.

    Attributes:
        present: None where that could not be judged.
        zero, few: What the two judgements before the joint one said; None where there was none.
        reply: The judge's words, for whoever adjusts the shots; empty for a rule.
        failure: Why it is not judged.
    """

    present: bool | None
    zero: bool | None = None
    few: bool | None = None
    reply: str = ""
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class TalecRow:
    """One text judged.

    Attributes:
        labels: By name; empty where the model gives the final score directly, but for the rules.
        score: 0, 1 or 2; None where it could not be told.
        human: What people say, by label (1 and 0) and ``score``.
        failure: Why there is no score.
    """

    id: str
    groups: Groups
    split: str
    labels: Mapping[str, LabelVerdict]
    score: int | None
    human: Mapping[str, float] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None

    @property
    def failures(self) -> tuple[str, ...]:
        """Why labels could not be judged, one each."""
        return tuple(item.failure for item in self.labels.values() if item.failure is not None)


def final_score(verdicts: Mapping[str, bool | None], classes: Mapping[str, bool], /) -> int | None:
    """Returns the score of a text from its faults (T5).

    0 with any unacceptable one, else 1 with any acceptable one, else 2. None where a fault that
    could not be judged would decide.

    Args:
        verdicts: Whether each fault is there, by name; None where unknown.
        classes: Whether each fault is unacceptable, by name.

    >>> final_score({"wrong": False, "stiff": True}, {"wrong": True, "stiff": False})
    1
    >>> final_score({"wrong": None, "stiff": True}, {"wrong": True, "stiff": False}) is None
    True
    """
    worst = [value for name, value in verdicts.items() if classes[name]]
    mild = [value for name, value in verdicts.items() if not classes[name]]
    if True in worst:
        return 0
    if None in worst:
        return None
    if True in mild:
        return 1
    return None if None in mild else FULL_SCORE


def show_case(question: str, text: str, knowledge: Sequence[str] = (), context: str = "", /) -> str:
    """Returns a text with what it is held against, in the one form of shots and cases."""
    parts = []
    if knowledge:
        parts.append("Facts:\n" + "\n".join(one_line(line) for line in knowledge))
    if context.strip():
        parts.append(f"Context:\n{context.strip()}")
    if question.strip():
        parts.append(f"Question: {one_line(question)}")
    parts.append(f"Text: {text.strip() or '(empty)'}")
    return "\n\n".join(parts)


def show_criteria(criteria: Criteria, /, *, shots: bool) -> str:
    """Returns all labels as one list, with their shots or without."""
    blocks: list[str] = []
    for label in criteria.labels:
        kind = "unacceptable" if label.unacceptable else "acceptable"
        lines = [f"[[{label.name}]] {label.title} ({kind}): {one_line(label.description)}"]
        for shot in label.shots if shots else ():
            verdict = label.name if shot.present else NONE
            shown = show_case(shot.question, shot.text, shot.knowledge).replace("\n\n", "\n")
            lines.append(f"Example:\n{shown}\nJudgement: {one_line(shot.reason)}\n[[{verdict}]]")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _named(prompt: str, restates: bool) -> str:
    return prompt if restates else f"{prompt}-unrepeated"


def shot_messages(label: Label, shot: Shot, /, *, restates: bool = True) -> tuple[Message, ...]:
    """Returns a shot as what was asked and what was replied, the criterion restated first (T4)."""
    (parts,) = load_score_prompt(_named("talec-label", restates)).parts[1:]
    shown = show_case(shot.question, shot.text, shot.knowledge)
    return (
        Message(parts.role, parts.content.replace("{{case}}", shown)),
        *load_score_prompt(_named("talec-shot", restates)).render(
            **(
                {"title": label.title, "description": one_line(label.description)}
                if restates
                else {}
            ),
            reason=one_line(shot.reason),
            verdict=f"[[{PRESENT if shot.present else ABSENT}]]",
        ),
    )


def label_messages(
    criteria: Criteria, label: Label, case: TextCase, /, *, shots: bool, restates: bool = True
) -> Rendered:
    """Returns the prompt that judges one label, with its shots or without (T2, T3)."""
    prompt = load_score_prompt(_named("talec-label", restates))
    system, *question = prompt.render(
        task=one_line(criteria.task),
        title=label.title,
        description=one_line(label.description),
        case=show_case(case.question, case.cited or case.text, case.knowledge, case.context),
    )
    examples = [
        message
        for shot in (label.shots if shots else ())
        for message in shot_messages(label, shot, restates=restates)
    ]
    return Rendered([system, *examples, *question], label=prompt.label)


def complete_messages(
    criteria: Criteria, case: TextCase, /, *, division: Division, shots: bool
) -> Rendered:
    """Returns the prompt that judges all labels at once, or the final score."""
    prompt = load_score_prompt(f"talec-{division.value}")
    return Rendered(
        prompt.render(
            task=one_line(criteria.task),
            labels=show_criteria(criteria, shots=shots),
            case=show_case(case.question, case.cited or case.text, case.knowledge, case.context),
        ),
        label=prompt.label,
    )


def read_labels(text: str, names: Sequence[str], /) -> tuple[str, ...]:
    """Returns the labels that a reply's last line of verdicts names; none for ``[[none]]``.

    Raises:
        UnreadableReplyError: There is no verdict, an unknown name, or ``none`` beside a name.

    >>> read_labels("Verdict: [[stiff]] [[long]]", ["long", "stiff", "wrong"])
    ('long', 'stiff')
    """
    lines = [matches for line in text.splitlines() if (matches := _BRACKETS.findall(line))]
    if not lines:
        raise UnreadableReplyError(
            "it has to end with names in double square brackets, or [[none]]"
        )
    names_in_reply = {name.casefold() for name in lines[-1]}
    unknown = sorted(names_in_reply - {*names, NONE})
    if unknown or (NONE in names_in_reply and len(names_in_reply) > 1):
        listed = ", ".join(f"[[{name}]]" for name in (*names, NONE))
        raise UnreadableReplyError(f"its last line may name {listed}, and none beside no other")
    return tuple(name for name in names if name in names_in_reply)


def judge_text(case: TextCase, /, *, by: Talec) -> TalecRow:
    """Returns a text's faults and its score (T2 to T5, T7).

    Args:
        case: The text as it was printed, with knowledge or context.
        by: Who judges, by which criteria, and how.

    >>> from queries.llm import Reply
    >>> class Model:  # any ChatModel
    ...     name = "rule"
    ...
    ...     def complete(self, messages, /, **_):
    ...         return Reply("It says so. [[A]]", "rule", "stop", Usage(9, 1))
    >>> from queries.score.criteria import load_criteria
    >>> by = Talec(Judge(Model()), load_criteria(), method=Method.ZERO_SHOT)
    >>> row = judge_text(TextCase("7", "Who?", "Ada."), by=by)
    >>> row.score, row.labels[by.criteria.labels[0].name].present  # [[A]]: the fault is there
    (0, True)
    """
    if case.failure is not None:
        return TalecRow(
            case.id, case.groups, case.split, {}, None, case.human, failure=case.failure
        )
    run = _Run(case, by)
    shown = case.cited or case.text
    rules = {rule.name: LabelVerdict(rule.present(shown)) for rule in by.criteria.rules}
    classes = by.criteria.classes
    failure: str | None = None
    if by.division is Division.SCORE:
        verdict, _, _ = run.judge(
            lambda shots: complete_messages(by.criteria, case, division=by.division, shots=shots),
            lambda text: int(read_choice(text, ("0", "1", "2"))),
        )
        labels = rules
        ruled = final_score({name: item.present for name, item in rules.items()}, classes)
        score = None
        if verdict.value is not None and ruled is not None:
            score = min(verdict.value, ruled)
        failure = verdict.failure
    else:
        labels = {**run.labels(), **rules}
        score = final_score({name: item.present for name, item in labels.items()}, classes)
        if score is None:
            failure = next(item.failure for item in labels.values() if item.failure is not None)
    return TalecRow(case.id, case.groups, case.split, labels, score, case.human, run.usage, failure)


class _Run:
    """One text's judgements, and the tokens they took."""

    def __init__(self, case: TextCase, by: Talec) -> None:
        self.case = case
        self.by = by
        self.usage = Usage()

    def request_verdict(self, messages: Sequence[Message], read: Callable[[str], T]) -> Verdict[T]:
        # Of several labels at once those that a cut reply would have named are not known.
        is_single = self.by.division is not Division.LABELS
        verdict = request_verdict(self.by.judge, messages, read, verdict_is_last=is_single)
        self.usage += verdict.usage
        return verdict

    def judge(
        self, prompt: Callable[[bool], Rendered], read: Callable[[str], T]
    ) -> tuple[Verdict[T], Verdict[T] | None, Verdict[T] | None]:
        """The verdict of the method, and for a joint one those of the two before it."""
        if self.by.method is Method.ZERO_SHOT:
            return self.request_verdict(prompt(False), read), None, None
        few = self.request_verdict(prompt(True), read)
        if self.by.method is Method.FEW_SHOT:
            return few, None, None
        zero = self.request_verdict(prompt(False), read)
        for before in (zero, few):
            if before.value is None:
                return before, zero, few
        shown = prompt(True)
        joint = load_score_prompt("talec-joint").render(
            zero=zero.reply.strip(), few=few.reply.strip()
        )
        return self.request_verdict(Rendered([*shown, *joint], label=shown.label), read), zero, few

    def labels(self) -> dict[str, LabelVerdict]:
        criteria = self.by.criteria
        if self.by.division is Division.LABEL:
            return {label.name: self.label(label) for label in criteria.labels}
        names = [label.name for label in criteria.labels]
        verdict, zero, few = self.judge(
            lambda shots: complete_messages(
                criteria, self.case, division=Division.LABELS, shots=shots
            ),
            lambda text: read_labels(text, names),
        )
        return {
            name: LabelVerdict(
                _holds(verdict, name), _holds(zero, name), _holds(few, name), verdict.reply,
                verdict.failure,
            )
            for name in names
        }  # fmt: skip

    def label(self, label: Label) -> LabelVerdict:
        def read(text: str) -> tuple[str, ...]:
            return (read_choice(text, (PRESENT, ABSENT)),)

        verdict, zero, few = self.judge(
            lambda shots: label_messages(
                self.by.criteria, label, self.case, shots=shots, restates=self.by.restates
            ),
            read,
        )
        return LabelVerdict(
            _holds(verdict, PRESENT),
            _holds(zero, PRESENT),
            _holds(few, PRESENT),
            verdict.reply,
            verdict.failure,
        )


def _holds(verdict: Verdict[tuple[str, ...]] | None, name: str) -> bool | None:
    return None if verdict is None or verdict.value is None else name in verdict.value
