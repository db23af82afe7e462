"""``python -m benchmarks linking``: sets, namesakes, slips, figures and the command (K2)."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from error_texts import check_line
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import build_graph

from benchmarks.__main__ import main
from benchmarks.linking import measure_linking
from benchmarks.linking_sets import (
    Gold,
    LinkingData,
    LinkingQuestion,
    LinkingSet,
    stands_in,
)
from benchmarks.namesakes import ask_for_namesakes
from benchmarks.slips import misspell
from graph_service.errors import InputError
from graph_service.link.misspelt import edit_distance
from graph_service.text.fold import normalise_name

PEOPLE = {
    "Q1": {"name": "Ada Byrons", "qid": "Q1", "father": "George Byrons", "date_of_birth": ""},
    "Q2": {"name": "Max Wolf", "qid": "Q2", "occupation": "astronomer", "child": "Ida Wolf"},
    "Q3": {"name": "Max Wolf", "qid": "Q3", "occupation": "gymnast", "date_of_birth": "1901-02-03"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("biokalma", "simplequestions_wikidata", "rubq", "dbpedia50", "dbp15k_fr_en"):
        (tmp_path / name).mkdir()
    asked = [
        ["question: Who was Ada Byrons?", [PEOPLE["Q1"]]],
        ["Who met Max Wolf the gymnast and Ada?", [PEOPLE["Q3"], PEOPLE["Q1"]]],
        ["Is Max Wolf the astronomer related?", [PEOPLE["Q2"]]],
        ["Who?", []],
    ]
    (tmp_path / "biokalma" / "simple_question_graph.json").write_text(json.dumps(asked))
    labels = {"Q1": "Countess Ada", "Q10": "gymnast", "Q11": "Paris", "P1": "occupation"}
    with lzma.open(tmp_path / "wikidata_labels_en_partial.tsv.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"{id_}\t{label}\tmade up\n" for id_, label in labels.items())
    (tmp_path / "simplequestions_wikidata" / "annotated_wd_data_valid_answerable.txt").write_text(
        "Q11\tP17\tQ142\twhat country is paris in\nQ99\tP1\tQ2\twho is unknown\n"
    )
    rubq = [
        {
            "question_text": "Где находится Лондон?",
            "question_eng": "Where is London?",
            "query": "x",
            "question_uris": ["http://www.wikidata.org/entity/Q84"],
            "answers": None,
        },
        {
            "question_text": "Какой город - столица?",
            "question_eng": "Which city is a capital?",
            "query": None,
            "question_uris": None,
            "answers": [
                {
                    "value": "http://www.wikidata.org/entity/Q84",
                    "wd_names": {"ru": ["Лондон", "Столица"], "en": ["London"]},
                }
            ],
        },
    ]
    with lzma.open(tmp_path / "rubq" / "RuBQ_2.0_dev.json.xz", "wt", encoding="utf-8") as file:
        json.dump(rubq, file)
    (tmp_path / "dbpedia50" / "train.txt").write_text(
        "Rio_(song)\tDuran_Duran\tartist\nRio_(album)\tEMI\trecordLabel\n"
    )
    (tmp_path / "dbpedia50" / "valid.txt").write_text("Duran_Duran\tEMI\trecordLabel\n")
    with lzma.open(tmp_path / "dbp15k_fr_en" / "ent_ids_2.xz", "wt", encoding="utf-8") as file:
        for number, name in enumerate(["Queen_(band)", "Queen", "Freddie", "Chess"]):
            file.write(f"{number}\thttp://dbpedia.org/resource/{name}\n")
    with lzma.open(tmp_path / "dbp15k_fr_en" / "triples_2.xz", "wt", encoding="utf-8") as file:
        file.write("0\t7\t2\n1\t7\t3\n")
    return tmp_path


def test_command_prints_every_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "figures.json"
    assert main(["linking", "--data", str(folder), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "biokalma namesakes" in printed
    report = json.loads(out.read_text())
    sets = {item["name"]: item for item in report["sets"]}
    scores = {
        name: {score["name"]: score for score in item["scores"]} for name, item in sets.items()
    }
    # All four mentions of persons that stand there, of the five that are meant ("Ada" alone is no
    # name of hers), and no person that is not meant.
    assert scores["biokalma"]["found"]["value"] == 1.0
    assert scores["biokalma"]["found"]["cases"] == 3
    assert scores["biokalma"]["precision"]["value"] == 1.0
    assert scores["biokalma"]["retrieval accuracy"]["value"] == 0.75
    # Two of the three mentions have two candidates each: (1 + 1/2 + 1/2) / 3.
    assert scores["biokalma"]["found"]["random"] == pytest.approx(2 / 3)
    assert scores["biokalma lower"]["found"]["value"] == 1.0
    for name in ("biokalma namesakes", "dbpedia50 namesakes", "dbp15k namesakes"):
        assert scores[name]["found"]["value"] == 1.0, name
        assert scores[name]["found"]["random"] == 0.5, name
        assert sets[name]["questions"] == 2, name
    assert sets["simplequestions"]["kept_out"] == 1
    assert scores["simplequestions"]["found"]["value"] == 1.0
    assert scores["rubq ru"]["retrieval accuracy"]["value"] == 1.0
    assert sets["rubq en"]["questions"] == 1
    assert report["graphs"]["people"]["entities"] > 5


def test_command_refuses_what_it_cannot_measure(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["linking"]) == 2
    assert "--data FOLDER" in capsys.readouterr().err
    assert main(["linking", "--data", str(folder), "--only", "squad"]) == 2
    check_line(capsys.readouterr().err, "one of biokalma")
    assert main(["linking", "--data", str(folder), "--sample", "0"]) == 2
    assert "at least 1" in capsys.readouterr().err
    (folder / "rubq" / "RuBQ_2.0_dev.json.xz").unlink()
    with pytest.raises(InputError, match="linking needs"):
        list(LinkingData(folder).sets(["rubq ru"]))


def test_absent_people_are_those_that_nothing_else_is_called(folder: Path) -> None:
    """A person left out whose namesake is there is no case for silence."""
    for seed in range(6):
        data = LinkingData(folder, random_seed=seed)
        (absent,) = data.sets(["biokalma absent"])
        named = data.graph("half of the people")
        there = {entity.id for entity in named.entities()}
        names = {
            normalise_name(label) for entity in named.entities() for label in entity.labels.values()
        }
        for question in absent.questions:
            for name in question.absent:
                assert stands_in(name, question.text)
                assert normalise_name(name) not in names
        assert there >= {"Q10", "Q11", "P1"}
        if "Q1" not in there:
            assert any("Ada Byrons" in question.absent for question in absent.questions)


def test_namesakes_are_asked_for_by_what_only_they_have() -> None:
    names = {"a": "Rio", "b": "rio", "c": "Río", "d": "Lima"}
    facts = {
        "a": [("kind", "song"), ("year", "1982"), ("in", "Rio Grande")],
        "b": [("kind", "song"), ("", "The Album")],
        "c": [("kind", "song")],
        "d": [("kind", "city")],
    }
    asked, left_out = ask_for_namesakes(names, facts, random_seed=3)
    # Only 1982 tells a from the others: the kind is shared and "Rio Grande" holds the name.
    assert [(item.id, item.value) for item in asked] == [("a", "1982"), ("b", "The Album")]
    assert left_out == 1
    for item in asked:
        assert stands_in(names[item.id], item.text)
        assert stands_in(item.value, item.text)
    assert ask_for_namesakes(names, facts, random_seed=3) == (asked, left_out)


@given(st.from_regex(r"[A-Z][a-z]{2,9}( [A-Z][a-z]{1,9})?", fullmatch=True), st.integers())
def test_a_slip_is_one(name: str, seed: int) -> None:
    """One step of the distance that misspelt names are found by, the first letter left alone."""
    wrong = misspell(name, seed=str(seed))
    longest = max(map(len, name.split()))
    distance = edit_distance(name, wrong, 2)
    assert distance is not None
    assert wrong[0] == name[0]
    if longest < 5:
        assert wrong == name
    else:
        assert distance <= 1


def test_figures_by_hand() -> None:
    """Three questions: a person found, one missed for a namesake, and one that is not there."""
    graph = build_graph(
        {"Q1": ["Ada Byron"], "Q2": ["Max Wolf"], "Q3": ["Max Wolf"], "Q4": ["Carl"]},
        [("Q3", "father", "Q4")],
    )
    questions = (
        LinkingQuestion("Who was Ada Byron?", (Gold("Q1", "Ada Byron"),), "x"),
        # Nothing is said of him, so degree decides, wrongly.
        LinkingQuestion("Who was Max Wolf?", (Gold("Q2", "Max Wolf"), Gold("Q4")), "y"),
        LinkingQuestion("Who was Ada Lovelace?", (), "z", ("Ada Lovelace",)),
    )
    report = measure_linking(graph, LinkingSet("by hand", "-", questions, frozenset(["Q3", "Q1"])))
    scores = {score.name: score for score in report.scores}
    assert (scores["found"].value, scores["found"].random) == (0.5, 0.75)
    assert (scores["precision"].value, scores["precision"].cases) == (0.5, 2)
    assert scores["retrieval accuracy"].value == pytest.approx(1 / 3)
    assert (scores["silent"].value, scores["silent"].random) == (1.0, None)
    assert report.unlinked == 1
    assert report.candidates == 1.5
    assert [miss.question for miss in report.misses] == ["Who was Max Wolf?"]
    low, high = scores["found"].low, scores["found"].high
    assert low is not None
    assert high is not None
    assert 0.0 <= low <= 0.5 <= high <= 1.0
