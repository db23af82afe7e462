"""What all tables of a paper are made with: the questions answered in some ways, and the judges.

Every way of answering has a name and as many runs as the paper's. Its answers stand in a file each,
``answers/NAME.RUN.jsonl``, and every reply of a model in the folder's ``replies.db``: after any end
the same command goes on, and asks nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import RetrieveOptions, ViewRef
from graph_service.model.result import Strategy, Triple
from queries.datasets.case import Case
from queries.datasets.cases import has_gold
from queries.datasets.gold import GoldQuestion
from queries.experiment.subjects import MOST_STATEMENTS, Subject, find_gold
from queries.generate.ablation import Swapped
from queries.generate.answer import Answer, Request
from queries.generate.passages import PassageFinder
from queries.generate.plan import Plan, Source, answer_case, gold_sets
from queries.generate.run import AnswerFile, run_cases
from queries.generate.setting import RECIPES, Setting, default_generation
from queries.llm import ChatModel
from queries.score.case import TextCase, case_of_answer
from queries.score.entailment import Entailment
from queries.score.judge import Judge
from queries.score.report import Groups, Row
from queries.score.rows import RowFile, score_cases

RowType = TypeVar("RowType", bound=Row)
Item = TypeVar("Item")

NO_PASSAGES = "there are no passages to search (--passages FILE, or graph)"
NO_PAGES = "no text says what is true (--pages FILE, or --passages)"
CONTEXT_PASSAGES, EVIDENCE_PASSAGES = 3, 20
"""Passages that a question's words retrieve: as G-Eval's context, and to check facts against."""


@dataclass(frozen=True, slots=True)
class Line:
    """A way of answering all questions.

    Attributes:
        name: In the names of its files; no other of the paper has it.
        setting: How the model is asked.
        source: Where knowledge comes from.
        strategy: Of a retrieval.
        view: A view of the graph; None for the base.
        right_share: With gold knowledge, the share of the graphs that are not swapped (K7).
        more: Other options of the retrieval.
    """

    name: str
    setting: Setting
    source: Source = Source.RETRIEVED
    strategy: Strategy = Strategy.TRIPLETS
    view: ViewRef | None = None
    right_share: float = 1.0
    more: RetrieveOptions = field(default_factory=RetrieveOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBench:
    """The judges and the folder that the tables of a paper are made with.

    Attributes:
        folder: Where files are written.
        judges: Of texts; the first one fills the columns, all of them are compared.
        runs: How often everything is made, each time with a random seed of its own.
        concurrency: Cases at once.
        say: Told what is being made.
    """

    folder: Path
    judges: tuple[Judge, ...]
    runs: int = 1
    concurrency: int = 1
    say: Callable[[str], None] = lambda _: None

    @property
    def judge(self) -> Judge:
        """The judge that fills the columns."""
        return self.judges[0]

    def rows(
        self,
        items: Sequence[Item],
        score: Callable[[Item], RowType],
        kind: type[RowType],
        /,
        *,
        id_of: Callable[[Item], str],
        name: str = "",
    ) -> tuple[RowType, ...]:
        """Returns a row an item, several at once.

        Args:
            items: With ids of their own.
            score: From an item to its row.
            kind: The rows' type.
            id_of: An item's id.
            name: Of the file under ``answers`` that the rows stand in; empty for none. Rows of a
                judge need none: the replies that they are made of are cached.
        """
        path = self.folder / "answers" / f"{name}.jsonl" if name else None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        file = RowFile(path, kind, name)
        return score_cases(items, score, file, id_of=id_of, concurrency=self.concurrency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench(JudgeBench):
    """The graph and the model that answers, beside the judges.

    Attributes:
        client: Reaches the graph.
        model: The model whose tables these are.
        entailment: Says what is entailed.
        graph: Its name.
        preset: Of the retrieval.
        entities_of_file: Whether the entities that a question's file names are given.
        passages: Where passages come from; None where there are none.
        pages: Texts by question id that facts are checked against and that are G-Eval's context;
            without them both are found in the passages.
        temperature: Of the answers; over 0 if there are several runs, which would else be one.
        retry_failed: Whether answers that failed are made again.
    """

    client: Client
    model: ChatModel
    entailment: Entailment
    graph: str
    preset: str = "default"
    entities_of_file: bool = False
    passages: PassageFinder | None = None
    pages: Mapping[str, tuple[str, ...]] | None = None
    temperature: float = 0.0
    retry_failed: bool = False

    def notes(self) -> tuple[str, ...]:
        """Returns what a reader of any judged figure should know."""
        if any(judge.model.name == self.model.name for judge in self.judges):
            return (
                f"{self.model.name} judges its own answers: models favour their own texts, so name "
                "another judge (--judge-model) before you compare models",
            )
        return ()

    def lacks(self, line: Line, /) -> str | None:
        """Returns why a way of answering is not possible here; None where it is."""
        if RECIPES[line.setting].passages and self.passages is None:
            return NO_PASSAGES
        return None

    def answers(self, line: Line, cases: Sequence[Case], /) -> tuple[tuple[Answer, ...], ...]:
        """Returns the answers of each run, in the order of the questions.

        Raises:
            InputError: The files hold answers that were made in another way, or a question has
                no gold set.
            SetupError, LimitError: As ``answer``; what was answered before is written.
        """
        gold: Mapping[str, Swapped] = {}
        if line.source is Source.GOLD:
            gold = gold_sets(cases, self.client, graph=self.graph, right_share=line.right_share)
        request = Request(line.strategy, self.graph, line.view, preset=self.preset, more=line.more)
        made: list[tuple[Answer, ...]] = []
        for run in range(self.runs):
            generation = replace(
                default_generation(line.setting), random_seed=run, temperature=self.temperature
            )
            plan = Plan(
                setting=line.setting,
                generation=generation,
                request=request,
                source=line.source,
                gold=gold,
                passages=self.passages,
                given_entities=self.entities_of_file,
                right_share=line.right_share,
            )
            made.append(self._run(f"{line.name}.{run + 1}", plan, cases))
        return tuple(made)

    def _run(self, name: str, plan: Plan, cases: Sequence[Case]) -> tuple[Answer, ...]:
        path = self.folder / "answers" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        file = AnswerFile(path, retry_failed=self.retry_failed)
        file.require(plan.to_parameters(self.model.name))
        pending = file.pending(cases)
        if pending:
            self.say(f"{name}: {len(pending)} of {len(cases)} questions to answer")
        by_id = {item.question_id: item for item in file.answers()}
        for item in run_cases(
            pending,
            lambda case: answer_case(case, plan, retriever=self.client, model=self.model),
            out=file,
            concurrency=self.concurrency,
        ):
            by_id[item.question_id] = item
        file.put_in_order(cases)
        return tuple(by_id[case.id] for case in cases)

    def texts(self, answers: Sequence[Answer], cases: Sequence[Case], /) -> tuple[TextCase, ...]:
        """Returns answers as texts to judge, each with the pages of its question as evidence and
        context; these are the same for every way of answering.
        """
        pages = {case.id: self._pages(case) for case in cases}
        kinds = {case.id: groups_of(case) for case in cases}
        texts: list[TextCase] = []
        for item in answers:
            evidence, context = pages[item.question_id]
            text = case_of_answer(item, context=context, groups=kinds[item.question_id])
            texts.append(replace(text, evidence=evidence))
        return tuple(texts)

    def _pages(self, case: Case) -> tuple[tuple[str, ...], str]:
        """The evidence and the context of a question."""
        if self.pages is not None:
            texts = self.pages.get(case.id, ())
            return texts, "\n\n".join(texts)
        if self.passages is None:
            return (), ""
        passages = self.passages.find(case.question, k=EVIDENCE_PASSAGES)
        texts = tuple(passage.text for passage in passages)
        return texts, "\n\n".join(texts[:CONTEXT_PASSAGES])

    def subjects(self, cases: Sequence[Case], /) -> tuple[Subject, ...]:
        """Returns questions with the statement ids that the graph has for their gold."""
        return find_gold(cases, self.client, graph=self.graph)

    def golds(self, cases: Sequence[Case], /) -> tuple[GoldQuestion, ...]:
        """Returns the gold questions of ``subjects``."""
        return tuple(subject.gold for subject in self.subjects(cases))

    def gold_triples(self, subjects: Sequence[Subject], /) -> dict[str, Triple]:
        """Returns the gold statements of questions from the base graph, by id."""
        gold_ids = {id_ for subject in subjects for id_ in subject.gold.statement_ids}
        heads = dict.fromkeys(head for subject in subjects for head in subject.heads)
        triples: dict[str, Triple] = {}
        for head in heads:
            for item in self.client.statements(head, graph=self.graph, limit=MOST_STATEMENTS):
                if item.triple.statement_id in gold_ids:
                    triples[item.triple.statement_id] = item.triple
        return triples


def groups_of(case: Case, /) -> Groups:
    """Returns a question's type, or its long-tail level, and its number of gold statements (L9)."""
    references = len(case.statement_ids or case.gold_triples or case.knowledge) or None
    level = case.kind.removeprefix("level ")
    if level != case.kind:
        return Groups(level=level, references=references)
    return Groups(kind=case.kind, references=references)


def with_gold(cases: Sequence[Case], /) -> tuple[Case, ...]:
    """Returns the questions whose file says what their gold set is; raises ``InputError`` for none."""
    known = tuple(case for case in cases if has_gold(case) and not case.lacking)
    if not known:
        raise InputError("no question's file has its gold set (statement_ids or facts)")
    return known
