"""Questions that tell an entity from its namesakes by the value of a neighbour (K2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_service.model.identity import key64
from graph_service.text.fold import normalise_name, relation_words

_WITH_RELATION = (
    "Tell me about {name}, whose {relation} is {value}.",
    "Which {name} has {value} as {relation}?",
    "What is known of {name} ({relation}: {value})?",
    "What became of the {name} with the {relation} {value}?",
)
_WITHOUT_RELATION = (
    "Tell me more about {name} of {value}.",
    "What is {name}, the one that has to do with {value}?",
    "How are {value} and {name} connected?",
    "Which {name} is named together with {value}?",
)
_MAX_VALUE_WORDS = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that means one of several entities of a name.

    Attributes:
        text: The question.
        id: The entity that it means.
        value: The value that tells it from the others.
    """

    text: str
    id: str
    value: str


def ask_for_namesakes(
    names: Mapping[str, str],
    facts: Mapping[str, Sequence[tuple[str, str]]],
    /,
    *,
    random_seed: int,
) -> tuple[list[Asked], int]:
    """Returns one question for each entity whose name others have too, and how many have none.

    The question names a value that no namesake has, drawn by a keyed hash; an entity all of whose
    values a namesake has too, or whose values hold or are held by the name, is left out.

    Args:
        names: Name of each entity, by id.
        facts: ``(relation, value as a person writes it)`` of each entity; an empty relation
            is not named.
        random_seed: Of value and wording.

    >>> asked, none = ask_for_namesakes(
    ...     {"a": "Mercury", "b": "Mercury", "c": "Sun"},
    ...     {"a": [("kind", "planet"), ("near", "Sun")], "b": [("near", "Sun")]},
    ...     random_seed=0,
    ... )
    >>> [(item.id, item.value) for item in asked], none
    ([('a', 'planet')], 1)
    """
    members: dict[str, list[str]] = defaultdict(list)
    for id_, name in names.items():
        if normalise_name(name):
            members[normalise_name(name)].append(id_)
    asked: list[Asked] = []
    left_out = 0
    for name, ids in sorted(members.items()):
        if len(ids) < 2:
            continue
        values = {id_: {normalise_name(value) for _, value in facts.get(id_, ())} for id_ in ids}
        for id_ in sorted(ids):
            others = set().union(*(values[other] for other in ids if other != id_))
            decisive = [
                (relation, value)
                for relation, value in facts.get(id_, ())
                if _is_decisive(normalise_name(value), name, others)
            ]
            if not decisive:
                left_out += 1
                continue
            relation, value = min(
                decisive, key=lambda fact: (key64(f"{random_seed}\t{id_}\t{fact}"), fact)
            )
            forms = _WITH_RELATION if relation else _WITHOUT_RELATION
            form = forms[key64(f"{random_seed}\twording\t{id_}") % len(forms)]
            text = form.format(name=names[id_], relation=relation_words(relation), value=value)
            asked.append(Asked(text, id_, value))
    return asked, left_out


def _is_decisive(value: str, name: str, others: set[str]) -> bool:
    if len(value) < 2 or value in others or value.count(" ") >= _MAX_VALUE_WORDS:
        return False
    return f" {name} " not in f" {value} " and f" {value} " not in f" {name} "
