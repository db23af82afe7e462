"""What countries are called in short, and their other names: ``holland``, Netherlands."""

from __future__ import annotations

from collections.abc import Mapping

_COUNTRIES: Mapping[str, tuple[str, ...]] = {
    "america": ("united states", "united states of america"),
    "bosnia": ("bosnia and herzegovina",),
    "britain": ("united kingdom", "great britain"),
    "burma": ("myanmar",),
    "cape verde": ("cabo verde",),
    "china": ("people s republic of china",),
    "czechia": ("czech republic",),
    "drc": ("democratic republic of the congo",),
    "east germany": ("german democratic republic",),
    "east timor": ("timor leste",),
    "great britain": ("united kingdom",),
    "gb": ("united kingdom",),
    "holland": ("netherlands", "kingdom of the netherlands"),
    "iran": ("islamic republic of iran",),
    "ireland": ("republic of ireland",),
    "ivory coast": ("cote d ivoire",),
    "laos": ("lao people s democratic republic",),
    "macedonia": ("north macedonia",),
    "netherlands": ("kingdom of the netherlands",),
    "north korea": ("democratic people s republic of korea",),
    "persia": ("iran",),
    "prc": ("people s republic of china", "china"),
    "russia": ("russian federation",),
    "south korea": ("republic of korea",),
    "soviet union": ("union of soviet socialist republics",),
    "swaziland": ("eswatini",),
    "syria": ("syrian arab republic",),
    "taiwan": ("republic of china",),
    "turkey": ("turkiye",),
    "uae": ("united arab emirates",),
    "uk": ("united kingdom", "united kingdom of great britain and northern ireland"),
    "us": ("united states", "united states of america"),
    "usa": ("united states", "united states of america"),
    "ussr": ("soviet union",),
    "vatican": ("vatican city",),
    "vietnam": ("viet nam",),
    "west germany": ("federal republic of germany", "germany"),
}


def country_names(name: str, /) -> tuple[str, ...]:
    """Returns the other names of a country that has a name, in normal form; of others none.

    >>> country_names("china"), country_names("mordor")
    (('people s republic of china',), ())
    """
    return _COUNTRIES.get(name, ())
