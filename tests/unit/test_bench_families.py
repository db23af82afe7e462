"""``python -m benchmarks families``: readers of the sets, and the report (B5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from error_texts import check_error, raises
from question_data import QUESTIONS, write_data

import graph_service
from benchmarks import family_scorers, leave_one_out
from benchmarks.__main__ import main
from benchmarks.families import (
    FAMILIES,
    FamilyQuestion,
    GoldChain,
    GraphFile,
    QuestionSet,
    choose,
    of_shapes,
    read_family,
)
from benchmarks.judging import Judgement
from benchmarks.kept_judgements import KeptJudgements, code_hash
from benchmarks.leave_one_out import measure_families
from benchmarks.reliability import draw, reliability
from graph_service.errors import InputError
from graph_service.model.statement import EntityKind
from graph_service.model.values import EntityValue, Quantity, SomeValue, StringValue, Time
from graph_service.retrieve.learned.network import read_candidate_scorer
from graph_service.service import Service
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions
from queries.datasets.path_questions import metaqa_steps
from queries.datasets.wikidata_questions import (
    read_rubq,
    read_sample_ids,
    read_wikidata_questions,
    write_wikibase,
)
from queries.training.kept_examples import read_examples, write_examples


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def test_the_graph_is_loaded_by_our_own_loader(data: Path, tmp_path: Path) -> None:
    source, again = tmp_path / "graph.jsonl", tmp_path / "again.jsonl"
    assert write_wikibase(data / "wikidata_questions", source) == 11
    write_wikibase(data / "wikidata_questions", again)
    assert source.read_bytes() == again.read_bytes()
    with open_store(f"sqlite:///{tmp_path / 'graph.db'}") as store:
        report = load(
            source,
            store=store,
            graph="wikidata",
            options=LoadOptions(format="wikibase-json-lines", strict=True),
        )
        assert (report.read_statements, report.rejected, dict(report.skipped)) == (11, 0, {})
        edition = store.graph("wikidata").edition
        found = store.entities(edition, ["Q1", "P19"]).entities
        graph = store.snapshot(store.graph("wikidata"))
        statements = store.statements(edition, list(graph.statement_ids)).values()
    assert found["Q1"].labels == {"en": "Anna Berg"}
    assert found["Q1"].aliases == {"en": ("A. Berg",)}
    assert (found["P19"].kind, found["P19"].labels) == (
        EntityKind.PROPERTY,
        {"en": "place of birth"},
    )
    of_anna = {each.relation: each.value for each in statements if each.head == "Q1"}
    assert of_anna == {
        "P19": EntityValue("Q2"),
        "P569": Time("1952-03-11T00:00:00Z", 11),
        # Known to a year.
        "P571": Time("1990-01-01T00:00:00Z", 9),
        "P2046": Quantity("12.5"),
        "P1559": StringValue("Anna"),
        "P106": SomeValue(),
    }


def test_other_languages_are_written_when_asked_for(data: Path, tmp_path: Path) -> None:
    source = tmp_path / "graph.jsonl"
    write_wikibase(data / "wikidata_questions", source, languages=("ru",))
    documents = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    assert {d["id"]: d["labels"] for d in documents if d["labels"]} == {
        "Q1": {"ru": {"language": "ru", "value": "Анна Берг"}}
    }


def test_wikidata_questions_are_read(data: Path) -> None:
    folder = data / "wikidata_questions"
    questions = read_wikidata_questions(folder)
    assert [one.id for one in questions] == [row["id"] for row in QUESTIONS]
    assert questions[0].chains == (("Q1", ("P19",)),)
    # A conjunction is right from each of its entities.
    assert questions[3].chains == (("Q1", ("-P161",)), ("Q4", ("-P161",)))
    assert questions[3].gold_statements == (
        frozenset({("Q5", "P161", "Q1"), ("Q5", "P161", "Q4")}),
    )
    # Of several variables, the one where the gold statements have the answer.
    assert questions[4].chains == (
        ("Q5", ("P161", "P569")),
        ("Q11424", ("-P31", "P161", "P569")),
    )
    assert read_sample_ids(folder) == {"qald10-test:3"}


def test_what_is_no_question_set_is_refused(data: Path, tmp_path: Path) -> None:
    folder = data / "wikidata_questions"
    (folder / "dev.jsonl.xz").unlink()
    with raises(InputError):
        read_wikidata_questions(folder)
    (folder / "dev.jsonl").write_text('{"id": "x"}\n', encoding="utf-8")
    with raises(InputError):
        read_wikidata_questions(folder)
    (folder / "graph.tsv.xz").unlink()
    (folder / "graph.tsv").write_text("head\trelation\n", encoding="utf-8")
    with raises(InputError):
        write_wikibase(folder, tmp_path / "graph.jsonl")
    (folder / "graph.tsv").write_text("h\tr\tt\tk\nQ1\tP1\t3\tcolour\n", encoding="utf-8")
    with pytest.raises(InputError, match="type 'colour'"):
        write_wikibase(folder, tmp_path / "graph.jsonl")
    with raises(InputError):
        next(read_family("squad", data))


def test_rubq_questions_of_the_graph_are_read(data: Path) -> None:
    """The second has a property that its entity lacks; the third one whose value is unknown."""
    born, job = read_rubq(data)
    assert (born.russian, born.topic, born.relation) == ("Где родилась Анна Берг?", "Q1", "P19")
    assert born.gold_statements == (("Q1", "P19", "Q2"),)
    assert (job.id, job.gold_statements) == ("9", (("Q1", "P106", ""),))


def test_each_question_is_of_one_family(data: Path) -> None:
    sets = {one.name: one for family in FAMILIES for one in read_family(family, data)}
    assert {name: (one.family, one.graph.name) for name, one in sets.items()} == {
        "PQ-2H": ("pathquestion", "pq"),
        "PQL-2H": ("pathquestion", "pql"),
        "MetaQA 1-hop": ("metaqa", "metaqa"),
        "MetaQA 2-hop": ("metaqa", "metaqa"),
        "WC-P1": ("worldcup", "worldcup"),
        "simplequestions": ("simplequestions", "wikidata"),
        "webquestions": ("webquestions", "wikidata"),
        "qald-lcquad": ("qald-lcquad", "wikidata"),
    }
    assert [one.id for one in sets["qald-lcquad"].questions] == [
        "qald10-test:3",
        "lcquad2-test:4",
        "qald10-test:5",
    ]
    typed, both, _ = sets["qald-lcquad"].questions
    assert (typed.in_sample, typed.is_constrained, typed.classes) == (True, True, ("Q11424",))
    assert both.chains == (
        GoldChain("Q1", (("P161", True),)),
        GoldChain("Q4", (("P161", True),)),
    )
    assert typed.group == "<P57"


def test_loops_are_counted_and_inverse_steps_told(data: Path) -> None:
    (pq,) = (one for one in read_family("pathquestion", data) if one.name == "PQ-2H")
    plain, named, loop = pq.questions
    assert [one.shape for one in pq.questions] == ["2-hop", "2-hop", "loop"]
    assert named.answers == {"painter_(art)"}
    assert loop.gold == (frozenset({("ada", "spouse", "bob"), ("bob", "spouse", "ada")}),)
    assert plain.gold == ()
    (wc,) = read_family("worldcup", data)
    assert [(one.shape, one.template) for one in wc.questions] == [
        ("1-hop", ">plays_in_club"),
        ("1-hop inverse", "<plays_in_club"),
    ]
    assert wc.questions[1].answers == {"pele"}
    one, two = read_family("metaqa", data)
    assert one.questions[0].shape == "1-hop inverse"
    assert two.questions[0].chains == (
        GoldChain("Ed Arnold", (("starred_actors", True), ("release_year", False))),
    )
    with pytest.raises(InputError, match="actor_to_year"):
        metaqa_steps("actor_to_year")


def test_rubq_is_a_set_beside_the_families(data: Path) -> None:
    (russian,) = read_family("rubq-ru", data)
    (english,) = read_family("rubq-en", data)
    assert [one.text for one in russian.questions][0] == "Где родилась Анна Берг?"
    born, job = english.questions
    assert born.text == "Where was Anna Berg born?"
    assert born.answers == {"Q2"}
    assert (job.answers, job.gold) == (frozenset(), (frozenset({("Q1", "P106", "")}),))
    # No family is left out for it.
    assert english.unseen == ""


def asked(id_: str, family: str = "f", **fields: Any) -> FamilyQuestion:
    chain = GoldChain("a", (("r", False),))
    plain = {"group": id_, "template": "t"}
    return FamilyQuestion(
        id_, family, family, id_, ("a",), "1-hop", (chain,), frozenset({"b"}), **(plain | fields)
    )


def test_a_sample_begins_with_what_figures_are_given_on() -> None:
    questions = [asked(f"q{i}", in_sample=i >= 35) for i in range(40)]
    small = choose(questions, sample=5, random_seed=1)
    assert [one.id for one in small] == ["q35", "q36", "q37", "q38", "q39"]
    large = choose(questions, sample=12, random_seed=1)
    assert {one.id for one in small} < {one.id for one in large}
    assert large != choose(questions, sample=12, random_seed=2)
    assert choose(questions, sample=None, random_seed=0) == questions
    published = choose(questions, sample=None, random_seed=0, published=True)
    assert published == questions[35:]
    # A set without such questions is asked whole.
    assert choose(questions[:3], sample=None, random_seed=0, published=True) == questions[:3]


class _Judge:
    """Answers right where a question's id begins with ``r``."""

    asked: list[str] = []

    def __init__(self, service: Service, graph: str, /, *, preset: str, given: bool) -> None:
        self._given = given

    def judge(self, question: FamilyQuestion, /) -> Judgement:
        self.asked.append(question.id)
        right = float(question.id.startswith("r"))
        cause = "" if right else "too short"
        return Judgement(
            question.id, {"sequence@1": right}, cause, "ok", 2.0, ("a",), "a >r", "a >r = b"
        )


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(leave_one_out, "FamilyJudge", _Judge)
    _Judge.asked = []
    return _Judge.asked


