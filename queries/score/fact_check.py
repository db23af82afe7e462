"""Taking a text apart into facts and checking each: FActScore's way and SAFE's way (O9).

FActScore: facts of each sentence, each checked against the evidence that a search by its own words finds.
SAFE: each fact is first made to stand alone and asked whether it bears on the question; then the model
itself words several searches before it is rated. The evidence is the user's passages or triples
in both, and a fact is checked by a chat model or by any ``Entailment``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from graph_service.text.sentences import split_sentences
from queries.generate.citations import one_line
from queries.llm import Usage
from queries.llm.reply import UnreadableReplyError, is_none, list_items, read_line
from queries.score.case import TextCase
from queries.score.entailment import Entailment, Pair
from queries.score.evidence import Evidence, evidence_of
from queries.score.facts import Fact, FactsRow
from queries.score.judge import Judge, Verdict, read_choice, request_verdict
from queries.score.prompts import load_score_prompt

T = TypeVar("T")

PASSAGES = 5
SEARCHES = 3
NO_EVIDENCE = "no evidence: the case has no passages or triples to check against"


@dataclass(frozen=True, slots=True)
class FactChecker:
    """How facts are made and checked.

    Attributes:
        judge: Extracts facts; checks them too where there is no ``verifier``.
        verifier: Checks a fact as the hypothesis of its evidence; None asks the judge.
        safe: SAFE's way; else FActScore's.
        passages: Texts of evidence at most, a search.
        searches: SAFE's searches a fact.
    """

    judge: Judge
    verifier: Entailment | None = None
    safe: bool = False
    passages: int = PASSAGES
    searches: int = SEARCHES

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the prompts that are asked."""
        names = ["facts-extract"]
        if self.safe:
            names += ["safe-standalone", "safe-relevance", "safe-query"]
        if self.verifier is None:
            names.append("facts-verify")
        return tuple(names)

    @property
    def label(self) -> str:
        """Who checks, and by which prompts, as reports show it."""
        prompts = ", ".join(load_score_prompt(name).label for name in self.prompts)
        by = self.judge.label
        if self.verifier is not None:
            by = f"{self.verifier.name}, facts by {by}"
        searches = f", {self.searches} searches" if self.safe else ""
        return f"{by}; {self.passages} texts a search{searches}; prompts {prompts}"


def read_facts(text: str, /) -> tuple[str, ...]:
    r"""Returns the facts of a reply, a list with bullets or numbers; none where it says ``none``.

    Raises:
        UnreadableReplyError: It is neither a list nor that word.

    >>> read_facts("- Ada sang.\n- Ada was born in London.")
    ('Ada sang.', 'Ada was born in London.')
    """
    facts = list_items(text)
    if facts or any(map(is_none, text.splitlines())):
        return facts
    raise UnreadableReplyError('every fact has to be on a line of its own that begins with "- "')


def check_facts(case: TextCase, /, *, by: FactChecker) -> FactsRow:
    r"""Returns a text's facts, each supported by the case's evidence or not (O9).

    A sentence whose facts cannot be extracted fails the case; a fact that cannot be judged is
    kept as such. A text without facts has not responded, whether or not it has evidence; facts
    without evidence cannot be checked, and no more is asked about them.

    Args:
        case: The text with its evidence.
        by: How facts are made and checked.

    >>> from queries.llm import Reply
    >>> class Model:  # any ChatModel
    ...     name = "rule"
    ...
    ...     def complete(self, messages, /, **_):
    ...         return Reply("- Ada sang.\n- Ada slept.", "rule", "stop", Usage(9, 1))
    >>> from queries.score.entailment import WordOverlap
    >>> case = TextCase("7", "What did Ada do?", "Ada sang and slept.", evidence=("Ada sang.",))
    >>> row = check_facts(case, by=FactChecker(Judge(Model()), verifier=WordOverlap()))
    >>> [(fact.text, fact.supported) for fact in row.facts]
    [('Ada sang.', True), ('Ada slept.', False)]
    """
    if case.failure is not None:
        return FactsRow(case.id, case.groups, (), failure=case.failure)
    run = _Run(case, by)
    facts: list[Fact] = []
    for index, sentence in enumerate(split_sentences(case.text, names=case.names)):
        verdict = run.request_verdict(
            "facts-extract", read_facts, text=case.text, sentence=sentence
        )
        if verdict.value is None:
            return FactsRow(case.id, case.groups, (), usage=run.usage, failure=verdict.failure)
        if verdict.value and not case.evidence:
            return FactsRow(case.id, case.groups, (), run.usage, missing=NO_EVIDENCE)
        facts.extend(run.check(Fact(text, index, None)) for text in verdict.value)
    return FactsRow(case.id, case.groups, tuple(facts), run.usage)


