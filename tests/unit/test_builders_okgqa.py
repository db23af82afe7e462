"""Open questions of ten sub-types, and the rounds of their instruction (O1, O2)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from cli_runs import Cli
from error_texts import check_line, check_text, raises
from hand_chat import HandChat, script
from openai_stand_in import Scripted, by_rule, ok, stand_in

from graph_service import Service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.result import EntityRef
from graph_service.sampling import read_relations
from queries.builders.material import GraphMaterial
from queries.builders.okgqa.dataset import seeds_of
from queries.builders.okgqa.rounds import (
    Rating,
    agreement_of,
    differing,
    propose,
    read_instruction,
    read_ratings,
)
from queries.builders.okgqa.templates import TYPES, SubType, read_templates
from queries.builders.okgqa.writing import QUALITIES, Offered, Seed, Writer
from queries.builders.stages import RefusedError
from queries.generate.setting import Generation

ARNOLD = EntityRef("Q2685", "Arnold Schwarzenegger")
RELATED = SubType("relationship", "explanatory", "How are [a] and [b] in [c]?", ("a", "b"), ("c",))


def test_ten_sub_types_of_five_types_ship_o1() -> None:
    found = read_templates()
    assert len(found) == 10
    assert {kind: sum(one.type == kind for one in found) for kind in TYPES} == dict.fromkeys(
        TYPES, 2
    )
    assert all(1 <= len(one.linked) <= 2 for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sub-types: []\n",
        "sub-types:\n- {name: x, type: odd, template: '[a]', linked: [a]}\n",
        "sub-types:\n- {name: x, type: critical, template: '[a] [b]', linked: [a]}\n",
        "sub-types:\n- {name: x, type: critical, template: 'no', linked: []}\n",
        "sub-types:\n- {name: x, type: critical, linked: [a]}\n",
        "sub-types:\n- {name: x, typ: critical, template: '[a]', linked: [a]}\n",
        "sub-types:\n- {name: x, type: critical, template: '[a]', linked: [a]}\n"
        "- {name: x, type: critical, template: '[a]', linked: [a]}\n",
    ],
)
def test_mistakes_in_templates_are_named_by_line_o1(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.yaml").write_text(text)
    with raises(InputError):
        read_templates(tmp_path / "t.yaml")


def test_sub_types_take_turns_o1() -> None:
    kinds = read_templates()
    entities = [EntityRef(f"Q{i}", f"e{i}") for i in range(12)]
    seeds = seeds_of(kinds, entities, each=2)
    assert len(seeds) == 12, "as many as there are entities"
    assert seeds[10].id == "character-description-2"
    assert [seed.entity for seed in seeds] == entities


@pytest.fixture(scope="module")
def material(demo_service: Service) -> GraphMaterial:
    uses = demo_service.draws.relation_uses(graph="demo")
    return GraphMaterial(
        Client.over(demo_service), "demo", "en", uses.statements, uses.uses, read_relations()
    )


def writer(model: HandChat, material: GraphMaterial) -> Writer:
    return Writer(model, material, Generation(), "Be good.", 30)


@pytest.fixture(scope="module")
def offered(material: GraphMaterial) -> Offered:
    return writer(HandChat(script("")), material).offer(Seed("1", RELATED, ARNOLD))


def reply(**changed: Any) -> str:
    placed = {"a": "Arnold Schwarzenegger", "b": "Maria Shriver", "c": "politics"}
    said = {
        "question": "How did Arnold Schwarzenegger and Maria Shriver meet in politics?",
        "placeholders": placed,
        "naturalness": "high",
        "difficulty": "easy",
    }
    return json.dumps({**said, **changed})


def test_a_question_is_linked_by_the_names_of_its_placeholders_o1(
    material: GraphMaterial, offered: Offered
) -> None:
    model = HandChat(script("It is one.", f"```json\n{reply()}\n```"))
    made = writer(model, material)
    written = made.write(offered)
    assert len(model.asked) == 2
    assert "Be good." in model.asked[0].whole
    linked = made.require_entities(made.link(written))
    assert linked.entities == {"a": "Q2685", "b": "Q230654"}
    assert linked.connected is True
    assert "P26" in linked.relations


@pytest.mark.parametrize(
    "text",
    [
        "unsuitable.",
        "[]",
        "no JSON",
        reply(question="Tell me."),
        reply(question=None),
        reply(question="How did they meet in politics?"),
        reply(placeholders={"a": "x"}),
        reply(placeholders={"a": "x", "b": "", "c": "y"}),
        reply(naturalness="very"),
        reply(difficulty=3),
    ],
)
def test_half_good_replies_are_refused_with_the_reason_o1(
    material: GraphMaterial, offered: Offered, text: str
) -> None:
    with raises(RefusedError):
        writer(HandChat(script(text)), material).write(offered)


@pytest.mark.parametrize(
    "name",
    ["Nobody Atall", "arnold schwarzenegger"],
)
def test_entities_that_do_not_exist_are_refused_and_counted_o1(
    material: GraphMaterial, offered: Offered, name: str
) -> None:
    placed = {"a": "Arnold Schwarzenegger", "b": name, "c": "politics"}
    question = f"How did Arnold Schwarzenegger and {name} meet in politics?"
    made = writer(HandChat(script(reply(question=question, placeholders=placed))), material)
    linked = made.link(made.write(offered))
    assert linked.connected is None
    with raises(RefusedError):
        made.require_entities(linked)


def test_ratings_are_whole_numbers_of_the_scale_o2(
    material: GraphMaterial, offered: Offered
) -> None:
    made = writer(HandChat(script(reply())), material)
    linked = made.link(made.write(offered))
    rater = writer(HandChat(script("7", "8", "eleven", "9", "10", "1")), material)
    assert rater.rate(linked).ratings == dict(zip(QUALITIES, (7, 8, 9, 10, 1), strict=True))
    with pytest.raises(RefusedError):
        writer(HandChat(script("11")), material).rate(linked)


def rating(id_: str, rater: str, *values: int) -> Rating:
    numbers = values if len(values) == 5 else values * 5
    return Rating(id_, rater, f"{id_}?", dict(zip(QUALITIES, numbers, strict=True)), "x")


def test_agreement_of_a_round_is_that_of_the_agreement_scores_o2() -> None:
    """Model 1, 2, 3 against means 1, 2, 4: r = 3 / sqrt(2 * 14/3) = 0.98198.

    Of two people (1, 2, 3) and (1, 2, 5), with quadratic weights: observed 4/3. Chance: the mean of
    (a - b)^2 over all nine pairs is (0+1+16 + 1+0+9 + 4+1+4) / 9 = 4. Kappa = 1 - (4/3) / 4 = 2/3.
    """
    automatic = [rating("q1", "model", 1), rating("q2", "model", 2), rating("q3", "model", 3)]
    human = [
        rating("q1", "ann", 1), rating("q2", "ann", 2), rating("q3", "ann", 3),
        rating("q1", "bo", 1), rating("q2", "bo", 2), rating("q3", "bo", 5),
    ]  # fmt: skip
    found = agreement_of(1, automatic, human)
    for quality in QUALITIES:
        assert found.pearson[quality].value == pytest.approx(3 / (2 * 14 / 3) ** 0.5, abs=1e-9)
        assert found.kappa["ann", "bo"][quality].value == pytest.approx(2 / 3, abs=1e-9)
    # Only the last question differs: 3 of the model, 4 of people.
    lines = differing(automatic, human)
    assert lines == [f"{quality}: the model 3, people 4.0: q3?" for quality in sorted(QUALITIES)]
    assert differing(automatic, [rating("q1", "ann", 1)]) == []


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "q9", "rater": "a", "naturalness": 1}',
        '{"id": "q1", "rater": "a", "naturalness": 11}',
        '{"rater": "a"}',
        "no JSON",
    ],
)
def test_mistakes_of_raters_are_named_by_file_and_line_o2(tmp_path: Path, line: str) -> None:
    path = tmp_path / "human.jsonl"
    good = orjson.dumps({"id": "q1", "rater": "a", **dict.fromkeys(QUALITIES, 3)}).decode()
    path.write_text(f"{good}\n{line}\n")
    with raises(InputError):
        read_ratings(path, ids=["q1"])
    path.write_text(f"{good}\n{good}\n")
    with raises(InputError):
        read_ratings(path, ids=["q1"])
    path.write_text(good)
    with raises(InputError):
        read_ratings(path, ids=["q2"])


def test_a_proposal_is_another_instruction_o2(tmp_path: Path) -> None:
    said = propose(HandChat(script("Be good", "Be  better.")), "be good", ["x"], Generation())
    assert said == "Be better."
    with pytest.raises(RefusedError, match="nothing new"):
        propose(HandChat(script("Be good")), "be good", ["x"], Generation())
    (tmp_path / "i.txt").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        read_instruction(tmp_path / "i.txt")


def rating_by_words(body: dict[str, Any]) -> Scripted:
    """Ratings that differ from question to question; all else by rule."""
    asked = body["messages"][-1]["content"]
    if "\nRating for " in asked:
        return ok(str(1 + len(asked) % 10))
    return by_rule(body)


def build(url: str, *more: str) -> tuple[str, ...]:
    return ("dataset", "okgqa", "build", "--model", "m", "--model-url", url, "--out", "d", *more)


def rated(folder: Path, rater: str, change: Callable[[int], int]) -> bytes:
    rows = map(orjson.loads, (folder / "automatic.jsonl").read_bytes().splitlines())
    return b"".join(
        orjson.dumps({"id": row["id"], "rater": rater, **{q: change(row[q]) for q in QUALITIES}})
        + b"\n"
        for row in rows
    )


def test_a_set_of_50_is_built_rated_checked_and_tuned_in_rounds_o1_o2(
    demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    first = tmp_path / "d" / "round-1"
    with stand_in(rating_by_words) as server:
        made = demo_cli(*build(server.url, "--json"))
        assert made.code == 0, made.err
        assert made.json["made"] == 50
        assert not (first / "proposed-instruction.txt").exists()
        # People rate, two of them, one a point higher than the model.
        people = rated(first, "ann", lambda n: n) + rated(first, "bo", lambda n: min(n + 1, 10))
        (first / "human.jsonl").write_bytes(people)
        questions = (first / "questions.jsonl").read_bytes()
        again = demo_cli(*build(server.url, "--json"))
        assert (again.json["fresh"], again.json["made"]) == (0, 50)
        assert (first / "questions.jsonl").read_bytes() == questions
        proposed = (first / "proposed-instruction.txt").read_text()
        assert proposed == "A good question is short, and asks for reasons.\n"
        assert (first / "instruction.txt").read_text() != proposed, "it is never applied by itself"
        assert "needs --instruction FILE" in demo_cli(*build(server.url, "--round", "2")).err
        second = demo_cli(
            *build(server.url, "--round", "2", "--each", "1", "--instruction",
                   "d/round-1/proposed-instruction.txt")
        )  # fmt: skip
        assert second.code == 0, second.err
    assert (tmp_path / "d" / "round-2" / "instruction.txt").read_text() == proposed
    check_text(demo_cli("dataset", "okgqa", "check", "--out", "d").out)
    stats = demo_cli("dataset", "okgqa", "stats", "--out", "d", "--json").json
    figures = stats["columns"]["round 1"]
    assert {kind: figures[kind] for kind in TYPES} == dict.fromkeys(TYPES, 10)
    assert figures["entities that exist"] == 1.0
    assert figures["Pearson, naturalness"] > 0.9
    assert 0.5 < figures["kappa, novelty"] < 1.0
    check_line(stats["notes"], "round 2")
    assert stats["columns"]["OKGQA, as published"]["questions"] == 850
    (first / "human.jsonl").write_bytes(people + b'{"id": "other"}\n')
    told = demo_cli("dataset", "okgqa", "check", "--out", "d")
    assert told.code == 2
    assert "human.jsonl, line 101, field naturalness" in told.err
