"""What people say, and the words of relations that they mean: who *lives* somewhere has a residence."""

from __future__ import annotations

from collections.abc import Mapping

from graph_service.retrieve.constraints.coverage import root, stems_of
from graph_service.text.fold import words

_MEANINGS: Mapping[str, frozenset[str]] = {
    "cost": frozenset({"price", "cost"}),
    "priced": frozenset({"price", "cost"}),
    "charge": frozenset({"price", "cost", "fee"}),
    "weigh": frozenset({"weight", "mass"}),
    "heavy": frozenset({"weight", "mass"}),
    "tall": frozenset({"height", "elevation", "altitude"}),
    "high": frozenset({"height", "elevation", "altitude"}),
    "long": frozenset({"length", "duration", "running", "runtime"}),
    "last": frozenset({"duration", "running", "runtime"}),
    "run": frozenset({"running", "runtime", "duration"}),
    "old": frozenset({"birth", "age", "founded", "inception"}),
    "aged": frozenset({"birth", "age"}),
    "born": frozenset({"birth", "born"}),
    "phone": frozenset({"phone", "telephone", "tel", "mobile"}),
    "telephone": frozenset({"phone", "telephone", "tel", "mobile"}),
    "taught": frozenset({"teacher", "instructor", "lecturer", "tutor", "professor"}),
    "teach": frozenset({"teacher", "instructor", "lecturer", "tutor", "professor"}),
    "pay": frozenset({"fee", "rent", "charge", "toll", "premium"}),
    "earn": frozenset({"salary", "wage", "income", "pay"}),
    "paid": frozenset({"salary", "wage", "income", "pay"}),
    "make": frozenset({"salary", "manufacturer", "maker"}),
    "live": frozenset({"residence", "home", "city", "town", "country", "address", "population"}),
    "release": frozenset({"release", "publication", "year", "date"}),
    "published": frozenset({"publication", "published", "release", "year", "date"}),
    "came": frozenset({"release", "publication", "year", "date"}),
    "made": frozenset({"release", "production", "manufacturer", "maker", "year", "date"}),
    "placed": frozenset({"order", "ordered", "date"}),
    "started": frozenset({"start", "hired", "hire", "inception", "founded", "begin"}),
    "joined": frozenset({"hired", "hire", "join", "start"}),
    "employ": frozenset({"employees", "staff", "employer"}),
    "worker": frozenset({"employees", "staff"}),
    "people": frozenset({"population", "employees", "capacity"}),
    "inhabitant": frozenset({"population"}),
    "resident": frozenset({"population"}),
    "seat": frozenset({"seats", "capacity"}),
    "hold": frozenset({"capacity", "seats"}),
    "held": frozenset({"date", "day", "venue", "location", "place"}),
    "happened": frozenset({"date", "day", "venue", "location", "place", "start", "began"}),
    "occurred": frozenset({"date", "day", "venue", "location", "place", "start", "began"}),
    "big": frozenset({"area", "size", "population"}),
    "large": frozenset({"area", "size", "population"}),
    "named": frozenset({"name"}),
    "written": frozenset({"author", "writer", "written"}),
    "wrote": frozenset({"author", "writer", "written"}),
    "from": frozenset({"country", "origin"}),
    "spoken": frozenset({"language"}),
    "report": frozenset({"reports", "manager", "supervisor", "boss"}),
    "work": frozenset({"department", "employer", "office", "team", "company", "division",
                       "remote", "manager", "supervisor", "trade", "occupation", "profession", "role",
                       "job", "position", "employees", "staff"}),
    "boss": frozenset({"reports", "manager", "supervisor"}),
    "supplied": frozenset({"supplier"}),
    "located": frozenset({"city", "country", "location", "region", "town", "place", "address"}),
    "based": frozenset({"city", "country", "location", "region", "town", "place", "headquarters"}),
    "situated": frozenset({"city", "country", "location", "region", "town", "place"}),
    "win": frozenset({"award", "prize", "medal"}),
    "won": frozenset({"award", "prize", "medal"}),
    "lives": frozenset({"residence", "home", "city", "town", "country", "address"}),
}  # fmt: skip
MEANT_WORDS = frozenset(_MEANINGS).union(*_MEANINGS.values())
"""What people say, and what they mean."""
_TIMES = frozenset(map(root, ("date", "year")))
_BY_ROOT = {root(word): frozenset(map(root, meant)) for word, meant in _MEANINGS.items()}


def is_meant(word_root: str, label: str, /) -> bool:
    """Returns whether people mean a relation by a word, whose root is given.

    >>> is_meant(root("live"), "home town"), is_meant(root("live"), "place of birth")
    (True, False)
    """
    own = stems_of(words(label))
    # A date is of what stands beside: a due date is none of release.
    return not (own - _TIMES or own).isdisjoint(_BY_ROOT.get(word_root, ()))