def question_set(family: str, *ids: str) -> QuestionSet:
    questions = tuple(asked(id_, family) for id_ in ids)
    return QuestionSet(family, family, GraphFile("g", Path("g.tsv")), questions, unseen=family)


@contextmanager
def no_graph(graph: GraphFile, scorer: Path | None) -> Iterator[Service]:
    yield cast("Service", None)


def test_answers_are_counted_by_their_confidence() -> None:
    answers = [(0.92, True), (0.98, True), (1.0, False), (0.31, False), (0.3, True)]
    unsure, sure = reliability(answers)
    assert (unsure.answers, unsure.right) == (2, 0.5)
    assert unsure.confidence == pytest.approx(0.305)
    assert sure.answers == 3
    assert sure.right == pytest.approx(2 / 3)
    assert sure.low < 2 / 3 < sure.high < 1
    picture = ElementTree.fromstring(draw([unsure, sure], bound=0.8))
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert [circle[0].text for circle in circles] == ["0.50 of 2", "0.67 of 3"]
    assert "ok from 0.8" in {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}


def test_only_questions_of_some_shapes_are_chosen() -> None:
    questions = question_set("one", "r1", "r2", "r3")
    shapes = ("1-hop", "1-hop inverse+type", "conjunction")
    pairs = zip(questions.questions, shapes, strict=True)
    shaped = replace(questions, questions=tuple(replace(q, shape=shape) for q, shape in pairs))
    ids = [each.id for each in of_shapes(shaped, ["+", "conj"]).questions]
    assert ids == ["r2", "r3"]
    assert of_shapes(shaped, []) is shaped


