"""Answers without a language model: one template sentence a triple, with its citation.

The baseline of every table, and the answer of a machine that has no model. It says what was
retrieved, in order, and nothing else; what it prints is marked ``template text, no language
model``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph_service.model.result import (
    LinkedEntity,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Triple,
    triples_of,
)
from graph_service.model.text import relation_words
from graph_service.model.values import GREGORIAN, NoValue, SomeValue, Time
from queries.generate.citations import NOT_AVAILABLE, Sentence, one_line
from queries.generate.reader import CitationReader, render_citations

VERBALISER = "template text, no language model"
MAX_SENTENCES = 5
KEPT_SHARE = 0.8
"""Triples and trees are spoken down to this share of the best item's score."""


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_PREPOSITIONS = _set(
    "of in at by for with to from after before on into as about against near under over during "
    "within through"
)
# Past participles and past tenses that end in -ed and take no "was": the head acts.
_ACTIVE_PAST = _set(
    "participated competed died lived resided worked played served appeared graduated studied "
    "moved retired succeeded performed starred debuted emigrated immigrated preached travelled "
    "ruled reigned converted occurred happened ended started voted"
)
# Irregular participles, which read as passives before a preposition.
_PARTICIPLES = _set("born built held led made written sung spoken drawn won given taken found set")
# Passives that say what is rather than what was done.
_STATES = _set(
    "located based used connected related composed owned operated named licensed dedicated known "
    "considered situated affiliated shared followed preceded replaced made spoken written set "
    "derived maintained governed stated"
)
_VERBS = _set(
    "has is was depicts follows contains produces uses causes treats includes represents lies "
    "takes flows applies participates replaces precedes shares uses says exists occurs consists "
    "belongs describes plays works speaks borders owns operates becomes means starts ends "
    "influenced founded created wrote directed"
)
# "award received", "position held": what the head did, the noun first.
_PAST_LAST = _set("received held")
_BARE = _set("part different adjacent similar native next due subject related separate close")
_MEMBERS = _set("member part participant")
_THE = _set("capital opposite owner end start head")
_NO_PLURAL = re.compile(
    r"(?:ss|us|is|os|series|species|news|headquarters|address|status|basis|genus|cause|"
    r"lens|gas|atlas)$"
)
_PLURALS = _set("children people men women alumni media criteria data")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WORDED = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f' ,/()-]*")


def relation_phrase(label: str, /) -> str:
    """Returns a pattern of ``{head}`` and ``{value}`` that says a relation in English.

    Labels are noun phrases (``mother``), passives (``educated at``), verbs (``participated in``,
    ``depicts``) or a noun with a preposition (``member of``). Anything that is no English phrase
    is set off by a dash.

    >>> relation_phrase("place of birth")
    "{head}'s place of birth is {value}"
    >>> relation_phrase("educated at"), relation_phrase("participated in")
    ('{head} was educated at {value}', '{head} participated in {value}')
    >>> relation_phrase("member of"), relation_phrase("children")
    ('{head} is a member of {value}', "{head}'s children include {value}")
    >>> relation_phrase("国家")
    '{head} — 国家: {value}'
    """
    shown = relation_words(one_line(label)).replace("{", "(").replace("}", ")")
    words = shown.split()
    if not words or len(shown) > 80 or not _WORDED.fullmatch(shown):
        return f"{{head}} — {shown or 'statement'}: {{value}}"
    first, last = words[0].lower(), words[-1].lower()
    if len(words) == 2 and last in _PAST_LAST:
        return f"{{head}} {last} the {first} {{value}}"
    if first in _VERBS and last != "by":
        return f"{{head}} {shown} {{value}}"
    if first in _MEMBERS and len(words) > 2 and words[1].lower() in _PREPOSITIONS:
        article = "" if first in _BARE else "a "
        rest = " ".join(words[2:])
        return f"{{head}} is {article}{first} {words[1]} the {rest} {{value}}"
    leads_place = first in _STATES and len(words) > 1 and words[1].lower() in _PREPOSITIONS
    if leads_place or (last in _PREPOSITIONS and len(words) > 1):
        if first in _ACTIVE_PAST:
            return f"{{head}} {shown} {{value}}"
        if first in _STATES or first in _BARE or first in _PREPOSITIONS:
            return f"{{head}} is {shown} {{value}}"
        if first.endswith("ed") or first in _PARTICIPLES:
            return f"{{head}} was {shown} {{value}}"
        if first in _THE:
            return f"{{head}} is the {shown} {{value}}"
        if _is_plural(words):
            return f"{{head}} — {shown}: {{value}}"
        article = "an" if first[0] in "aeio" else "a"
        return f"{{head}} is {article} {shown} {{value}}"
    verb = "include" if _is_plural(words) else "is"
    return f"{{head}}'s {shown} {verb} {{value}}"


def _is_plural(words: Sequence[str]) -> bool:
    """Whether the noun that leads a phrase is plural (``languages spoken, written``)."""
    lead = words[0]
    for word in words[1:]:
        folded = word.lower().strip(",")
        if folded in _PREPOSITIONS or folded in _PARTICIPLES or folded == "or":
            break
        if lead.endswith(","):
            break
        lead = word
    lead = lead.lower().strip(",()")
    return lead in _PLURALS or (
        lead.endswith("s") and len(lead) > 3 and not _NO_PLURAL.search(lead)
    )


