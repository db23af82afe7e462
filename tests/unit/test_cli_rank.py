"""rank from the command line: train, measure, and the relations of a question (L4, L5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from demo_graph import ARNOLD, MARIA
from error_texts import check_line, check_text
from openai_stand_in import ok, stand_in

Cli = Callable[..., tuple[int, str, str]]

ASKED = {
    "P26": ("spouse", "who is {} married to"),
    "-P26": ("spouse", "whose husband is {}"),
    "P25": ("mother", "who is the mother of {}"),
    "-P25": ("mother", "name a child of the woman {}"),
    "P19": ("place of birth", "where was {} born"),
    "P106": ("occupation", "what does {} do for a living"),
}
NAMES = ("Ann Lee", "Bo Hansen", "Carla Diaz", "Dmitri Orlov", "Eve Moss", "Femi Ade")


def lines(path: str, names: tuple[str, ...]) -> str:
    rows = [
        {"question": pattern.format(name), "relation": key, "label": label, "entity": name}
        for name in names
        for key, (label, pattern) in ASKED.items()
    ]
    Path(path).write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_ranker_is_trained_measured_and_used_l5(demo_cli: Cli) -> None:
    train, valid = lines("train.jsonl", NAMES), lines("valid.jsonl", ("Gus Ito", "Hana Novak"))
    code, out, _ = demo_cli("rank", "train", train, "--out", "r.npz", "--json")
    assert code == 0
    made = json.loads(out)
    assert (made["relations"], made["examples"]) == (6, 36)
    code, out, _ = demo_cli(
        "rank", "measure", valid, "--ranker", "r.npz", "--also", train, "--json"
    )
    assert code == 0
    report = json.loads(out)
    assert report["candidates"] == 6
    assert report["ranker"].startswith(f"trained {made['data'][:8]} on all-MiniLM")
    assert report["recall"]["1"]["value"] > 0.8
    code, out, _ = demo_cli("rank", "measure", valid, "--train", train, "--folds", "2", "--k", "3")
    assert code == 0
    assert "by embedding alone" in out
    code, out, _ = demo_cli(
        "rank", "relations", "Who is Maria Shriver married to?", "--ranker", "r.npz",
        "--relations-per-entity", "3", "--json",
    )  # fmt: skip
    assert code == 0
    (entity,) = [each for each in json.loads(out)["entities"] if each["entity"]["id"] == MARIA]
    assert entity["relations"][0]["relation"] in ("P26", "-P26")
    assert len(entity["relations"]) == 3


def test_relations_of_a_given_entity_by_a_model_l4(demo_cli: Cli) -> None:
    with stand_in(ok("2\n1")) as server:
        model = ("--model", "m", "--model-url", server.url, "--cache", "kept.db")
        asked = ("rank", "relations", "Who?", "--entity", ARNOLD, "--ranker", "model")
        code, out, _ = demo_cli(*asked, *model)
        assert code == 0
        assert ARNOLD in out.splitlines()[1]
        sent = server.requests[0]["messages"][-1]["content"]
        second = next(line for line in sent.splitlines() if line.startswith("2. "))
        assert second[3:].removesuffix(" (the entity is the value)") in out.splitlines()[2]
    code, again, _ = demo_cli(*asked, "--replay", "kept.db")
    assert (code, again) == (0, out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "none.txt", "--out", "r.npz"),
        ("train", "q.jsonl", "--out", "no/r.npz"),
        ("measure", "q.jsonl", "--ranker", "none.npz"),
        ("measure", "q.jsonl", "--ranker", "model"),
        ("measure", "q.jsonl", "--k", "0"),
        ("measure", "q.jsonl", "--train", "q.jsonl", "--folds", "1"),
        ("measure", "q.jsonl", "--train", "q.jsonl", "--also", "q.jsonl"),
        ("relations", "Who?", "--relations-per-entity", "0"),
        ("relations", "Who?", "--min-link-score", "7"),
    ],
)
def test_wrong_options_of_rank_say_which(demo_cli: Cli, arguments: tuple[str, ...]) -> None:
    lines("q.jsonl", NAMES[:1])
    code, _, err = demo_cli("rank", *arguments)
    assert code == 2
    check_text(err)


def test_a_ranker_put_into_the_store_ranks_retrievals_l4_l5(demo_cli: Cli) -> None:
    train = lines("train.jsonl", NAMES)
    assert demo_cli("rank", "list")[1].startswith("no trained ranker")
    asked = ("retrieve", "Who is Maria Shriver married to?", "--preset", "ltgen", "--json")
    code, _, err = demo_cli(*asked, "--ranker", "trained")
    assert code == 2
    assert "rank add FILE" in err
    assert demo_cli("rank", "train", train, "--out", "r.npz")[0] == 0
    code, out, _ = demo_cli("rank", "add", "r.npz", "--json")
    assert code == 0
    name = json.loads(out)["name"]
    code, out, _ = demo_cli("rank", "list")
    assert name in out
    # In the API, and here with the ranker of the store or of the file: one ranking.
    limits = ("--relations-per-entity", "2", "--triples-per-relation", "3", "--draw-seed", "4")
    code, out, _ = demo_cli(*asked, "--ranker", "trained", *limits)
    assert code == 0
    found = json.loads(out)
    parameters = found["provenance"]["parameters"]
    assert (parameters["ranker"], parameters["draw_seed"]) == (name, 4)
    assert found["items"][0]["triple"]["relation"]["id"] == "P26"
    of_maria = {
        item["triple"]["relation"]["id"] for item in found["items"] if item["origin_id"] == MARIA
    }
    for ranker in (name, "trained", "r.npz"):
        code, out, _ = demo_cli(
            "rank", "relations", asked[1], "--ranker", ranker, *limits, "--json"
        )
        assert code == 0
        (entity,) = [one for one in json.loads(out)["entities"] if one["entity"]["id"] == MARIA]
        assert {one["relation"].removeprefix("-") for one in entity["relations"]} == of_maria
    code, out, _ = demo_cli("rank", "delete", name)
    assert (code, out.strip()) == (0, f"deleted ranker {name}")
    assert demo_cli("rank", "delete", name)[0] == 2


def test_relations_without_a_name_are_told(demo_cli: Cli) -> None:
    Path("v.txt").write_text("Q1\tP19\tQ2\twhere was ann born\nQ3\tR50\tQ4\twhat did bo write\n")
    Path("l.tsv").write_text("P19\tplace of birth\n")
    code, out, err = demo_cli("rank", "measure", "v.txt", "--label-file", "l.tsv")
    assert code == 0
    check_line(err, "1 relation", "P50")
    assert "2 signed relations" in out
