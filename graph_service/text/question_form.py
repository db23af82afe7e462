"""The form of a question: by which word it asks, and for what kind of answer.

Rules of English over the text alone; what the names in it stand for is not known here. All parts of
retrieval read question words with these rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from graph_service.text.fold import lowered

Span = tuple[int, int]

QUESTION_WORDS = frozenset(["who", "whom", "whose", "which", "what", "when", "where", "why", "how"])
BE = frozenset(["is", "are", "was", "were"])
DO = frozenset(["do", "does", "did"])
HAVE = frozenset(["has", "have", "had"])
MODALS = frozenset(["will", "would", "can", "could", "should", "may", "might"])
RELATIVE_PRONOUNS = frozenset(["that", "which", "who", "whom", "whose"])
"""What a clause begins with that says which of some things are meant."""
ASKING_WORDS = frozenset(
    ["all", "belong", "belongs", "came", "come", "comes", "contain", "contained", "contains",
     "count", "find", "get", "give", "include", "included", "includes", "list", "made", "make",
     "makes", "name", "number", "show", "state", "tell", "total", "two", "use", "used", "uses"]
)  # fmt: skip
"""Words that ask, and say nothing of what is asked for."""
NEGATIONS = frozenset(
    ["not", "never", "except", "excluding", "without", "neither", "nor", "besides"]
)
"""Words that say that what follows is not so."""
NEGATION = re.compile(
    rf"\b(?:{'|'.join(sorted(NEGATIONS))}|no longer|apart from|other than"
    r"|(?:any|every)(?:body|one|thing) but)\b|n['\u2019]t\b"
)
"""These words, and phrases that say the same."""
_PERSONS = frozenset(["who", "whom"])
_CHOICES = frozenset(["which", "what"])
_TIMES = frozenset(["time", "date", "day", "month", "year"])
_DEGREES = frozenset(
    ["big", "large", "small", "tall", "short", "high", "low", "deep", "long", "wide", "thick",
     "heavy", "light", "old", "young", "far", "fast", "hot", "cold", "expensive", "cheap", "much"]
)  # fmt: skip
_OURSELVES = frozenset(["you", "we", "i", "me"])


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForm:
    """By which word a question asks, and for what.

    Attributes:
        word: The question word that it opens with, such as ``who``; nothing where it opens with
            none.
        span: Characters of that word.
        preposition: Before that word: ``in`` of *in which year*.
        following: The word after it, in lower case: ``many`` of *how many films*.
        following_end: Where that ends.
        nouns: The two words after *which*, *what* or *how many*, of which one may be the noun of
            what is asked for.
        auxiliary: What a question for yes or no opens with, such as ``is``; nothing for others.
        count_span: Characters of the words that ask for a count: *how many*, *the number of*.
        existence_span: Characters of the words that ask whether there are any.
        mentions_time: Whether any words of the question ask for a time or an age. A date in such
            a question may be of what is asked for, so that it must not bound the answers; it is
            looked for everywhere, where ``asks_for_time`` goes by how the question opens.
        orders_times: Whether the first or the last of several is meant.
        asks_for_account: Whether it asks for what no single relation says: *describe ...*.
    """

    word: str
    span: Span
    preposition: str
    following: str
    following_end: int
    nouns: tuple[str, ...]
    auxiliary: str
    count_span: Span | None
    existence_span: Span | None
    mentions_time: bool
    orders_times: bool
    asks_for_account: bool

    @property
    def asks_for_time(self) -> bool:
        """Whether it asks *when*, or for a date, a day, a month, a year or a time of day."""
        return self.word == "when" or (self.word in _CHOICES and self.following in _TIMES)

    @property
    def asks_for_last_time(self) -> bool:
        """Whether it asks for the first or the last of several times.

        >>> [read_form(f"When {each}?").asks_for_last_time for each in ("did Ann last call", "is it")]
        [True, False]
        """
        return self.asks_for_time and self.orders_times

    @property
    def asks_where(self) -> bool:
        """Whether it asks for a place by the word *where*."""
        return self.word == "where"

    @property
    def asks_for_person(self) -> bool:
        """Whether it asks *who* or *whom*."""
        return self.word in _PERSONS

    @property
    def asks_in_what_way(self) -> bool:
        """Whether it asks *how* something is or was done.

        >>> [read_form(each).asks_in_what_way for each in ("How did Ann die?", "How old is Ann?")]
        [True, False]
        """
        return self.word == "how" and self.following in BE | DO | HAVE

    @property
    def asks_for_no_flag(self) -> bool:
        """Whether neither true nor false can answer it."""
        return self.word not in {"", "what", "why"}

    @property
    def degree(self) -> str:
        """The adjective of the amount that it asks for: ``tall`` of *how tall*; or nothing."""
        return self.following if self.word == "how" and self.following in _DEGREES else ""

    @property
    def how_much_span(self) -> Span | None:
        """Characters of *how much*; None where it does not ask so."""
        return (self.span[0], self.following_end) if self.degree == "much" else None

    @property
    def asks_what_is_done(self) -> bool:
        """Whether it asks for what somebody does to it, or has: *what did Ann buy*."""
        return self.word == "what" and not self.preposition and self.following in DO | HAVE

    @property
    def asks_who_acts(self) -> bool:
        """Whether it asks who does what its verb says: *who bought the lamp*."""
        passed_over = BE | DO | {"will", "can", ""}
        return self.word == "who" and not self.preposition and self.following not in passed_over

    @property
    def is_for_yes_or_no(self) -> bool:
        """Whether it opens as a question for yes or no of the graph, and not of what we can do."""
        return self.auxiliary not in {"", "can", "could"} and self.following not in _OURSELVES


def _any_of(words: frozenset[str]) -> str:
    return "|".join(sorted(words))


_AND = r"(?:(?:and|so|but)\s+)?"
_OPENING = re.compile(
    rf"\W*{_AND}(?:(?P<preposition>from|to|in|on|at|by|with|for|of|since|until|till)\s+)?"
    rf"(?P<word>{_any_of(QUESTION_WORDS)})\b"
    r"(?:\s+(?P<following>time(?=\s+zones?\b)\s+\w+|\w+))?"
)
_AUXILIARY = re.compile(
    rf"\s*{_AND}(?P<auxiliary>{_any_of(BE | DO | HAVE)}|can|could)(?:n['\u2019]t)?\b"
    r"(?:\s+(?P<following>\w+))?"
)
_NOUNS = re.compile(
    r"\s+(?:of\s+(?:the|its|their|his|her|our|your|my|these|those)\s+)?(\w+)(?:\s+(\w+))?"
)
_COUNT = re.compile(
    r"\bhow\s+many\b(?!\s+times\b)"
    # The phone number of somebody counts nothing.
    r"|^(?:(?:what|tell me|give me|give|find|state)(?:\b[^,;]{0,12}\bthe)?\s+|the\s+)?"
    r"(?:total\s+)?number\s+of\b|^count\s+(?:all\s+)?(?:of\s+)?(?:the\s+)?(?=\w)"
)
_EXISTENCE = re.compile(
    rf"\s*(?:(?:{_any_of(BE)}) there|(?:{_any_of(BE | DO | HAVE)}) any"
    r"|(?:do|did) (?:we|you|they) (?:still )?have)\b"
)
_OF_TIME = re.compile(
    r"\bwhen\b|\b(?:what|which)\s+(?:\w+\s+){0,2}?(?:year|years|date|dates|day|month|decade|century|time)\b"
    r"|\bhow\s+(?:long|old)\b|\b(?:date|year)\s+of\b|\bbirthdays?\b"
)
_LAST = re.compile(r"\b(?:last|first|latest|earliest|most recent(?:ly)?)\b(?!\s+name)")
_ACCOUNT = re.compile(
    r"\s*(?:please\s+)?(?:why|describe|explain|discuss|compare|contrast|assess|evaluate|analy[sz]e"
    r"|outline|summari[sz]e|introduce|tell\s+(?:me|us)\s+(?:(?:more|all|everything)\s+)?about"
    r"|give\s+(?:me\s+|us\s+)?an?\s+(?:account|overview|outline|summary|description)"
    # Before an adjective *how* asks for a value: how old, how far.
    rf"|how\s+(?:{_any_of(BE | DO | HAVE)}|can|could|might|will|would|should))\b"
    r"|.*\b(?:in\s+what\s+ways?|in\s+which\s+ways?"
    r"|what\s+(?:roles?|impact|influence|effects?|significance|contributions?|happened|influenced|shaped"
    r"|made|makes|led|drove|connects|links|is\s+known\s+about|do\s+(?:we|you)\s+know\s+about)"
    r"|(?:relationship|differences?|similarities|connections?)\s+between)\b",
    re.DOTALL,
)


@lru_cache(maxsize=1 << 12)
def read_form(question: str, /) -> QuestionForm:
    """Returns the form of a question.

    >>> form = read_form("And in which year did Ann move?")
    >>> form.word, form.preposition, form.following, form.asks_for_time
    ('which', 'in', 'year', True)
    >>> read_form("Is Ann older than Bob?").is_for_yes_or_no
    True
    >>> read_form("Which patients have asthma?").nouns
    ('patients', 'have')
    >>> read_form("Give me the phone number of Ann").count_span
    """
    text = lowered(question)
    opening, auxiliary = _OPENING.match(text), _AUXILIARY.match(text)
    asking = opening or auxiliary
    count, existence = _COUNT.search(text), _EXISTENCE.match(text)
    return QuestionForm(
        word=opening["word"] if opening else "",
        span=opening.span("word") if opening else (0, 0),
        preposition=(opening["preposition"] or "") if opening else "",
        following=(asking["following"] or "") if asking else "",
        following_end=asking.end() if asking else 0,
        nouns=_nouns(text, opening) if opening else (),
        auxiliary=auxiliary["auxiliary"] if auxiliary else "",
        count_span=count.span() if count else None,
        existence_span=existence.span() if existence else None,
        mentions_time=bool(_OF_TIME.search(text)),
        orders_times=bool(_LAST.search(text)),
        asks_for_account=bool(_ACCOUNT.match(text)),
    )


def _nouns(text: str, opening: re.Match[str]) -> tuple[str, ...]:
    is_count = (opening["word"], opening["following"]) == ("how", "many")
    if not is_count and opening["word"] not in _CHOICES:
        return ()
    match = _NOUNS.match(text, opening.end("following" if is_count else "word"))
    return tuple(noun for noun in match.groups() if noun) if match else ()
