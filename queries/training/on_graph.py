"""Training what preset ``default-6`` ranks by on a user's graph (B7).

Questions are made of the graph's walks; the user's own are added where there are any. Some of both
are kept aside. On those the shipped scorer and the trained one are compared in the end, and the
trained one is used only if it is right more often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.model.limits import Deadline
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.network import CandidateScorer, shipped_scorer
from graph_service.service import Service
from queries.training.blending import (
    OWN,
    WEIGHTS_OF_OWN,
    WEIGHTS_OF_WALKS,
    blended_scorer,
    choose_weight,
    hits,
)
from queries.training.examples import AnsweredQuestion, Example, hash_of
from queries.training.own_questions import OwnQuestions
from queries.training.paraphrases import Paraphrases
from queries.training.recording import Recorded, folder_name, record
from queries.training.set_calibration import SetCalibration, calibrate_sets
from queries.training.splits import Split, split
from queries.training.walks import make_walk_questions

Progress = Callable[[str, int, int], None]
Paraphrase = Callable[[Sequence[AnsweredQuestion], Mapping[str, str]], Paraphrases]
WALKS = "walks"
WALK_SHARES = {1: 0.25, 2: 0.5, 3: 0.25}
"""Of questions made of walks, by number of steps."""
LEAST_DECIDING = 20
"""Own questions kept aside, as asked, from which on they alone decide."""
_INNER_SHARE = 0.25
"""Of what is learned from, set apart to choose how much the graph's networks weigh."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTrainingOptions:
    """How a graph is learned.

    Attributes:
        walks: Questions made of walks.
        held_out: Share of the questions that decides in the end.
        random_seed: Of all draws.
    """

    walks: int = 600
    held_out: float = 0.3
    random_seed: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """How often a right candidate came first on questions kept aside.

    Attributes:
        requests: How often a question was asked.
        shipped, trained: Shares of these that the shipped and the trained scorer got right; None
            where nothing was asked.
    """

    requests: int
    shipped: float | None
    trained: float | None


@dataclass(frozen=True, slots=True)
class GraphTraining:
    """What came of a training.

    Attributes:
        scorer: The trained one.
        used: Whether it was right more often than the shipped one where that decides.
        decided_by: ``own`` or ``all``: whose figures decided.
        own, walks: Figures on the user's questions kept aside, and on walks.
        unseen: Figures on those of both whose relation sequences were not learned.
        weight: Of the graph's networks beside the shipped ones.
        learned: Questions that were trained on, by family.
        unseen_sequences: Relation sequences that were only among the questions kept aside.
        left_out: Questions that could not be learned from, by reason.
        examples: How many were trained on.
        sets: What the user's questions kept aside say of sets of readings.
        stored: What is to be stored beside the graph: the trained scorer, or what ranked before
            with gaps of the graph's own; None where nothing changes.
    """

    scorer: CandidateScorer
    used: bool
    decided_by: str
    own: Judged
    walks: Judged
    unseen: Judged
    weight: float
    learned: Mapping[str, int]
    unseen_sequences: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    examples: int = 0
    sets: SetCalibration = SetCalibration()
    stored: CandidateScorer | None = None

    def notes(self) -> dict[str, Any]:
        """Returns the figures, JSON-ready, as they are stored with the weights."""
        return {
            "decided_by": self.decided_by,
            "weight": self.weight,
            "learned": dict(self.learned),
            "examples": self.examples,
            "unseen_sequences": self.unseen_sequences,
            "left_out": dict(self.left_out),
            "sets": self.sets.notes(),
            "kept_aside": {
                name: {
                    "asked": questions.requests,
                    "shipped": _rounded(questions.shipped),
                    "trained": _rounded(questions.trained),
                }
                for name, questions in (
                    (OWN, self.own),
                    (WALKS, self.walks),
                    ("unseen", self.unseen),
                )
            },
        }


