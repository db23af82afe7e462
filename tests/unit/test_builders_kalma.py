"""Evolved questions: selection, perplexity, names, rounds, and the set as a whole (K9)."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runs import Cli
from error_texts import check_line, check_text, raises
from hand_chat import Asked, HandChat
from openai_stand_in import Scripted, by_rule, stand_in

from graph_service import Service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.http.retry import RetryPolicy
from graph_service.sampling import read_relations
from queries.builders.kalma.evolution import Evolver, cite
from queries.builders.kalma.pairs import (
    NamedPair,
    Pool,
    disambiguate,
    read_pairs,
)
from queries.builders.kalma.perplexity import EchoedPerplexity, NGrams, read_corpus
from queries.builders.kalma.selection import (
    Candidate,
    PartOfSpeech,
    best_of,
    fact_sentence,
    part_of_speech,
    selection_scores,
)
from queries.builders.material import GraphMaterial
from queries.builders.stages import RefusedError
from queries.generate.setting import Generation
from queries.llm import EchoedPrompt

CORPUS = ("the spouse of the actor is a journalist", "she was born in Vienna")


def test_the_score_is_the_equation_by_hand_k9() -> None:
    """N = 100, counts 1, 10, 50, perplexities 2, 4, 8, in 30 digits by Python's decimal.

    ln(200), ln(20), ln(4); softmax of 1/2, 1/4, 1/8.
    """
    scores = selection_scores([1, 10, 50], [2.0, 4.0, 8.0], statements=100, share=0.5)
    expected = (2.85190878057679197242504503461, 1.65576807132419913469831011673,
                0.832495148709968037738096273609)  # fmt: skip
    assert all(abs(a - b) < 1e-12 for a, b in zip(scores, expected, strict=True))
    scores = selection_scores([1, 10, 50], [2.0, 4.0, 8.0], statements=100, share=0.3)
    expected = (1.87334534618829409041377703612, 1.11978239043228239120354473296,
                0.610975463745999005299549085885)  # fmt: skip
    assert all(abs(a - b) < 1e-12 for a, b in zip(scores, expected, strict=True))
    # The coherences of a round add up to 1, however unlikely its texts are.
    assert math.fsum(
        selection_scores([1, 1], [1e-3, 1e9], statements=1, share=0.0)
    ) == pytest.approx(1.0, abs=1e-12)
    for uses, perplexities, share in (
        ([0], [2.0], 0.5), ([101], [2.0], 0.5), ([1], [0.0], 0.5), ([1], [math.inf], 0.5),
        ([1], [2.0], 1.5), ([1, 2], [2.0], 0.5),
    ):  # fmt: skip
        with pytest.raises(InputError):
            selection_scores(uses, perplexities, statements=100, share=share)


def test_ties_of_a_round_go_by_id() -> None:
    same = [
        Candidate(id_, "", PartOfSpeech.NOUN, 1, 1.0, score)
        for id_, score in (("b", 1.0), ("a", 1.0 - 1e-12), ("c", 0.9))
    ]
    assert best_of(same).statement_id == "a"


@pytest.mark.parametrize(
    ("relation", "kind", "sentence"),
    [
        ("place of birth", PartOfSpeech.NOUN, "Ann was born in Rome."),
        ("patron", PartOfSpeech.NOUN, "Ann's patron is Rome."),
        ("depicts", PartOfSpeech.VERB, "Ann depicts Rome."),
        ("educated at", PartOfSpeech.ATTRIBUTE, "Ann was educated at Rome."),
        ("member of", PartOfSpeech.ATTRIBUTE, "Ann is a member of Rome."),
        ("国家", PartOfSpeech.NOUN, "Ann — 国家: Rome."),
    ],
)
def test_a_fact_is_a_sentence_by_the_part_of_speech_of_its_relation_k9(
    some_pool: Pool, relation: str, kind: PartOfSpeech, sentence: str
) -> None:
    triple = replace(
        some_pool.pair,
        head=replace(some_pool.head, label="Ann"),
        relation=replace(some_pool.pair.relation, label=relation),
        value_label="Rome",
    )
    assert part_of_speech(relation) is kind
    assert fact_sentence(triple) == sentence


def test_ngrams_are_the_formula_by_hand_k9(tmp_path: Path) -> None:
    """Corpus "a b" and "a c", bigrams. Words a, b, c and the end: 4 kinds of 6 tokens.

    P(a) = (2 + 4/5) / (6 + 4) = 0.28, P(b) = (1 + 4/5) / 10 = 0.18, P(</s>) = 0.28.
    P(a|<s>) = (2 + 1 * 0.28) / (2 + 1) = 0.76; P(b|a) = (1 + 2 * 0.18) / (2 + 2) = 0.34;
    P(</s>|b) = (1 + 1 * 0.28) / (1 + 1) = 0.64. Of "A b": (0.76 * 0.34 * 0.64) ** (-1/3).
    """
    model = NGrams(["a b", "a c"], order=2)
    assert model.probability("b", ("a",)) == pytest.approx(0.34, abs=1e-15)
    assert model.of(["A b"])[0] == pytest.approx((0.76 * 0.34 * 0.64) ** (-1 / 3), abs=1e-12)
    # What was never seen is possible, and its chances add up with those of all others.
    chances = [model.probability(word, ("a",)) for word in ("a", "b", "c", "</s>", "new")]
    assert math.fsum(chances) == pytest.approx(1.0, abs=1e-12)
    assert model.of(["new new"])[0] > model.of(["a b"])[0]
    (tmp_path / "c.txt").write_text("a b\n\na c\n")
    read = read_corpus(tmp_path / "c.txt")
    assert read.name.startswith("3-grams of c.txt ")
    (tmp_path / "c.txt").write_bytes(b"a\n\xff\n")
    with raises(InputError):
        read_corpus(tmp_path / "c.txt")
    (tmp_path / "c.txt").write_text(" \n!\n")
    with pytest.raises(InputError, match="holds no words"):
        read_corpus(tmp_path / "c.txt")


def test_an_endpoint_that_echoes_tells_perplexity_k9() -> None:
    def fixed(body: dict[str, object]) -> Scripted:
        assert body["echo"] is True
        assert (body["logprobs"], body["max_tokens"]) == (0, 0)
        logs = {"tokens": ["a", " b", " c"], "token_logprobs": [None, -1.0, -3.0]}
        return Scripted(200, {"model": "e", "choices": [{"text": "a b c", "logprobs": logs}]})

    with stand_in(fixed) as server, EchoedPrompt("e", base_url=server.url, api_key="k") as model:
        (perplexity,) = EchoedPerplexity(model).of(["a b c"])
        assert perplexity == pytest.approx(math.exp(2.0))
        assert server.paths == ["/v1/completions"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"choices": [{"text": "a", "logprobs": None}]}, "no reply"),
        ({"error": {"message": "no echo here"}}, "no reply"),
        (b"{ no JSON", "no reply"),
        (
            {"choices": [{"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": [None]}}]},
            "no perplexity",
        ),
    ],
)
def test_an_endpoint_without_echo_is_refused_with_the_reason(body: object, why: str) -> None:
    patient = RetryPolicy(max_retries=1)
    with (
        stand_in(Scripted(200, body)) as server,
        EchoedPrompt(
            "e", base_url=server.url, api_key="k", retry=patient, sleep=lambda _: None
        ) as model,
        pytest.raises(RefusedError) as caught,
    ):
        EchoedPerplexity(model).of(["a"])
    assert caught.value.why == why


def material_of(service: Service) -> GraphMaterial:
    uses = service.draws.relation_uses(graph="demo")
    return GraphMaterial(
        Client.over(service), "demo", "en", uses.statements, uses.uses, read_relations()
    )


@pytest.fixture(scope="module")
def material(demo_service: Service) -> GraphMaterial:
    return material_of(demo_service)


ARNOLD = NamedPair("p1", "Arnold Schwarzenegger", "P26", "Maria Shriver")


@pytest.fixture(scope="module")
def some_pool(material: GraphMaterial) -> Pool:
    return disambiguate(ARNOLD, material)


def test_names_become_entities_that_the_relation_joins_k9(
    material: GraphMaterial, some_pool: Pool
) -> None:
    assert (some_pool.head.id, some_pool.value.id) == ("Q2685", "Q230654")
    assert some_pool.pair in some_pool.triples
    heads = {triple.head.id for triple in some_pool.triples}
    assert heads == {"Q2685", "Q230654"}
    # The same marriage read from the other side states nothing new.
    assert not any(t.head.id == "Q230654" and t.relation.id == "P26" for t in some_pool.triples)
    assert all(material.informs(triple) or triple == some_pool.pair for triple in some_pool.triples)
    assert some_pool.passed_over > 0
    for pair, why in (
        (replace(ARNOLD, head="Nobody Atall"), "unknown name"),
        (replace(ARNOLD, value="Nobody Atall"), "unknown name"),
        (replace(ARNOLD, relation="P25"), "not related"),
    ):
        with pytest.raises(RefusedError) as caught:
            disambiguate(pair, material)
        assert caught.value.why == why


def says(**by_prompt: Callable[[Asked], str] | str) -> HandChat:
    """A model that speaks by the prompt's last line; what is not named is said well."""

    def say(asked: Asked) -> str:
        first = next(m.content for m in asked.messages if m.role == "user")
        last = first.rstrip().splitlines()[-1].rstrip(":").split()[0].lower()
        given = by_prompt.get(last)
        if callable(given):
            return given(asked)
        if given is not None:
            return given
        reply = by_rule({"messages": [{"content": first}], "model": "m"})
        text: str = reply.body["choices"][0]["message"]["content"]
        return text

    return HandChat(say)


