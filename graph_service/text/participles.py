"""English verbs: their base forms and participles, which end a noun phrase: *tickets sold*."""

from __future__ import annotations

_FORMS = """
    beat beat beaten, become became become, begin began begun, bring brought, break broke broken,
    breed bred, build built, burn burnt, buy bought, catch caught, choose chose chosen,
    come came come, deal dealt, do did done, draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten,
    fall fell fallen, feed fed, fight fought, find found, fly flew flown, forget forgot forgotten,
    freeze froze frozen, get got, give gave given, go went gone, grow grew grown, hear heard,
    hide hid hidden, hold held, keep kept, know knew known, lead led, leave left, lend lent,
    light lit, lose lost, make made, mean meant, meet met, pay paid, prove proved proven,
    ride rode ridden, ring rang rung, rise rose risen, run ran run, say said, see saw seen,
    seek sought, sell sold, send sent, shake shook shaken, shoot shot, show showed shown,
    sing sang sung, sink sank sunk, sleep slept, speak spoke spoken, spend spent, spin spun,
    steal stole stolen, strike struck, swear swore sworn, swim swam swum,
    take took taken, teach taught, tell told, think thought, throw threw thrown, wear wore worn,
    weave wove woven, win won, write wrote written
"""
"""Irregular verbs: base, past tense, participle; two where these are one."""
_VERBS = [forms.split() for forms in _FORMS.split(",")]
_BASES = {form: base for base, *forms in _VERBS for form in forms if form != "found"}
"""The base of each form; not of *found*, which is a base itself: *founded*."""
PASTS_AND_PARTICIPLES = frozenset(
    forms[0] for base, *forms in _VERBS if len(forms) == 1 and base != forms[0]
)
"""Irregular past tenses that are participles too."""
IRREGULAR_PARTICIPLES = frozenset(forms[-1] for base, *forms in _VERBS if base != forms[-1]) | {
    "born"
}
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


def base_form(verb: str, /) -> str:
    """Returns the base of an irregular form, and other words as they are.

    >>> [base_form(word) for word in ("wrote", "built", "died", "married", "founded")]
    ['write', 'build', 'die', 'marry', 'founded']
    """
    if is_regular_past(verb) and verb.endswith("ied"):
        return verb[:-1] if len(verb) < 5 else f"{verb[:-3]}y"
    return _BASES.get(verb, verb)


def is_third_person(word: str, /) -> bool:
    """Returns whether a word ends as a verb in the third person does; nouns in the plural do too.

    >>> [is_third_person(word) for word in ("depends", "teaches", "boss", "was")]
    [True, True, False, False]
    """
    return len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss")


def infinitive(verb: str, /) -> str:
    """Returns a verb in the third person without its ending, and other words as they are.

    >>> [infinitive(word) for word in ("depends", "lives", "teaches", "studies", "goes", "own")]
    ['depend', 'live', 'teach', 'study', 'go', 'own']
    """
    if verb == "has":
        return "have"
    if not is_third_person(verb):
        return verb
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("ches", "oes", "shes", "sses", "xes", "zzes")) else verb[:-1]
