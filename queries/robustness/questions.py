"""The questions of a frozen set, with their answers and the sets of statements that give them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import key64
from graph_service.text.fold import name_of_id
from queries.datasets.path_questions import METAQA_HEAD, Step, metaqa_steps
from queries.datasets.records import text_lines
from queries.datasets.wikidata_questions import read_wikidata_questions
from queries.robustness.material import Fact, Material, find_file
from queries.robustness.recipe import QuestionForm, SetRecipe

MOST_SETS = 10
"""Sets of statements that a question names at most; each gives an answer."""
_TOPIC = re.compile(r"\[(.+?)\]")
_INVERSE = "_inverse"
_PHRASE = "What is the {relation} of {head}?"


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question of a set, in the ids of the source.

    Attributes:
        id: Of the source: ``FILE:LINE``, its own id, or ``head|relation``.
        kind: Such as ``2-hop``.
        entities: That it names.
        answers: Of these some are entities of the graph.
        fact_sets: Sets of statements that each give an answer, the first the one to cite.
    """

    id: str
    text: str
    kind: str
    entities: tuple[str, ...]
    answers: tuple[str, ...]
    fact_sets: tuple[tuple[Fact, ...], ...]

    def hard_answers(self, material: Material, gone: Collection[str], /) -> tuple[str, ...]:
        """Returns the answers whose statements are all gone, of one statement each.

        Args:
            material: The graph of the set.
            gone: Ids of the statements that a view has lost.
        """
        lost = {
            facts[0][2]: material.statement_id(facts[0]) in gone
            for facts in self.fact_sets
            if len(facts) == 1
        }
        return tuple(answer for answer in self.answers if lost.get(answer, False))

    def line(self, material: Material, /, *, gone: Collection[str] = ()) -> dict[str, object]:
        """Returns it as a line of a question file, in the ids of the graph.

        Args:
            material: The graph of the set.
            gone: Statements that a view has lost; answers that only these give are hard.
        """
        ids = [tuple(material.statement_id(fact) for fact in facts) for facts in self.fact_sets]
        facts = dict.fromkeys(fact for facts in self.fact_sets for fact in facts)
        hard = [material.id_of(answer) for answer in self.hard_answers(material, gone)]
        return {
            "id": self.id,
            "question": self.text,
            "kind": self.kind,
            "entity_ids": [material.id_of(entity) for entity in self.entities],
            "answer_ids": [material.id_of(answer) for answer in self.answers],
            "answers": [material.name_of(answer) or answer for answer in self.answers],
            "statement_ids": ids[0],
            "alternatives": ids[1:],
            # Of all sets: by their heads what a view left of a set is looked up.
            "gold_triples": [
                [material.id_of(head), relation, material.id_of(value)]
                for head, relation, value in facts
            ],
            **({"hard_answers": hard} if hard else {}),
        }


def questions_of(recipe: SetRecipe, data: Path, material: Material, /) -> list[SetQuestion]:
    """Returns all questions that a set can be drawn of, in the order of the source.

    Left out are those with more answers than the recipe allows, those whose statements the graph
    lacks, and those whose chain visits an entity twice.

    Raises:
        InputError: A file is missing, or a line is not of its form.
    """
    made = _MAKERS[recipe.questions.form](recipe, data, material)
    return [
        _spaced(question) if recipe.graph.has_codes else question
        for question in made
        if question.fact_sets and 0 < len(question.answers) <= recipe.questions.most_answers
    ]


def draw_questions(questions: Sequence[SetQuestion], /, *, count: int) -> list[SetQuestion]:
    """Returns as many questions of each kind as fit, in their order.

    Those of a kind are drawn in the order of a keyed hash of their ids, so that the draw is the
    same everywhere.
    """
    by_kind: dict[str, list[SetQuestion]] = defaultdict(list)
    for question in questions:
        by_kind[question.kind].append(question)
    chosen: set[str] = set()
    left = count
    kinds = sorted(by_kind, key=lambda kind: (len(by_kind[kind]), kind))
    for index, kind in enumerate(kinds):
        share = left // (len(kinds) - index)
        order = sorted(by_kind[kind], key=lambda item: (key64(f"set\t{item.id}"), item.id))
        chosen.update(item.id for item in order[:share])
        left -= min(share, len(order))
    return [question for question in questions if question.id in chosen]


def choose_questions(questions: Iterable[SetQuestion], ids: Sequence[str], /) -> list[SetQuestion]:
    """Returns the questions of some ids, in that order.

    Raises:
        InputError: One is not there; then the files or this version are not those of the set.
    """
    by_id = {question.id: question for question in questions}
    missing = [id_ for id_ in ids if id_ not in by_id]
    if missing:
        raise InputError(
            f"the download has no question {missing[0]!r}, which the set has", argument="data"
        )
    return [by_id[id_] for id_ in ids]


class Walks:
    """Walks over the facts of a graph, by relation and direction."""

    def __init__(self, facts: Iterable[Fact], /) -> None:
        self._steps: dict[str, dict[Step, list[tuple[str, Fact]]]] = defaultdict(dict)
        for fact in facts:
            head, relation, value = fact
            self._steps[head].setdefault((relation, False), []).append((value, fact))
            self._steps[value].setdefault((relation, True), []).append((head, fact))

    def values(self, head: str, relation: str, /) -> list[str]:
        """Returns the values of a head and a relation."""
        return [value for value, _ in self._steps[head].get((relation, False), ())]

    def along(self, entity: str, steps: Sequence[Step], /) -> list[tuple[str, tuple[Fact, ...]]]:
        """Returns the last entity and the facts of each walk that visits no entity twice."""
        walks: list[tuple[tuple[str, ...], tuple[Fact, ...]]] = [((entity,), ())]
        for step in steps:
            walks = [
                ((*nodes, other), (*facts, fact))
                for nodes, facts in walks
                for other, fact in self._steps[nodes[-1]].get(step, ())
                if other not in nodes
            ]
        return [(nodes[-1], facts) for nodes, facts in walks]


