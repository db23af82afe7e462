"""Tasks of inspect_ai: the papers' questions, a frozen set, and questions of one's own.

    inspect eval graph_service/kalma --model openai/gpt-5-mini -T url=http://127.0.0.1:8000

Each asks a server (``graph-service serve``), but for ``talec``: its questions are texts of one's own
that the model judges, since TALEC's set is not published.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_service.adapters import framework
from graph_service.cli.score.scoring import base_triples
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.serialise import to_plain
from graph_service.model.view_reference import parse_view
from graph_service.model.view_spec import Method, ViewSpec
from queries.datasets.cases import read_question_file
from queries.datasets.demo_set import demo_question_file
from queries.datasets.scored import read_text_cases
from queries.experiment.cells import cells_of
from queries.experiment.subjects import Subject, find_gold, questions_of
from queries.experiment.targets import targets_of
from queries.generate.setting import Setting
from queries.robustness.building import Folder, read_set_plan
from queries.robustness.recipe import find_sets
from queries.score.criteria import CITED_ANSWERS, load_criteria
from queries.score.withholding import withheld_order

with framework("inspect", module=__name__):
    from inspect_ai import Task, task
    from inspect_ai.agent import react
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.solver import Solver
    from inspect_ai.tool import mcp_server_stdio, mcp_tools

    from graph_service.cli.inspect_ai.answering import (
        ADDRESS,
        connect,
        graph_answer,
        talec_verdict,
    )
    from graph_service.cli.inspect_ai.scorers import (
        answer_sets,
        citations,
        knowledge,
        not_available,
        talec_agreement,
    )

__all__ = ["frozen_set", "graph_questions", "kalma", "ltgen", "mcp_questions", "okgqa", "talec"]

PROMPT = """\
Answer the question from the statements that the tools return, and from nothing else. If they do not
answer it, write [NA]. Submit the answer alone."""

ViewOf = Callable[[Subject], ViewRef | None]


@dataclass(frozen=True, slots=True)
class _Material:
    """What the samples of a task are made of.

    Attributes:
        graph: The graph's name.
        view_of: The view that a question is asked on; None for the base.
        withheld: How many statements of a question's minimum set its view withholds.
    """

    url: str
    graph: str
    view_of: ViewOf
    withheld: int = 0

    def dataset(self, subjects: Sequence[Subject], client: Client, name: str) -> MemoryDataset:
        """Returns the questions as samples, with all that the scorers need."""
        return MemoryDataset([self._sample(subject, client) for subject in subjects], name=name)

    def _sample(self, subject: Subject, client: Client) -> Sample:
        gold, view = subject.gold, self.view_of(subject)
        absent = withheld_order(gold)[: self.withheld]
        return Sample(
            id=subject.case.id,
            input=subject.case.question,
            target=list(gold.answers) or ["[NA]" if gold.lacking else ""],
            metadata={
                "case": to_plain(subject.case),
                "gold": to_plain(gold),
                "view": to_plain(view),
                "absent": [
                    to_plain(triple) for triple in base_triples(client, absent, self.graph).values()
                ],
                "targets": [
                    name.text for name in targets_of(subject, client, graph=self.graph, view=view)
                ],
            },
        )


def _file_task(
    questions: str | Path,
    *,
    url: str,
    graph: str,
    solver: Solver,
    view_of: ViewOf,
    scorers: Sequence[object],
    withheld: int = 0,
    first: int | None = None,
) -> Task:
    with connect(url) as client:
        subjects = find_gold(read_question_file(questions)[:first], client, graph=graph)
        if withheld:
            # As in the rounds of `score withheld`: questions whose minimum set is large enough.
            subjects = tuple(
                subject
                for subject in subjects
                if len(withheld_order(subject.gold)) >= withheld and not subject.gold.lacking
            )
        dataset = _Material(url, graph, view_of, withheld).dataset(
            subjects, client, Path(questions).stem
        )
    return Task(dataset=dataset, solver=solver, scorer=list(scorers))


def _one_view(view: str) -> ViewOf:
    """Returns the view of a name, an id or ``METHOD:LEVEL:SEED`` for every question."""
    reference = parse_view(view) if view else None
    return lambda _: reference


@task
def kalma(
    questions: str = "",
    url: str = ADDRESS,
    graph: str = "demo",
    strategy: str = "paths",
    preset: str = "default",
    withheld: int = 0,
    view: str = "",
    first: int | None = None,
) -> Task:
    """KaLMA: cited answers, scored by citations, and by ``[NA]`` where statements are withheld.

    Args:
        questions: A question file, such as BioKaLMA's; by default the demo's 50 questions.
        url: The server's address.
        graph: The graph's name.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        preset: Of the retrieval.
        withheld: How many statements of its minimum set each question's view withholds.
        view: Without ``withheld``: the view that all questions are asked on.
        first: How many questions are asked; None for all.
    """
    if withheld and view:
        raise InputError("give either withheld or view", argument="view")

    def withholding(subject: Subject) -> ViewRef:
        order = withheld_order(subject.gold)
        return ViewRef(spec=ViewSpec(Method.WITHHOLDING, count=withheld, statement_ids=order))

    return _file_task(
        questions or demo_question_file(),
        url=url,
        graph=graph,
        solver=graph_answer(url, graph, Setting.KALMA_NUMBERED.value, strategy, preset),
        view_of=withholding if withheld else _one_view(view),
        scorers=[citations(), not_available()] if withheld else [citations()],
        withheld=withheld,
        first=first,
    )


@task
def ltgen(
    questions: str,
    url: str = ADDRESS,
    graph: str = "demo",
    strategy: str = "triplets",
    preset: str = "ltgen",
    view: str = "",
    first: int | None = None,
) -> Task:
    """LTGen: answers from triples, scored by KM, rKM and eKM.

    Args:
        questions: A question file with ``answers``, or conversations.
        url: The server's address.
        graph: The graph's name.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        preset: Of the retrieval.
        view: That all questions are asked on; empty for the base.
        first: How many questions are asked; None for all.
    """
    return graph_questions(
        questions, url, graph, Setting.LTGEN_TRIPLES.value, strategy, preset, view, first
    )


@task
def okgqa(
    questions: str,
    url: str = ADDRESS,
    graph: str = "demo",
    strategy: str = "paths",
    preset: str = "okgqa",
    view: str = "",
    first: int | None = None,
) -> Task:
    """OKGQA: open questions answered by chain of thought, on a view or the base.

    What judges score of these texts (G-Eval, FActScore, SAFE) is ``graph-service score``'s.

    Args:
        questions: OKGQA's table, or a question file.
        url: The server's address.
        graph: The graph's name.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        preset: Of the retrieval.
        view: Such as ``rr:0.4:1``; empty for the base.
        first: How many questions are asked; None for all.
    """
    return graph_questions(
        questions, url, graph, Setting.OKGQA_COT.value, strategy, preset, view, first
    )


@task
def talec(
    texts: str,
    criteria: str = CITED_ANSWERS,
    by: str = "label",
    method: str = "joint",
    split: str = "",
    first: int | None = None,
) -> Task:
    """TALEC: the model judges texts by criteria, scored against the verdicts of people.

    Args:
        texts: A file of texts with the labels and scores that people gave.
        criteria: A file of criteria, or a name of those that ship.
        by: What one judgement covers: ``label``, ``labels`` or ``score``.
        method: ``zero-shot``, ``few-shot`` or ``joint``.
        split: ``train``, ``eval`` or ``test``; empty for all texts.
        first: How many texts are judged; None for all.
    """
    rules = load_criteria(criteria)
    cases = [case for case in read_text_cases(texts) if split in ("", case.split)][:first]
    if not cases:
        raise InputError(f"{texts} has no text to judge", argument="split")
    samples = [
        Sample(
            id=case.id,
            input=case.cited or case.text,
            metadata={"case": to_plain(case), "classes": dict(rules.classes)},
        )
        for case in cases
    ]
    return Task(
        dataset=MemoryDataset(samples, name=Path(texts).stem),
        solver=talec_verdict(criteria, by, method),
        scorer=talec_agreement(),
    )


@task
def graph_questions(
    questions: str,
    url: str = ADDRESS,
    graph: str = "demo",
    setting: str = "answer-list",
    strategy: str = "paths",
    preset: str = "default",
    view: str = "",
    first: int | None = None,
) -> Task:
    """Questions of a file, scored by which answers are named, and as sets of answers.

    Args:
        questions: A question file.
        url: The server's address.
        graph: The graph's name.
        setting: How the model is asked; ``answer-list`` has it give a list.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        preset: Of the retrieval.
        view: That all questions are asked on; empty for the base.
        first: How many questions are asked; None for all.
    """
    return _file_task(
        questions,
        url=url,
        graph=graph,
        solver=graph_answer(url, graph, setting, strategy, preset),
        view_of=_one_view(view),
        scorers=[knowledge(), answer_sets()],
        first=first,
    )


@task
def mcp_questions(
    questions: str = "",
    url: str = ADDRESS,
    graph: str = "demo",
    first: int | None = None,
) -> Task:
    """Questions of a file to an agent that has the tools of ``graph-service mcp``.

    Args:
        questions: A question file; by default the demo's 50 questions.
        url: The server's address.
        graph: The graph's name.
        first: How many questions are asked; None for all.
    """
    words = ["-m", "graph_service.cli", "mcp", "--server", url, "--graph", graph]
    server = mcp_server_stdio(name="graph-service", command=sys.executable, args=words)
    return _file_task(
        questions or demo_question_file(),
        url=url,
        graph=graph,
        solver=react(prompt=PROMPT, tools=[mcp_tools(server)]),
        view_of=_one_view(""),
        scorers=[knowledge(), answer_sets()],
        first=first,
    )


@task
def frozen_set(
    name: str,
    folder: str,
    url: str = ADDRESS,
    view: bool = True,
    strategy: str = "paths",
    preset: str = "default",
    first: int | None = None,
) -> Task:
    """A frozen set that ``robustness make`` made, its store served, on its first view or the base.

    Args:
        name: Such as ``pathquestion/contradiction/v1``.
        folder: What ``robustness make --out`` wrote.
        url: Address of a server of the set's store.
        view: Whether questions are asked on the set's view; else on the base.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        preset: Of the retrieval.
        first: How many questions are asked; None for all.
    """
    (recipe,) = find_sets((name,))
    plan = read_set_plan(Folder(Path(folder), recipe))
    graph = recipe.graph_name
    cell = next(cell for cell in cells_of(plan) if (cell.view is not None) is view)
    with connect(url) as client:
        subjects = find_gold(questions_of(plan, graph)[:first], client, graph=graph)
        material = _Material(url, graph, lambda subject: cell.view_of(subject.gold))
        dataset = material.dataset(subjects, client, recipe.name)
    return Task(
        dataset=dataset,
        solver=graph_answer(url, graph, Setting.ANSWER_LIST.value, strategy, preset),
        scorer=[knowledge(), answer_sets()],
    )
