"""Names that people say with *the*: "the Netherlands", "the Pacific Ocean"."""

from __future__ import annotations

import re

_NAMES_WITH_THE = re.compile(
    r"(?:United (?:States|Kingdom|Nations|Arab Emirates)\b.*|Netherlands|Philippines|Bahamas|"
    r"Maldives|Seychelles|Gambia|Holy See|Hague|Alps|Andes|Himalayas|Pyrenees|Balkans|"
    r"(?:(?:People's )?Republic|Kingdom|(?:Grand )?Duchy|University|Academy|Museum|Church|Battle|"
    r"Siege|Treaty|Isle|Gulf|Government|Parliament|Ministry|Council|Court|Organi[sz]ation) "
    r"(?:of|for) .+|"
    r".*(?:Czech|Dominican|Central African|Democratic|Federal|Federative|Islamic|People's|Socialist) "
    r"Republic|"
    r".*(?:Roman|Byzantine|Ottoman|Austro-Hungarian|Russian|British|French|German|Spanish|"
    r"Portuguese|Mongol|Mughal|Persian|Venetian) Empire|"
    r".+ (?:Confederation|Federation|Union|Islands|Ocean|Sea|Mountains|Army|Navy|"
    r"Air Force|Party|Prize|Cup|War|Revolution|Organi[sz]ation|Agreement|dynasty|"
    r"(?:Catholic|Orthodox|Methodist|Lutheran|Presbyterian|Baptist) Church))"
)
_PREPOSITION = re.compile(r"\b(?:of|in|at|by|for|to|with|from|into|on|near) $")
_APPOSITION = re.compile(r"\b(?:the|a|an) [^.]+ $")


def articled(name: str, before: str, /) -> str:
    """Returns a name with *the* where people say it so, after the words that stand before it.

    A name that says which of its kind is meant, as in "the party Green Party", has none.

    >>> articled("Netherlands", "Ada was born in "), articled("Ada", "")
    ('the Netherlands', 'Ada')
    >>> articled("Green Party", "Ada belongs to the party ")
    'Green Party'
    """
    is_appositive = _APPOSITION.search(before) and not _PREPOSITION.search(before)
    return name if is_appositive or not _NAMES_WITH_THE.fullmatch(name) else f"the {name}"
