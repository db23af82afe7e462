"""Question sets whose entities are known, with the graphs that their names are looked up in.

Nothing here is tuned or kept: each set is read from the published files at every run. What is made
(slips, namesakes) is drawn by keyed hashes, so that a seed gives the same questions anywhere.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.namesakes import ask_for_namesakes
from benchmarks.slips import misspell, replace_name
from graph_service.errors import InputError
from graph_service.model.identity import key64
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue, Time, Value
from graph_service.text.fold import name_of_id, normalise_name

LABELS = "wikidata_labels_en_partial.tsv.xz"
_BIOKALMA = "biokalma/simple_question_graph.json"
_SIMPLE = "simplequestions_wikidata/annotated_wd_data_valid_answerable.txt"
_RUBQ = "rubq/RuBQ_2.0_dev.json.xz"
_DBPEDIA50 = ("dbpedia50/train.txt", "dbpedia50/valid.txt")
_DBP15K_IDS, _DBP15K_TRIPLES = "dbp15k_fr_en/ent_ids_2.xz", "dbp15k_fr_en/triples_2.xz"
_DATE = re.compile(r"-?\d{4}-\d\d-\d\d")
_PARENTHESIS = re.compile(r"(.*\S) \([^()]+\)")


@dataclass(frozen=True, slots=True)
class Gold:
    """An entity that a question means.

    Attributes:
        id: Its id.
        name: The words of the question that name it, empty where none of its names stand there.
    """

    id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class LinkingQuestion:
    """A question and the entities it means.

    Attributes:
        text: As asked.
        gold: What it means, in the order of the source.
        absent: Names in it whose entity the graph lacks, and nothing else has.
        group: What stands or falls together in the bootstrap.
    """

    text: str
    gold: tuple[Gold, ...]
    group: str
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class NamedGraph:
    """Entities and statements to look names up in; read anew by each call."""

    name: str
    entities: Callable[[], Iterable[Entity]]
    statements: Callable[[], Iterable[Statement]]


@dataclass(frozen=True, slots=True, eq=False)
class LinkingSet:
    """One question set.

    Attributes:
        name: Of the set.
        graph: Name of the graph it is asked on.
        questions: All of them.
        judged: Ids whose links count for precision; None for any link.
        kept_out: How many questions of the source are left out, since their graph names nothing
            that they mean.
    """

    name: str
    graph: str
    questions: tuple[LinkingQuestion, ...]
    judged: frozenset[str] | None = None
    kept_out: int = 0


class LinkingData:
    """The sets that a folder of data has.

    Args:
        folder: That holds the files named above.
        random_seed: Of slips, namesakes and who is left out.

    Raises:
        InputError: A file is missing.
    """

    def __init__(self, folder: Path, /, *, random_seed: int = 0) -> None:
        self._folder = folder
        self._seed = random_seed
        self._people: dict[str, dict[str, str]] = {}
        self._asked: list[tuple[str, tuple[str, ...]]] = []
        for text, people in json.loads(self._path(_BIOKALMA).read_text(encoding="utf-8")):
            self._people.update({person["qid"]: person for person in people})
            if people:
                question = text.removeprefix("question: ")
                self._asked.append((question, tuple(person["qid"] for person in people)))
        self._labels = dict(self._read_labels())

    def sets(self, names: Sequence[str] = (), /) -> Iterator[LinkingSet]:
        """Yields the sets of some names (all of ``SETS`` by default), in their order."""
        for name in SETS:
            if not names or name in names:
                yield SETS[name](self, name)

    def graph(self, name: str, /) -> NamedGraph:
        """Returns the graph of that name."""
        return GRAPHS[name](self, name)

    # BioKaLMA: persons among the 154,599 labels.

    def biokalma(self, name: str, /) -> LinkingSet:
        """Returns BioKaLMA's general questions, as written, in lower case or with slips."""
        questions = []
        for text, ids in self._asked:
            asked = text.lower() if name == "biokalma lower" else text
            gold = []
            for id_ in ids:
                person = self._people[id_]["name"]
                stands = person if stands_in(person, text) else ""
                if stands and name == "biokalma misspelt":
                    wrong = misspell(stands, seed=f"{self._seed}\t{text}")
                    asked, times = replace_name(asked, stands, wrong)
                    stands = wrong if times else ""
                gold.append(Gold(id_, stands))
            questions.append(LinkingQuestion(asked, tuple(gold), text))
        return LinkingSet(name, "people", tuple(questions), frozenset(self._people))

    def absent(self, name: str, /) -> LinkingSet:
        """Returns the questions about people of whom half, drawn by the seed, are not there."""
        away = self._left_out()
        known = {normalise_name(label) for label in self._labels.values()}
        known.update(
            normalise_name(p["name"]) for id_, p in self._people.items() if id_ not in away
        )
        questions = []
        for text, ids in self._asked:
            absent = [
                person
                for id_ in ids
                if id_ in away
                and stands_in(person := self._people[id_]["name"], text)
                and normalise_name(person) not in known
            ]
            if absent:
                questions.append(LinkingQuestion(text, (), text, tuple(absent)))
        return LinkingSet(name, "half of the people", tuple(questions), frozenset())

    def _left_out(self) -> frozenset[str]:
        return frozenset(id_ for id_ in self._people if key64(f"{self._seed}\taway\t{id_}") & 1)

    def people_graph(self, name: str, /) -> NamedGraph:
        """Returns BioKaLMA's people with their facts, beside all labels."""
        away = self._left_out() if name == "half of the people" else frozenset()
        people = {id_: p for id_, p in self._people.items() if id_ not in away}

        def entities() -> Iterator[Entity]:
            for id_, label in self._labels.items():
                if id_ not in people and id_ not in away:
                    yield Entity(id_, _kind(id_), labels={"en": label})
            for id_, person in people.items():
                aliases = {"en": (self._labels[id_],)} if id_ in self._labels else {}
                yield Entity(id_, labels={"en": person["name"]}, aliases=aliases)

        def statements() -> Iterator[Statement]:
            for id_, person in people.items():
                for key, value in person.items():
                    if value and key not in ("name", "qid"):
                        yield make_statement(id_, key, _value(value))

        return NamedGraph(name, entities, statements)

    def biokalma_namesakes(self, name: str, /) -> LinkingSet:
        """Returns questions for each of the people who share a name, by one of their facts."""
        facts = {
            id_: [
                (key, value)
                for key, value in person.items()
                if value and key not in ("name", "qid")
            ]
            for id_, person in self._people.items()
        }
        names = {id_: person["name"] for id_, person in self._people.items()}
        return self._namesakes(name, "people", names, facts)

    # SimpleQuestions and RuBQ: entities of any kind among the labels, and RuBQ's own names.

    def simple_questions(self, name: str, /) -> LinkingSet:
        """Returns SimpleQuestions whose subject has a label here."""
        rows = [
            line.split("\t")
            for line in self._path(_SIMPLE).read_text(encoding="utf-8").splitlines()
        ]
        names = self._all_names()
        questions = [
            LinkingQuestion(row[3], (_gold(row[0], names, row[3]),), row[0])
            for row in rows
            if row[0] in names
        ]
        return LinkingSet(name, "labels", tuple(questions), kept_out=len(rows) - len(questions))

    def rubq(self, name: str, /) -> LinkingSet:
        """Returns RuBQ's questions, Russian or English, of which an entity has a name here."""
        field = "question_eng" if name == "rubq en" else "question_text"
        names = self._all_names()
        rows = self._rubq_rows()
        questions = []
        for row in rows:
            ids = [_local(uri) for uri in row["question_uris"] or ()]
            gold = tuple(_gold(id_, names, row[field]) for id_ in ids if id_ in names)
            if gold:
                questions.append(LinkingQuestion(row[field], gold, row["query"] or row[field]))
        return LinkingSet(name, "labels", tuple(questions), kept_out=len(rows) - len(questions))

    def labels_graph(self, name: str, /) -> NamedGraph:
        """Returns all labels, and the names that RuBQ gives the entities it answers with."""

        def entities() -> Iterator[Entity]:
            for id_, forms in self._all_names().items():
                labels = {code: texts[0] for code, texts in forms.items()}
                aliases = {code: tuple(texts[1:]) for code, texts in forms.items() if texts[1:]}
                yield Entity(id_, _kind(id_), labels=labels, aliases=aliases)

        return NamedGraph(name, entities, lambda: ())

    def _all_names(self) -> Mapping[str, dict[str, list[str]]]:
        names: dict[str, dict[str, list[str]]] = {
            id_: {"en": [label]} for id_, label in self._labels.items()
        }
        for row in self._rubq_rows():
            for answer in row["answers"] or ():
                for code, texts in (answer.get("wd_names") or {}).items():
                    known = names.setdefault(_local(answer["value"]), {}).setdefault(code, [])
                    known.extend(text for text in texts if text not in known)
        return {id_: {k: v for k, v in forms.items() if v} for id_, forms in names.items()}

    def _rubq_rows(self) -> list[dict[str, Any]]:
        with lzma.open(self._path(_RUBQ), "rt", encoding="utf-8") as file:
            rows: list[dict[str, Any]] = json.load(file)
        return rows

    # DBpedia: names that only a parenthesis tells apart.

    def dbpedia_namesakes(self, name: str, /) -> LinkingSet:
        """Returns questions for each of DBpedia's entities that share a name but for what stands
        in parentheses, by one of their facts.
        """
        graph = name.removesuffix(" namesakes")
        triples = self._dbpedia(graph)
        names = {id_: _plain_name(id_) for triple in triples for id_ in (triple[0], triple[2])}
        facts: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for head, relation, tail in triples:
            facts[head].append((relation, names[tail]))
            facts[tail].append(("", names[head]))
        return self._namesakes(name, graph, names, facts)

    def dbpedia_graph(self, name: str, /) -> NamedGraph:
        """Returns a slice of DBpedia whose labels are without parentheses."""
        triples = self._dbpedia(name)
        ids = sorted({id_ for triple in triples for id_ in (triple[0], triple[2])})
        return NamedGraph(
            name,
            lambda: (Entity(id_, labels={"en": _plain_name(id_)}) for id_ in ids),
            lambda: (
                make_statement(head, relation or "related", EntityValue(tail))
                for head, relation, tail in triples
            ),
        )

    def _dbpedia(self, graph: str) -> list[tuple[str, str, str]]:
        """Returns ``(head, relation, tail)``; the relation is empty where the source names none."""
        if graph == "dbpedia50":
            found = []
            for file_name in _DBPEDIA50:
                for line in self._path(file_name).read_text(encoding="utf-8").splitlines():
                    head, tail, relation = line.split("\t")
                    found.append((head, relation, tail))
            return found
        with lzma.open(self._path(_DBP15K_IDS), "rt", encoding="utf-8") as file:
            ids = dict(line.rstrip("\n").split("\t") for line in file)
        with lzma.open(self._path(_DBP15K_TRIPLES), "rt", encoding="utf-8") as file:
            rows = [line.split() for line in file]
        return [(ids[head], "", ids[tail]) for head, _, tail in rows]

    def _namesakes(
        self,
        name: str,
        graph: str,
        names: Mapping[str, str],
        facts: Mapping[str, Sequence[tuple[str, str]]],
    ) -> LinkingSet:
        asked, left_out = ask_for_namesakes(names, facts, random_seed=self._seed)
        questions = tuple(
            LinkingQuestion(
                item.text, (Gold(item.id, names[item.id]),), normalise_name(names[item.id])
            )
            for item in asked
        )
        # What else is linked is the value that tells the namesakes apart: it is not judged.
        return LinkingSet(name, graph, questions, frozenset(), left_out)

    def _read_labels(self) -> Iterator[tuple[str, str]]:
        with lzma.open(self._path(LABELS), "rt", encoding="utf-8") as file:
            for line in file:
                id_, label = line.rstrip("\n").split("\t")[:2]
                yield id_, label

    def _path(self, name: str) -> Path:
        path = self._folder / name
        if not path.is_file():
            raise InputError(f"there is no file {path}, which linking needs", argument="data")
        return path


