"""Words of number, time, degree and negation that questions about classes use."""

from __future__ import annotations

import re

from graph_service.retrieve.constraints.coverage import root
from graph_service.text import question_form
from graph_service.text.question_form import ASKING_WORDS

NEGATIONS = question_form.NEGATIONS | {
    *("no", "none", "nobody", "nothing", "lack", "lacks", "lacking", "missing", "cannot"),
    *("outside", "t"),
}
HAVING = frozenset({"with", "have", "has", "having", "had"})
LOADED = frozenset(
    {"more", "most", "than", "less", "least", "only", "same", "other", "before", "after", "over",
     "under", "between", "few", "both", "again", "each", "every", "per", "or", "until", "own",
     "since", "about", "during", "if", "why", "how", "my", "your", "their", "his", "her"}
)  # fmt: skip
"""Function words that change what is classes for: something must take them up."""
IGNORED = (ASKING_WORDS - {"total", "two", "used", "uses", "use"}) | frozenset(
    {"exist", "exists", "existing", "currently", "still", "altogether", "different", "various",
     "database", "graph", "anyone", "anybody", "anything", "someone", "somebody", "something",
     "our", "yet", "already", "see", "need", "know", "want", "please", "there", "possible", "available", "display",
     "return", "enumerate", "entire", "whole", "complete", "following", "identify", "retrieve",
     "been", "being", "got", "out", "ones", "overview", "stock", "say", "look"}
) - {"stock", "available", "out"}  # fmt: skip
LIGHT = frozenset(
    map(root, ("placed", "place", "took", "take", "taken", "hold", "held", "total", "overall",
               "done", "individual", "handle", "handled", "process", "processed", "respective",
               "respectively", "receive", "received", "value", "get", "got"))
)  # fmt: skip
"""Verbs and adjectives that say no more than that there are some."""
COMING = frozenset({"come", "comes", "coming"})
WHERE = frozenset({"located", "based", "situated", "live", "lives"}) | COMING
NO_STOCK = re.compile(
    r"\b(?:out of stock|sold out|(?:run|ran|runs|running) out(?: of stock)?|no longer in stock"
    r"|not (?:currently |still )?(?:in stock|available)|unavailable|no stock(?: left)?)\b"
)
IN_STOCK = re.compile(r"\b(?:still |currently )?(?:in stock|available|on hand)\b")
STOCK = frozenset(map(root, ("stock", "inventory", "available", "availability")))
QUANTITIES = frozenset(map(root, ("quantity", "qty", "amount", "number", "count", "units",
                                  "pieces")))  # fmt: skip
"""Words for a column that says how many or how much of something a row is about."""
KEEPING = re.compile(
    r"\bdo (?:you|we|they) (?:currently |still )?(?:stock|carry|offer|keep|have|own|sell)\b"
)
"""That there are some, in the words of those whose table it is."""
HOW_OFTEN = re.compile(r"\bhow (?:many times|often)(?= (?:did|was|were|has|have|had)\b)")
COUNT_TAIL = re.compile(r"\b(?:in total|in all|altogether|overall|(?:are|is) there)\b")
RANKS = {
    "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5,
}  # fmt: skip
RANK = re.compile(rf"\b({'|'.join(RANKS)})[\s-]+$")
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COUNTS = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"
SEVERAL = re.compile(rf"\b(?:{COUNTS}|few|top|bottom)[\s-]+$")
CLAUSE = frozenset({"and", "but", "or", "whose", "which", "that", "who"})
FITTING, NAMED = 0.6, 0.15
NEAR_WORDS = 3
LEAST_OF_STEP = 0.5
"""How well the question fits a relation that is followed; below, it is none that is named."""
BEGUN = frozenset({"inception", "date founded"})
BEGUN_ROOTS = frozenset(
    map(root, ("opened", "opening", "founded", "established", "built", "created", "introduced",
               "launched", "completed", "construction", "start", "begun", "born"))
)  # fmt: skip
OF_LOCATION = frozenset(
    map(root, ("country", "city", "origin", "location", "town", "region", "place", "within"))
)


def read_count(text: str, /) -> int:
    """Returns the number that a text of ``COUNTS`` is.

    >>> read_count("three"), read_count("12")
    (3, 12)
    """
    return int(text) if text.isdigit() else _COUNTS.index(text) + 2
