"""Open questions written from the facts around an entity, linked to the graph, and rated (O1, O2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from graph_service.model.result import EntityRef, Triple
from graph_service.model.values import EntityValue
from queries.builders.asking import UNREADABLE, load_builder_prompt, read_question, request_value
from queries.builders.draws import in_draw_order
from queries.builders.material import GraphMaterial, numbered_facts
from queries.builders.okgqa.templates import SubType
from queries.builders.stages import RefusedError
from queries.generate.citations import one_line
from queries.generate.setting import Generation
from queries.generate.spoken import labels_of
from queries.llm import ChatModel
from queries.llm.reply import UnreadableReplyError, read_json_text
from queries.score.rating import read_rating
from queries.score.rubric import Rubric, parse_rubric

PROMPTS = ("okgqa-question", "okgqa-rate")
QUALITIES = ("naturalness", "relevance", "specificity", "novelty", "actionability")
LOW, HIGH = 1, 10
NATURALNESS = ("high", "medium", "unnatural")
DIFFICULTY = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Seed:
    """A question to be written: its sub-type, and the entity whose facts are shown."""

    id: str
    sub_type: SubType
    entity: EntityRef


@dataclass(frozen=True, slots=True)
class Offered:
    """A seed with the facts around its entity."""

    id: str
    seed: Seed
    facts: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """What a model wrote.

    Attributes:
        placeholders: What stands for each.
    """

    id: str
    offered: Offered
    question: str
    placeholders: Mapping[str, str]
    naturalness: str
    difficulty: str


@dataclass(frozen=True, slots=True)
class LinkedQuestion:
    """A question whose entities were looked up in the graph.

    Attributes:
        entities: By placeholder; empty where the graph names none so.
        connected: Whether its entities are joined within two steps; None of a single one, or where
            one is missing.
        relations: Ids of the relations around its entities.
    """

    id: str
    written: WrittenQuestion
    entities: Mapping[str, str]
    connected: bool | None
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatedQuestion:
    """A question with what the model gives it in each quality, from ``LOW`` to ``HIGH``."""

    id: str
    linked: LinkedQuestion
    ratings: Mapping[str, int]


@cache
def rubric_of(quality: str, /) -> Rubric:
    """Returns what a quality of questions is."""
    file = resources.files("queries.builders") / "rubrics" / f"{quality}.txt"
    return parse_rubric(quality, file.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes the stages of a round.

    Attributes:
        instruction: What a good question is; those who write and who rate are given the same.
        most_facts: That a prompt shows.
    """

    model: ChatModel
    material: GraphMaterial
    generation: Generation
    instruction: str
    most_facts: int
    random_seed: int = 0

    def offer(self, seed: Seed) -> Offered:
        """Returns a draw of the facts around an entity, those that name other entities first."""
        facts = {
            triple.statement_id: triple
            for triple in self.material.statements_of(seed.entity.id)
            if self.material.informs(triple)
        }
        order = in_draw_order(facts, "okgqa", random_seed=self.random_seed)
        order.sort(key=lambda id_: not isinstance(facts[id_].value, EntityValue))
        offered_facts = tuple(facts[id_] for id_ in order[: self.most_facts])
        others = {t.value.id for t in offered_facts if isinstance(t.value, EntityValue)}
        if len(others - {seed.entity.id}) < len(seed.sub_type.linked) - 1 or not offered_facts:
            raise RefusedError(
                "too few facts", f"{seed.entity.id} has {len(offered_facts)} that inform"
            )
        return Offered(seed.id, seed, offered_facts)

    def write(self, offered: Offered) -> WrittenQuestion:
        """Returns the question that the model writes of the facts."""
        kind = offered.seed.sub_type
        messages = load_builder_prompt("okgqa-question").render(
            instruction=self.instruction,
            name=kind.name,
            template=kind.template,
            linked=", ".join(kind.linked),
            free=", ".join(kind.free) or "none",
            facts=numbered_facts(offered.facts),
        )

        def read(text: str) -> WrittenQuestion:
            return _read_written(text, offered)

        return request_value(self.model, messages, read, generation=self.generation)

    def link(self, written: WrittenQuestion) -> LinkedQuestion:
        """Returns the question with the entities that the graph has by its names."""
        offered = written.offered
        near = {offered.seed.entity.id}
        near |= {t.value.id for t in offered.facts if isinstance(t.value, EntityValue)}
        links: dict[str, str] = {}
        for name in offered.seed.sub_type.linked:
            namesakes = [
                entity.id for entity in self.material.namesakes(written.placeholders[name])
            ]
            # Of namesakes the one that the facts show is meant; else only a name of one is clear.
            shown = [id_ for id_ in namesakes if id_ in near]
            links[name] = (shown or namesakes or [""])[0] if len(shown or namesakes) < 2 else ""
        ids = [id_ for id_ in dict.fromkeys(links.values()) if id_]
        around = {id_: self._around(id_) for id_ in ids}
        connected = None
        if len(links) > 1 and len(ids) == len(links):
            first, second = (around[id_][0] | {id_} for id_ in ids[:2])
            connected = bool(first & second)
        relations = sorted({relation for _, used in around.values() for relation in used})
        return LinkedQuestion(written.id, written, links, connected, tuple(relations))

    def _around(self, id_: str) -> tuple[set[str], set[str]]:
        """The neighbours of an entity, and the relations around it; a hub's as far as one page goes."""
        page = self.material.client.neighbours(id_, graph=self.material.graph, first=1000)
        used = {triple.relation.id for triple in self.material.statements_of(id_)}
        if page is None:
            return set(), used
        return (
            {neighbour.item.id for neighbour in page.neighbours},
            used | {neighbour.triple.relation.id for neighbour in page.neighbours},
        )

    def require_entities(self, linked: LinkedQuestion) -> LinkedQuestion:
        """Returns a question all of whose entities the graph has."""
        missing = [name for name, id_ in linked.entities.items() if not id_]
        if missing:
            placeholder = linked.written.placeholders[missing[0]]
            raise RefusedError(
                "entity not in the graph", f"{missing[0]}: it has none, or several, {placeholder!r}"
            )
        if len(set(linked.entities.values())) < len(linked.entities):
            raise RefusedError("one entity twice", ", ".join(linked.entities.values()))
        return linked

    def rate(self, linked: LinkedQuestion) -> RatedQuestion:
        """Returns a question with the model's ratings."""
        named = [linked.written.placeholders[name] for name in linked.entities]

        def read(text: str) -> int:
            try:
                return read_rating(text, LOW, HIGH)
            except UnreadableReplyError as error:
                raise RefusedError(UNREADABLE, str(error)) from error

        ratings = {}
        for quality in QUALITIES:
            rubric = rubric_of(quality)
            messages = load_builder_prompt("okgqa-rate").render(
                instruction=self.instruction,
                quality=rubric.title,
                criterion=rubric.criterion,
                steps=rubric.steps,
                low=str(LOW),
                high=str(HIGH),
                entities=", ".join(named),
                question=linked.written.question,
            )
            ratings[quality] = request_value(self.model, messages, read, generation=self.generation)
        return RatedQuestion(linked.id, linked, ratings)