SETS: Mapping[str, Callable[[LinkingData, str], LinkingSet]] = {
    "biokalma": LinkingData.biokalma,
    "biokalma lower": LinkingData.biokalma,
    "biokalma misspelt": LinkingData.biokalma,
    "biokalma absent": LinkingData.absent,
    "biokalma namesakes": LinkingData.biokalma_namesakes,
    "dbpedia50 namesakes": LinkingData.dbpedia_namesakes,
    "dbp15k namesakes": LinkingData.dbpedia_namesakes,
    "simplequestions": LinkingData.simple_questions,
    "rubq ru": LinkingData.rubq,
    "rubq en": LinkingData.rubq,
}
"""The sets, and what makes each."""

GRAPHS: Mapping[str, Callable[[LinkingData, str], NamedGraph]] = {
    "people": LinkingData.people_graph,
    "half of the people": LinkingData.people_graph,
    "labels": LinkingData.labels_graph,
    "dbpedia50": LinkingData.dbpedia_graph,
    "dbp15k": LinkingData.dbpedia_graph,
}
"""The graphs they are asked on, and what makes each."""


def stands_in(name: str, text: str, /) -> bool:
    """Returns whether a name stands in a text, word for word in the normal form.

    >>> stands_in("Ann Lee", "Was ann lee's father rich?"), stands_in("Ann", "Was Anna rich?")
    (True, False)
    """
    wanted = normalise_name(name)
    return bool(wanted) and f" {wanted} " in f" {normalise_name(text)} "


def _gold(id_: str, names: Mapping[str, Mapping[str, Sequence[str]]], text: str) -> Gold:
    forms = [name for texts in names[id_].values() for name in texts]
    return Gold(id_, next((name for name in forms if stands_in(name, text)), ""))


def _kind(id_: str) -> EntityKind:
    return EntityKind.PROPERTY if id_.startswith("P") else EntityKind.ITEM


def _value(text: str) -> Value:
    return Time(f"{text}T00:00:00Z", 11) if _DATE.fullmatch(text) else StringValue(text)


def _plain_name(id_: str) -> str:
    name = name_of_id(id_) or id_
    qualified = _PARENTHESIS.fullmatch(name)
    return qualified[1] if qualified else name


def _local(uri: str) -> str:
    return uri.rsplit("/", 1)[-1]
