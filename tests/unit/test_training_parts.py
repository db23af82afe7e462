"""Learning a graph: what is kept aside, how networks are averaged, what a file says is right."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from demo_graph import ARNOLD, MARIA
from openai_stand_in import ok, stand_in

from graph_service import Service
from graph_service.errors import InputError
from graph_service.retrieve.learned.features import FINAL_NAMES
from graph_service.retrieve.learned.network import CandidateScorer, Networks
from queries.llm import OpenAIChat
from queries.training.blending import OWN, blend, choose_weight, hits
from queries.training.examples import AnsweredQuestion, Example
from queries.training.own_questions import answered, read_own_questions
from queries.training.paraphrases import paraphrase
from queries.training.splits import split


def question(text: str, start: str, *steps: str) -> AnsweredQuestion:
    chain = tuple((one.removeprefix("-"), one.startswith("-")) for one in steps)
    return AnsweredQuestion(text, "g", OWN, (start,), ((start, chain),))


def many() -> list[AnsweredQuestion]:
    """Eight sequences of ten entities in two wordings each."""
    return [
        question(wording.format(relation, entity), f"Q{entity}", f"P{relation}")
        for relation in range(8)
        for entity in range(10)
        for wording in ("what is p{} of {}?", "p{} which {}")
    ]


def test_half_of_what_is_kept_aside_asks_for_sequences_that_are_not_learned() -> None:
    parts = split(many(), share=0.3)
    learned = {one.chains[0][1] for one in parts.learned}
    unseen = [one for one in parts.held_out if one.chains[0][1] not in learned]
    assert len(parts.learned) + len(parts.held_out) == 160
    assert len(parts.held_out) == 48
    # One sequence of twenty questions fits a half of 48, two do not.
    assert parts.unseen_sequences == len(unseen) == 20
    assert split(many(), share=0.3) == parts
    assert split(many(), share=0.3, random_seed=1) != parts


def test_paraphrases_and_equal_texts_stand_on_one_side() -> None:
    asked = [*many(), *(replace(one, family="walks1") for one in many())]
    asked += [question("What  is P0 of 3?", "Q77", "P9")]
    for seed in range(5):
        parts = split(asked, share=0.4, random_seed=seed)
        learned = {one.chains for one in parts.learned} | {one.text for one in parts.learned}
        for one in parts.held_out:
            assert one.chains not in learned
            assert one.text not in learned
        assert len(parts.learned) > 100


def test_few_questions_and_questions_with_answers_alone_are_kept_aside_by_text() -> None:
    known = [
        AnsweredQuestion(f"who {number}", "g", OWN, ("Q1",), (), frozenset({f"Q{number}"}))
        for number in range(20)
    ]
    parts = split(known, share=0.25)
    assert (len(parts.learned), len(parts.held_out), parts.unseen_sequences) == (15, 5, 0)
    assert split([], share=0.3).held_out == ()


def networks(seed: int, *, count: int, width: int) -> Networks:
    draw = np.random.default_rng(seed)
    inputs = len(FINAL_NAMES)
    return Networks(
        draw.normal(size=inputs),
        draw.uniform(0.5, 2.0, inputs),
        draw.normal(size=(count, inputs, width)),
        draw.normal(size=(count, width)),
        draw.normal(size=(count, width)),
        draw.normal(size=(count, inputs)),
    )


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_an_average_scores_as_its_parts_do_but_for_a_constant(weight: float) -> None:
    """(1 - w) * one + w * other, of networks of other widths, numbers and reductions."""
    one, other = networks(1, count=3, width=5), networks(2, count=2, width=7)
    inputs = np.random.default_rng(3).normal(size=(40, len(FINAL_NAMES)))
    expected = (1.0 - weight) * one.score(inputs) + weight * other.score(inputs)
    difference = blend(one, other, weight).score(inputs) - expected
    assert np.ptp(difference) == pytest.approx(0.0, abs=1e-3)


def planted(count: int, seed: int, column: int, *, size: int = 6) -> list[Example]:
    """One input is greater by four where a candidate is right."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(count):
        inputs = draw.normal(size=(size, len(FINAL_NAMES))).astype(np.float32)
        inputs[number % size, column] += 4.0
        right = np.arange(size) == number % size
        inputs[:, FINAL_NAMES.index("text_score")] = 0.0  # No words are literal.
        found.append(
            Example(OWN, f"{seed} {number}", False, inputs, right, np.arange(size), inputs)
        )
    return found