def _read_written(text: str, offered: Offered) -> WrittenQuestion:
    stripped = text.strip()
    if stripped.strip('."').lower() == "unsuitable":
        raise RefusedError("facts unsuitable", "the model says that no entity of the facts fits")
    try:
        plain = read_json_text(stripped)
    except UnreadableReplyError as error:
        raise RefusedError(UNREADABLE, str(error)) from error
    if not isinstance(plain, dict):
        raise RefusedError(UNREADABLE, "one JSON object was expected")
    kind = offered.seed.sub_type
    placed = _placed(plain.get("placeholders"), kind)
    question = read_question(
        str(plain.get("question") or ""), names=(*placed.values(), *labels_of(offered.facts))
    )
    for name, words in placed.items():
        if words.casefold() not in question.casefold():
            raise RefusedError(
                "placeholder not in the question", f"{name}: {words!r} stands nowhere in it"
            )
    for name, choices in (("naturalness", NATURALNESS), ("difficulty", DIFFICULTY)):
        if plain.get(name) not in choices:
            raise RefusedError(UNREADABLE, f"{name} has to be one of {', '.join(choices)}")
    return WrittenQuestion(
        offered.id, offered, question, placed, plain["naturalness"], plain["difficulty"]
    )


def _placed(plain: Any, kind: SubType) -> dict[str, str]:
    expected = ", ".join(kind.placeholders)
    if not isinstance(plain, dict) or sorted(plain) != sorted(kind.placeholders):
        raise RefusedError(UNREADABLE, f"placeholders has to be an object of {expected}")
    if not all(isinstance(words, str) and words.strip() for words in plain.values()):
        raise RefusedError(UNREADABLE, f"a filled text was expected for each of {expected}")
    return {name: one_line(plain[name]) for name in kind.placeholders}
