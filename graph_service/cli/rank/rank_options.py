"""The options of rank, and those by which answer ranks relations."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from graph_service.cli.answer.answer_options import add_own_prompts
from graph_service.cli.arguments import examples

Verb = Callable[[str], Callable[..., int]]

_EXAMPLES = {
    "train": ["rank train annotated_wd_data_train_answerable.txt --labels labels.tsv "
              "--out ranker.npz"],
    "measure": ["rank measure valid.txt --ranker ranker.npz --labels labels.tsv --also train.txt",
                "rank measure valid.txt --labels labels.tsv --train train.txt --folds 5"],
    "add": ["rank add ranker.npz", 'retrieve "Who directed it?" --preset ltgen --ranker '
            "trained"],
    "list": ["rank list"],
    "delete": ["rank delete trained:0123456789abcdef"],
    "relations": ['rank relations "Who directed it?" --entity Q42 --ranker ranker.npz'],
}  # fmt: skip


def add_rank(
    rank: argparse.ArgumentParser,
    verb: Verb,
    common: argparse.ArgumentParser,
    graph: argparse.ArgumentParser,
    /,
) -> None:
    """Adds the verbs of rank.

    Args:
        rank: The parser of ``rank``.
        verb: From ``module:function`` to a function that imports its module when it is called.
        common: The options that every verb has.
        graph: Those of a verb that reads a graph.
    """
    actions = rank.add_subparsers(title="verbs", metavar="WHAT", required=True)

    def add(name: str, text: str, parents: Sequence[argparse.ArgumentParser]) -> argparse.ArgumentParser:  # fmt: skip
        action: argparse.ArgumentParser = actions.add_parser(
            name,
            help=text,
            description=text,
            epilog=examples(_EXAMPLES[name]),
            parents=list(parents),
        )
        # ``list`` is a name of Python's own.
        action.set_defaults(run=verb(f"rank.ranking:{'list_' if name == 'list' else name}"))
        return action

    files = "SimpleQuestions over Wikidata, or JSON lines with question, relation and label"
    train = add("train", "train a ranker of relations", [common])
    train.add_argument("file", metavar="FILE", help=files)
    train.add_argument("--out", required=True, metavar="FILE", help="the ranker's file (.npz)")
    _add_labels(train)
    train.add_argument("--random-seed", type=int, default=0, metavar="S",
                       help="of the network's beginning and order (0)")  # fmt: skip

    measure = add("measure", "recall of a ranker on questions whose relation is known", [common])
    measure.add_argument("file", metavar="FILE", help=files)
    _add_labels(measure)
    measure.add_argument("--ranker", default="embedding", metavar="R",
                         help="embedding, or a file that rank train wrote (embedding)")  # fmt: skip
    measure.add_argument("--also", action="append", default=[], metavar="FILE",
                         help="rank the relations of this file too; may be repeated")  # fmt: skip
    measure.add_argument("--train", metavar="FILE", help="train on this file without a part of "
                         "the relations, both directions of each, and measure on those")  # fmt: skip
    measure.add_argument("--folds", type=int, default=5, metavar="N", help="parts (5)")
    measure.add_argument("--random-seed", type=int, default=0, metavar="S",
                         help="of the parts and the training (0)")  # fmt: skip
    measure.add_argument("--k", type=int, action="append", default=[], metavar="N",
                         help="recall at N; may be repeated (1 and 5)")  # fmt: skip

    stored = add("add", "put a trained ranker into the store, for retrievals to rank by", [graph])
    stored.add_argument("file", metavar="FILE", help="that rank train wrote")
    add("list", "list the trained rankers of the store", [graph])
    gone = add("delete", "delete a trained ranker from the store", [graph])
    gone.add_argument("name", metavar="NAME", help="as rank list shows it")

    relations = add("relations", "rank the relations of a question's entities", [graph])
    relations.add_argument("question", metavar="QUESTION", help="a question, or a whole dialogue")
    relations.add_argument("--entity", action="append", default=[], metavar="ID",
                           help="the question's entity, instead of tagging; may be repeated")  # fmt: skip
    relations.add_argument("--view", metavar="V",
                           help="a view: its name or id, or METHOD:LEVEL:SEED")  # fmt: skip
    relations.add_argument("--ranker", default="embedding", metavar="R",
                           help="embedding, trained, trained:NAME as rank list shows it, "
                           "model, or a file that rank train wrote (embedding)")  # fmt: skip
    _add_step_limits(relations)
    relations.add_argument("--model", metavar="NAME", help="the chat model, for --ranker model")
    relations.add_argument("--model-url", metavar="URL", help="an OpenAI-compatible endpoint")
    relations.add_argument("--temperature", type=float, default=0.0, metavar="X", help="(0)")
    relations.add_argument("--random-seed", type=int, metavar="S", help="passed on to the model")
    relations.add_argument("--cache", metavar="FILE", help="keep replies here")
    relations.add_argument("--replay", metavar="FILE", help="rank by kept replies, with no "
                           "endpoint")  # fmt: skip
    add_own_prompts(relations)


def add_step_options(verb: argparse.ArgumentParser, /, *, own: bool) -> None:
    """Adds the options of preset ``ltgen``.

    Args:
        verb: To this verb.
        own: Whether it ranks by rankers that the API has not, too.
    """
    steps = verb.add_argument_group("relations ranked (preset ltgen)")
    others = ", model, or a file that rank train wrote" if own else ""
    steps.add_argument("--ranker", metavar="R", help="what ranks them: embedding, trained, "
                       f"trained:NAME as rank list shows it{others} (embedding)")  # fmt: skip
    _add_step_limits(steps)


def _add_labels(action: argparse.ArgumentParser) -> None:
    action.add_argument("--labels", action="append", default=[], metavar="FILE",
                        help="id and label with a tab between, of relations and entities; may be "
                        "repeated")  # fmt: skip


def _add_step_limits(group: argparse._ActionsContainer) -> None:
    group.add_argument("--min-link-score", type=float, metavar="X",
                       help="of a tagged entity at least (the preset's)")  # fmt: skip
    group.add_argument("--max-entities", type=int, metavar="N", help="at most (5)")
    group.add_argument(
        "--relations-per-entity", type=int, metavar="N", help="kept of each entity (5)"
    )
    group.add_argument("--triples-per-relation", type=int, metavar="N",
                       help="kept of each entity and relation (10)")  # fmt: skip
    group.add_argument("--draw-seed", type=int, metavar="S",
                       help="random seed of that draw (0)")  # fmt: skip
