"""Questions of the demo in other languages, over its graph of English labels.

    GRAPH_SERVICE_EMBEDDER=multilingual python -m benchmarks.translations

The questions are those of the demo, put by hand into German, Spanish, French, Russian and Chinese;
names stay as the graph writes them. Four have no answer in the graph. Printed are, for each
language, how often the entity is linked, the end of the first path is an answer (of those that have
one), how many are called ``ok``, and how many of these are right. A question without an answer that
is called ``ok`` is wrong.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands.families import open_graph
from benchmarks.families import GraphFile
from benchmarks.judging import end_of
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Status, Strategy
from graph_service.service import Service
from queries.datasets.demo_set import demo_questions, demo_slice
from queries.datasets.gold import GoldQuestion

LANGUAGES = ("en", "de", "es", "fr", "ru", "zh")


@dataclass(frozen=True, slots=True)
class TranslatedQuestion:
    """A question of the demo in one language.

    Attributes:
        text: In that language.
        gold: What it asks for.
    """

    language: str
    text: str
    gold: GoldQuestion


@dataclass(frozen=True, slots=True)
class Fared:
    """How a question fared; ``is_right`` is False for one that has no answer."""

    language: str
    is_linked: bool
    has_answer: bool
    is_right: bool
    is_ok: bool


def read_translations() -> Iterator[TranslatedQuestion]:
    """Yields the questions in every language, English among them."""
    gold = {question.id: question for question in demo_questions()}
    lines = Path(__file__).with_name("translated_questions.jsonl").read_text(encoding="utf-8")
    for line in lines.splitlines():
        row = json.loads(line)
        question = gold[row["id"]]
        for language in LANGUAGES:
            yield TranslatedQuestion(language, row.get(language, question.question), question)


def ask(service: Service, question: TranslatedQuestion, /, *, graph: str) -> Fared:
    """Asks one question, whose entity is linked, and judges the first path."""
    request = RetrieveRequest(question.text, Strategy.PATHS, graph=graph, limit=5)
    result = service.retrieve(request)
    assert isinstance(result, PathsResult)
    gold = question.gold
    linked = {link.entity.id for link in result.linked}
    ends = {end_of(result.items[0])} if result.items else set()
    return Fared(
        question.language,
        is_linked=set(gold.entity_ids) <= linked,
        has_answer=not gold.lacking,
        is_right=not gold.lacking and bool(ends & {*gold.answer_ids, *gold.answers}),
        is_ok=result.status is Status.OK,
    )


def table(fared: Sequence[Fared], languages: Sequence[str] = LANGUAGES, /) -> list[str]:
    """Returns the lines of the printed table."""
    lines = ["language  questions  linked  Hits@1        ok  right of ok"]
    for language in languages:
        rows = [row for row in fared if row.language == language]
        answered = [row for row in rows if row.has_answer]
        ok = [row for row in rows if row.is_ok]
        right = sum(row.is_right for row in answered)
        lines.append(
            f"{language:8}  {len(rows):9}  {sum(row.is_linked for row in rows) / len(rows):6.3f}"
            f"  {right / len(answered):6.3f}  {len(ok):8}  {sum(row.is_right for row in ok):11}"
        )
    return lines


def main() -> None:
    """Asks all questions and prints the table."""
    demo = GraphFile("demo", demo_slice(), kind="wikibase")
    with (
        tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder,
        open_graph(Path(folder), demo, scorer=None) as service,
    ):
        fared = [ask(service, question, graph=demo.name) for question in read_translations()]
    print("\n".join(table(fared)))


if __name__ == "__main__":
    main()
