"""The options of rank: one dataclass for each of its verbs."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.options import EmbedderOptions, GraphOptions, Subverb, request
from graph_service.cli.score.options import JudgeModelOptions
from graph_service.model.request import RetrieveRequest
from graph_service.options import option

_FILE = "SimpleQuestions over Wikidata, or JSON lines with question, relation and label"


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """The files that give entities and relations their names."""

    label_files: tuple[str, ...] = option(
        (), help="id and label with a tab between, of relations and entities", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class ParseOptions:
    """Where AMR parses come from."""

    amr: str | None = option(
        None, help="AMR parses in Penman notation, by `# ::id` of the question", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class TrainOptions(EmbedderOptions, LabelOptions, ParseOptions):
    """The options of ``rank train`` on the command line."""

    file: str = option(help=_FILE, metavar="FILE", is_word=True)
    out: str = option(help="the ranker's file (.npz)", metavar="FILE")
    random_seed: int = option(0, help="of the network's beginning and order", metavar="S", least=0)


@dataclass(frozen=True, kw_only=True)
class MeasureOptions(EmbedderOptions, LabelOptions, ParseOptions):
    """The options of ``rank measure`` on the command line."""

    file: str = option(help=_FILE, metavar="FILE", is_word=True)
    ranker: str = option(
        "embedding", help="embedding, or a file that rank train wrote", metavar="R"
    )
    also: tuple[str, ...] = option((), help="rank the relations of this file too", metavar="FILE")
    train: str | None = option(
        None,
        help="train on this file without a part of the relations, both directions of each, and "
        "measure on those",
        metavar="FILE",
    )
    folds: int = option(5, help="parts", least=2)
    random_seed: int = option(0, help="of the parts and the training", metavar="S", least=0)
    k: tuple[int, ...] = option((1, 5), help="recall at N", metavar="N")


@dataclass(frozen=True, kw_only=True)
class AddOptions(GraphOptions):
    """The options of ``rank add`` on the command line."""

    file: str = option(help="a file that rank train wrote", metavar="FILE", is_word=True)


@dataclass(frozen=True, kw_only=True)
class ListOptions(GraphOptions):
    """The options of ``rank list`` on the command line."""


@dataclass(frozen=True, kw_only=True)
class DeleteOptions(GraphOptions):
    """The options of ``rank delete`` on the command line."""

    name: str = option(help="as rank list shows it", metavar="NAME", is_word=True)


@dataclass(frozen=True, kw_only=True)
class RelationsOptions(GraphOptions, EmbedderOptions, JudgeModelOptions):
    """The options of ``rank relations`` on the command line."""

    question: str = option(help="a question, or a whole dialogue", metavar="QUESTION", is_word=True)
    ranker: str = option(
        "embedding",
        help="embedding, trained, trained:NAME as rank list shows it, model, or a file that rank "
        "train wrote",
        metavar="R",
    )
    request: RetrieveRequest = request(
        RetrieveRequest,
        only=(
            "view",
            "entity_ids",
            "min_link_score",
            "max_entities",
            "relations_per_entity",
            "triples_per_relation",
            "draw_seed",
        ),
        question="",
    )


RANK_VERBS = (
    Subverb(
        "train",
        "rank.ranking:train",
        "train a ranker of relations, for preset ltgen",
        TrainOptions,
        (
            "rank train annotated_wd_data_train_answerable.txt --label-file labels.tsv "
            "--out ranker.npz",
        ),
    ),
    Subverb(
        "measure",
        "rank.ranking:measure",
        "recall of a ranker on questions whose relation is known",
        MeasureOptions,
        (
            "rank measure valid.txt --ranker ranker.npz --label-file labels.tsv --also train.txt",
            "rank measure valid.txt --label-file labels.tsv --train train.txt --folds 5",
        ),
    ),
    Subverb(
        "add",
        "rank.ranking:add",
        "put a trained ranker into the store, for retrievals to rank by",
        AddOptions,
        (
            "rank add ranker.npz",
            'retrieve "Who directed it?" --preset ltgen --ranker trained',
        ),
    ),
    # ``list`` is a name of Python's own.
    Subverb(
        "list",
        "rank.ranking:list_",
        "list the trained rankers of the store",
        ListOptions,
        ("rank list",),
    ),
    Subverb(
        "delete",
        "rank.ranking:delete",
        "delete a trained ranker from the store",
        DeleteOptions,
        ("rank delete trained:0123456789abcdef",),
    ),
    Subverb(
        "relations",
        "rank.ranking:relations",
        "rank the relations of a question's entities",
        RelationsOptions,
        ('rank relations "Who directed it?" --entity Q42 --ranker ranker.npz',),
    ),
)
"""The words of ``rank``."""
