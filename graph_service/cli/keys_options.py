"""The words of keys, and their options."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.options import Subverb, VerbOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class KeyFileOptions(VerbOptions):
    """What every word of ``keys`` takes."""

    keys: str | None = option(None, help="the file of keys (GRAPH_SERVICE_KEYS)", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class AddKeyOptions(KeyFileOptions):
    """The options of ``keys add`` on the command line."""

    name: str = option(help="the key's name, which the log shows", is_word=True, metavar="NAME")
    scope: str = option(
        "read",
        help="what the key may do; each includes those before it",
        choices=("read", "write", "admin"),
    )
    graphs: tuple[str, ...] = option((), help="a graph that the key may see", metavar="NAME")
    all_graphs: bool = option(False, help="the key may see all graphs, later ones too")
    rate: float | None = option(
        None,
        help="cost that this key may use in a second; 0 for no limit; default: the server's",
        least=0,
        most=1e6,
        metavar="COST",
    )
    max_cost: float | None = option(
        None,
        help="what one operation with this key may cost; default: the server's",
        least=1,
        most=1e6,
        metavar="COST",
    )
    expires: str = option("", help="when the key ends, such as 2027-01-31", metavar="DATE")
    note: str = option("", help="a note to remember the key by")


@dataclass(frozen=True, kw_only=True)
class RevokeKeyOptions(KeyFileOptions):
    """The options of ``keys revoke`` on the command line."""

    name: str = option(help="the key's name", is_word=True, metavar="NAME")


KEY_VERBS = (
    Subverb(
        "add",
        "keys:add",
        "make a key and print its token, once",
        AddKeyOptions,
        (
            "keys add alice --graph films --keys keys.json",
            "keys add loader --scope admin --all-graphs --rate 20 --max-cost 500",
        ),
    ),
    # ``list`` is a name of Python's own.
    Subverb("list", "keys:list_", "list the keys, without tokens", KeyFileOptions, ("keys list",)),
    Subverb(
        "revoke",
        "keys:revoke",
        "remove a key; servers refuse it from the next request on",
        RevokeKeyOptions,
        ("keys revoke alice",),
    ),
)
"""The words of ``keys``."""
