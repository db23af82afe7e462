"""The options of view and scorer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.options import EmbedderOptions, GraphOptions, request
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.options import option

_SWEEP = "sweep"
_TENTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, kw_only=True)
class ViewOptions(GraphOptions):
    """What ``view`` takes.

    Attributes:
        spec: Its method is ``custom`` where none is named.
    """

    action: str = option(
        help="what to do",
        is_word=True,
        choices=(
            "create", "list", "show", "diff", "update", "cancel", "delete", "sweep", "figure",
            "materialise",
        ),
    )  # fmt: skip
    view: str | None = option(
        None,
        help="the view's name or id; for diff also METHOD:LEVEL:SEED; for figure the file of a "
        "sweep",
        metavar="VIEW",
        is_word=True,
    )
    spec: ViewSpec = request(ViewSpec, method=Method.CUSTOM)
    scope: Scope = request(Scope)
    changes: Path | None = option(None, help="a file of your own changes")
    from_view: str | None = option(None, help="the spec of another view, made anew", metavar="V")
    name: str | None = option(
        None, help="what to call the view; for update its new name", metavar="NAME"
    )
    note: str = option("", help="kept with the view; for update its new note")
    limit: int = option(20, help="changes shown by diff")
    to: str | None = option(
        None,
        help="materialise: name of the graph that it writes; `graphs delete NAME` removes it",
        metavar="NAME",
    )
    methods: tuple[Method, ...] = option(
        (
            Method.RELATION_SWAPPING,
            Method.RELATION_REPLACEMENT,
            Method.EDGE_REWIRING,
            Method.EDGE_DELETION,
        ),
        help="which methods",
        metavar="M,M",
        is_joined=True,
        group=_SWEEP,
    )
    levels: tuple[float, ...] = option(
        _TENTHS, help="at which levels", metavar="X,X", is_joined=True, group=_SWEEP
    )
    random_seeds: str = option(
        "0-4", help="by which random seeds, such as 0,7 or 0-4", metavar="S,S", group=_SWEEP
    )
    each_question: Path | None = option(
        None,
        help="gold questions: a view of its own for each, or with --changes its own changes",
        group=_SWEEP,
    )
    out: Path | None = option(
        None,
        help="JSON lines; a run that stopped goes on. For figure: the .svg file",
        group=_SWEEP,
    )


@dataclass(frozen=True, kw_only=True)
class ScorerOptions(GraphOptions, EmbedderOptions):
    """The options of ``scorer`` on the command line."""

    action: str = option(
        help="train one on a graph, list or delete those there are",
        is_word=True,
        choices=("train", "list", "delete"),
    )
    name: str | None = option(
        None,
        help="delete: trained:FINGERPRINT, or trained for the newest",
        metavar="NAME",
        is_word=True,
    )
    no_text: bool = option(False, help="train on triples alone, without the entities' labels")
    random_seed: int = option(0, help="random seed by which training draws", least=0)
