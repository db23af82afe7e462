"""How a relation is said in English, from its label alone: rules on the forms of its words.

Labels are noun phrases (``notable work``), verbs (``designed``, ``shares border with``),
participles with a preposition (``educated at``), nouns with one (``member of``), or nouns before a
verb (``award received``). English marks most of this by endings; what is irregular is listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph_service.text.fold import relation_words
from graph_service.text.participles import (
    IRREGULAR_PARTICIPLES,
    PASTS_AND_PARTICIPLES,
    is_participle,
    is_regular_past,
)
from queries.generate.citations import one_line


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_PREPOSITIONS = _set(
    "of in at by for with to from after before on into as about against near under over during "
    "within through between among across towards via"
)
_AUXILIARIES = _set("has is was are were had can may does did will have")
# Third persons, which end as plural nouns do.
_VERBS = _set(
    "depicts follows contains produces uses causes treats includes represents lies takes flows "
    "applies participates replaces precedes shares says exists occurs consists belongs describes "
    "plays works speaks borders owns operates becomes means starts ends lives comes goes connects "
    "crosses carries serves supports employs encodes inhabits interacts manufactures opposes "
    "organizes organises publishes regulates succeeds surrounds teaches leads makes gives gets "
    "affects allows begins bears covers creates defines depends derives develops differs directs "
    "expresses features forms governs houses imports indicates inspires involves joins knows likes "
    "loves maintains manages meets needs offers performs prevents promotes proves provides receives "
    "refers relates requires runs sells sponsors stars stands studies supplies teaches tells uses "
    "visits wants wears wins writes"
)
# Of them those that are verbs only before a preposition: "works for", but "works".
_MOSTLY_NOUNS = _set("works plays stars forms covers starts ends needs visits wins offers leads")
# Past tenses of their own, which are no participles: the head acts.
_PASTS = _set(
    "wrote sang drew gave took began became came went knew grew flew threw spoke broke chose drove "
    "rode rose ran saw swam ate fell forgot wore swore did fought"
)
# Nothing can be done to anything by these; with "by" too the head acts.
_INTRANSITIVE = _set(
    "died lived resided appeared happened occurred existed arrived retired debuted participated "
    "graduated competed emigrated immigrated travelled traveled originated succumbed collaborated"
)
# With other prepositions than "by" the head acts ("served in", but "served by").
_ACTIVE = _INTRANSITIVE | _PASTS | _set(
    "worked played served studied moved succeeded performed starred preached ruled reigned "
    "converted ended started voted acted danced lectured taught trained apprenticed campaigned "
    "belonged consisted contributed led won married"
)  # fmt: skip
# Passives that say what is rather than what was done.
_STATES = _set(
    "located based used connected related composed owned operated named licensed dedicated known "
    "considered situated affiliated shared followed preceded replaced made spoken written set "
    "derived maintained governed stated said interested found associated called classified "
    "contained intended attached bordered bounded powered represented depicted shown inhabited "
    "surrounded linked listed"
)
_WITHOUT_ARTICLE = _set(
    "part different adjacent similar native next due subject related separate close equivalent "
    "identical opposed parallel prior such home"
)
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:able|ible|ful|ous)$")
_MEMBERS = _set("member part participant")
_THE = _set("capital opposite owner end start head")
# Alone they want a preposition that is not there: "related".
_STANDING = _set("related associated connected linked based located affiliated situated")
# What is asked when or how much of, and not of whom: "date founded".
_MEASURES = _set(
    "date year time day month period age number amount count total area place location point site "
    "first last size"
)
# "prize awarded": to or by the head, nobody can tell.
_EITHER_WAY = _set("awarded presented named called based related associated")
_DETERMINERS = _set("the a an this that its their his her")
_ODD_FIRST = _set("this that these those object subject")
_PARTICIPLES_ING = _set("starring featuring including containing involving using")
_NO_PLURAL = re.compile(
    r"(?:ss|us|is|os|series|species|news|headquarters|address|status|basis|genus|cause|"
    r"lens|gas|atlas)$"
)
_PLURALS = _set("children people men women alumni media criteria data")
_OF_TIME = _set("started ended finished")
"""What people do and things do alike: nobody *was started in* 2019."""
_SINCE = _set("since until till")
"""Before a date they want a verb that is not there."""
_WORDED = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f' ,/()-]*")
_MOST_CHARACTERS = 80


def relation_phrase(label: str, /, *, dated: str = "") -> str:
    """Returns a pattern of ``{head}`` and ``{value}`` that says a relation in English.

    Anything that is no English phrase is set off by a dash.

    Args:
        label: The relation's name; camel case, underscores and IRIs are split into words.
        dated: ``on`` or ``in`` where the value is a date, which nobody founds or designs.

    >>> relation_phrase("place of birth"), relation_phrase("designed")
    ("{head}'s place of birth is {value}", '{head} designed {value}')
    >>> relation_phrase("educated at"), relation_phrase("located in")
    ('{head} was educated at {value}', '{head} is located in {value}')
    >>> relation_phrase("participated in"), relation_phrase("award received")
    ('{head} participated in {value}', '{head} received the award {value}')
    >>> relation_phrase("member of"), relation_phrase("children")
    ('{head} is a member of {value}', "{head}'s children include {value}")
    >>> relation_phrase("founded", dated="in")
    '{head} was founded in {value}'
    >>> relation_phrase("started", dated="in")
    '{head} started in {value}'
    >>> relation_phrase("国家")
    '{head} — 国家: {value}'
    """
    shown = relation_words(one_line(label)).replace("{", "(").replace("}", ")")
    aside = f"{{head}} — {shown or 'statement'}: {{value}}"
    words = shown.split()
    if not words or len(shown) > _MOST_CHARACTERS or not _WORDED.fullmatch(shown):
        return aside
    low = [word.lower() for word in words]
    phrase = _single(low[0], shown, dated) if len(words) == 1 else _several(words, low)
    if phrase is None:
        return aside
    return phrase or f"{{head}}'s {shown} {'include' if _is_plural(words) else 'is'} {{value}}"


def _single(word: str, shown: str, dated: str) -> str | None:
    """Of one word: what it says, nothing for a noun, None for what no sentence is made of."""
    if word in _SINCE:
        return None
    if word in _PREPOSITIONS:
        return f"{{head}} is {shown} {{value}}"
    if dated and (word in _INTRANSITIVE or word in _OF_TIME):
        return f"{{head}} {shown} {dated} {{value}}"
    if dated and is_participle(word):
        return f"{{head}} was {shown} {dated} {{value}}"
    if word in _AUXILIARIES or (word in _VERBS and word not in _MOSTLY_NOUNS):
        return f"{{head}} {shown} {{value}}"
    if _is_past(word):
        return None if word in _INTRANSITIVE or word in _STANDING else f"{{head}} {shown} {{value}}"
    return None if word in IRREGULAR_PARTICIPLES or word in _PARTICIPLES_ING else ""


def _several(words: Sequence[str], low: Sequence[str]) -> str | None:
    shown = " ".join(words)
    first, second, last = low[0], low[1], low[-1]
    if first in _ODD_FIRST or any(word in _AUXILIARIES for word in low[1:]):
        # A sentence about something else: "this taxon is source of".
        return None
    if first == "has":
        return _has(words, low)
    verbal = first in _VERBS and (second in _PREPOSITIONS or first not in _MOSTLY_NOUNS)
    if first in _AUXILIARIES or (verbal and last != "by"):
        return f"{{head}} {shown} {{value}}"
    if first in _MEMBERS and len(words) > 2 and second in _PREPOSITIONS:
        article = "" if first in _WITHOUT_ARTICLE else "a "
        return f"{{head}} is {article}{_articled(words)} {{value}}"
    if first in _PREPOSITIONS:
        return f"{{head}} is {_articled(words)} {{value}}"
    has_preposition = last in _PREPOSITIONS
    if has_preposition or second in _PREPOSITIONS:
        verb = _verb_before(first, by="by" in (second, last) and first not in _INTRANSITIVE)
        if verb is not None:
            return f"{{head}} {verb}{_articled(words)} {{value}}"
    if has_preposition:
        if _is_plural(words):
            return None
        article = "the" if first in _THE else _article(first)
        return f"{{head}} is {article} {shown} {{value}}"
    if first in _PASTS:
        return f"{{head}} {words[0]} the {' '.join(words[1:])} {{value}}"
    if _is_past(last) and _is_thing(words[:-1], low[:-1]) and last not in _EITHER_WAY:
        return f"{{head}} {words[-1]} the {' '.join(words[:-1])} {{value}}"
    return ""


def _verb_before(first: str, *, by: bool) -> str | None:
    """What stands before a word that a preposition follows; None where that is a noun."""
    if first in _PASTS or (first in _ACTIVE and not by):
        return ""
    if first in _STATES or first in _WITHOUT_ARTICLE or _ADJECTIVE.fullmatch(first):
        return "is "
    return "was " if is_participle(first) else None


def _has(words: Sequence[str], low: Sequence[str]) -> str:
    rest = " ".join(words[1:]).replace("(s)", "")
    perfect = _is_past(low[1]) or low[1] in IRREGULAR_PARTICIPLES
    if perfect and len(words) > 2 and _is_thing(words[2:], low[2:]):
        return f"{{head}} {words[0]} {words[1]} the {' '.join(words[2:])} {{value}}"
    if low[1] in _PREPOSITIONS | _DETERMINERS or low[-1] in _PREPOSITIONS or perfect:
        return f"{{head}} {words[0]} {rest} {{value}}"
    if _is_plural(rest.split()):
        return f"{{head}} {words[0]} {rest} {{value}}"
    return f"{{head}} {words[0]} the {rest} {{value}}"


def _articled(words: Sequence[str]) -> str:
    """The words, with an article before the noun that follows their first preposition.

    None after ``to`` and ``as``, which verbs and names follow too.
    """
    for index, word in enumerate(words[:-1]):
        if word.lower() in _PREPOSITIONS:
            after = words[index + 1].lower()
            if (
                word.lower() in ("to", "as")
                or after in _PREPOSITIONS | _DETERMINERS
                or words[-1].lower() in _PREPOSITIONS
            ):
                break
            return " ".join([*words[: index + 1], "the", *words[index + 1 :]])
    return " ".join(words)


def _article(word: str) -> str:
    vowel = word[0] in "aeio" or (word.startswith("un") and not word.startswith("uni"))
    return "an" if vowel or word.startswith(("heir", "hono")) else "a"


def _is_past(word: str) -> bool:
    return is_regular_past(word) or word in _PASTS or word in PASTS_AND_PARTICIPLES


def _is_thing(words: Sequence[str], low: Sequence[str]) -> bool:
    """Whether words name one thing that can be done something to."""
    joined = any(word.endswith(",") or word in ("or", "and") for word in low)
    plain = not any(word in _PREPOSITIONS or _is_past(word) for word in low)
    return plain and not joined and low[-1] not in _MEASURES and not _is_plural(words)


def _is_plural(words: Sequence[str]) -> bool:
    """Whether the noun that leads a phrase is plural (``languages spoken, written``)."""
    lead = words[0]
    for word in words[1:]:
        folded = word.lower().strip(",")
        if (
            folded in _PREPOSITIONS
            or folded in IRREGULAR_PARTICIPLES
            or _is_past(folded)
            or folded == "or"
        ):
            break
        if lead.endswith(","):
            break
        lead = word
    lead = lead.lower().strip(",()")
    return lead in _PLURALS or (
        lead.endswith("s") and len(lead) > 3 and not _NO_PLURAL.search(lead)
    )