def train_on_graph(
    service: Service,
    graph: str,
    own: OwnQuestions,
    /,
    *,
    folder: Path,
    options: GraphTrainingOptions | None = None,
    paraphrased: Paraphrase | None = None,
    progress: Progress = lambda *_: None,
) -> GraphTraining:
    """Returns a scorer trained on a graph, and whether it is to be used.

    Args:
        service: With the graph; give its reads minutes, or new texts are not embedded in time.
        graph: Its name.
        own: The user's questions.
        folder: Where examples are kept while it runs: a killed run goes on where it was.
        options: How.
        paraphrased: Puts questions into other words, those that are learned from alone.
        progress: Called with a stage, how much of it is done, and of how much.

    Raises:
        InputError: The embedder is not the shipped scorer's, the graph is too large to be read
            whole, or nothing can be learned.
    """
    options = options or GraphTrainingOptions()
    statements, most = service.graph(graph).counts.statements, service.settings.snapshot_edges
    if statements > most:
        raise InputError(
            f"training walks a graph in memory; {graph!r} has {statements:,} statements, and more "
            f"than {most:,} are not read whole",
            argument="graph",
            hint="Raise GRAPH_SERVICE_SNAPSHOT_EDGES, or train on a part of the graph and put the "
            "weights beside it: retriever train --out FILE, retriever add FILE.",
        )
    shipped = shipped_scorer()
    shipped.require(service.vectors.trained_name)
    walks = _walks(service, graph, options)
    parts = {
        OWN: split(own.questions, share=options.held_out, random_seed=options.random_seed),
        WALKS: split(walks, share=options.held_out, random_seed=options.random_seed),
    }
    learned = [question for part in parts.values() for question in part.learned]
    left_out = dict(own.left_out)
    if paraphrased is not None:
        made = paraphrased(learned, _names(service, graph, learned))
        # What is kept aside may be worded alike: it decides, so it is not learned.
        aside = {question.text for part in parts.values() for question in part.held_out}
        learned += [question for question in made.questions if question.text not in aside]
        _count(left_out, "a paraphrase was unusable", made.unusable)
        _count(left_out, "the model gave no paraphrase", made.failed)
    folder_of_graph = folder / folder_name(service, graph, shipped)
    recorded = record(
        service, learned, shipped, folder_of_graph, progress=_of(progress, "learning questions")
    )
    judged = {
        name: record(
            service,
            part.held_out,
            shipped,
            folder_of_graph,
            progress=_of(progress, "questions kept aside"),
        )
        for name, part in parts.items()
    }
    for each in (recorded, *judged.values()):
        _count(left_out, "an entity of it is not in the graph", each.unanswerable)
        _count(left_out, "it was not answered in time", len(each.failed))
    progress("training", 0, 1)
    weight = _weight(shipped, recorded.examples, learned, options)
    scorer = blended_scorer(
        shipped,
        recorded.examples,
        weight,
        data=hash_of(learned),
        random_seed=options.random_seed,
    )
    progress("training", 1, 1)
    training = _decided(shipped, scorer, weight, parts, judged, recorded, learned, left_out)
    earlier = service.candidate_scorers.open(graph, embedder=shipped.embedder) or shipped
    sets = calibrate_sets(
        service,
        training.scorer if training.used else earlier,
        parts[OWN].held_out,
        progress=_of(progress, "sets of readings"),
    )
    return _with_sets(training, sets, earlier)


def _with_sets(
    training: GraphTraining, sets: SetCalibration, earlier: CandidateScorer
) -> GraphTraining:
    """Returns a training with what is to be stored."""
    training = replace(training, sets=sets)
    trained = replace(training.scorer, notes=training.notes())
    stored = None
    if training.used:
        trained = stored = replace(trained, gaps=sets.gaps)
    elif sets.gaps:
        stored = replace(earlier, gaps=sets.gaps, notes={**earlier.notes, "sets": sets.notes()})
    return replace(training, scorer=trained, stored=stored)


