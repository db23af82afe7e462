"""The options of papers: one dataclass for each paper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from graph_service.cli.answer.options import (
    ChatModelOptions,
    EndpointOptions,
    FileEntityOptions,
    OwnPromptOptions,
)
from graph_service.cli.options import EmbedderOptions, GraphOptions, StoreOptions, Subverb
from graph_service.cli.score.options import CrossEncoderOptions
from graph_service.options import option

_SET = "a question file, or the folder of dataset build; default: the demo's 50 questions"


@dataclass(frozen=True, kw_only=True)
class PaperJudgeOptions(CrossEncoderOptions):
    """The model that judges the answers of a table."""

    GROUP: ClassVar[str] = "judges"

    judge_model: tuple[str, ...] = option(
        (),
        help="a model that judges (the first fills the columns); default: --model",
        metavar="NAME",
    )
    judge_url: str | None = option(
        None, help="its endpoint; default: that of --model", metavar="URL"
    )
    entailment: str = option(
        "model",
        help="who says what is entailed: the judge, a cross-encoder, or the overlap of words",
        choices=("model", "cross-encoder", "overlap"),
    )


@dataclass(frozen=True, kw_only=True)
class PaperOptions(StoreOptions, OwnPromptOptions, EndpointOptions, ChatModelOptions,
                   PaperJudgeOptions):  # fmt: skip
    """What every word of ``papers`` takes."""

    out: Path = option(help="folder of the tables; goes on where it was", metavar="DIR")
    only: tuple[str, ...] = option(
        (), help="make this table alone, such as table-3", metavar="TABLE"
    )
    runs: int | None = option(
        None, help="how often every question is asked; default: as the paper", least=1
    )
    concurrency: int = option(1, help="cases at once", least=1)
    retry_failed: bool = option(False, help="do again what failed before")
    replay: bool = option(False, help="take the replies that are kept, and ask no endpoint")


@dataclass(frozen=True, kw_only=True)
class AnswerTableOptions(GraphOptions, EmbedderOptions, FileEntityOptions, PaperOptions):
    """What the papers take whose tables are of answers."""

    questions: Path | None = option(None, help=_SET, metavar="FILE")
    first: int | None = option(None, help="only so many questions, the first ones", least=1)
    passages: str | None = option(
        None,
        help="JSON lines of id, title and text; or graph: those of the graph",
        metavar="FILE",
    )
    temperature: float | None = option(
        None, help="of the answers; default: as the paper (0.5, 0.7 and 0)", least=0, most=2
    )


@dataclass(frozen=True, kw_only=True)
class KalmaOptions(AnswerTableOptions):
    """The options of ``papers kalma``."""

    specific: Path | None = option(
        None, help="the same questions worded specifically", metavar="FILE"
    )
    human: Path | None = option(
        None,
        help="what people say of alignment: JSON lines of id and human, 1 or 0",
        metavar="FILE",
    )
    setting: str = option("kalma", help="how the model cites", choices=("kalma", "kalma-numbered"))
    strategy: str = option(
        "paths", help="what is retrieved", choices=("triplets", "paths", "subgraph")
    )
    preset: str = option("default", help="of the retrieval", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class OkgqaOptions(AnswerTableOptions):
    """The options of ``papers okgqa``."""

    pages: Path | None = option(
        None,
        help="texts that facts are checked against and that G-Eval sees: JSON lines of a question's "
        "id and passages; default: found in --passages by the question",
        metavar="FILE",
    )
    language: tuple[str, ...] = option(
        (), help="of the labels of Table 5, best first", metavar="xx"
    )
    levels: tuple[float, ...] = option(
        (0.2, 0.4, 0.6, 0.8, 1.0), help="of the perturbed views", is_joined=True
    )
    preset: str = option("okgqa", help="of the retrieval", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class LtgenOptions(AnswerTableOptions):
    """The options of ``papers ltgen``."""

    turns: Path | None = option(
        None, help="turns of conversations; default: those of the folder", metavar="FILE"
    )
    references: Path | None = option(
        None, help="reference replies: JSON lines of id and reference", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class TalecOptions(PaperOptions):
    """The options of ``papers talec``."""

    texts: Path = option(
        help="labelled texts; or a folder with NAME.jsonl and NAME.yaml of each task, and "
        "NAME.arbitrary.yaml for shots in no fixed form",
        metavar="FILE",
    )
    criteria: str = option(
        "cited-answers",
        help="of a single file: a file that ends in .yaml, or a name that ships",
        metavar="FILE",
    )
    first: int | None = option(None, help="only so many texts of a task", least=1)
    other_model: str | None = option(
        None, help="a weaker model that judges with shots, for Table 6", metavar="NAME"
    )
    tuned_model: str | None = option(
        None, help="that model tuned on the train split, for Table 6", metavar="NAME"
    )


PAPERS = (
    Subverb(
        "kalma",
        "papers.making:kalma",
        "citations, text quality, [NA] and alignment (KaLMA, tables 2 to 7)",
        KalmaOptions,
        ("papers kalma --graph demo --model NAME --model-url URL --out DIR",),
    ),
    Subverb(
        "okgqa",
        "papers.making:okgqa",
        "forms of knowledge, hallucination, perturbed graphs (OKGQA, tables 2 to 6)",
        OkgqaOptions,
        ("papers okgqa --graph demo --passages graph --model NAME --model-url URL --out DIR",),
    ),
    Subverb(
        "ltgen",
        "papers.making:ltgen",
        "four kinds of knowledge, recall of relations (LTGen, tables 2, 4 and 5)",
        LtgenOptions,
        ("papers ltgen --questions SET --passages graph --model NAME --model-url URL --out DIR",),
    ),
    Subverb(
        "talec",
        "papers.making:talec",
        "a judge with criteria of one's own, beside people (TALEC, tables 2 to 16)",
        TalecOptions,
        ("papers talec --texts texts.jsonl --criteria own.yaml --model NAME --out DIR",),
    ),
)
"""The words of ``papers``."""