def check_facts_again(case: TextCase, row: FactsRow, /, *, by: FactChecker) -> FactsRow:
    """Returns the facts of a row judged anew by another judge, so that the two can be compared.

    Args:
        case: The text with its evidence.
        row: Its facts, as the first judge took them from it; one that failed stays as it is.
        by: The other judge.
    """
    if row.failure is not None or row.missing is not None:
        return row
    run = _Run(case, by)
    facts = tuple(run.check(Fact(fact.text, fact.sentence, None)) for fact in row.facts)
    return FactsRow(case.id, case.groups, facts, run.usage)


class _Run:
    """One case's requests, and the tokens they took."""

    def __init__(self, case: TextCase, by: FactChecker) -> None:
        self.case = case
        self.by = by
        self.evidence: Evidence = evidence_of(case.evidence)
        self.usage = Usage()

    def request_verdict(
        self, name: str, read: Callable[[str], T], *, is_verdict: bool = False, **texts: str
    ) -> Verdict[T]:
        prompt = load_score_prompt(name)
        messages = prompt.render(**{key: one_line(text) for key, text in texts.items()})
        verdict = request_verdict(self.by.judge, messages, read, verdict_is_last=is_verdict)
        self.usage += verdict.usage
        return verdict

    def check(self, fact: Fact) -> Fact:
        if not self.by.safe:
            return self.rate(fact, self.evidence.search(fact.text, limit=self.by.passages))
        alone = self.request_verdict(
            "safe-standalone", read_line, text=self.case.text, fact=fact.text
        )
        if alone.value is None:
            return replace(fact, failure=alone.failure)
        fact = replace(fact, text=alone.value)
        relevance = self.request_verdict(
            "safe-relevance",
            lambda text: read_choice(text, ("relevant", "irrelevant")),
            is_verdict=True,
            question=self.case.question,
            text=self.case.text,
            fact=fact.text,
        )
        if relevance.value is None:
            return replace(fact, failure=relevance.failure)
        fact = replace(fact, relevant=relevance.value == "relevant")
        facts: dict[str, None] = {}
        searches: list[str] = []
        for _ in range(self.by.searches):
            query = self.request_query(fact.text, searches, tuple(facts))
            if query.value is None:
                return replace(fact, failure=query.failure)
            searches.append(query.value)
            facts.update(dict.fromkeys(self.evidence.search(query.value, limit=self.by.passages)))
        return self.rate(fact, tuple(facts))

    def request_query(self, fact: str, searches: list[str], texts: tuple[str, ...]) -> Verdict[str]:
        messages = load_score_prompt("safe-query").render(
            fact=one_line(fact), searches=_listed(searches), evidence=_listed(texts)
        )
        verdict = request_verdict(self.by.judge, messages, read_line)
        self.usage += verdict.usage
        return verdict

    def rate(self, fact: Fact, evidence: tuple[str, ...]) -> Fact:
        if self.by.verifier is not None:
            pair = Pair(" ".join(evidence), fact.text)
            judgement = self.by.verifier.judge([pair])[0]
            self.usage += judgement.usage
            return replace(fact, supported=judgement.entailed, failure=judgement.failure)
        messages = load_score_prompt("facts-verify").render(
            evidence=_listed(evidence), fact=one_line(fact.text)
        )
        verdict = request_verdict(
            self.by.judge,
            messages,
            lambda text: read_choice(text, ("supported", "unsupported")),
            verdict_is_last=True,
        )
        self.usage += verdict.usage
        if verdict.value is None:
            return replace(fact, failure=verdict.failure)
        return replace(fact, supported=verdict.value == "supported")


def _listed(texts: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {one_line(text)}" for text in texts) or "(none)"