def test_the_mean_is_over_families(judged: list[str]) -> None:
    # 1/1 of the first family, 1/4 of the second: the mean is 5/8, of questions it would be 2/5.
    sets = [question_set("one", "r1"), question_set("two", "r2", "w1", "w2", "w3")]
    report = measure_families(sets, open_graph=no_graph, misses=2)
    assert report.mean["sequence@1"].value == pytest.approx(5 / 8)
    assert report.mean["sequence@1"].questions == 5
    first, second = report.families
    assert (first.figures["sequence@1"].low, first.figures["sequence@1"].high) == (1.0, 1.0)
    assert second.figures["sequence@1"].low < 0.25 < second.figures["sequence@1"].high
    assert dict(second.causes) == {"too short": 3}
    assert [miss.id for miss in report.misses] == ["w1", "w2"]
    assert [(one.family, one.name) for one in report.templates] == [("one", "t"), ("two", "t")]
    assert judged == ["r1", "r2", "w1", "w2", "w3"]


def test_each_family_is_scored_by_what_did_not_see_it(judged: list[str], tmp_path: Path) -> None:
    opened = []

    @contextmanager
    def note(graph: GraphFile, scorer: Path | None) -> Iterator[Service]:
        opened.append(scorer)
        yield cast("Service", None)

    scorers = {"one": tmp_path / "without-one", "two": None}
    (tmp_path / "without-one").write_bytes(b"weights")
    sets = [question_set("one", "r1"), question_set("two", "r2")]
    report = measure_families(sets, open_graph=note, scorer_without=scorers.__getitem__)
    assert opened == [tmp_path / "without-one", None]
    assert report.scorers["one"]
    assert report.scorers["two"] == ""