def evolver(model: HandChat, material: GraphMaterial) -> Evolver:
    return Evolver(model, material, NGrams(CORPUS), Generation(), 0.5)


def test_each_round_adds_the_best_fact_with_its_citation_k9(
    material: GraphMaterial, some_pool: Pool
) -> None:
    made = evolver(says(), material)
    draft = made.open(some_pool)
    assert draft.minimum == (some_pool.pair.statement_id,)
    for number in range(1, 6):
        before, draft = draft, made.extend(draft)
        # By brute force: the best score of what is left, recomputed here.
        left = [t for t in some_pool.triples if t.statement_id not in before.minimum]
        texts = [f"{before.text} {fact_sentence(t)}" for t in left]
        perplexities = NGrams(CORPUS).of(texts)
        inverse = [math.exp(1 / p) for p in perplexities]
        scores = {
            t.statement_id: 0.5 * math.log(2 * material.statements / material.uses[t.relation.id])
            + 0.5 * power / sum(inverse)
            for t, power in zip(left, inverse, strict=True)
        }
        best = min(scores, key=lambda id_: (-round(scores[id_], 9), id_))
        assert draft.minimum[-1] == best
        assert len(draft.minimum) == number + 1
        assert {c.statement_id: c.score for c in draft.candidates} == pytest.approx(scores)
    asked = cite(made.add_specific(made.add_general(draft)))
    assert asked.text.count("[") == 6
    assert "Arnold Schwarzenegger" in asked.general
    assert asked.specific != asked.general


