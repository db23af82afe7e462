"""A folder of question sets in the published formats, made small by hand for tests."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

GRAPH = [
    ("Q1", "P19", "Q2", "item"),
    ("Q1", "P569", "1952-03-11", "date"),
    ("Q1", "P571", "1990-01-01", "date"),
    ("Q1", "P2046", "12.5", "number"),
    ("Q1", "P1559", "Anna", "text"),
    ("Q3", "P57", "Q1", "item"),
    ("Q3", "P31", "Q11424", "item"),
    ("Q3", "P161", "Q4", "item"),
    ("Q5", "P161", "Q4", "item"),
    ("Q5", "P161", "Q1", "item"),
]
LABELS = [
    ("Q1", "Anna Berg", "en"),
    ("Q1", "Анна Берг", "ru"),
    ("Q2", "Oslo", "en"),
    ("Q3", "Long Night", "en"),
    ("Q4", "Carl Dahl", "en"),
    ("Q5", "Short Day", "en"),
    ("P19", "place of birth", "en"),
    ("P57", "director", "en"),
    ("P161", "cast member", "en"),
    ("L10", "describe", "en"),
]
ALIASES = [("Q1", "A. Berg", "en"), ("P19", "birthplace", "en")]


def question(id_: str, text: str, **fields: Any) -> dict[str, Any]:
    """Returns a row of the Wikidata questions; one step from Q1 to Q2 where nothing else is said."""
    return {
        "id": id_,
        "source": id_.split(":")[0],
        "question": text,
        "topics": ["Q1"],
        "classes": [],
        "shape": "1-hop",
        "sequence": ["P19"],
        "pattern": [["wd:Q1", "P19", "?x"]],
        "filters": [],
        "answers": ["Q2"],
        "gold_statements": {"Q2": [[["Q1", "P19", "Q2"]]]},
        **fields,
    }


QUESTIONS = [
    question("wwq-test:1", "where was anna berg born?"),
    question("simplequestions-test:2", "what is the place of birth of Anna Berg"),
    question(
        "qald10-test:3",
        "Which movies has Anna Berg directed?",
        classes=["Q11424"],
        shape="1-hop inverse+type",
        sequence=["-P57"],
        pattern=[["?x", "P31", "wd:Q11424"], ["?x", "P57", "wd:Q1"]],
        answers=["Q3"],
        gold_statements={"Q3": [[["Q3", "P31", "Q11424"], ["Q3", "P57", "Q1"]]]},
    ),
    question(
        "lcquad2-test:4",
        "What has both Anna Berg and Carl Dahl as cast member?",
        topics=["Q1", "Q4"],
        shape="conjunction",
        sequence=None,
        pattern=[["?film", "P161", "wd:Q1"], ["?film", "P161", "wd:Q4"]],
        answers=["Q5"],
        gold_statements={"Q5": [[["Q5", "P161", "Q1"], ["Q5", "P161", "Q4"]]]},
    ),
    question(
        "qald10-test:5",
        "When was somebody of Short Day born?",
        topics=["Q5", "Q11424"],
        shape="conjunction",
        sequence=None,
        pattern=[
            ["wd:Q5", "P161", "?who"],
            ["?other", "P161", "?who"],
            ["?other", "P31", "wd:Q11424"],
            ["?who", "P569", "?date"],
        ],
        answers=["1952-03-11"],
        gold_statements={
            "1952-03-11": [
                [
                    ["Q5", "P161", "Q1"],
                    ["Q3", "P161", "Q1"],
                    ["Q3", "P31", "Q11424"],
                    ["Q1", "P569", "1952-03-11"],
                ]
            ]
        },
    ),
]
RUBQ = [
    {
        "uid": 7,
        "question_text": "Где родилась Анна Берг?",
        "question_eng": "Where was Anna Berg born?",
        "question_uris": ["http://www.wikidata.org/entity/Q1"],
        "question_props": ["wdt:P19"],
        "answers": [{"type": "uri", "value": "http://www.wikidata.org/entity/Q2"}],
    },
    {
        "uid": 8,
        "question_text": "Кто жена Анны Берг?",
        "question_eng": "Who is Anna Berg's wife?",
        "question_uris": ["http://www.wikidata.org/entity/Q1"],
        "question_props": ["wdt:P999"],
        "answers": [],
    },
    {
        "uid": 9,
        "question_text": "Чем занята Анна Берг?",
        "question_eng": "What does Anna Berg do?",
        "question_uris": ["http://www.wikidata.org/entity/Q1"],
        "question_props": ["wdt:P106"],
        "answers": [{"type": "uri", "value": "http://www.wikidata.org/entity/Q9"}],
    },
    {
        "uid": 10,
        "question_text": "?",
        "question_eng": "?",
        "question_uris": None,
        "question_props": None,
        "answers": [],
    },
]
PQ_GRAPH = """ada\tspouse\tbob
bob\tspouse\tada
bob\tnationality\tfrance
bob\tprofession\tpainter_(art)
ada\tnationality\tspain
"""
PQ = """what is the nationality of ada 's spouse ?\tfrance(france/)\t\
ada#spouse#bob#nationality#france#<end>#france
what is the job of ada 's spouse ?\tpainter_(art)(painter_(art)/)\t\
ada#spouse#bob#profession#painter_(art)
who is ada 's spouse 's spouse ?\tada(ada/)\tada#spouse#bob#spouse#ada#<end>#ada
"""
WC_GRAPH = "pele\tplays_in_club\tsantos\nsantos\tplays_in_club_inverse\tpele\n"
WC = """which club does pele play for ?\tsantos\tpele#plays_in_club#santos#<end>#santos\tsantos/\tx
who plays at santos ?\tpele\tsantos#plays_in_club_inverse#pele#<end>#pele\tpele/\tx
"""
METAQA_GRAPH = """Kismet\tstarred_actors\tEd Arnold
Kismet\trelease_year\t1944
Dawn\tstarred_actors\tEd Arnold
Dawn\trelease_year\t1944
"""
METAQA = {
    "1hop": "what films did [Ed Arnold] act in\tEd Arnold\tactor_to_movie\tKismet|Dawn\n",
    "2hop": "when were [Ed Arnold]'s films out\tEd Arnold\tactor_to_movie_to_year\t1944\n",
}
_HEAD = "question\ttopic_entity\tqtype\tanswers\n"


def write_data(folder: Path, /) -> Path:
    """Writes all sets below a folder, some packed, and returns it."""
    wikidata = folder / "wikidata_questions"
    for name in ("wikidata_questions", "rubq", "pathquestion", "worldcup2014", "metaqa"):
        (folder / name).mkdir(parents=True)
    _table(wikidata / "graph.tsv", "head\trelation\ttail\ttype", GRAPH)
    _table(wikidata / "props.tsv", "entity\tproperty", [("Q1", "P106")])
    _table(wikidata / "labels.tsv", "id\tlabel\tlanguage", LABELS)
    _table(wikidata / "aliases.tsv", "id\talias\tlanguage", ALIASES)
    with lzma.open(wikidata / "dev.jsonl.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in QUESTIONS)
    (wikidata / "sample_ids.txt").write_text("qald10-test:3\n", encoding="utf-8")
    with lzma.open(folder / "rubq/RuBQ_2.0_dev.json.xz", "wt", encoding="utf-8") as file:
        json.dump(RUBQ, file)
    for name, text in (
        ("pathquestion/2H-kb.txt", PQ_GRAPH),
        ("pathquestion/PQ-2H.txt", PQ),
        ("pathquestion/PQL2-KB.txt", PQ_GRAPH),
        ("pathquestion/PQL-2H.txt", PQ),
        ("worldcup2014/WC2014.txt", WC_GRAPH),
        ("worldcup2014/WC-P1.txt", WC),
        ("metaqa/kb_named.tsv", METAQA_GRAPH),
        *((f"metaqa/verified_{hops}_dev.tsv", _HEAD + rows) for hops, rows in METAQA.items()),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _table(path: Path, head: str, rows: list[Any]) -> None:
    lines = [head, *("\t".join(row) for row in rows)]
    with lzma.open(f"{path}.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
