"""Judges of experiments that check facts: what an answer scores, and what judging takes (O9, B4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from error_texts import check_text

from queries.experiment.judging import NO_FACT, CountingChat, OpenJudge, count_judging
from queries.experiment.plan import JudgeKind, JudgePlan
from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.llm import Reply, Usage
from queries.score.fact_check import NO_EVIDENCE


class Says:
    """A model that says the next of some replies; the last one repeats."""

    name = "says"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def complete(self, messages: Any, /, **_: Any) -> Reply:
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        return Reply(text, self.name, "stop", Usage())


def answer_of(text: str, id_: str = "1") -> Answer:
    return Answer(id_, "Who sang?", text, parse_answer(text, ()), (), None, "m")


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        # Two of three facts are supported; the one that can't be judged is in no share.
        (("- Ada sang.\n- Ada slept.\n- Ada ate.", "[[supported]]", "[[unsupported]]",
          "[[supported]]"), 2 / 3),
        (("- Ada sang.\n- Ada slept.", "[[supported]]", "?", "?"), 1.0),
        (("none",), NO_FACT),
    ],
)  # fmt: skip
def test_the_score_is_the_share_of_judged_facts_o9(
    replies: tuple[str, ...], expected: float | str
) -> None:
    judge = OpenJudge(
        JudgePlan(JudgeKind.FACTSCORE, "says"), Says(*replies), {"1": ("Ada sang, slept and ate.",)}
    )
    assert judge.scores == ("factscore",)
    assert judge.score(answer_of("Ada sang and slept.")) == {"factscore": expected}


def test_what_can_not_be_judged_says_why_o9() -> None:
    plan = JudgePlan(JudgeKind.SAFE, "says", passages=Path("p.jsonl"))
    text = "Ada sang."
    nothing = OpenJudge(plan, Says("- Ada sang."), {"2": ("Ada sang.",)})
    assert nothing.score(answer_of(text)) == {"safe": NO_EVIDENCE}
    unread = OpenJudge(plan, Says("I do not know."), {"1": ("Ada sang.",)}).score(answer_of(text))
    check_text(str(unread["safe"]), "unreadable")
    lost = OpenJudge(plan, Says("- Ada sang.", "- Ada sang.", "?"), {"1": ("Ada sang.",)})
    check_text(str(lost.score(answer_of(text))["safe"]), "unreadable")


def test_counting_asks_as_often_as_judging_and_shows_the_evidence_b4(tmp_path: Path) -> None:
    """One fact a sentence: SAFE takes its fact, asks two things of it, searches thrice, rates it."""
    passages = tmp_path / "p.jsonl"
    asked: list[int] = []
    for long in (1, 100):
        passages.write_text('{"id": "1", "passages": ["Ada sang%s."]}\n' % (" of Rome" * long))
        plan = JudgePlan(JudgeKind.SAFE, "m", passages=passages)
        found = count_judging([plan], [answer_of("Ada sang. Ada slept.")])
        assert found.requests == 2 * 7
        asked.append(found.prompt_tokens)
    # Each fact shows its passage in the second and third search and in the rating.
    assert asked[1] > asked[0] + 2 * 3 * 99
    one = CountingChat(JudgeKind.FACTSCORE)
    OpenJudge(JudgePlan(JudgeKind.FACTSCORE, "m"), one, {"1": ("Ada sang.",)}).score(
        answer_of("Ada sang.")
    )
    assert one.requests == 2
