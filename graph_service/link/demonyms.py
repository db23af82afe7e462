"""Words for people and things of a place, and the places: ``hungarian``, Hungary.

Endings and a short list of irregular words, English, written down from general knowledge. They
say what a word may come from; the names of the graph decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from graph_service.link.countries import country_names

_LEAST_STEM = 3

_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "n": ("",),  # america, cuba, russia
    "an": ("e", "o", "as", "any", "y"),  # chile, mexico, texas, germany
    "ian": ("", "y", "a", "e", "ia", "ium", "s"),  # brazil, italy, canada, ukraine, belgium, athens
    "ean": ("", "a", "e"),  # seoul, guinea
    "ese": ("", "a", "e", "on", "o"),  # japan, china, lebanon
    "lese": ("",),  # congo
    "vian": ("",),  # peru
    "ish": ("en", "and", "ey", "ain", "s"),  # sweden, poland, turkey, britain, kurds
    "i": ("",),  # iraq
    "er": ("",),  # iceland, new york
    "ic": ("",),  # iceland
    "ist": ("ism",),  # buddhism
    "k": ("kia", "kistan"),  # slovak, uzbek
    "b": ("bia",),  # serb
    "t": ("tia",),  # croat
}

_IRREGULAR: Mapping[str, tuple[str, ...]] = {
    "afghan": ("afghanistan",),
    "andean": ("andes",),
    "argentine": ("argentina",),
    "argentinean": ("argentina",),
    "basque": ("basque country",),
    "briton": ("united kingdom",),
    "british": ("united kingdom",),
    "catalan": ("catalonia",),
    "christian": ("christianity",),
    "cypriot": ("cyprus",),
    "czech": ("czech republic",),
    "dane": ("denmark",),
    "danish": ("denmark",),
    "dutch": ("netherlands",),
    "emirati": ("united arab emirates",),
    "filipino": ("philippines",),
    "finn": ("finland",),
    "finnish": ("finland",),
    "flemish": ("flanders",),
    "french": ("france",),
    "frenchman": ("france",),
    "greek": ("greece",),
    "icelander": ("iceland",),
    "irish": ("ireland",),
    "irishman": ("ireland",),
    "jewish": ("judaism", "jews"),
    "kazakh": ("kazakhstan",),
    "kyrgyz": ("kyrgyzstan",),
    "lao": ("laos",),
    "manx": ("isle of man",),
    "norwegian": ("norway",),
    "philippine": ("philippines",),
    "pole": ("poland",),
    "portuguese": ("portugal",),
    "scot": ("scotland",),
    "scottish": ("scotland",),
    "slovene": ("slovenia",),
    "spaniard": ("spain",),
    "spanish": ("spain",),
    "swede": ("sweden",),
    "swiss": ("switzerland",),
    "tajik": ("tajikistan",),
    "thai": ("thailand",),
    "turk": ("turkey",),
    "turkmen": ("turkmenistan",),
    "venetian": ("venice",),
    "welsh": ("wales",),
    "welshman": ("wales",),
}


@lru_cache(maxsize=8192)
def origins_of(demonym: str, /) -> tuple[str, ...]:
    """Returns the names of places that a word may come from, in normal form, each once.

    Args:
        demonym: Folded words; the last may be a plural.

    >>> origins_of("dutch"), "hungary" in origins_of("hungarians")
    (('netherlands', 'kingdom of the netherlands'), True)
    >>> "costa rica" in origins_of("costa rican")
    True
    """
    before, _, last = demonym.rpartition(" ")
    singular = last[:-1] if last.endswith("s") and not last.endswith("ss") else last
    names: dict[str, None] = {}
    for word in dict.fromkeys((last, singular)):
        if word in _IRREGULAR and not before:
            names.update(dict.fromkeys(_IRREGULAR[word]))
            continue
        for ending, tails in _ENDINGS.items():
            stem = word.removesuffix(ending)
            if stem != word and len(stem) >= _LEAST_STEM:
                names.update(dict.fromkeys(f"{before} {stem}{tail}".strip() for tail in tails))
    for name in list(names):
        names.update(dict.fromkeys(country_names(name)))
    return tuple(name for name in names if name not in (demonym, last, singular))
