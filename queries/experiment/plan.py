"""The plan of an experiment: questions, graphs, views and models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from graph_service.model.request import RetrieveOptions
from graph_service.model.result import Strategy
from graph_service.model.view_spec import ViewSpec
from graph_service.options import option
from queries.datasets.cases import QuestionFormat
from queries.generate.setting import Generation, Setting, default_generation
from queries.question_views import Aim
from queries.score.criteria import CITED_ANSWERS
from queries.score.talec import Division, Method


class AnswererKind(StrEnum):
    """Who makes an answer of what was retrieved."""

    VERBALISER = "verbaliser"
    EXTRACTIVE = "extractive"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Answerer:
    """Who answers: templates, a rule over the retrieved items, or a model in a setting.

    Attributes:
        name: In the ids of cells: ``verbaliser``, ``extractive`` or ``MODEL+SETTING``.
        model: The model's name; empty without one.
        url: Of its endpoint; empty for the one of the settings.
        setting: How it is asked; None without a model.
    """

    name: str
    kind: AnswererKind
    model: str = ""
    url: str = ""
    setting: Setting | None = None


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file of questions.

    Attributes:
        name: As the plan writes it.
        path: From where the program runs.
        graph: The graph that it asks; None for every graph of the plan.
        first: How many of its questions are taken; None for all.
    """

    name: str
    path: Path
    question_format: QuestionFormat | None = None
    language: str = "en"
    first: int | None = option(None, help="how many of its questions are taken", least=1)
    graph: str | None = None


@dataclass(frozen=True, slots=True)
class ViewFamily:
    """Views of one method, at some levels (or counts), by some random seeds.

    Attributes:
        name: In the ids of cells; by default the method's.
        specs: One a level and random seed, levels outermost.
        aim: What the view of each question aims at; None if one view is asked by all questions.
    """

    name: str
    specs: tuple[ViewSpec, ...]
    aim: Aim | None = None


@dataclass(frozen=True, slots=True)
class Extractive:
    """How answers by rule abstain.

    Attributes:
        min_score: Score of the best entity under which there is no answer; None for never.
        calibration_share: Share of the questions by which the score is chosen, and which are
            then no part of what is measured; 0 for none.
        random_seed: By which they are drawn.
    """

    min_score: float | None = None
    calibration_share: float = 0.0
    random_seed: int = 0


class JudgeKind(StrEnum):
    """What a judge gives: a TALEC score, G-Eval's ratings, the share of citations entailed, or the
    share of facts supported, as FActScore or as SAFE checks them.
    """

    TALEC = "talec"
    GEVAL = "geval"
    ALIGNMENT = "alignment"
    FACTSCORE = "factscore"
    SAFE = "safe"


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """A score that a model gives.

    Attributes:
        model, url: The judge's model and endpoint, as for an answerer.
        criteria: Of TALEC: a name of ours, or a file.
        division, method: Of TALEC.
        passages: File of the texts that FActScore and SAFE check facts against, by question id;
            None for the triples that each answer was given.
        random_seed: Passed on to endpoints that take one.
    """

    kind: JudgeKind
    model: str
    url: str = ""
    criteria: str = CITED_ANSWERS
    division: Division = Division.LABEL
    method: Method = Method.JOINT
    passages: Path | None = None
    random_seed: int | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of a model cost, in a currency of the user's own."""

    prompt: float = option(help="a million tokens of prompts", least=0)
    reply: float = option(help="a million tokens of replies", least=0)

    def of(self, prompt_tokens: int, reply_tokens: int, /) -> float:
        """Returns what tokens cost.

        >>> Price(2.5, 10.0).of(400_000, 100_000)
        2.0
        """
        return (self.prompt * prompt_tokens + self.reply * reply_tokens) / 1_000_000


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may take of models; None for no limit. A run that reaches it can go on later.

    Attributes:
        prices: Of models, by name; a model without a price has no cost in ``plan`` and report.
    """

    requests: int | None = option(None, help="requests to models", least=1)
    tokens: int | None = option(None, help="tokens of models", least=1)
    prices: Mapping[str, Price] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment.

    Attributes:
        name: For headings.
        source: The file's name.
        given_entities: Whether the entities that a question's file names are given to the
            retrieval, so that scores differ by the view alone.
        stored_views: Names of stored views, one cell each beside the grid.
        retrieval: Options of every retrieval.
        runs: How often each model is asked each question of each cell, by random seeds of its own;
            templates and rules answer once.
        judges: Scores that models give; no part of the lock, as no answer depends on them.
        scores: Names of the scores that the report shows; () for all.
    """

    name: str
    source: str
    graphs: tuple[str, ...]
    questions: tuple[QuestionFile, ...]
    given_entities: bool = True
    views: tuple[ViewFamily, ...] = ()
    stored_views: tuple[str, ...] = ()
    strategies: tuple[Strategy, ...] = (Strategy.PATHS,)
    presets: tuple[str, ...] = ("default",)
    retrieval: RetrieveOptions = field(default_factory=RetrieveOptions)
    answerers: tuple[Answerer, ...] = ()
    extractive: Extractive = field(default_factory=Extractive)
    generation: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 1
    judges: tuple[JudgePlan, ...] = ()
    scores: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)

    def generation_of(self, setting: Setting, run: int | None = None, /) -> Generation:
        """Returns how replies are drawn in a setting.

        Args:
            setting: How the model is asked.
            run: Which of several runs, from 1. The first is drawn as a plan without runs draws; each
                other one has random seeds of its own, so that its replies are others.
        """
        generation = replace(default_generation(setting), **self.generation)
        if run is None or run == 1:
            return generation
        samples = generation.samples if setting is Setting.OKGQA_SC else 1
        first = generation.random_seed or 0
        return replace(generation, random_seed=first + (run - 1) * samples)