def test_a_persons_sentence_is_annotated_with_the_facts_it_states_k9(
    material: GraphMaterial, some_pool: Pool
) -> None:
    sentence = "Arnold Schwarzenegger married Maria Shriver."
    pool = replace(some_pool, sentence=sentence)
    draft = evolver(says(), material).open(pool)
    assert draft.text == sentence
    assert some_pool.pair.statement_id in draft.minimum
    for reply, why in (
        ("none", "pair not stated"),
        ("999", "fact not offered"),
        ("all of them", "unreadable reply"),
    ):
        with pytest.raises(RefusedError) as caught:
            evolver(says(numbers=reply), material).open(pool)
        assert caught.value.why == why


@pytest.mark.parametrize(
    ("prompt", "reply", "why"),
    [
        ("first", "They married.", "fact not stated"),
        ("first", "It rained. It snowed.", "unreadable reply"),
        ("next", "It rained.", "fact not stated"),
        ("next", "Two\nlines", "unreadable reply"),
        ("short", "Tell me all.", "no question"),
        ("short", "Who was it?", "nobody named"),
        ("detailed", "What is known of Arnold Schwarzenegger?", "question repeated"),
    ],
)
def test_half_good_replies_are_refused_with_the_reason_k9(
    material: GraphMaterial, some_pool: Pool, prompt: str, reply: str, why: str
) -> None:
    model = says(**{prompt: reply})
    made = evolver(model, material)
    with pytest.raises(RefusedError) as caught:
        made.add_specific(made.add_general(made.extend(made.open(some_pool))))
    assert caught.value.why == why
    check_line(model.asked[-1].messages[-1].content, "could not be read")


