"""What one cell of a table may be: blank, yes or no, an address, a number or a date.

A cell alone often does not say how it is to be read: 03.04.2024 is a day in March or in April, and
1,200 is a thousand or one. So reading has two steps. A cell says what it proves (``number_cells``,
``date_cells``), all cells of a column together decide, and the column's decision gives the value.
"""

from __future__ import annotations

import unicodedata

UNSTORED = "(formula without a stored result)"
"""A cell of a workbook whose formula no program has worked out."""
NESTED = "(list of objects)"
"""A cell of JSON that no value of a column can be."""
OUTLINE = "(outline)"
"""The geometry of a feature of GeoJSON that is no point."""
BLANK_WORDS = frozenset(
    {
        UNSTORED,
        NESTED,
        OUTLINE,
        *("", "-", "--", "---", "\u2013", "\u2014", "n/a", "#n/a", "n.a.", "null", "(null)", "nan"),
        *(
            "\\n",
            "(blank)",
            "#value!",
            "#ref!",
            "#name?",
            "#div/0!",
            "#null!",
            "#num!",
            "nat",
            "<na>",
        ),
    }
)
"""Cells that say that there is no value, in lower case."""
DOUBTFUL_WORDS = frozenset(
    {"na", "none", "nil", "unknown", "tbd", "tba", "?", "not available", "not applicable", "keine"}
)
"""Cells that say so among numbers, dates and names; a text may mean them."""
_YES = frozenset(
    {"yes", "y", "true", "ja", "oui", "s\u00ed", "wahr", "vrai", "sim", "tak", "kyll\u00e4", "evet"}
    | {"verdadero", "verdadeiro", "vero", "waar", "sant", "sann", "tosi", "prawda", "pravda"}
    | {"da", "ano", "igen", "igaz", "\u0434\u0430", "\u0438\u0441\u0442\u0438\u043d\u0430"}
)
_NO = frozenset(
    {"no", "n", "false", "nein", "non", "falsch", "faux", "nej", "nei", "nee", "n\u00e3o", "nie"}
    | {"falso", "onwaar", "falskt", "falsk", "usann", "ep\u00e4tosi", "fa\u0142sz", "nepravda"}
    | {"ei", "hay\u0131r", "ne", "nem", "hamis", "\u043d\u0435\u0442", "\u043b\u043e\u0436\u044c"}
)

_TICKS = frozenset("\u2713\u2714\u2611\u2705")
_CROSSES = frozenset("\u2717\u2718\u2715\u2716\u274c\u2610")
TICK_LETTERS = frozenset({"x", "X"})
"""Cells that say yes where the column has no other."""


def clean(cell: str, /) -> str:
    r"""Returns a cell's text in one form of Unicode, with single spaces and none around.

    >>> clean("  Seat  Post\u00a0")
    'Seat Post'
    """
    if cell.isascii() and "  " not in cell and cell.isprintable():
        return cell.strip()
    return " ".join(unicodedata.normalize("NFC", cell).split())


def folded(name: str, /) -> str:
    """Returns what is the same in names that differ only in case and spaces.

    The case of a web address counts.

    >>> folded("Pola  Plastics") == folded("pola plastics")
    True
    """
    return clean(name) if is_address(name) else clean(name).casefold()


def is_address(cell: str, /) -> bool:
    """Returns whether a cell is a web address."""
    return cell.startswith(("http://", "https://")) and " " not in cell


def read_yes_no(cell: str, /) -> bool | None:
    """Returns True for yes, False for no, None for anything else."""
    word = cell.casefold().rstrip("\ufe0f")
    if word in _TICKS or word in _CROSSES:
        return word in _TICKS
    return True if word in _YES else False if word in _NO else None
