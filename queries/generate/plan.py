"""A whole set of questions asked in one way: where knowledge comes from, and what it will cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import Triple, triples_of
from graph_service.model.serialise import to_plain
from queries.datasets.case import Case
from queries.datasets.cases import gold_of
from queries.generate.ablation import Swapped, swap_graphs
from queries.generate.answer import Answer, Request, answer, answer_from, answer_stated, search_text
from queries.generate.citations import one_line
from queries.generate.passages import PassageFinder
from queries.generate.prompt import prompts_in_use
from queries.generate.setting import RECIPES, Generation, Join, Setting
from queries.generate.speaking import ModelInput, rendered
from queries.generate.verbalise import VERBALISER
from queries.llm import ChatModel, Message, estimate_tokens
from queries.retriever import Retriever

_SAMPLED = 5
_MOST_STATEMENTS = 1000


class Source(StrEnum):
    """Where knowledge comes from: a retrieval, the gold set of the question's file, or nowhere."""

    RETRIEVED = "retrieved"
    GOLD = "gold"
    NONE = "none"


class HasTriple(Protocol):
    """A statement as a client gives it."""

    @property
    def triple(self) -> Triple:
        """The statement, with the labels of what it names."""


class StatementReader(Protocol):
    """Reads an entity's statements; ``graph_service.client.Client`` is one."""

    def statements(
        self,
        id_: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        limit: int = 100,
    ) -> Sequence[HasTriple]:
        """Returns the statements that have an entity as their head."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How every question of a set is asked.

    Attributes:
        setting: How the model is asked.
        generation: How replies are drawn.
        request: How knowledge is fetched.
        source: Where knowledge comes from.
        gold: Each question's gold set, by id, where ``source`` is gold; graphs that were
            swapped (K7) are swapped there.
        passages: Where passages come from.
        given_entities: Whether the entities that a question's file names are given to the
            retrieval, instead of being linked from its words.
        right_share, swap_seed: Of the swapped graphs; written down.
        ranking: How relations are ranked where they are (``RelationRetriever.parameters``).
    """

    setting: Setting = Setting.KALMA_NUMBERED
    generation: Generation = field(default_factory=Generation)
    request: Request = field(default_factory=Request)
    source: Source = Source.RETRIEVED
    gold: Mapping[str, Swapped] = field(default_factory=dict)
    passages: PassageFinder | None = None
    given_entities: bool = False
    right_share: float = 1.0
    swap_seed: int = 0
    ranking: Mapping[str, Any] = field(default_factory=dict)

    def to_parameters(self, model: str, /) -> dict[str, Any]:
        """Returns what decides an answer beside its question, by the names of the options.

        The graph only where it is named: a store of one graph needs no name. Passages are known
        by their number alone.
        """
        request = self.request
        plain: dict[str, Any] = {
            "model": model,
            "strategy": request.strategy.value,
            "view": to_plain(request.view),
            "preset": request.preset,
            "limit": request.limit,
            **to_plain(request.more),
            "knowledge": self.source.value,
            "given_entities": self.given_entities,
            "right_share": self.right_share,
            "swap_seed": self.swap_seed,
            **self.generation.to_parameters(self.setting),
            **self.ranking,
        }
        if request.graph is not None:
            plain["graph"] = request.graph
        # Those of the package may change with it, and then are told by each answer's own label.
        own = sorted(prompt.label for prompt in prompts_in_use().values())
        if model != VERBALISER:
            plain["own_prompts"] = own
        return plain


def gold_sets(
    cases: Sequence[Case],
    reader: StatementReader,
    /,
    *,
    graph: str | None = None,
    view: ViewRef | None = None,
    right_share: float = 1.0,
    random_seed: int = 0,
) -> dict[str, Swapped]:
    """Returns each question's gold set, some graphs swapped for irrelevant ones (K7).

    Triples that the file gives are taken as they are; statements that it names by id are read
    from the graph, and on a view those that it withholds are left out (K6).

    Raises:
        InputError: A question has no gold set, or the graph lacks a statement of it.
    """
    sets: dict[str, tuple[Triple, ...]] = {}
    for case in cases:
        # A statement of Wikidata names its entity; of others the question's entities are asked.
        heads = dict.fromkeys(
            [id_.partition("$")[0] for id_ in case.statement_ids if "$" in id_]
            + list(case.entity_ids)
        )
        known = []
        if case.statement_ids and not case.knowledge:
            known = [
                item.triple
                for head in heads
                for item in reader.statements(head, graph=graph, view=view, limit=_MOST_STATEMENTS)
            ]
        sets[case.id] = gold_of(case, known, may_lack=view is not None)
    return swap_graphs(sets, right_share=right_share, random_seed=random_seed)