def value_words(triple: Triple, /) -> str:
    """Returns a triple's value as a sentence says it: dates in words, the rest as labelled.

    Dates that are no full Gregorian ones, or before our era, stay as the result labels them.
    """
    value = triple.value
    if isinstance(value, Time) and value.calendar == GREGORIAN and 10 <= value.precision <= 11:
        found = re.fullmatch(r"\+?(\d{4,})-(\d\d)-(\d\d)T.*", value.time)
        if found and 1 <= int(found[2]) <= 12:
            month = _MONTHS[int(found[2]) - 1]
            if value.precision == 10 or found[3] == "00":
                return f"{month} {int(found[1])}"
            return f"{int(found[3])} {month} {int(found[1])}"
    return one_line(triple.value_label)


def triple_sentence(triple: Triple, /) -> str:
    """Returns a triple as one sentence, without its citation and full stop."""
    head = one_line(triple.head.label)
    label = relation_words(one_line(triple.relation.label))
    if isinstance(triple.value, SomeValue):
        return f"{head} has a value for “{label}”, but it is not known"
    if isinstance(triple.value, NoValue):
        return f"{head} has no value for “{label}”"
    pattern = relation_phrase(triple.relation.label)
    # One pass, so that a label that holds "{value}" stays what it is.
    parts = re.split(r"(\{head\}|\{value\})", pattern)
    spoken = {"{head}": head, "{value}": value_words(triple)}
    return "".join(spoken.get(part, part) for part in parts)


def choose_triples(
    result: RetrievalResult,
    /,
    *,
    limit: int = MAX_SENTENCES,
    kept_share: float = KEPT_SHARE,
    min_score: float | None = None,
) -> tuple[Triple, ...]:
    """Returns the triples to speak, in the order to speak them; none where nothing bears on it.

    Of paths the best one, whole and in its order, and others of the same score as far as they
    fit; of triples and subgraphs the items whose score is at least a share of the best one's.

    Args:
        result: What was retrieved.
        limit: Triples at most; the best path is never cut.
        kept_share: Share of the best score, for triples and subgraphs.
        min_score: Items under this score bear on nothing.
    """
    if result.status is not Status.OK:
        return ()
    chosen: dict[str, Triple] = {}
    best: float | None = None
    # A tree comes in no order of score: its best items are spoken first, ties as they came.
    items: list[ScoredTriple | ScoredPath] = list(result.items)
    items.sort(key=lambda item: -item.score)
    for item in items:
        if min_score is not None and item.score < min_score:
            break
        if best is None:
            best = item.score
        if isinstance(item, ScoredTriple):
            if item.score < min(best, best * kept_share) or len(chosen) >= limit:
                break
            chosen.setdefault(item.triple.statement_id, item.triple)
            continue
        steps = {step.triple.statement_id: step.triple for step in item.steps}
        fresh = [id_ for id_ in steps if id_ not in chosen]
        if item.score < best or (chosen and len(chosen) + len(fresh) > limit):
            break
        chosen.update((id_, steps[id_]) for id_ in fresh)
    return tuple(chosen.values())


def missing_sentence(linked: Sequence[LinkedEntity], /) -> str:
    """Returns the sentence for a question that nothing retrieved bears on, without its marker."""
    labels = list(dict.fromkeys(one_line(item.entity.label) for item in linked))
    if not labels:
        return "The graph knows no entity that this question names"
    listed = labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " and " + labels[-1]
    return f"The graph does not say this of {listed}"


def _ended(said: str) -> str:
    """A sentence with its full stop, which a name such as ``Sr.`` has brought already."""
    return said if said.endswith((".", "!", "?")) else f"{said}."


def verbalise(
    result: RetrievalResult,
    /,
    *,
    limit: int = MAX_SENTENCES,
    kept_share: float = KEPT_SHARE,
    min_score: float | None = None,
) -> tuple[str, tuple[Sentence, ...]]:
    """Returns an answer's text and its sentences, made of templates alone (K1).

    Args:
        result: What was retrieved.
        limit: Sentences at most, but for one path of more steps.
        kept_share: As in ``choose_triples``.
        min_score: As in ``choose_triples``.
    """
    chosen = choose_triples(result, limit=limit, kept_share=kept_share, min_score=min_score)
    if not chosen:
        said = missing_sentence(result.linked)
        return f"{said} {NOT_AVAILABLE}.", (Sentence(_ended(said), (), True),)
    knowledge = triples_of(result)
    reader = CitationReader(knowledge)
    shown: list[str] = []
    sentences: list[Sentence] = []
    for triple in chosen:
        said = triple_sentence(triple)
        printed = render_citations([triple], knowledge)
        citations = tuple(
            citation for found in reader.brackets(printed) for citation in found.citations
        )
        shown.append(f"{said} {printed}.")
        sentences.append(Sentence(_ended(said), citations))
    return " ".join(shown), tuple(sentences)
