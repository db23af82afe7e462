"""Families of questions: sets that ask alike, over graphs that are loaded once each.

Whatever is trained or chosen is judged on a family that it did not see, so each question says
which family it is of. All sets that a folder of data holds are read into one type. Loops,
conjunctions and inverse questions are among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import key64
from graph_service.quality.chains import TripleIds, triples_of, twin_of, twin_triple
from graph_service.quality.question_sets import ChainQuestion, Step, open_text, read_questions
from queries.datasets.path_questions import metaqa_steps
from queries.datasets.wikidata_questions import (
    FOLDER,
    WikidataQuestion,
    read_rubq,
    read_sample_ids,
    read_wikidata_questions,
)

FAMILIES = (
    "pathquestion",
    "metaqa",
    "worldcup",
    "simplequestions",
    "webquestions",
    "qald-lcquad",
)
"""The families, each left out once."""
WIKIDATA_FAMILIES = FAMILIES[3:]
RUBQ = ("rubq-ru", "rubq-en")
"""RuBQ in Russian and, by machine, in English: a set beside the families."""
_SOURCES = {"simplequestions": "simplequestions", "wwq": "webquestions"}


@dataclass(frozen=True, slots=True)
class GoldChain:
    """Where a right sequence begins, and the relations that it follows."""

    start: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class FamilyQuestion:
    """A question of any set, with what it asks for.

    Attributes:
        id: Unique among all sets.
        family, set: What it is of.
        text: As asked.
        topics: Ids of the entities that it names.
        shape: ``1-hop``, ``1-hop inverse``, ``2-hop``, ``loop``, ``conjunction`` and so on.
        chains: Every sequence that is right: from each of its topics, for a conjunction.
        answers: Ids, dates, numbers or texts.
        gold: Sets of statements that each give an answer; empty where the instances of the
            chains are to be looked up in the graph.
        group: What stands or falls together in the bootstrap: the gold relations, or the chain.
        template: What questions of one making have in common; empty where the set has none.
        classes: Classes that a topic may be without being an answer's start.
        is_constrained: Whether more than the chain decides which ends are answers.
        any_exact: Whether every sequence that ends at exactly the answers is right.
        in_sample: Whether it is one on which the set's figures are given.
        told: What is to be told beside the items: a number, ``yes`` or ``no``; empty for none.
        relevant: Relations that bear on an open question, which has no answer.
    """

    id: str
    family: str
    set: str
    text: str
    topics: tuple[str, ...]
    shape: str
    chains: tuple[GoldChain, ...]
    answers: frozenset[str]
    gold: tuple[frozenset[TripleIds], ...] = ()
    group: str = ""
    template: str = ""
    classes: tuple[str, ...] = ()
    is_constrained: bool = False
    any_exact: bool = False
    in_sample: bool = False
    told: str = ""
    relevant: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A graph of the data.

    Attributes:
        name: Of the graph.
        path: Of the file or folder.
        kind: ``table`` of triples, ``things`` (a folder of tables whose rows are things), ``wikibase``
            lines, or the folder of ``wikidata`` questions.
        columns: Of a table.
    """

    name: str
    path: Path
    kind: str = "table"
    columns: tuple[str, ...] = ("head", "relation", "tail")


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions over one graph.

    Attributes:
        unseen: The family that whatever scores may not have seen; empty for none.
    """

    name: str
    family: str
    graph: GraphFile
    questions: tuple[FamilyQuestion, ...]
    unseen: str


def read_family(family: str, data: Path, /) -> Iterator[QuestionSet]:
    """Yields the sets of a family.

    Args:
        family: One of ``FAMILIES`` or ``RUBQ``.
        data: The folder that holds ``pathquestion``, ``metaqa`` and so on.

    Raises:
        InputError: There is no such family, or a file is missing or not of its format.
    """
    if family in RUBQ:
        yield _rubq(family, data)
        return
    if family not in FAMILIES:
        raise InputError(
            f"there is no family {family!r}; expected one of {', '.join(FAMILIES + RUBQ)}",
            argument="only",
        )
    if family in WIKIDATA_FAMILIES:
        yield _wikidata(family, data / FOLDER)
        return
    for name, (of_family, graph, path, convert) in _CHAIN_SETS.items():
        if of_family == family:
            yield QuestionSet(
                name,
                family,
                graph_of(graph, data),
                tuple(convert(name, family, _packed(data / path))),
                unseen=family,
            )


def graph_of(name: str, data: Path, /) -> GraphFile:
    """Returns the table of triples of a graph: ``pq``, ``pql``, ``metaqa`` or ``worldcup``."""
    return GraphFile(name, _packed(data / _GRAPHS[name]))


def choose(
    questions: Sequence[FamilyQuestion],
    /,
    *,
    sample: int | None,
    random_seed: int,
    published: bool = False,
) -> list[FamilyQuestion]:
    """Returns all questions, or the first of them in the order of a keyed hash.

    Those on which a set's figures are given come first, and are the only ones where ``published``
    is said and there are any. A larger sample holds a smaller one.
    """
    if published and any(one.in_sample for one in questions):
        questions = [one for one in questions if one.in_sample]
    if sample is None or sample >= len(questions):
        return list(questions)
    order = sorted(
        questions, key=lambda one: (not one.in_sample, key64(f"{random_seed}\t{one.id}"), one.id)
    )
    taken = {one.id for one in order[:sample]}
    return [one for one in questions if one.id in taken]


def of_shapes(questions: QuestionSet, shapes: Sequence[str], /) -> QuestionSet:
    """Returns a set's questions whose shape has one of some parts in its name; all without any."""
    if not shapes:
        return questions
    chosen = (each for each in questions.questions if any(s in each.shape for s in shapes))
    return replace(questions, questions=tuple(chosen))


