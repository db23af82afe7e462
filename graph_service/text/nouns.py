"""English nouns whose plural is not made with an *s*."""

from __future__ import annotations

import re

PLURALS = {
    "aircraft": "aircraft",
    "child": "children",
    "data": "data",
    "equipment": "equipment",
    "fish": "fish",
    "furniture": "furniture",
    "headquarters": "headquarters",
    "information": "information",
    "life": "lives",
    "man": "men",
    "movie": "movies",
    "news": "news",
    "person": "people",
    "personnel": "personnel",
    "series": "series",
    "sheep": "sheep",
    "software": "software",
    "species": "species",
    "staff": "staff",
    "wife": "wives",
    "woman": "women",
}
"""The plural of each; some are their own. ``movies`` would else be those of a *movy*."""
SINGULARS = {plural: noun for noun, plural in PLURALS.items()}


def singular(word: str, /) -> str:
    """Returns an English noun in the singular, as far as its ending tells.

    >>> [singular(word) for word in ("cities", "boxes", "films", "children", "boss", "status")]
    ['city', 'box', 'film', 'child', 'boss', 'status']
    """
    if word in SINGULARS:
        return SINGULARS[word]
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def plural_noun(word: str, /) -> str:
    """Returns an English noun in the plural.

    >>> [plural_noun(word) for word in ("child", "company", "bus", "staff", "foxes", "people")]
    ['children', 'companies', 'buses', 'staff', 'foxes', 'people']
    """
    if word in PLURALS:
        return PLURALS[word]
    if word in SINGULARS:
        return word
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    if word.endswith(("ss", "us", "x", "z", "ch", "sh")):
        return word + "es"
    return word if word.endswith("s") else word + "s"
