"""Lists of answers in replies: a name a line between ``<answers>`` and ``</answers>``.

What stands outside of the tags is no answer, so that a name that a reply only mentions, or denies,
does not count as given.
"""

from __future__ import annotations

import re

from queries.generate.citations import one_line

_LIST = re.compile(r"<answers>(.*?)</answers>", re.DOTALL | re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+")
_AROUND = " \t*_`\"'“”"
_NOTHING = re.compile(r"(?:\[NA\]|n/a|none)\.?", re.IGNORECASE)


def parse_answer_list(text: str, /) -> tuple[str, ...] | None:
    r"""Returns the names of a reply's last list, each once; None if it has no list.

    Bullets, numbers and quotation marks around a name are left out. A line that says that there is
    no answer, such as ``none``, is no name.

    >>> parse_answer_list("Two films fit.\n<answers>\n1. Alien\n- Aliens\n</answers>")
    ('Alien', 'Aliens')
    >>> parse_answer_list("<answers></answers>"), parse_answer_list("It is Alien.")
    ((), None)
    """
    lists = _LIST.findall(text)
    if not lists:
        return None
    names: dict[str, str] = {}
    for line in lists[-1].splitlines():
        name = _BULLET.sub("", one_line(line), count=1).strip(_AROUND)
        if name and not _NOTHING.fullmatch(name):
            names.setdefault(name.casefold(), name)
    return tuple(names.values())