def answer_case(
    case: Case, plan: Plan, /, *, retriever: Retriever, model: ChatModel | None
) -> Answer:
    """Returns the answer to one question of a set; without a model, template text.

    Raises:
        InputError: Template text is asked for, and there is neither a retrieval nor a gold set
            to state.
        SetupError, LimitError: As ``answer``.
    """
    request = _request(case, plan)
    name = VERBALISER if model is None else model.name
    if plan.source is Source.RETRIEVED:
        return _noted(
            answer(
                case.question,
                retriever=retriever,
                model=model,
                strategy=request.strategy,
                setting=plan.setting,
                graph=request.graph,
                view=request.view,
                entity_ids=request.entity_ids,
                preset=request.preset,
                limit=request.limit,
                retrieval=request.more,
                question_id=case.id,
                generation=plan.generation,
                passages=plan.passages,
                history=case.history,
                kind=case.kind,
            ),
            plan,
            name,
        )
    swapped = plan.gold.get(case.id, Swapped((), {}))
    facts = swapped.knowledge if plan.source is Source.GOLD else ()
    if model is not None:
        item = answer_from(
            case.question,
            facts,
            model=model,
            setting=plan.setting,
            question_id=case.id,
            generation=plan.generation,
            passages=plan.passages,
            history=case.history,
            kind=case.kind,
        )
    elif plan.source is Source.GOLD and RECIPES[plan.setting].facts:
        item = answer_stated(
            case.question,
            facts,
            question_id=case.id,
            history=case.history,
            kind=case.kind,
        )
    else:
        raise InputError(
            f"template text states what was retrieved or a gold set; the knowledge is "
            f"{plan.source.value}, in setting {plan.setting.value}",
            argument="knowledge",
            hint="Name a model: --model NAME, or leave --knowledge out.",
        )
    notes = tuple(f"graph of {right} swapped for {other}" for right, other in swapped.wrong.items())
    return _noted(replace(item, notes=(*item.notes, *notes)), plan, name)


def _noted(item: Answer, plan: Plan, model: str) -> Answer:
    facts = RECIPES[plan.setting].facts or model == VERBALISER
    parameters = {
        **item.parameters,
        "knowledge": (plan.source if facts else Source.NONE).value,
        "run": plan.to_parameters(model),
    }
    if plan.right_share < 1.0:
        parameters |= {"right_share": plan.right_share, "swap_seed": plan.swap_seed}
    return replace(item, parameters=parameters)


def _request(case: Case, plan: Plan) -> Request:
    if plan.given_entities and not plan.request.entity_ids:
        return replace(plan.request, entity_ids=case.entity_ids)
    return plan.request


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run may take, before it is begun.

    Attributes:
        questions: To be answered.
        requests: At most, without those for replies that cannot be read.
        prompt_tokens: Of all requests, from those of some questions.
        reply_tokens: At most.
        sampled: Questions whose prompts were made for it.
    """

    questions: int
    requests: int
    prompt_tokens: int
    reply_tokens: int
    sampled: int

    def text(self) -> str:
        """Returns the estimate in one line."""
        return (
            f"{self.questions} questions, up to {self.requests} requests: about "
            f"{self.prompt_tokens:,} tokens of prompts (from {self.sampled} of them), at most "
            f"{self.reply_tokens:,} of replies"
        )


def estimate(
    cases: Sequence[Case], plan: Plan, /, *, retriever: Retriever, ranked_entities: int = 0
) -> Estimate:
    """Returns what a run over these questions may take; asks no model.

    The prompts of five questions, evenly spread, are made and counted by ``estimate_tokens``.

    Args:
        cases: The questions.
        plan: How they are asked.
        retriever: Fetches the knowledge of the five; one that asks no model.
        ranked_entities: Entities of a question whose relations a model ranks, at most; these
            requests are counted, and their few tokens are not.
    """
    count = min(_SAMPLED, len(cases))
    sampled = [cases[i * len(cases) // count] for i in range(count)]
    sizes = [
        sum(estimate_tokens(message.content) for message in _prompt(case, plan, retriever))
        for case in sampled
    ]
    requests = 1
    if plan.setting is Setting.OKGQA_SC:
        requests = plan.generation.samples + (plan.generation.join is Join.MODEL)
    elif plan.setting is Setting.OKGQA_IRCOT:
        requests = plan.generation.steps + 1
    mean = sum(sizes) / max(count, 1)
    return Estimate(
        len(cases),
        (requests + ranked_entities) * len(cases),
        round(mean * requests * len(cases)),
        requests * len(cases) * plan.generation.max_tokens,
        count,
    )


def _prompt(case: Case, plan: Plan, retriever: Retriever) -> Sequence[Message]:
    recipe = RECIPES[plan.setting]
    searched = search_text(case.history, case.question)
    result = None
    knowledge: tuple[Triple, ...] = ()
    if recipe.facts and plan.source is Source.RETRIEVED:
        result = _request(case, plan).fetch(case.question, retriever, history=case.history)
        knowledge = triples_of(result)
    elif recipe.facts and plan.source is Source.GOLD:
        knowledge = plan.gold[case.id].knowledge
    passages = (
        plan.passages.find(searched, k=plan.generation.passages)
        if recipe.passages and plan.passages is not None
        else ()
    )
    material = ModelInput(one_line(case.question), knowledge, result, passages, case.history)
    return rendered(material, plan.setting)