def test_a_stopped_run_goes_on(judged: list[str], tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    weights.write_bytes(b"1")
    options: dict[str, Any] = {
        "open_graph": no_graph,
        "keep": tmp_path,
        "scorer_without": lambda family: weights,
    }
    first = measure_families([question_set("one", "r1", "w1")], **options)
    path = tmp_path / "judgements.jsonl"
    path.write_bytes(path.read_bytes() + b'{"key": "half a li')
    measure_families([question_set("one", "r1", "w1", "r2")], **options)
    assert judged == ["r1", "w1", "r2"]
    again = measure_families([question_set("one", "r1", "w1")], **options)
    measure_families([question_set("one", "r2")], **options)
    assert judged == ["r1", "w1", "r2"]
    assert again == first
    # Another scorer, or the entities given: another figure.
    weights.write_bytes(b"2")
    measure_families([question_set("one", "r1")], **options)
    measure_families([question_set("one", "r1")], **options, given=True)
    assert judged == ["r1", "w1", "r2", "r1", "r1"]


def test_other_code_is_judged_anew(
    judged: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = [question_set("one", "r1")]
    measure_families(sets, open_graph=no_graph, keep=tmp_path)
    monkeypatch.setattr(leave_one_out, "code_hash", lambda: "other")
    measure_families(sets, open_graph=no_graph, keep=tmp_path)
    assert judged == ["r1", "r1"]
    assert KeptJudgements(tmp_path / "judgements.jsonl", "no such key").find("r1") is None


def test_weights_that_ship_are_part_of_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "retrieve").mkdir()
    monkeypatch.setattr(graph_service, "__file__", str(tmp_path / "__init__.py"))
    hashes = []
    for weights in (b"1", b"2", b"1"):
        (tmp_path / "retrieve" / "scorer.npz").write_bytes(weights)
        hashes.append(code_hash())
    assert hashes[0] == hashes[2] != hashes[1]


def test_the_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["families", "--data", str(data)]
    arguments += ["--only", "webquestions", "--only", "worldcup", "--keep", str(tmp_path / "kept")]
    assert main([*arguments, "--given", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [family["name"] for family in report["families"]] == ["webquestions", "worldcup"]
    assert report["families"][0]["figures"]["Hits@10"]["value"] == 1.0
    assert "linked" not in report["families"][0]["figures"]
    assert (tmp_path / "kept" / "wikidata.db").is_file()
    assert main([*arguments, "--given"]) == 0
    shown = capsys.readouterr().out
    assert "entities given" in shown
    assert "<plays_in_club" in shown
    assert main(["families"]) == 2
    assert "--data" in capsys.readouterr().err


def test_what_ranks_is_trained_without_each_family(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    walk_sets = family_scorers.walk_sets
    monkeypatch.setattr(
        family_scorers,
        "walk_sets",
        # The few films of the test have too few statements for walks.
        lambda *of: [
            replace(each, counts={1: 4, 2: 2}) for each in walk_sets(*of) if not each.family
        ],
    )
    (data / "dbpedia50").mkdir()
    (data / "dbpedia50" / "train.txt").write_text(
        "".join(f"Film_{i}\tPerson_{i % 3}\t{r}\n" for i in range(9) for r in ("star", "writer"))
        + "".join(f"Film_{i}\t{r}_{i % 4}\t{r}\n" for i in range(9) for r in ("genre", "place"))
    )
    kept = tmp_path / "kept"
    arguments = ["families", "--train", "--data", str(data)]
    arguments += ["--only", "webquestions", "--keep", str(kept), "--json"]
    assert main([*arguments, "--preset", "okgqa"]) == 2
    check_error(capsys.readouterr().err)
    assert main([*arguments, "--preset", "default-6"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["preset"] == "default-6"
    without = read_candidate_scorer(kept / "scorer-without-webquestions.npz")
    assert "webquestions" not in without.notes["families"]
    assert {"simplequestions", "walks"} <= set(without.notes["families"])
    ships = read_candidate_scorer(kept / "scorer-licensed.npz")
    assert not {"pathquestion", "worldcup"} & set(ships.notes["families"])
    assert "webquestions" in ships.notes["families"]
    # What was recorded is not asked again, and reads as it was written.
    before = {path: path.stat().st_mtime_ns for path in kept.glob("examples-*.npz")}
    assert before
    assert main([*arguments, "--preset", "default-6"]) == 0
    capsys.readouterr()
    assert {path: path.stat().st_mtime_ns for path in kept.glob("examples-*.npz")} == before
    # A sample bounds what is judged alone; another random seed draws and trains anew.
    assert main([*arguments, "--preset", "default-6", "--sample", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["families"][0]["questions"] == 1
    assert set(kept.glob("examples-*.npz")) == set(before)
    assert main([*arguments, "--preset", "default-6", "--random-seed", "1"]) == 0
    capsys.readouterr()
    assert len(list(kept.glob("examples-*.npz"))) == 2 * len(before)
    reseeded = read_candidate_scorer(kept / "scorer-licensed.npz")
    assert reseeded.final.inner.tolist() != ships.final.inner.tolist()
    questions, examples = read_examples(next(iter(sorted(before))))
    write_examples(tmp_path / "again.npz", questions, examples)
    again_questions, again = read_examples(tmp_path / "again.npz")
    assert again_questions == questions
    for one, two in zip(examples, again, strict=True):
        assert (one.family, one.text, one.by_ids) == (two.family, two.text, two.by_ids)
        assert one.inputs.tolist() == two.inputs.tolist()
        assert one.right.tolist() == two.right.tolist()


def test_a_file_of_examples_that_is_damaged_is_told(tmp_path: Path) -> None:
    path = tmp_path / "examples.npz"
    path.write_bytes(b"PK nothing")
    with pytest.raises(InputError, match="holds no examples"):
        read_examples(path)
