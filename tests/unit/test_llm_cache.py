"""Replies in SQLite: asked once, replayed without an endpoint."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from error_texts import raises
from hand_chat import Asked, HandChat, refuses
from openai_stand_in import ok, stand_in

from graph_service.errors import InputError, SchemaVersionError, StoreCorruptError
from queries.llm import (
    CachedChat,
    ChatRequest,
    JsonForm,
    Message,
    OpenAIChat,
    Rendered,
    Reply,
    ReplyError,
    TokenChance,
    TokenChoice,
    Usage,
    open_cache,
)

ASK = (Message("user", "Who is Ada?"),)


def counting() -> Callable[[Asked], str]:
    numbers = iter(range(1, 1000))
    return lambda _: f"reply {next(numbers)}: ö"


def test_each_request_is_asked_once_whatever_of_it_differs(tmp_path: Path) -> None:
    inner = HandChat(counting())
    with open_cache(tmp_path / "r.db") as cache:
        chat = CachedChat(cache, inner.name, inner=inner)
        first = chat.complete(ASK)
        for i, options in enumerate(
            (
                {"random_seed": 1},
                {"temperature": 1.0},
                {"temperature": None},
                {"max_tokens": 7},
                {"stop": ["x"]},
            ),
            2,
        ):
            assert chat.complete(ASK, **options).text == f"reply {i}: ö"  # type: ignore[arg-type]
        assert chat.complete((*ASK, Message("assistant", "x"))).text == "reply 7: ö"
        assert chat.complete(ASK) == first
        assert (chat.sent, chat.reused, len(cache)) == (7, 1, 7)
        other = CachedChat(cache, "hand-2", inner=inner)
        assert other.complete(ASK).text == "reply 8: ö"
        assert cache.models() == ("hand-1", "hand-2")
    with open_cache(tmp_path / "r.db", must_exist=True) as cache:
        replay = CachedChat(cache, "hand-1")
        assert replay.complete(ASK) == first
        with raises(InputError) as caught:
            replay.complete((Message("user", "Who is Bob?"),))
        assert "without --replay" in str(caught.value)
    assert len(inner.asked) == 8


def test_the_version_of_the_prompt_is_part_of_the_key(tmp_path: Path) -> None:
    inner = HandChat(counting())
    with open_cache(tmp_path / "r.db") as cache:
        chat = CachedChat(cache, inner.name, inner=inner)
        texts = {
            chat.complete(Rendered(ASK, label=label)).text for label in ("p@1", "p@2", "q@1", "p@1")
        }
    assert len(texts) == len(inner.asked) == 3


def test_the_key_covers_every_field() -> None:
    one = ChatRequest("m", ASK, 0.0, 5, None, ())
    others = [
        ChatRequest("n", ASK, 0.0, 5, None, ()),
        ChatRequest("m", (Message("system", "Who is Ada?"),), 0.0, 5, None, ()),
        ChatRequest("m", ASK, 0.0, 5, None, (), 0),
        ChatRequest("m", ASK, 0.0, 5, None, (), None, JsonForm("f", {"type": "object"})),
        ChatRequest("m", ASK, 0.0, 5, None, (), None, JsonForm("f", {"type": "array"})),
        ChatRequest("m", ASK, 0.0, 5, None, (), None, None, "p@1"),
    ]
    assert len({request.key() for request in (one, *others)}) == 7
    assert one.key() == ChatRequest("m", ASK, 0.0, 5, None, ()).key()


def test_log_probabilities_survive(tmp_path: Path) -> None:
    reply = Reply(
        "5",
        "m-1",
        "stop",
        Usage(3, 1),
        "r",
        0.25,
        2,
        (TokenChoice("5", -0.1, (TokenChance("5", -0.1), TokenChance("4", -2.5))),),
    )
    request = ChatRequest("m", ASK, 0.0, 5, None, (), 2)
    with open_cache(tmp_path / "r.db") as cache:
        cache.add(request, reply)
        cache.add(request, Reply("6", "m-1", "stop", Usage()))
        kept = cache.reply(request.key())
    assert kept == reply
    assert isinstance(kept, Reply)
    assert (kept.seconds, kept.tries) == (0.25, 2)


def test_a_failure_is_replayed_and_otherwise_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "r.db"
    with open_cache(file) as cache:
        failing = CachedChat(cache, "hand-1", inner=HandChat(refuses))
        with pytest.raises(ReplyError) as first:
            failing.complete(ASK)
        assert len(cache) == 0
        with pytest.raises(ReplyError) as again:
            CachedChat(cache, "hand-1").complete(ASK)
        assert (again.value.message, again.value.fault, again.value.tries) == (
            first.value.message,
            first.value.fault,
            3,
        )
        well = CachedChat(cache, "hand-1", inner=HandChat(lambda _: "well"))
        assert well.complete(ASK).text == "well"
        assert CachedChat(cache, "hand-1").complete(ASK).text == "well"


def test_threads_with_one_question_ask_once(tmp_path: Path) -> None:
    def slowly(_: Asked) -> str:
        time.sleep(0.05)
        return "once"

    inner = HandChat(slowly)
    with open_cache(tmp_path / "r.db") as cache:
        chat = CachedChat(cache, inner.name, inner=inner)
        threads = [threading.Thread(target=chat.complete, args=(ASK,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(inner.asked) == 1


def test_the_first_timings_stay(tmp_path: Path) -> None:
    key = "ab" * 16
    with open_cache(tmp_path / "r.db") as cache:
        assert cache.timings(key) is None
        cache.store_timings(key, {"retrieve": 1.5})
        cache.store_timings(key, {"retrieve": 9.0})
        assert cache.timings(key) == {"retrieve": 1.5}


def test_wrong_files_are_told(tmp_path: Path) -> None:
    with (
        raises(InputError),
        open_cache(tmp_path / "none.db", must_exist=True),
    ):
        pass
    with pytest.raises(InputError, match="can't open"), open_cache(tmp_path / "no" / "r.db"):
        pass
    text = tmp_path / "text.db"
    text.write_text("these are words, and no database at all. " * 50)
    with raises(StoreCorruptError), open_cache(text):
        pass
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    with raises(StoreCorruptError), open_cache(other):
        pass
    connection = sqlite3.connect(other)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()
    newer = tmp_path / "newer.db"
    with open_cache(newer):
        pass
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(SchemaVersionError, match="schema 99"), open_cache(newer):
        pass


def test_over_the_real_client(tmp_path: Path) -> None:
    with stand_in(ok("Ada.")) as server, open_cache(tmp_path / "r.db") as cache:
        with OpenAIChat("m", base_url=server.url) as model:
            chat = CachedChat(cache, "m", inner=model)
            first = chat.complete(ASK)
            assert chat.complete(ASK) == first
        assert len(server.requests) == 1
    with open_cache(tmp_path / "r.db", must_exist=True) as cache:
        assert CachedChat(cache, "m").complete(ASK) == first


def test_a_reply_set_aside_is_asked_for_anew_once_and_replaced(tmp_path: Path) -> None:
    with open_cache(tmp_path / "r.db") as cache:
        inner = HandChat(counting())
        first = CachedChat(cache, inner.name, inner=inner)
        kept = first.complete(ASK)
        first.set_aside(kept)
        # Kept all the same: a replay, and a run that does not retry, have it.
        assert (len(cache), CachedChat(cache, inner.name).complete(ASK)) == (1, kept)
        assert CachedChat(cache, inner.name, inner=inner).complete(ASK) == kept
        retry = CachedChat(cache, inner.name, inner=inner, retry_failed=True)
        other = retry.complete(ASK)
        assert other.text != kept.text
        retry.set_aside(other)
        assert retry.complete(ASK) == other
        assert CachedChat(cache, inner.name).complete(ASK) == other
    assert len(inner.asked) == 2
