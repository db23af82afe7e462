"""Recorded replies: the same bytes again without an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError
from queries.llm import Message, Reply, ReplyError, ReplyFault, Usage, open_recorded
from queries.llm.chat import JsonForm

ASK = (Message("user", "Who is Ada?"),)


class Counting:
    """A model that numbers its replies."""

    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def complete(
        self,
        messages: Sequence[Message],
        /,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 1024,
        random_seed: int | None = None,
        stop: Sequence[str] = (),
        top_logprobs: int | None = None,
        form: JsonForm | None = None,
    ) -> Reply:
        self.calls += 1
        if messages[-1].content == "fail":
            raise ReplyError("no", fault=ReplyFault.SERVER)
        return Reply(f"reply {self.calls}: ö", "counting-1", "stop", Usage(3, 2), "r", 0.5)


def test_each_request_is_asked_once_and_given_again(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    model = Counting()
    with open_recorded(file, inner=model) as chat:
        first = chat.complete(ASK)
        assert chat.complete(ASK) == first
        assert chat.complete(ASK, random_seed=1).text == "reply 2: ö"
        assert chat.complete(ASK, temperature=1.0).text == "reply 3: ö"
        assert chat.complete(ASK, max_tokens=7).text == "reply 4: ö"
        assert chat.complete(ASK, stop=["x"]).text == "reply 5: ö"
        assert chat.complete((*ASK, Message("assistant", "x"))).text == "reply 6: ö"
        assert (model.calls, chat.sent, len(chat)) == (6, 6, 6)
    before = file.read_bytes()
    with open_recorded(file) as chat:
        assert chat.name == "counting"
        assert chat.complete(ASK) == first
        assert chat.complete(ASK).seconds == 0.5
        with raises(InputError):
            chat.complete((Message("user", "Who is Bob?"),))
    with open_recorded(file, inner=model) as chat:
        assert chat.complete(ASK) == first
    assert model.calls == 6
    assert file.read_bytes() == before


def test_a_failed_request_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    with open_recorded(file, inner=Counting()) as chat:
        with pytest.raises(ReplyError):
            chat.complete((Message("user", "fail"),))
        assert len(chat) == 0
    assert not file.exists()


def test_a_line_cut_by_a_crash_is_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    with open_recorded(file, inner=Counting()) as chat:
        chat.complete(ASK)
        chat.complete(ASK, random_seed=1)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    with open_recorded(file) as chat:
        assert len(chat) == 1
    model = Counting()
    with open_recorded(file, inner=model) as chat:
        chat.complete(ASK)
        assert model.calls == 0
        chat.complete(ASK, random_seed=1)
        assert model.calls == 1
    with open_recorded(file) as chat:
        assert len(chat) == 2


def test_bad_files_say_where(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    with raises(InputError), open_recorded(file):
        pass
    file.write_text('{"key": "a"}\n')
    with pytest.raises(InputError, match=r"replies\.jsonl, line 1"), open_recorded(file):
        pass
    file.write_text("")
    with pytest.raises(InputError, match="these models: none"), open_recorded(file):
        pass
    with open_recorded(file, model_name="any") as chat, pytest.raises(InputError, match="of any"):
        chat.complete(ASK)