def _decided(
    shipped: CandidateScorer,
    scorer: CandidateScorer,
    weight: float,
    parts: Mapping[str, Split],
    judged: Mapping[str, Recorded],
    recorded: Recorded,
    learned: Sequence[AnsweredQuestion],
    left_out: Mapping[str, int],
) -> GraphTraining:
    sequences = {question.chains[0][1] for question in learned if question.chains}
    unseen = {
        question.text
        for part in parts.values()
        for question in part.held_out
        if question.chains and question.chains[0][1] not in sequences
    }
    own, walks = judged[OWN], judged[WALKS]
    by_own = sum(own.requests.values()) >= LEAST_DECIDING
    deciding = _judged(shipped, scorer, [own] if by_own else [own, walks])
    families: dict[str, int] = {}
    for question in learned:
        families[question.family] = families.get(question.family, 0) + 1
    return GraphTraining(
        scorer=scorer,
        used=(deciding.trained or 0.0) > (deciding.shipped or 0.0),
        decided_by=OWN if by_own else "all",
        own=_judged(shipped, scorer, [own]),
        walks=_judged(shipped, scorer, [walks]),
        unseen=_judged(shipped, scorer, [own, walks], among=unseen),
        weight=weight,
        learned=dict(sorted(families.items())),
        unseen_sequences=sum(part.unseen_sequences for part in parts.values()),
        left_out=dict(left_out),
        examples=len(recorded.examples),
    )


def _judged(
    shipped: CandidateScorer,
    trained: CandidateScorer,
    recorded: Sequence[Recorded],
    /,
    *,
    among: Collection[str] | None = None,
) -> Judged:
    """Returns the figures on some recorded questions, or on those of some texts among them."""
    request_count = sum(
        times
        for each in recorded
        for text, times in each.requests.items()
        if among is None or text in among
    )
    if not request_count:
        return Judged(0, None, None)
    examples = [
        example
        for each in recorded
        for example in each.examples
        if among is None or example.text in among
    ]
    before, after = (hits(scorer, examples) / request_count for scorer in (shipped, trained))
    return Judged(request_count, before, after)


def _walks(service: Service, graph: str, options: GraphTrainingOptions) -> list[AnsweredQuestion]:
    info = service.graph(graph)
    arrays = service.arrays(info)
    counts = {steps: round(share * options.walks) for steps, share in WALK_SHARES.items()}
    return make_walk_questions(
        arrays,
        Labels(arrays, None, ("en",), Deadline.none()),
        service.relation_aliases(info, ("en",)),
        name=graph,
        family=WALKS,
        counts=counts,
        random_seed=options.random_seed,
    )


def _names(service: Service, graph: str, questions: Sequence[AnsweredQuestion]) -> dict[str, str]:
    """Returns the English label of each question's entities, by id."""
    arrays = service.arrays(service.graph(graph))
    ids = sorted({id_ for question in questions for id_ in question.start_ids})
    nodes = {id_: node for id_ in ids if (node := arrays.find_node(id_)) is not None}
    labels = Labels(arrays, None, ("en",), Deadline.none())
    return dict(
        zip(nodes, labels.nodes(np.array(list(nodes.values()), dtype=np.int64)), strict=True)
    )


def _weight(
    shipped: CandidateScorer,
    examples: Sequence[Example],
    learned: Sequence[AnsweredQuestion],
    options: GraphTrainingOptions,
) -> float:
    """Returns how much the graph's networks weigh, chosen on a part of what is learned from."""
    some = [question for question in learned if question.family == OWN]
    by_own = len(some) >= LEAST_DECIDING
    weights = WEIGHTS_OF_OWN if by_own else WEIGHTS_OF_WALKS
    inner = split(
        some if by_own else learned, share=_INNER_SHARE, random_seed=options.random_seed + 1
    )
    aside = {question.text for question in inner.held_out}
    return choose_weight(
        shipped,
        [example for example in examples if example.text not in aside],
        [example for example in examples if example.text in aside],
        weights,
        random_seed=options.random_seed,
    )


def _of(progress: Progress, stage: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(stage, done, total)


def _count(left_out: dict[str, int], why: str, count: int) -> None:
    if count:
        left_out[why] = left_out.get(why, 0) + count


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)