def _of_walks(
    walks: Walks, entity: str, steps: Sequence[Step], answers: Sequence[str], /
) -> tuple[tuple[Fact, ...], ...]:
    """The sets of facts that lead to answers: of each answer the first, then the others."""
    by_answer: dict[str, list[tuple[Fact, ...]]] = {answer: [] for answer in answers}
    for last, facts in walks.along(entity, steps):
        if last in by_answer:
            by_answer[last].append(tuple(dict.fromkeys(facts)))
    if not all(by_answer.values()):
        return ()
    rounds = max(map(len, by_answer.values()))
    sets = [
        listed[turn]
        for turn in range(rounds)
        for listed in by_answer.values()
        if turn < len(listed)
    ]
    return tuple(dict.fromkeys(sets))[:MOST_SETS]


def _metaqa(recipe: SetRecipe, data: Path, material: Material) -> Iterator[SetQuestion]:
    walks = Walks(material.facts)
    for name in recipe.questions.files:
        path = find_file(data, recipe.files[name])
        for index, line in text_lines(path, argument="data"):
            if line == METAQA_HEAD:
                continue
            columns = line.split("\t")
            topic = _TOPIC.search(columns[0])
            if len(columns) != 4 or topic is None:
                raise _error(path, index, "question with [entity], topic, type and answers")
            steps = metaqa_steps(columns[2])
            answers = tuple(dict.fromkeys(part for part in columns[3].split("|") if part))
            text = columns[0].replace("[", "").replace("]", "")
            yield SetQuestion(
                f"{name}:{index}",
                text,
                f"{len(steps)}-hop",
                (topic[1],),
                answers,
                _of_walks(walks, topic[1], steps, answers),
            )


def _paths(recipe: SetRecipe, data: Path, material: Material) -> Iterator[SetQuestion]:
    walks = Walks(material.facts)
    for name in recipe.questions.files:
        path = find_file(data, recipe.files[name])
        for index, line in text_lines(path, argument="data"):
            columns = line.split("\t")
            if len(columns) < 3:
                raise _error(path, index, "question, answer and path")
            walk = columns[2].split("#<end>")[0].split("#")
            nodes = walk[::2]
            if len(walk) < 3 or len(walk) % 2 == 0 or len(set(nodes)) < len(nodes):
                # A conjunction, or a chain that visits an entity twice.
                continue
            steps = [(relation, False) for relation in walk[1::2]]
            listed = columns[3] if len(columns) > 3 else columns[1].removeprefix(nodes[-1])[1:-1]
            answers = tuple(
                dict.fromkeys([nodes[-1], *(part for part in listed.split("/") if part)])
            )
            yield SetQuestion(
                f"{name}:{index}",
                " ".join(columns[0].split()),
                f"{len(steps)}-hop",
                (nodes[0],),
                answers,
                _of_walks(walks, nodes[0], steps, answers),
            )


def _wikidata(recipe: SetRecipe, data: Path, material: Material) -> Iterator[SetQuestion]:
    folder = find_file(data, recipe.files[recipe.questions.files[0]]).parent
    for question in read_wikidata_questions(folder):
        answers = tuple(sorted(question.answers))
        if not all(answer.startswith("Q") for answer in answers):
            continue
        sets = sorted(tuple(sorted(facts)) for facts in question.gold_statements)
        if not all(fact in material.statement_ids for facts in sets for fact in facts):
            continue
        yield SetQuestion(
            question.id,
            question.text,
            question.shape,
            question.topics,
            answers,
            tuple(sets[:MOST_SETS]),
        )


def _template(recipe: SetRecipe, data: Path, material: Material) -> Iterator[SetQuestion]:
    del data
    values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for head, relation, value in material.facts:
        values[head, relation].append(value)
    relations = set(recipe.questions.relations or (relation for _, relation in values))
    phrases = recipe.questions.phrases or {}
    only_one = recipe.questions.form is QuestionForm.RESTORABLE
    for (head, relation), answers in values.items():
        if relation not in relations or head in answers or (only_one and len(answers) > 1):
            continue
        name = material.name_of(head)
        # An id that names nothing can be neither linked nor read.
        if name is None or not all(map(material.name_of, answers)):
            continue
        phrase = phrases.get(relation)
        text = (
            phrase.replace("{}", name)
            if phrase
            else _PHRASE.format(relation=_relation_words(material, relation), head=name)
        )
        yield SetQuestion(
            f"{head}|{relation}",
            text,
            relation,
            (head,),
            tuple(answers),
            tuple(((head, relation, value),) for value in answers[:MOST_SETS]),
        )


def _relation_words(material: Material, relation: str) -> str:
    name = material.labels.get(relation) or name_of_id(relation) or relation
    return name.removesuffix(_INVERSE)


def _spaced(question: SetQuestion) -> SetQuestion:
    """The question with names as its graph of codes has them: without underscores."""
    return replace(question, text=question.text.replace("_", " "))


def _error(path: Path, line: int, expected: str) -> InputError:
    return InputError(
        f"{path}, line {line}: {expected} were expected, with tabs between", argument="data"
    )


_MAKERS = {
    QuestionForm.METAQA: _metaqa,
    QuestionForm.PATHS: _paths,
    QuestionForm.WIKIDATA: _wikidata,
    QuestionForm.TEMPLATE: _template,
    QuestionForm.RESTORABLE: _template,
    QuestionForm.INCOMPLETE: _template,
}