def signed(steps: Sequence[Step], /) -> str:
    """Returns a sequence as a person reads it: ``>P57 <P161``."""
    return " ".join(f"{'<' if backward else '>'}{relation}" for relation, backward in steps)


# PathQuestion and WorldCup give the chain with its entities.


def _chain_questions(name: str, family: str, path: Path) -> Iterator[FamilyQuestion]:
    kind = "worldcup" if family == "worldcup" else "pathquestion"
    answers = _answers_of_worldcup if kind == "worldcup" else _answers_of_pathquestion
    with open_text(path) as file:
        listed = [answers(line) for line in file if line.strip()]
    questions = read_questions(path, format_name=kind)
    if len(listed) != len(questions):
        raise InputError(f"{path} has lines that are no chain", argument="data")
    for number, (question, ends) in enumerate(zip(questions, listed, strict=True), start=1):
        steps = tuple(map(twin_of, question.steps))
        yield FamilyQuestion(
            id=f"{name}:{number}",
            family=family,
            set=name,
            text=question.text,
            topics=(question.start,),
            shape=_shape(question, steps),
            chains=(GoldChain(question.start, steps),),
            answers=ends | {question.nodes[-1]},
            gold=(triples_of(question.nodes, steps),) if not question.is_simple() else (),
            group=question.chain_id(),
            template=signed(steps) if kind == "worldcup" else "",
        )


def _shape(question: ChainQuestion, steps: Sequence[Step]) -> str:
    if not question.is_simple():
        return "loop"
    inverse = " inverse" if len(steps) == 1 and steps[0][1] else ""
    return f"{len(steps)}-hop{inverse}"


def _answers_of_pathquestion(line: str) -> frozenset[str]:
    # END(ANSWER/ANSWER/), and END may hold parentheses itself.
    _, answers, path = line.rstrip("\r\n").split("\t")[:3]
    end = path.split("#<end>")[0].rsplit("#", 1)[-1]
    return frozenset(filter(None, answers.removeprefix(end)[1:-1].split("/")))


def _answers_of_worldcup(line: str) -> frozenset[str]:
    columns = line.rstrip("\r\n").split("\t")
    return frozenset(filter(None, columns[3].split("/"))) if len(columns) > 3 else frozenset()


# MetaQA gives the answers, and the kinds of entity along the chain.


def _metaqa_questions(name: str, family: str, path: Path) -> Iterator[FamilyQuestion]:
    with open_text(path) as file:
        rows = [line.rstrip("\r\n").split("\t") for line in file if line.strip()][1:]
    questions = read_questions(path, format_name="metaqa")
    for number, (question, row) in enumerate(zip(questions, rows, strict=True), start=1):
        template = row[2]
        steps = metaqa_steps(template)
        inverse = " inverse" if len(steps) == 1 and steps[0][1] else ""
        yield FamilyQuestion(
            id=f"{name}:{number}",
            family=family,
            set=name,
            text=question.text,
            topics=(question.start,),
            shape=f"{len(steps)}-hop{inverse}",
            chains=(GoldChain(question.start, steps),),
            answers=question.answers,
            group=question.chain_id(),
            template=template,
            any_exact=True,
        )


