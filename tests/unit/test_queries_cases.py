"""Question files: one's own, conversations, and the published ones (K10, L7, O1)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from error_texts import raises
from query_samples import triple

from graph_service.cli.ask.options import QUESTION_FORMATS
from graph_service.errors import InputError
from queries.datasets.case import Case, both_wordings
from queries.datasets.cases import QuestionFormat, gold_of, read_question_file, recognise
from queries.generate.ablation import swap_graphs
from queries.llm import Message

PERSON = {"name": "Ada", "qid": "Q1", "date_of_birth": "1815-12-10", "spouse": "Bea", "child": ""}
HEADER = "question,type,dbpedia_entities\n"
RUBQ = {
    "uid": 7,
    "question_text": "Кто?",
    "question_eng": "Who?",
    "question_uris": ["http://www.wikidata.org/entity/Q42"],
    "answers": [{"type": "uri", "label": "Ада", "wd_names": {"en": ["Ada"], "ru": ["Ада"]}}],
    "tags": ["1-hop"],
}


def written(tmp_path: Path, name: str, content: object) -> Path:
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_the_command_line_names_the_formats() -> None:
    assert tuple(item.value for item in QuestionFormat) == QUESTION_FORMATS


def test_lines_of_ones_own(tmp_path: Path) -> None:
    rows = [
        {"question": "Who?"},
        {"id": 5, "question": "Where?", "kind": "k", "entity_ids": ["Q1"], "score": 3},
        {
            "id": "g",
            "question": "When?",
            "statement_ids": ["q42$f078e5b3-f9a8-480e-b7ac-d97778cbbef9"],
        },
        {
            "id": "h",
            "question": "And she?",
            "history": [
                {"role": "user", "content": "Who?"},
                {"role": "assistant", "content": "Ada."},
            ],
        },
    ]
    file = written(tmp_path, "q.jsonl", "\n\n".join(json.dumps(row) for row in rows))
    found = read_question_file(file)
    assert [case.id for case in found] == ["1", "5", "g", "h"]
    assert found[1] == Case("5", "Where?", "k", ("Q1",))
    assert found[2].statement_ids == ("Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9",)
    assert found[3].history == (Message("user", "Who?"), Message("assistant", "Ada."))


def test_each_turn_of_a_conversation_is_a_question_l7(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "Who is Ada?"},
        {"role": "assistant", "content": "A person."},
        {"role": "user", "content": "Her wife?"},
    ]
    file = written(tmp_path, "c.jsonl", json.dumps({"id": "c", "messages": said, "kind": "conv"}))
    one, two = read_question_file(file)
    assert (one.id, one.question, one.history, one.kind) == ("c#1", "Who is Ada?", (), "conv")
    assert (two.id, two.question, len(two.history)) == ("c#2", "Her wife?", 2)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"id": "a"}',
        '{"question": " "}',
        '{"question": "x", "entity_ids": "Q1"}',
        '{"question": "x", "history": "y"}',
        '{"question": "x", "history": [{"role": "system", "content": "y"}]}',
        '{"question": "x", "history": [{"role": "user", "content": " ", "name": "n"}]}',
        '{"question": "x", "question_vector": [1, "y"]}',
        '{"question": "x", "gold_triples": [["a", "b"]]}',
        '{"messages": [{"role": "assistant", "content": "y"}]}',
        '{"id":"a","question":"x"}\n{"id":"a","question":"y"}',
        "",
    ],
)
def test_bad_lines_name_line_and_field(tmp_path: Path, line: str) -> None:
    with raises(InputError):
        read_question_file(written(tmp_path, "q.jsonl", line), question_format=QuestionFormat.LINES)


def test_a_missing_file(tmp_path: Path) -> None:
    with raises(InputError):
        read_question_file(tmp_path / "none.jsonl")


def test_biokalma_k10(tmp_path: Path) -> None:
    file = written(tmp_path, "b.json", [["question: Who is Ada?", [PERSON]], ["Who?", []]])
    assert recognise(file) is QuestionFormat.BIOKALMA
    one, two = read_question_file(file)
    assert (one.id, one.question, one.entity_ids) == ("1", "Who is Ada?", ("Q1",))
    assert [(fact.relation.label, fact.value_label) for fact in one.knowledge] == [
        ("date of birth", "1815-12-10"),
        ("spouse", "Bea"),
    ]
    assert (two.id, two.entity_ids, two.knowledge) == ("2", (), ())


def test_general_and_specific_wordings_of_the_same_questions_k10(tmp_path: Path) -> None:
    """The specific file is published beside the general one; these are made files of its format."""
    general = read_question_file(
        written(tmp_path, "g.json", [["question: Who?", [PERSON]], ["Why?", []]])
    )
    worded: list[list[Any]] = [
        ["When was Ada born, and to whom was she married?", [PERSON]],
        ["Why so?", []],
    ]
    specific = read_question_file(written(tmp_path, "s.json", worded))
    found = both_wordings(general, specific, source="s.json")
    assert [(case.id, case.kind, case.question) for case in found] == [
        ("1/general", "general", "Who?"),
        ("1/specific", "specific", "When was Ada born, and to whom was she married?"),
        ("2/general", "general", "Why?"),
        ("2/specific", "specific", "Why so?"),
    ]
    assert found[0].knowledge == found[1].knowledge == general[0].knowledge
    other = [[worded[0][0], [{**PERSON, "spouse": "Eve"}]], worded[1]]
    for content, message in (
        (other, "s.json, question '1': knowledge is not that"),
        ([worded[1], worded[0]], "question '1': entity_ids is not that"),
        (worded[:1], "as many questions as in the general file were expected, 2; 1 came"),
    ):
        file = written(tmp_path, "s.json", content)
        with pytest.raises(InputError, match=message):
            both_wordings(general, read_question_file(file), source="s.json")


@pytest.mark.parametrize(
    "content",
    [
        {},
        ["x"],
        [["x", [], 1]],
        [[3, []]],
        [["x", {}]],
        [["x", []], ["y", [{"name": "Ada"}]]],
        [["x", [{"name": "Ada", "qid": "Q1", "age": 3}]]],
    ],
)
def test_bad_biokalma(tmp_path: Path, content: object) -> None:
    with raises(InputError):
        read_question_file(
            written(tmp_path, "b.json", content), question_format=QuestionFormat.BIOKALMA
        )


def test_okgqa_o1(tmp_path: Path) -> None:
    text = (
        ",question,type,dbpedia_entities,id,dbpedia_entities_re\n"
        "0,\"Compare A,\nB.\",comparative,\"{'a': 'http://x/A'}\",749,"
        "\"{'a': 'http://dbpedia.org/page/A', 'b': None, 'c': \"\"http://x/B's\"\"}\"\n"
        "1,Why?,explanatory,{},491,\n"
    )
    file = written(tmp_path, "o.csv", text)
    one, two = read_question_file(file)
    assert (one.id, one.kind, one.question) == ("749", "comparative", "Compare A,\nB.")
    assert one.entity_ids == ("http://dbpedia.org/resource/A", "http://x/B's")
    assert (two.id, two.entity_ids) == ("491", ())


@pytest.mark.parametrize(
    "content",
    [
        "question,type\nx,y\n",
        HEADER + ",k,{}\n",
        HEADER + "x,k,nonsense(\n",
        HEADER + "x,k,[1]\n",
        HEADER + "x,k,__import__('os')\n",
        HEADER,
    ],
)
def test_bad_okgqa(tmp_path: Path, content: str) -> None:
    with raises(InputError):
        read_question_file(written(tmp_path, "o.csv", content))


def test_rubq_with_questions_without_an_answer(tmp_path: Path) -> None:
    lacking = {**RUBQ, "uid": 8, "answers": [], "tags": ["1-hop", "no-answer"]}
    file = tmp_path / "r.json.gz"
    file.write_bytes(gzip.compress(json.dumps([RUBQ, lacking]).encode()))
    assert recognise(file) is QuestionFormat.RUBQ
    one, two = read_question_file(file)
    assert one == Case("7", "Who?", "1-hop", ("Q42",), answers=("Ada",))
    assert (two.kind, two.lacking) == ("no-answer", True)
    assert read_question_file(file, language="ru")[0].question == "Кто?"
    with raises(InputError):
        read_question_file(file, language="de")


@pytest.mark.parametrize(
    "change",
    [
        {"uid": "7"},
        {"question_eng": None},
        {"question_uris": [3]},
        {"answers": ["x"]},
    ],
)
def test_bad_rubq(tmp_path: Path, change: dict[str, object]) -> None:
    with raises(InputError):
        read_question_file(written(tmp_path, "r.json", [{**RUBQ, **change}]))


@pytest.mark.data
def test_the_published_files(data_dir: Path) -> None:
    """Counts as the READMEs of the data say."""
    bio = read_question_file(data_dir / "biokalma" / "simple_question_graph.json")
    assert len(bio) == 1085
    assert sum(not case.entity_ids for case in bio) == 98
    assert len({id_ for case in bio for id_ in case.entity_ids}) == 1076
    assert not any(case.question.startswith("question:") for case in bio)
    okgqa = read_question_file(data_dir / "okgqa" / "filtered_questions_50_v3.csv")
    assert len(okgqa) == 50
    assert {case.kind for case in okgqa} == {
        *("descriptive", "explanatory", "comparative", "critical", "predictive")
    }
    rubq = read_question_file(data_dir / "rubq" / "RuBQ_2.0_dev.json.xz")
    assert (len(rubq), sum(case.lacking for case in rubq)) == (580, 100)


# Gold sets, and graphs that are swapped


def test_gold_sets_by_id_in_their_order() -> None:
    known = [triple("a", "Q1", "r", "v"), triple("b", "Q1", "r", "w")]
    assert gold_of(Case("q", "?", statement_ids=("b", "a")), known) == (known[1], known[0])
    assert gold_of(Case("q", "?", knowledge=(known[0],)), ()) == (known[0],)
    assert gold_of(Case("q", "?", lacking=True), ()) == ()
    with raises(InputError):
        gold_of(Case("q", "?"), known)
    short = Case("q", "?", statement_ids=("b", "c"))
    with raises(InputError):
        gold_of(short, known)
    assert gold_of(short, known, may_lack=True) == (known[1],)


def sets(count: int) -> dict[str, list[object]]:
    """One question each on two people of its own."""
    return {
        f"q{i}": [triple(f"{i}{j}{k}", f"Q{i}{j}", "r", f"v{k}") for j in "ab" for k in range(3)]
        for i in range(count)
    }


def test_swapped_graphs_reach_their_share_and_nest_k7() -> None:
    """K7: 100, 80, 60, 40, 20 % of all (question, entity) pairs keep their graph, nested."""
    gold = sets(10)
    before: set[tuple[str, str]] = set()
    for share, wrong in ((1.0, 0), (0.8, 4), (0.6, 8), (0.4, 12), (0.2, 16), (0.0, 20)):
        found = swap_graphs(gold, right_share=share, random_seed=3)  # type: ignore[arg-type]
        pairs = {(id_, head) for id_, item in found.items() for head in item.wrong}
        assert len(pairs) == wrong
        assert before <= pairs, "what is wrong at more right graphs stays wrong at fewer"
        before = pairs
        for id_, item in found.items():
            own = {fact.head.id for fact in gold[id_]}  # type: ignore[attr-defined]
            heads = list(dict.fromkeys(fact.head.id for fact in item.knowledge))
            assert len(item.knowledge) >= 3
            assert set(heads) == (own - set(item.wrong)) | set(item.wrong.values())
            assert not own & set(item.wrong.values()), "an irrelevant graph is of nobody it names"


def test_the_draw_is_by_pair_and_seed_alone_k7() -> None:
    """K7: seeded, and neither the order nor the number of the questions decides."""
    gold = sets(6)
    back = dict(reversed(gold.items()))
    one = swap_graphs(gold, right_share=0.5, random_seed=1)  # type: ignore[arg-type]
    assert swap_graphs(back, right_share=0.5, random_seed=1) == one  # type: ignore[arg-type]
    other = swap_graphs(gold, right_share=0.5, random_seed=2)  # type: ignore[arg-type]
    assert {id_: item.wrong for id_, item in one.items()} != {
        id_: item.wrong for id_, item in other.items()
    }


def test_what_cannot_be_swapped_is_told_k7() -> None:
    with pytest.raises(InputError, match="0 to 1, got 1.5"):
        swap_graphs(sets(2), right_share=1.5)  # type: ignore[arg-type]
    with raises(InputError):
        swap_graphs(sets(1), right_share=0.0)  # type: ignore[arg-type]


def test_questions_over_a_path_are_read_as_published(tmp_path: Path) -> None:
    simple = written(
        tmp_path, "simple.txt", "Q1\tP19\tQ2\twhere was Ada born\nQ3\tR57\tQ4\ta film by Bea?\n"
    )
    one, other = read_question_file(simple)
    assert recognise(simple) is QuestionFormat.SIMPLE_QUESTIONS
    assert (one.entity_ids, one.answer_ids, one.kind) == (("Q1",), ("Q2",), "forward")
    assert one.gold_triples == (("Q1", "P19", "Q2"),)
    assert other.gold_triples == (("Q4", "P57", "Q3"),), "R57 asks whose value the entity is"
    paths = written(
        tmp_path,
        "paths.txt",
        "who is a 's son 's wife ?\tc(c/d/)\ta#child#b#spouse#c#<end>#c\n"
        "and a 's son ?\tb(b/)\ta#child#b\n",
    )
    one, other = read_question_file(paths)
    assert recognise(paths) is QuestionFormat.PATH_QUESTION
    assert (one.kind, one.answer_ids, one.answers) == ("2-hop", ("c", "d"), ("c", "d"))
    assert one.gold_triples == (("a", "child", "b"), ("b", "spouse", "c"))
    assert (other.kind, other.gold_triples) == ("1-hop", (("a", "child", "b"),))
    bare = written(tmp_path, "bare.txt", "who directed [Kismet]\tWilliam Dieterle|Ada\n")
    assert read_question_file(bare)[0] == Case(
        "1",
        "who directed Kismet",
        entity_ids=("Kismet",),
        answers=("William Dieterle", "Ada"),
        answer_ids=("William Dieterle", "Ada"),
    )
    table = written(
        tmp_path,
        "table.tsv",
        "question\ttopic_entity\tqtype\tanswers\n"
        "films by the director of [Kismet]\tKismet\tmovie_to_director_to_movie\tZaza\n",
    )
    assert read_question_file(table)[0].kind == "2-hop"
    simple.write_text("Q1\tP19\tQ2\twhere?\nQ1\tborn\tQ2\twhere?\n")
    with raises(InputError):
        read_question_file(simple)
    paths.write_text("who ?\tb(b/)\ta#child#b\nwho ?\tb(b/)\ta#child\n")
    with pytest.raises(InputError, match=r"paths\.txt, line 2"):
        read_question_file(paths)
    bare.write_text("who [A]\tB\nwho\tB\n")
    with pytest.raises(InputError, match=r"bare\.txt, line 2"):
        read_question_file(bare)


def test_lines_name_further_sets_and_answers(tmp_path: Path) -> None:
    row = {
        "question": "Who?",
        "alternatives": [["q42$f078e5b3-f9a8-480e-b7ac-d97778cbbef9"]],
        "answer_ids": ["Q2"],
        "gold_triples": [["Q1", "mother", "Q2"]],
    }
    (found,) = read_question_file(written(tmp_path, "q.jsonl", json.dumps(row)))
    assert found.alternatives == (("Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9",),)
    assert (found.answer_ids, found.gold_triples) == (("Q2",), (("Q1", "mother", "Q2"),))
    wrong = written(tmp_path, "w.jsonl", json.dumps({"question": "Who?", "gold_triples": [["Q1"]]}))
    with pytest.raises(InputError, match="gold_triples"):
        read_question_file(wrong)
