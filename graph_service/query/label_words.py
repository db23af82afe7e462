"""What the label of a relation says in English: a noun, a clause about its head, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.text.function_words import ARTICLES
from graph_service.text.nouns import PLURALS, SINGULARS, plural_noun, singular
from graph_service.text.participles import base_form, infinitive, is_participle, is_third_person
from graph_service.text.question_form import BE

# How relations end that are said of their head: "directed by", "member of".
_PREPOSITIONS = frozenset(
    {
        "about", "after", "against", "along", "around", "as", "at", "before", "beside", "between",
        "beyond", "by", "during", "for", "from", "in", "into", "near", "of", "on", "onto", "over",
        "per", "through", "to", "toward", "towards", "under", "until", "upon", "via", "with",
        "within", "without",
    }
)  # fmt: skip
_JOINTS = frozenset({"and", "or"})
_ADVERBS = frozenset({"first", "last", "once"})
_INTRANSITIVE = frozenset(
    {
        "appear", "arrive", "belong", "come", "compete", "die", "fall", "go", "graduate", "happen",
        "live", "occur", "participate", "reside", "retire", "travel", "work",
    }
)  # fmt: skip
"""Verbs of what a head itself does: *lived in* is no passive."""
_VERBS = frozenset(
    {
        "alter", "answer", "border", "center", "consider", "cover", "deliver", "differ", "discover",
        "enter", "father", "filter", "foster", "gather", "mother", "number", "offer", "order",
        "partner", "power", "prefer", "refer", "register", "render", "shelter", "surrender",
        "transfer", "trigger",
    }
)  # fmt: skip
"""Verbs that end as nouns for who does something."""
_NO_VERBS = ("dee", "er", "ian", "ist", "ity", "nee", "ness", "tee", "yee")
"""How nouns end that are hardly ever verbs too: *characters*, *employees*."""


@dataclass(frozen=True, slots=True)
class Clause:
    """What a label says of its head, as a verb.

    Attributes:
        one: Said of one thing: "is directed by", "flows through".
        several: Said of several: "are directed by", "flow through".
        not_one: Of one thing, negated.
        not_several: Of several, negated.
        short: Without "is" and "are", where that is said too: "directed by"; else empty.
        noun: What the value is, if the label says so: "time zone" of "located in time zone".
    """

    one: str
    several: str
    not_one: str
    not_several: str
    short: str = ""
    noun: str = ""

    def verb(self, *, several: bool, negated: bool = False) -> str:
        """Returns the verb of one thing or of several."""
        if negated:
            return self.not_several if several else self.not_one
        return self.several if several else self.one


@dataclass(frozen=True, slots=True)
class LabelWords:
    """The words for a relation of one label.

    Attributes:
        label: As it is.
        clause: What it says of its head; None of a noun, and of a word that may be either.
        noun: What the value is to the head: "mother"; empty where the label is no noun. In
            quotation marks where it may be a verb.
    """

    label: str
    clause: Clause | None = None
    noun: str = ""

    @property
    def name(self) -> str:
        """What stands after "whose": the noun, or the label in quotation marks."""
        return self.noun or f'"{self.label}"'

    @property
    def value(self) -> str:
        """What stands before "of": the noun, or the value of the label."""
        return self.noun or f'value of "{self.label}"'

    @property
    def values(self) -> str:
        """The same in the plural."""
        return plural(self.noun) if self.noun else f'values of "{self.label}"'

    @property
    def moment(self) -> str:
        """The participle that a date may follow: "founded" of "founded in"; empty of others."""
        words = self.label.split()
        if not words or not is_participle(words[0].casefold()):
            return ""
        return words[0] if words[1:] in ([], ["in"], ["on"], ["at"]) else ""


def label_words(label: str, /) -> LabelWords:
    """Returns what a relation's label says.

    >>> label_words("date of birth").noun, label_words("parts (old)").noun
    ('date of birth', 'parts (old)')
    >>> clause = label_words("located in time zone").clause
    >>> clause.several, clause.noun
    ('are located in', 'time zone')
    >>> label_words("opened").values, label_words("owns").values, label_words("mother").values
    ('values of "opened"', '"owns"', 'mothers')
    """
    label = label.removesuffix("(s)")
    words = label.split()
    if words and words[0].casefold() in BE:
        clause = _clause(words[1:])
        return LabelWords(label, clause)
    clause = _clause(words)
    if clause is not None:
        return LabelWords(label, clause)
    if _may_be_verb(words):
        return LabelWords(label, noun=f'"{label}"')
    return LabelWords(label, noun="" if _is_no_noun(words) else label)


def _may_be_verb(words: list[str]) -> bool:
    """Returns whether a word is a verb of one thing or a noun in the plural: "owns", "seats"."""
    (first, *others), noun = _folded(words), singular(words[0].casefold())
    if others or noun == first or not is_third_person(first):
        return False
    is_noun = first in PLURALS or first in SINGULARS or noun.endswith(_NO_VERBS)
    return not is_noun or noun in _VERBS


def _is_no_noun(words: list[str]) -> bool:
    """Returns whether words are no noun for the value, or may be none: "member of staff", "opened",
    "on focus list".
    """
    first, *others = folded = _folded(words)
    if others and first in {"member", "part"}:
        return others[0] == "of"
    return first in _PREPOSITIONS or _is_adverbs_and_participle(folded)


def _folded(words: list[str]) -> list[str]:
    return [word.casefold().strip(",") for word in words]


def _is_adverbs_and_participle(folded: list[str]) -> bool:
    """Returns whether words are a participle that nothing but adverbs stand before: "first released"."""
    *before, last = folded
    return is_participle(last) and all(_is_adverb(word) for word in before)


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or (word.endswith("ly") and len(word) > 4)


def _clause(words: list[str]) -> Clause | None:
    """Returns the clause of a label that ends with a preposition, or goes on with what the value
    is: "located in time zone", "contains the administrative territorial entity".
    """
    if not words:
        return None
    folded, end = _folded(words), len(words)
    if folded[-1] not in _PREPOSITIONS:
        end = _verb_end(folded)
    if not end:
        return None
    verb, noun = words[:end], " ".join(_without_determiner(words[end:]))
    first = folded[0]
    if is_third_person(first):
        base = " ".join([infinitive(first), *verb[1:]])
        return Clause(" ".join(verb), base, f"does not {base}", f"do not {base}", noun=noun)
    text = " ".join(verb)
    past = next((word for word in folded if not _is_adverb(word)), first)
    if folded[-1] != "by" and _is_active_past(past):
        base = text.replace(past, _base(past), 1)
        return Clause(text, text, f"did not {base}", f"did not {base}", noun=noun)
    if _is_noun_of(folded, end):
        one, several = with_article(text), " ".join([*verb[:-2], plural_noun(verb[-2]), verb[-1]])
        return Clause(f"is {one}", f"are {several}", f"is not {one}", f"are not {several}")
    return Clause(f"is {text}", f"are {text}", f"is not {text}", f"are not {text}", text, noun)


def _verb_end(folded: list[str]) -> int:
    """Returns how many first words of a label are a verb, before the noun for the value; 0 if none.

    A participle and prepositions ("located in or next to body of water", "located in/on"), or a verb
    in the third person before an article.
    """
    if len(folded) > 2 and is_third_person(folded[0]) and folded[1] in ARTICLES:
        return 1
    if not is_participle(folded[0]):
        return 0
    end = 1
    while end < len(folded) and _goes_on_to(folded, end):
        end += 1
    return end if 1 < end < len(folded) else 0


def _goes_on_to(folded: list[str], index: int) -> bool:
    """Returns whether a word belongs to the prepositions of a participle: "in", "or", "next"."""
    word, following = folded[index], folded[index + 1 : index + 2]
    if word in _JOINTS or word == "next":
        return bool(following) and (following[0] in _PREPOSITIONS or following[0] == "next")
    return all(part in _PREPOSITIONS for part in word.split("/"))


def _without_determiner(words: list[str]) -> list[str]:
    return words[1:] if words and words[0].casefold() in ARTICLES else words


def _is_active_past(word: str) -> bool:
    return is_participle(word) and _base(word) in _INTRANSITIVE


def _base(past: str) -> str:
    """Returns the base of a regular past of the verbs that take no object: "study" of "studied"."""
    irregular = base_form(past)
    if irregular != past:
        return irregular
    return next((base for base in (past[:-1], past[:-2]) if base in _INTRANSITIVE), past)


def _is_noun_of(folded: list[str], end: int) -> bool:
    """Returns whether a label is a noun and "of": "member of"."""
    return (
        end == len(folded) > 1
        and folded[-1] == "of"
        and not any(map(is_participle, folded))
        and not folded[-2].endswith(("able", "ible", "ful", "ous", "less"))
        and not any(word in _PREPOSITIONS for word in folded[:-1])
    )


def plural(noun: str, /) -> str:
    """Returns an English noun phrase in the plural; of words without a noun, their values.

    >>> plural("child"), plural("sales staff"), plural("place of birth"), plural("tickets sold")
    ('children', 'sales staff', 'places of birth', 'tickets sold')
    >>> plural("religion or worldview"), plural("founded")
    ('religions or worldviews', 'values of "founded"')
    """
    if noun.startswith('"'):
        return noun
    words = noun.split()
    count = _noun_end(words)
    if not count:
        return f'values of "{noun}"'
    head = words[:count]
    has_or = any(word.casefold() == "or" for word in head)
    for index, word in enumerate(head):
        following = head[index + 1 : index + 2]
        is_alternative = has_or and (word.endswith(",") or following == ["or"])
        if index == count - 1 or is_alternative:
            mark = "," * word.endswith(",")
            head[index] = plural_noun(word.removesuffix(",")) + mark
    return " ".join([*head, *words[count:]])


def is_plural(noun: str, /) -> bool:
    """Returns whether a noun phrase is in the plural.

    >>> [is_plural(noun) for noun in ("side effects", "places of birth", "series", "child")]
    [True, True, False, False]
    """
    words = noun.split()
    last = words[_noun_end(words) - 1].casefold().strip(",") if words else ""
    return (
        plural_noun(last) == last and singular(last) != last and plural_noun(singular(last)) == last
    )


def _noun_end(words: list[str]) -> int:
    """Returns how many first words of a phrase end with its noun; 0 if a participle stands alone."""
    folded = _folded(words)
    # Participles before a noun describe it: "unmarried partner", "dissolved or demolished date".
    start = next((at for at, word in enumerate(folded) if not _describes(word)), 0)
    if not start and len(words) == 1 and is_participle(folded[0]):
        return 0
    indexes = (at for at, word in enumerate(words) if at > start and _follows_noun(word))
    return next(indexes, len(words))


def _describes(word: str) -> bool:
    return is_participle(word) or word in _JOINTS


def _follows_noun(word: str) -> bool:
    """Returns whether a word follows the noun of a phrase: "of", "sold", "(start)"."""
    folded = word.casefold().strip(",")
    return folded in _PREPOSITIONS or is_participle(folded) or word.startswith("(")


def with_article(noun: str, /) -> str:
    """Returns a noun phrase with the article for one of several, which a plural has not."""
    return (
        noun
        if is_plural(noun) or noun.startswith('"')
        else f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
    )