def test_a_reply_that_is_good_the_second_time_counts_k9(
    material: GraphMaterial, some_pool: Pool
) -> None:
    good = f"{some_pool.head.label} was the husband of {some_pool.value.label}."

    def first(asked: Asked) -> str:
        return good if len(asked.messages) > 2 else "They married."

    draft = evolver(says(first=first), material).open(some_pool)
    assert draft.sentences[0].text == good.rstrip(".")


def test_a_pool_that_is_used_up_is_refused_k9(material: GraphMaterial, some_pool: Pool) -> None:
    made = evolver(says(), material)
    small = replace(some_pool, triples=(some_pool.pair,))
    with pytest.raises(RefusedError, match="no fact left"):
        made.extend(made.open(small))


def test_pairs_of_a_file_are_read_and_mistakes_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"head": "A", "relation": "P26", "value": "B"}\n'
        '{"id": "x", "head": "C", "relation": "P26", "value": "D", "sentence": "C and D."}\n'
    )
    assert read_pairs(path) == (
        NamedPair("1", "A", "P26", "B"),
        NamedPair("x", "C", "P26", "D", "C and D."),
    )
    path.write_text('{"head": "A", "relation": "P26"}\n')
    with raises(InputError):
        read_pairs(path)


SET = (
    "dataset",
    "kalma",
    "build",
    "--relation",
    "P40",
    "--count",
    "50",
    "--rounds",
    "2",
    "--corpus",
    "c.txt",
)


@pytest.fixture
def written(demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a stand-in; the folder holds a corpus."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "c.txt").write_text("\n".join(CORPUS))
    with stand_in(by_rule) as server:
        yield server.url


def data_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.json*"))
        if path.is_file()
    }


def test_a_set_of_50_is_built_checked_described_and_scores_1_k9(
    demo_cli: Cli, written: str, tmp_path: Path
) -> None:
    made = demo_cli(*SET, "--model", "m", "--model-url", written, "--out", "s", "--json")
    assert made.code == 0, made.err
    assert made.json["made"] == 50
    assert made.json["stages"][-1]["name"] == "6-cited"
    check_text(demo_cli("dataset", "kalma", "check", "--out", "s").out)
    scored = demo_cli("score", "citations", "s/paragraphs.jsonl", "--gold", "s/general.jsonl",
                      "--json").json  # fmt: skip
    for name in ("precision_micro", "precision_macro", "recall_micro", "recall_macro"):
        assert scored["scores"][name]["value"] == 1.0
    stats = demo_cli("dataset", "kalma", "stats", "--out", "s", "--json").json
    assert stats["columns"]["general.jsonl"]["questions"] == 50
    assert stats["columns"]["general.jsonl"]["facts of a minimum set"] == 3.0
    # Of kept replies alone, in another order of threads, the same bytes.
    (tmp_path / "t").mkdir()
    shutil.copyfile(tmp_path / "s" / "replies.db", tmp_path / "t" / "replies.db")
    again = demo_cli(*SET, "--model", "m", "--replay", "--workers", "3", "--out", "t")
    assert again.code == 0, again.err
    assert data_of(tmp_path / "s") == data_of(tmp_path / "t")