_GRAPHS: Mapping[str, str] = {
    "pq": "pathquestion/2H-kb.txt",
    "pql": "pathquestion/PQL2-KB.txt",
    "metaqa": "metaqa/kb_named.tsv",
    "worldcup": "worldcup2014/WC2014.txt",
}
_CHAIN_SETS: Mapping[
    str, tuple[str, str, str, Callable[[str, str, Path], Iterator[FamilyQuestion]]]
] = {
    "PQ-2H": ("pathquestion", "pq", "pathquestion/PQ-2H.txt", _chain_questions),
    "PQL-2H": ("pathquestion", "pql", "pathquestion/PQL-2H.txt", _chain_questions),
    "MetaQA 1-hop": ("metaqa", "metaqa", "metaqa/verified_1hop_dev.tsv", _metaqa_questions),
    "MetaQA 2-hop": ("metaqa", "metaqa", "metaqa/verified_2hop_dev.tsv", _metaqa_questions),
    "WC-P1": ("worldcup", "worldcup", "worldcup2014/WC-P1.txt", _chain_questions),
}
"""Of each set its family, its graph, its file and who reads it."""


# Questions over Wikidata: three families by source.


def _wikidata(family: str, folder: Path) -> QuestionSet:
    sampled = read_sample_ids(folder)
    questions = tuple(
        _wikidata_question(question, family, question.id in sampled)
        for question in read_wikidata_questions(folder)
        if family_of_source(question.source) == family
    )
    graph = GraphFile("wikidata", folder, kind="wikidata")
    return QuestionSet(family, family, graph, questions, unseen=family)


def family_of_source(source: str, /) -> str:
    """Returns the family of one of the sources of Wikidata questions.

    >>> family_of_source("wwq-train"), family_of_source("qald10-test")
    ('webquestions', 'qald-lcquad')
    """
    return _SOURCES.get(source.split("-")[0], "qald-lcquad")


def _wikidata_question(question: WikidataQuestion, family: str, in_sample: bool) -> FamilyQuestion:
    chains = tuple(
        GoldChain(topic, tuple(map(_step, sequence))) for topic, sequence in question.chains
    )
    return FamilyQuestion(
        id=question.id,
        family=family,
        set=family,
        text=question.text,
        topics=question.topics,
        shape=question.shape,
        chains=chains,
        answers=question.answers,
        gold=tuple(
            frozenset(twin_triple(*statement) for statement in ways)
            for ways in question.gold_statements
        ),
        group=" | ".join(signed(chain.steps) for chain in chains),
        classes=question.classes,
        is_constrained=bool(re.search(r"\+|conjunction", question.shape)),
        in_sample=in_sample,
    )


def _rubq(name: str, data: Path) -> QuestionSet:
    questions = []
    for row in read_rubq(data):
        backward = sorted({one[0] != row.topic for one in row.gold_statements})
        chains = tuple(GoldChain(row.topic, ((row.relation, back),)) for back in backward)
        ends = (one[0] if one[0] != row.topic else one[2] for one in row.gold_statements)
        questions.append(
            FamilyQuestion(
                id=f"{name}:{row.id}",
                family=name,
                set=name,
                text=row.russian if name == "rubq-ru" else row.english,
                topics=(row.topic,),
                shape="1-hop",
                chains=chains,
                answers=frozenset(filter(None, ends)),
                gold=tuple(frozenset({twin_triple(*one)}) for one in row.gold_statements),
                group=row.relation,
            )
        )
    graph = GraphFile("wikidata", data / FOLDER, kind="wikidata")
    return QuestionSet(name, name, graph, tuple(questions), unseen="")


def _step(relation: str) -> Step:
    return relation.removeprefix("-"), relation.startswith("-")


def _packed(path: Path) -> Path:
    for found in (path, path.with_name(f"{path.name}.xz")):
        if found.is_file():
            return found
    raise InputError(f"there is no file {path}, packed with xz or not", argument="data")
