"""Scorers of relation sequences that did not see one family of questions, trained on the others.

Beside the families' own questions stand questions made of the walks of some graphs
(``queries.training.walks``): of the Wikidata questions' graph and of DBpedia50, which no family is
left out of, and of MetaQA's, which is left out with it. Graphs differ in how they name relations:
what is trained on the walks of several holds better on another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.families import FamilyQuestion, GraphFile, QuestionSet, choose, graph_of
from benchmarks.kept_judgements import code_hash
from graph_service.model.limits import Deadline
from graph_service.quality.chains import twin_of
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.network import (
    CandidateScorer,
    encode_candidate_scorer,
    shipped_scorer,
)
from graph_service.service import Service
from queries.training.examples import AnsweredQuestion, Example, ExampleRecorder, hash_of
from queries.training.kept_examples import read_examples, write_examples
from queries.training.networks import TrainingOptions, train_scorer
from queries.training.walks import make_walk_questions

Open = Callable[[GraphFile], AbstractContextManager[Service]]
Progress = Callable[[str, int, int], None]
WALKS = "walks"
MOST_OF_A_SET = 700
"""Questions of one set that are trained on, drawn by hash."""
LICENSED = ("metaqa", "simplequestions", "webquestions", "qald-lcquad")
"""Families of an open licence: what ships is trained on these and on walks."""
_WALK_WEIGHT, _TWO_STEP_WEIGHT = 1.2, 1.5
_TWO_STEPS = ("metaqa", "pathquestion")
"""Families of many questions of two steps: there are few, so that they weigh more."""


@dataclass(frozen=True, slots=True)
class WalkSet:
    """A graph whose walks become questions.

    Attributes:
        name: Of the set; with a number of steps, of a family of questions.
        graph: Of the data.
        counts: Questions by number of steps.
        family: Left out with that family; empty for never.
    """

    name: str
    graph: GraphFile
    counts: Mapping[int, int]
    family: str = ""


def walk_sets(data: Path, people: GraphFile, /) -> list[WalkSet]:
    """Returns the graphs whose walks are trained on.

    Args:
        data: The folder that holds ``metaqa`` and ``dbpedia50``.
        people: The graph of the Wikidata questions.
    """
    dbpedia = GraphFile(
        "dbpedia50", data / "dbpedia50/train.txt", columns=("head", "tail", "relation")
    )
    return [
        WalkSet(WALKS, people, {1: 350, 2: 900, 3: 800}),
        WalkSet(f"{WALKS}-metaqa", graph_of("metaqa", data), {1: 80, 2: 350, 3: 300}, "metaqa"),
        WalkSet(f"{WALKS}-dbpedia", dbpedia, {1: 150, 2: 450, 3: 500}),
    ]


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """Examples of one set.

    Attributes:
        family: Left out together.
        questions: That were asked.
        examples: Those of them that can be learned from, entities given and not.
    """

    family: str
    questions: tuple[AnsweredQuestion, ...]
    examples: tuple[Example, ...]


def record_sets(
    sets: Iterable[QuestionSet],
    walks: Iterable[WalkSet],
    open_graph: Open,
    /,
    *,
    progress: Progress,
    folder: Path,
    random_seed: int = 0,
) -> list[RecordedSet]:
    """Returns the examples of some sets, and of the walks of some graphs.

    Args:
        sets: Of questions whose right sequences or answers are known.
        walks: The graphs whose walks become questions.
        open_graph: Opens a service over a graph.
        progress: Called with a set's name, how many questions are done, and of how many.
        folder: Where examples are kept: a set that is there is not asked again.
        random_seed: Of the draws.
    """
    code, found = code_hash(weights=False)[:12], []
    for one in sets:
        chosen = choose(
            one.questions, sample=MOST_OF_A_SET, random_seed=random_seed, published=False
        )
        asked = [answered(question, one.graph.name) for question in chosen]
        path = folder / f"examples-{one.name}-{MOST_OF_A_SET}-{random_seed}-{code}.npz"
        if not path.is_file():
            with open_graph(one.graph) as service:
                write_examples(path, asked, _examples(service, one.name, asked, progress))
        found.append(RecordedSet(one.unseen, *read_examples(path)))
    for each in walks:
        path = folder / f"examples-{each.name}-{random_seed}-{code}.npz"
        if not path.is_file():
            with open_graph(each.graph) as service:
                asked = walk_questions(service, each, random_seed)
                write_examples(path, asked, _examples(service, each.name, asked, progress))
        found.append(RecordedSet(each.family, *read_examples(path)))
    return found


def walk_questions(service: Service, walks: WalkSet, random_seed: int, /) -> list[AnsweredQuestion]:
    """Returns the questions made of the walks of a graph."""
    info = service.graph(walks.graph.name)
    arrays = service.arrays(info)
    names = service.relation_aliases(info, ("en",))
    return make_walk_questions(
        arrays,
        Labels(arrays, None, ("en",), Deadline.none()),
        names,
        name=walks.graph.name,
        family=walks.name,
        counts=walks.counts,
        random_seed=random_seed,
    )


def train_without(
    recorded: Sequence[RecordedSet],
    families: Collection[str],
    /,
    *,
    embedder: str,
    options: TrainingOptions | None = None,
) -> CandidateScorer:
    """Returns a scorer trained on what is recorded but for some families."""
    used = [one for one in recorded if one.family not in families]
    examples = [example for one in used for example in one.examples]
    return train_scorer(
        examples,
        embedder=embedder,
        data=hash_of(question for one in used for question in one.questions),
        options=options,
        weights=weights_of(example.family for example in examples),
        notes={
            "families": sorted({one.family or WALKS for one in used}),
            "questions": sum(len(one.questions) for one in used),
            "examples": len(examples),
        },
    )


def weights_of(families: Iterable[str], /) -> dict[str, float]:
    """Returns how much families weigh beside the others, by name: walks of each length are many."""
    return {
        family: _WALK_WEIGHT
        if family.startswith(WALKS)
        else _TWO_STEP_WEIGHT
        if family in _TWO_STEPS
        else 1.0
        for family in sorted(set(families))
    }


class FamilyScorers:
    """Trains the scorer that did not see a family, once each, and keeps it in a file.

    Args:
        recorded: What there is to train on.
        folder: Where the files go.
        embedder: Name of the embedder that the examples were made with.
        options: Of the training.
    """

    def __init__(
        self,
        recorded: Sequence[RecordedSet],
        folder: Path,
        /,
        *,
        embedder: str,
        options: TrainingOptions | None = None,
    ) -> None:
        self._recorded = recorded
        self._folder = folder
        self._embedder = embedder
        self._options = options

    def __call__(self, family: str, /) -> Path:
        """Returns the file of the scorer that did not see a family."""
        return self._written(f"scorer-without-{family}.npz", {family})

    def licensed(self) -> Path:
        """Returns the file of the scorer that may ship: it saw ``LICENSED`` families and walks."""
        others = {one.family for one in self._recorded} - {*LICENSED, ""}
        return self._written("scorer-licensed.npz", others)

    def _written(self, name: str, left_out: Collection[str]) -> Path:
        path = self._folder / name
        scorer = train_without(
            self._recorded, left_out, embedder=self._embedder, options=self._options
        )
        path.write_bytes(encode_candidate_scorer(scorer))
        return path


def answered(question: FamilyQuestion, graph: str, /) -> AnsweredQuestion:
    """Returns a question with what is right for it."""
    return AnsweredQuestion(
        question.text,
        graph,
        question.family,
        question.topics,
        tuple((chain.start, chain.steps) for chain in question.chains),
        question.answers if question.any_exact else frozenset(),
    )


def _examples(
    service: Service, name: str, questions: Sequence[AnsweredQuestion], progress: Progress
) -> list[Example]:
    """Asks questions whose entities the graph has, each with its entities given and without."""
    recorder = ExampleRecorder(first=shipped_scorer().first, same=twin_of)
    with service.ranking_by(recorder):
        for number, question in enumerate(questions, start=1):
            graph = service.arrays(service.graph(question.graph))
            known = all(graph.find_node(id_) is not None for id_ in question.start_ids)
            for given in (True, False) if known else ():
                recorder.record(service, question, by_ids=given)
            progress(name, number, len(questions))
    return recorder.examples
