"""Slips of the pen, drawn by a seed: what a misspelt name looks like."""

from __future__ import annotations

import re

from graph_service.model.identity import key64


def misspell(name: str, /, *, seed: str) -> str:
    """Returns a name with one slip inside its longest word: a letter less, twice, exchanged for
    the next of the alphabet, or swapped with its neighbour. Names of under five letters stay.
    """
    found = max(re.finditer(r"[^\W\d_]+", name), key=lambda word: len(word.group()), default=None)
    if found is None or len(found.group()) < 5:
        return name
    word, draw = found.group(), key64(f"{seed}\t{name}") % (1 << 32)
    at = 1 + draw // 4 % (len(word) - 2)
    here, after = word[at], word[at + 1]
    slip = (
        after,
        here + here + after,
        chr(ord(here) + 1 if here not in "zZ" else ord(here) - 1) + after,
        after + here,
    )[draw % 4]
    return name[: found.start()] + word[:at] + slip + word[at + 2 :] + name[found.end() :]


def replace_name(text: str, name: str, other: str, /) -> tuple[str, int]:
    """Returns a text with a name as whole words exchanged for another, and how many times."""
    return re.subn(rf"(?<!\w){re.escape(name)}(?!\w)", lambda _: other, text)
