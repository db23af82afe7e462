"""Options of the view verbs."""

from __future__ import annotations

import argparse

METHODS = (
    "relation-swapping (rs), relation-replacement (rr), edge-rewiring (er), edge-deletion (ed), "
    "withholding"
)
ACTIONS = (
    "create", "list", "show", "diff", "cancel", "delete", "sweep", "figure", "impact", "materialise"
)  # fmt: skip


def add_view_options(view: argparse.ArgumentParser, /) -> None:
    """Adds what ``view`` takes."""
    view.add_argument("action", choices=ACTIONS)
    view.add_argument("view", nargs="?", help="the view's name or id; for diff and impact also "
                      "METHOD:LEVEL:SEED; for figure the file of a sweep")  # fmt: skip
    view.add_argument("questions", nargs="?", help="impact: gold questions, as JSON lines")
    view.add_argument("--method", metavar="M", help=METHODS)
    view.add_argument("--level", type=float, metavar="X", help="share of the edges, 0 to 1")
    view.add_argument("--count", type=int, metavar="N", help="number of edges")
    view.add_argument("--random-seed", type=int, default=0, metavar="S",
                      help="which edges are drawn (0)")  # fmt: skip
    view.add_argument("--sampling", choices=["exact", "okgqa"], default="exact",
                      help="draw without replacement, or with, as OKGQA's code does (exact)")  # fmt: skip
    view.add_argument("--scorer", default="counts", metavar="NAME", help="replacement: counts, "
                      "trained (the newest), or trained:FINGERPRINT (counts)")  # fmt: skip
    view.add_argument("--statement", action="append", default=[], metavar="ID",
                      help="withholding: the statements, in order")  # fmt: skip
    view.add_argument("--relation", action="append", default=[], metavar="ID",
                      help="change statements of this relation only; may be repeated")  # fmt: skip
    view.add_argument("--around", action="append", default=[], metavar="ID",
                      help="change what lies around this entity only; may be repeated")  # fmt: skip
    view.add_argument("--hops", type=int, default=2, metavar="N",
                      help="steps around it, with --around (2)")  # fmt: skip
    view.add_argument("--from", dest="changes", metavar="FILE", help="your own changes")
    view.add_argument("--from-view", metavar="V", help="the spec of another view, made anew")
    view.add_argument("--name", metavar="NAME", help="what to call the view")
    view.add_argument("--note", default="", metavar="TEXT", help="kept with the view")
    view.add_argument("--limit", type=int, default=20, metavar="N", help="changes shown by diff, "
                      "examples by impact")  # fmt: skip
    view.add_argument("--as", dest="to", metavar="NAME", help="materialise: name of the graph "
                      "that it writes; `graphs delete NAME` removes it")  # fmt: skip
    grid = view.add_argument_group("sweep")
    grid.add_argument("--methods", default="rs,rr,er,ed", metavar="LIST", help="rs,rr,er,ed")
    grid.add_argument("--levels", default="0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0",
                      metavar="LIST", help="0.1 to 1.0 by tenths")  # fmt: skip
    grid.add_argument("--random-seeds", default="0-4", metavar="LIST", help="such as 0,7 or 0-4")
    grid.add_argument("--out", metavar="FILE", help="JSON lines; a run that stopped goes "
                      "on. For figure: the .svg file")  # fmt: skip


def add_compare(verb: argparse.ArgumentParser, /) -> None:
    """Adds what ``compare`` takes."""
    verb.add_argument("question", metavar="QUESTION", help="one question, in quotes")
    verb.add_argument("views", nargs="+", metavar="VIEW", help="views beside the base: a name or "
                      "id, or METHOD:LEVEL:SEED")  # fmt: skip
    verb.add_argument("--strategy", choices=["triplets", "paths", "subgraph"], default="triplets",
                      help="what is retrieved (triplets)")  # fmt: skip
    verb.add_argument("--preset", default="default", metavar="P", help="default, okgqa or ltgen")
    verb.add_argument("--entity", action="append", default=[], metavar="ID",
                      help="the question's entity, instead of linking; may be repeated")  # fmt: skip
    verb.add_argument("--limit", type=int, metavar="N",
                      help="triplets, paths or statements at most")  # fmt: skip
    verb.add_argument("--model", metavar="NAME", help="chat model; without one, template text")
    verb.add_argument("--model-url", metavar="URL", help="an OpenAI-compatible endpoint")
