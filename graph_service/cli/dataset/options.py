"""The options of dataset: one dataclass for each of its verbs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from graph_service.cli.answer.options import ChatModelOptions, EndpointOptions, OwnPromptOptions
from graph_service.cli.options import GraphOptions, Subverb, SubverbGroup, VerbOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class FolderOptions(VerbOptions):
    """What every verb of ``dataset`` takes."""

    out: Path = option(help="folder of the data set", metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class ModelOptions(OwnPromptOptions, EndpointOptions, ChatModelOptions):
    """Which chat model writes, and how it is asked."""

    GROUP: ClassVar[str] = "model"

    temperature: float = option(0.0, help="of the model", least=0, most=2)
    max_tokens: int = option(512, help="tokens of a reply at most", least=1)
    replay: bool = option(False, help="take the replies that are kept, and ask no endpoint")


@dataclass(frozen=True, kw_only=True)
class BuildOptions(FolderOptions, ModelOptions):
    """The options that every verb ``dataset ... build`` takes."""

    workers: int = option(1, help="requests at once", least=1)
    retry_failed: bool = option(False, help="make again what got no reply, and what comes after it")
    random_seed: int = option(0, help="of what is drawn", metavar="S")


@dataclass(frozen=True, kw_only=True)
class KalmaBuildOptions(BuildOptions, GraphOptions):
    """The options of ``dataset kalma build`` on the command line."""

    relation: str | None = option(
        None, help="draw pairs that this relation joins, by its id", metavar="ID"
    )
    pairs: Path | None = option(
        None, help="or take the pairs of JSON lines with head, relation, value, and a sentence"
    )
    count: int = option(50, help="pairs to draw", least=1)
    rounds: int = option(5, help="facts that a paragraph takes after its first sentence", least=1)
    share: float = option(
        0.5, help="weight of rare relations in the selection; the rest is of perplexity",
        least=0, most=1,
    )  # fmt: skip
    corpus: Path | None = option(None, help="perplexity by the n-grams of this text, a text a line")
    perplexity_model: str | None = option(
        None, help="or by this model, whose endpoint knows echo and logprobs", metavar="NAME"
    )
    perplexity_url: str | None = option(
        None, help="its endpoint; default: that of --model", metavar="URL"
    )
    drop_relations: Path | None = option(
        None, help="relations that are no facts; default: the list of sample"
    )
    language: str = option("en", help="of labels", metavar="CODE")


@dataclass(frozen=True, kw_only=True)
class KalmaStatsOptions(FolderOptions):
    """The options of ``dataset kalma stats`` on the command line."""

    besides: tuple[Path, ...] = option((), help="a file of BioKaLMA to stand beside it")


@dataclass(frozen=True, kw_only=True)
class LtgenBuildOptions(BuildOptions):
    """The options of ``dataset ltgen build`` on the command line."""

    sample: Path = option(help="long-tail entities with their triples, as sample wrote them")
    questions: int = option(3, help="questions of an entity at most; 0 for none", least=0)
    turns: int = option(7, help="turns of an entity's conversation; 0 for none", least=0)
    facts: int = option(30, help="facts that a conversation is offered at most", least=1)


@dataclass(frozen=True, kw_only=True)
class OkgqaBuildOptions(BuildOptions, GraphOptions):
    """The options of ``dataset okgqa build`` on the command line."""

    each: int = option(5, help="questions of each sub-type to write", least=1)
    round: int = option(1, help="round of the instruction, a folder of its own", least=1)
    instruction: Path | None = option(
        None, help="what a good question is; default in round 1: the one that ships"
    )
    templates: Path | None = option(None, help="sub-types of your own, as YAML")
    facts: int = option(20, help="facts that a prompt shows at most", least=1)
    least_facts: int = option(5, help="facts that a drawn entity has at least", least=1)
    language: str = option("en", help="of labels", metavar="CODE")


@dataclass(frozen=True, kw_only=True)
class LiveOptions(FolderOptions, GraphOptions):
    """The options of ``dataset live`` on the command line."""

    from_: str = option(
        help="edition to compare with: its number, or NAME@NUMBER of another graph",
        metavar="EDITION",
    )
    to: str | None = option(
        None, help="edition that gives the answers; default: the current one", metavar="EDITION"
    )
    each: int = option(
        100, help="questions at most of what was added, changed and removed each", least=1
    )
    wordings: int = option(1, help="wordings of each question at most", least=1, most=10)
    random_seed: int = option(0, help="of what is drawn", least=0, metavar="S")
    drop_relations: Path | None = option(
        None, help="relations that are no facts; default: the list of sample"
    )
    language: str = option("en", help="of labels", metavar="CODE")


def _words(
    name: str,
    what: str,
    build: type[BuildOptions],
    stats: type[FolderOptions],
    example: str,
) -> SubverbGroup:
    return SubverbGroup(
        name,
        f"question sets as {what} has them",
        (
            Subverb(
                "build",
                f"dataset.{name}:build",
                "make a set; goes on where it was stopped",
                build,
                (f"dataset {name} build {example} --model NAME --model-url URL --out DIR",),
            ),
            Subverb(
                "check",
                f"dataset.{name}:check",
                "hold a set to what it promises",
                FolderOptions,
                (f"dataset {name} check --out DIR",),
            ),
            Subverb(
                "stats",
                f"dataset.{name}:stats",
                "figures of a set, and what was refused",
                stats,
                (f"dataset {name} stats --out DIR",),
            ),
        ),
    )


DATASETS = (
    _words(
        "kalma",
        "KaLMA",
        KalmaBuildOptions,
        KalmaStatsOptions,
        "--graph demo --relation P26 --corpus texts.txt",
    ),
    _words("okgqa", "OKGQA", OkgqaBuildOptions, FolderOptions, "--graph demo"),
    _words("ltgen", "LTGen", LtgenBuildOptions, FolderOptions, "--sample sample.jsonl"),
    Subverb(
        "live",
        "dataset.live:live",
        "questions of what changed between two editions of a graph",
        LiveOptions,
        ("dataset live --graph demo --from 1 --to 2 --out DIR",),
    ),
)
"""The words of ``dataset``."""
