"""Prompts of one's own: checked against those they stand for, used, and written down."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from error_texts import raises
from hand_chat import HandChat, script
from query_samples import triple

from graph_service.errors import InputError
from queries.generate.answer import Setting, answer_from
from queries.generate.plan import Plan
from queries.generate.prompt import load_prompt, parse_prompt, using_prompts
from queries.score import prompts
from queries.score.own_prompt import all_prompts, read_own_prompts
from queries.score.prompts import load_score_prompt

OWN = "[[system]]\nSpeak like a sailor.\n[[user]]\n{{knowledge}}\n\n{{question}}\n"


def test_an_own_prompt_is_used_in_all_threads_and_written_down(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbf" + OWN.replace("\n", "\r\n").encode())
    shipped = load_prompt("kalma-numbered")
    own = read_own_prompts([f"kalma-numbered={path}"])
    model = HandChat(script("Ahoy [1]."))
    known = [triple("s1", "Q1", "mother", "Ann")]
    plan = Plan()
    assert plan.to_parameters("m")["own_prompts"] == []
    with using_prompts(own):
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(answer_from, "Who?", known, model=model).result()
        assert plan.to_parameters("m")["own_prompts"] == [found.prompt]
    assert model.asked[0].messages[0].content == "Speak like a sailor."
    assert found.prompt == own["kalma-numbered"].label != shipped.label
    assert load_prompt("kalma-numbered") == shipped
    after = answer_from("Who?", known, model=model, setting=Setting.KALMA_NUMBERED)
    assert after.prompt == shipped.label


def test_a_judges_prompt_is_its_own_under_judge(tmp_path: Path) -> None:
    text = (Path(prompts.__file__).parent / "prompts" / "retry.txt").read_text() + "Please.\n"
    path = tmp_path / "mine.txt"
    path.write_text(text)
    with using_prompts(read_own_prompts([f"judge/retry={path}"])):
        assert load_score_prompt("retry").parts[-1].content.endswith("Please.")
        assert "Please." not in load_prompt("retry").parts[-1].content
        assert all_prompts()["judge/retry"].parts[-1].content.endswith("Please.")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("kalma", OWN),
        ("kalma=", OWN),
        ("kalma=none.txt", OWN),
        ("sailor=mine.txt", OWN),
        ("kalma=mine.txt", OWN.replace("question", "query")),
        ("kalma=mine.txt", OWN + "{{#query}}\nx\n{{/query}}\n{{query}}"),
        ("kalma=mine.txt", OWN + "{{query}}\n{{#query}}\nx\n{{/query}}\n"),
        ("kalma=mine.txt", OWN.replace("{{knowledge}}", "")),
        ("judge/retry=mine.txt", "[[user]]\n{{why}}\n"),
        ("kalma=mine.txt", "\n\nHello\n" + OWN),
        ("kalma=mine.txt", ""),
        ("kalma=mine.txt", OWN + "{{#facts}}\nx\n"),
        ("kalma=mine.txt", OWN + "[[assistant]]\nAye.\n"),
        ("judge/retry=mine.txt", "[[system]]\nx\n[[user]]\n{{reason}}\n"),
        ("judge/entailment=mine.txt", "[[user]]\n{{premise}} {{hypothesis}}\n"),
    ],
)  # fmt: skip
def test_faults_of_own_prompts_name_file_and_line(
    given: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text(text)
    with raises(InputError) as caught:
        read_own_prompts([given])
    assert caught.value.argument == "prompt"


def test_a_prompt_given_twice_or_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(OWN)
    with pytest.raises(InputError, match="given twice"):
        read_own_prompts([f"kalma={path}", f"kalma={path}"])
    path.write_bytes(OWN.encode() + b"\xff")
    with raises(InputError):
        read_own_prompts([f"kalma={path}"])


def test_sections_before_a_mark_do_not_move_its_line() -> None:
    text = "[[user]]\n{{#a}}\none\n{{/a}}\n{{/b}}\n"
    with raises(InputError):
        parse_prompt("x", text)
