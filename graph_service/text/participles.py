"""English participles, which end a noun phrase: the *tickets* of *tickets sold*."""

from __future__ import annotations

PASTS_AND_PARTICIPLES = frozenset(
    [
        "built",
        "held",
        "led",
        "made",
        "won",
        "bought",
        "sold",
        "taught",
        "brought",
        "caught",
        "sent",
        "spent",
        "lost",
        "met",
        "paid",
        "told",
        "left",
        "kept",
        "shot",
        "bred",
    ]
)
"""Irregular past tenses that are participles too."""
IRREGULAR_PARTICIPLES = PASTS_AND_PARTICIPLES | frozenset(
    [
        "born",
        "written",
        "sung",
        "spoken",
        "drawn",
        "given",
        "taken",
        "known",
        "grown",
        "thrown",
        "broken",
        "chosen",
        "driven",
        "seen",
        "worn",
        "fallen",
        "hidden",
        "done",
        "eaten",
        "beaten",
        "shown",
        "proven",
        "sworn",
        "found",
        "set",
        "said",
        "hit",
    ]
)
# Words that end as pasts and are none.
_NO_PASTS = frozenset(
    [
        "hundred",
        "sacred",
        "naked",
        "wicked",
        "kindred",
        "shed",
        "sled",
        "bred",
        "aged",
        "bed",
        "red",
        "wed",
        "deceased",
    ]
)


def is_regular_past(word: str, /) -> bool:
    """Returns whether a word ends as regular past tenses and participles do.

    >>> [is_regular_past(word) for word in ("produced", "seed", "hundred")]
    [True, False, False]
    """
    return (
        len(word) > 3
        and word.isalpha()
        and word.endswith("ed")
        and not word.endswith("eed")
        and word not in _NO_PASTS
    )


def is_participle(word: str, /) -> bool:
    """Returns whether a word is a participle of the past, such as "sold" or "produced"."""
    return word in IRREGULAR_PARTICIPLES or is_regular_past(word)