def test_the_weight_is_what_ranks_most_of_the_set_apart_right() -> None:
    # The shipped networks look at another input: the more the graph's own weigh the better.
    final = networks(5, count=1, width=2)
    final = replace(final, inner=final.inner * 0, direct=np.eye(1, len(FINAL_NAMES), 3))
    shipped = CandidateScorer(final, final, "m", "d")
    learned, judged = planted(120, 1, 8), planted(60, 2, 8)
    assert choose_weight(shipped, learned, judged, (0.0, 0.9)) == 0.9
    # Where the shipped ones are always right and others learn noise, the least weight is taken.
    right = planted(60, 4, 3)
    assert hits(shipped, right) > 50
    assert choose_weight(shipped, planted(60, 3, 90), right, (0.0, 0.9)) == 0.0
    assert choose_weight(shipped, [], right, (0.25, 0.5)) == 0.25


def test_a_file_says_what_is_right_by_relations_statements_or_answers(
    demo_service: Service, tmp_path: Path
) -> None:
    spouse = "Q230654$2107E4D0-C7FC-8B33-B989-8613849C2ECB"
    back = "Q2685$B2E42E58-877B-84B7-898E-BE2D016F88FB"
    rows: list[dict[str, object]] = [
        {"question": "by relations", "entity_ids": [MARIA], "relations": ["P26", "-P25"]},
        {
            "question": "by statements",
            "entity_ids": [MARIA],
            "statement_ids": [spouse],
            "alternatives": [[back]],
        },
        {"question": "no entity named", "statement_ids": [spouse]},
        {"question": "by answer", "entity_ids": [MARIA], "answers": ["Arnold Schwarzenegger"]},
        {"question": "by id", "entity_ids": [MARIA], "answer_ids": [ARNOLD]},
        {"question": "unknown entity", "entity_ids": ["Q999999999"], "answer_ids": [ARNOLD]},
        {"question": "nothing is said"},
        {"question": "no such answer", "entity_ids": [MARIA], "answers": ["Nobody at All"]},
        {"id": "c", "messages": [{"role": "user", "content": "in a conversation"}]},
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    found = answered(demo_service, "demo", read_own_questions(path))
    by_text = {one.text: one for one in found.questions}
    walked = ((MARIA, (("P26", False), ("P25", True))),)
    assert by_text["by relations"].chains == walked
    assert set(by_text["by statements"].chains) == {
        (MARIA, (("P26", False),)),
        (MARIA, (("P26", True),)),
    }
    assert by_text["no entity named"].start_ids == (MARIA,)
    for text in ("by answer", "by id"):
        assert by_text[text].chains == ()
        assert by_text[text].answer_ids == {ARNOLD}
    assert len(found.questions) == 5
    assert sum(found.left_out.values()) == len(rows) - 5
    path.write_text('{"question": "x", "alternatives": 3}')
    with pytest.raises(InputError, match="line 1, field alternatives"):
        read_own_questions(path)


def test_paraphrases_keep_the_name_and_what_is_right() -> None:
    asked = [
        question("Who is Ann Lee's mother?", "Q1", "P25"),
        question("Where was she born?", "Q1", "P19"),
        question("Who wed Ann Lee?", "Q1", "P26"),
    ]
    replies = (
        ok("1. Ann Lee's mum?\n2. who is ann lee's mother\n3. who gave birth to her?"),
        ok(""),
        ok("   "),
    )
    with stand_in(*replies) as server, OpenAIChat("m", base_url=server.url) as model:
        found = paraphrase(model, asked, {"Q1": "Ann Lee"}, count=3)
    # The second names no entity, so it is not asked; the third gets no usable reply.
    assert [one.text for one in found.questions] == [
        "Ann Lee's mum?",
        "who is ann lee's mother",
    ]
    assert {one.chains for one in found.questions} == {asked[0].chains}
    assert (found.unusable, found.failed) == (1, 1)
    assert "Ann Lee" in server.requests[0]["messages"][-1]["content"]
