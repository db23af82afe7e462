"""Stages of data sets: lines made or refused, the same bytes after any end (K9, O1, L3)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from error_texts import check_line, raises
from hand_chat import HandChat, refuses, script

from graph_service.errors import InputError, LimitError
from queries.builders.asking import read_numbers, read_question, read_sentence, request_value
from queries.builders.stages import NO_REPLY, RefusedError, Stage, StageCounts, Stages
from queries.generate.setting import Generation
from queries.llm import Message, Rendered
from queries.run import Progress


@dataclass(frozen=True)
class Word:
    id: str
    text: str


WORDS = tuple(Word(str(i), f"w{i}") for i in range(12))


def shout(word: Word) -> Word:
    if int(word.id) % 5 == 3:
        raise RefusedError("not loud", f"{word.text} is quiet")
    return Word(word.id, word.text.upper())


def run(
    folder: Path,
    given: tuple[Word, ...] = WORDS,
    make: Callable[[Word], Word] = shout,
    *,
    workers: int = 1,
    retry_failed: bool = False,
) -> tuple[Stages, tuple[Word, ...]]:
    stages = Stages(folder, workers=workers, retry_failed=retry_failed)
    return stages, stages.run(Stage("1-loud", Word, make), given)


def file_of(folder: Path) -> Path:
    return folder / "stages" / "1-loud.jsonl"


def test_what_is_made_and_what_is_refused_are_lines_that_are_counted(tmp_path: Path) -> None:
    told: list[Progress] = []
    stages = Stages(tmp_path, tell=told.append)
    made = stages.run(Stage("1-loud", Word, shout), WORDS)
    assert [word.text for word in made] == [f"W{i}" for i in range(12) if i not in (3, 8)]
    assert stages.counts == [StageCounts("1-loud", 12, 10, {"not loud": 2})]
    assert stages.counts[0].text() == "1-loud: 10 of 12 made; refused: 2 not loud"
    lines = [orjson.loads(line) for line in file_of(tmp_path).read_bytes().splitlines()]
    assert lines[3]["made"] is None
    assert (lines[3]["refused"], lines[3]["detail"]) == ("not loud", "w3 is quiet")
    assert (told[-1].done, told[-1].total, told[-1].failed) == (12, 12, 2)
    assert told[4].text().startswith("1-loud: 5 of 12 items, 1 refused, 0 s")


def test_any_cut_and_any_number_of_workers_end_in_the_same_bytes(tmp_path: Path) -> None:
    run(tmp_path / "whole")
    expected = file_of(tmp_path / "whole").read_bytes()
    draw = random.Random(5)
    for number in range(20):
        folder = tmp_path / str(number)
        file_of(folder).parent.mkdir(parents=True)
        kept = draw.randrange(len(expected))
        file_of(folder).write_bytes(expected[:kept])
        asked: list[str] = []

        def make(word: Word, asked: list[str] = asked) -> Word:
            asked.append(word.id)
            return shout(word)

        stages, _ = run(folder, make=make, workers=1 + number % 3)
        assert file_of(folder).read_bytes() == expected
        assert len(asked) == stages.fresh == 12 - expected[:kept].count(b"\n")


def test_an_item_that_changed_is_made_again_with_all_after_it(tmp_path: Path) -> None:
    run(tmp_path)
    asked: list[str] = []

    def make(word: Word) -> Word:
        asked.append(word.id)
        return shout(word)

    changed = (*WORDS[:4], Word("4", "other"), *WORDS[5:])
    _, made = run(tmp_path, changed, make)
    assert asked == [str(i) for i in range(4, 12)]
    assert made[3].text == "OTHER"
    assert run(tmp_path, WORDS[:5])[0].counts[0].inputs == 5
    assert file_of(tmp_path).read_bytes().count(b"\n") == 5


def test_only_what_got_no_reply_is_made_again(tmp_path: Path) -> None:
    def fails(word: Word) -> Word:
        if word.id == "6":
            raise RefusedError(NO_REPLY, "timeout")
        return shout(word)

    assert run(tmp_path, make=fails)[0].counts[0].refused == {"not loud": 2, NO_REPLY: 1}
    assert run(tmp_path)[0].fresh == 0, "without --retry-failed it stays"
    stages, made = run(tmp_path, retry_failed=True)
    assert stages.fresh == 6
    assert len(made) == 10


def test_what_was_made_stays_where_a_run_is_stopped(tmp_path: Path) -> None:
    def spent(word: Word) -> Word:
        if word.id == "5":
            raise LimitError("the tokens are spent")
        return shout(word)

    with pytest.raises(LimitError):
        run(tmp_path, make=spent)
    assert file_of(tmp_path).read_bytes().count(b"\n") == 5
    assert run(tmp_path)[0].fresh == 7


@pytest.mark.parametrize(
    "line",
    [
        b"[1]\n",
        b"no JSON\n",
        b'{"id":"0","of":"x","made":null,"refused":"","detail":""}\n',
        b'{"id":"0","of":"x","made":{"id":"0"},"refused":"","detail":""}\n',
        b'{"id":0,"of":"x","made":{"id":"0","text":"a"},"refused":"","detail":""}\n',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    run(tmp_path)
    whole = file_of(tmp_path).read_bytes().splitlines(keepends=True)
    file_of(tmp_path).write_bytes(whole[0] + line + b"".join(whole[2:]))
    with raises(InputError):
        run(tmp_path)


def test_two_items_of_one_id_are_refused(tmp_path: Path) -> None:
    with raises(InputError):
        run(tmp_path, (WORDS[1], WORDS[1]))


MESSAGES = Rendered((Message("user", "go"),), label="p@1")


def asked(*replies: str) -> tuple[str, int]:
    model = HandChat(script(*replies))
    return request_value(model, MESSAGES, read_sentence, generation=Generation()), len(model.asked)


def test_a_reply_that_is_not_accepted_is_asked_for_once_more_with_the_reason() -> None:
    assert asked("Rome is a city.") == ("Rome is a city", 1)
    assert asked("One. Two.", "Rome is a city.") == ("Rome is a city", 2)
    model = HandChat(script("a\nb"))
    with pytest.raises(RefusedError) as caught:
        request_value(model, MESSAGES, read_sentence, generation=Generation())
    assert caught.value.why == "unreadable reply"
    check_line(model.asked[1].last, "one sentence", "one line")
    with pytest.raises(RefusedError) as caught:
        request_value(HandChat(refuses), MESSAGES, read_sentence, generation=Generation())
    assert caught.value.why == NO_REPLY


@pytest.mark.parametrize("text", ["", "One. Two.", "It is [1].", "two\nlines"])
def test_a_sentence_is_one_and_plain(text: str) -> None:
    with pytest.raises(RefusedError):
        read_sentence(text)
    assert (
        read_sentence("He met Dr. No. in U.S.A.", names=("Dr. No.",)) == "He met Dr. No. in U.S.A"
    )


@pytest.mark.parametrize("text", ["", "Tell me.", "Who [1]?", "Who?\nWhat?"])
def test_a_question_is_one_and_ends_as_one(text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read_question(text)
    assert caught.value.why == "no question"
    assert read_question(" Who was  she? ") == "Who was she?"
    # A name may hold brackets; beside it they would cite.
    assert read_question("Who painted Foo [1]?", names=["Foo [1]"]) == "Who painted Foo [1]?"
    assert read_sentence("She painted Foo [1].", names=["Foo [1]"]) == "She painted Foo [1]"
    with pytest.raises(RefusedError):
        read_sentence("She painted Foo [1] [2].", names=["Foo [1]"])


def test_numbers_are_those_that_were_offered() -> None:
    assert read_numbers("2, [1], 2.", 2) == (2, 1)
    for text, why in (("3", "fact not offered"), ("0", "fact not offered"), ("a", "unreadable")):
        with pytest.raises(RefusedError, match=why):
            read_numbers(text, 2)
