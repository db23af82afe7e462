"""Options of the view verbs."""

from __future__ import annotations

import argparse

METHODS = (
    "relation-swapping (rs), relation-replacement (rr), edge-rewiring (er), edge-deletion (ed), "
    "withholding"
)
ACTIONS = ("create", "list", "show", "diff", "cancel", "delete")


def add_view_options(view: argparse.ArgumentParser, /) -> None:
    """Adds what ``view`` takes."""
    view.add_argument("action", choices=ACTIONS)
    view.add_argument("view", nargs="?", help="the view's name or id")
    view.add_argument("--method", metavar="M", help=METHODS)
    view.add_argument("--level", type=float, metavar="X", help="share of the edges, 0 to 1")
    view.add_argument("--count", type=int, metavar="N", help="number of edges")
    view.add_argument("--random-seed", type=int, default=0, metavar="S")
    view.add_argument("--sampling", choices=["exact", "okgqa"], default="exact")
    view.add_argument("--statement", action="append", default=[], metavar="ID",
                      help="withholding: the statements, in order")  # fmt: skip
    view.add_argument("--relation", action="append", default=[], metavar="ID", help="scope")
    view.add_argument("--around", action="append", default=[], metavar="ID", help="scope")
    view.add_argument("--hops", type=int, default=2, metavar="N", help="with --around")
    view.add_argument("--from", dest="changes", metavar="FILE", help="your own changes")
    view.add_argument("--from-view", metavar="V", help="the spec of another view, made anew")
    view.add_argument("--name", metavar="NAME")
    view.add_argument("--note", default="", metavar="TEXT")
    view.add_argument("--limit", type=int, default=20, metavar="N", help="changes shown by diff")
