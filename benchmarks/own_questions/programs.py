"""Programs that compute the gold answers: nested JSON lists, run on the statements of a graph.

========================================  =========================================================
program                                   its value
========================================  =========================================================
``["is", ID, ...]``                       these ids
``["named", NAME]``                       every id of that name
``["all", CLASS]``                        the members of a class
``["follow", P, STEP, ...]``              what the steps lead to from P; ``<relation`` goes back
``["where", P, [STEP, ...], OP, VALUE]``  the members of P of which the steps' end meets a value:
                                          ``=``, ``!=`` (no end is it), ``<``, ``<=``, ``>``, ``>=``
``["and", P, P]``, ``["or", P, P]``       in both, in either
``["most", P, STEP, ...]``, ``["least"]`` the members of P with the highest or lowest end
``["nth", N, ORDER, P, STEP, ...]``       the Nth member by its end; ORDER is ``most`` or ``least``
``["count", P]``                          how many
``["exists", P]``                         ``yes`` or ``no``
========================================  =========================================================

Ends compare as numbers: a date is its year with month and day as decimals, and a unit is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any

from benchmarks.own_questions.facts import CLASS_OF, Facts

Program = Sequence[Any]

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ORDERED: dict[str, Callable[[Decimal, Decimal], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def run(program: Program, facts: Facts, /) -> frozenset[str]:
    """Returns the value of a program: ids, literals, one count, or ``yes`` or ``no``.

    Raises:
        ValueError: There is no such program, or an end that should be a number is none.
    """
    match program:
        case ["is", *ids]:
            return frozenset(ids)
        case ["named", name]:
            return facts.named(name)
        case ["all", class_]:
            return facts.backward[CLASS_OF].get(class_, frozenset())
        case ["follow", of, *steps]:
            return _follow(run(of, facts), steps, facts)
        case ["where", of, steps, comparison, value]:
            members = run(of, facts)
            return frozenset(
                id_ for id_ in members if _meets(_follow((id_,), steps, facts), comparison, value)
            )
        case ["and", first, second]:
            return run(first, facts) & run(second, facts)
        case ["or", first, second]:
            return run(first, facts) | run(second, facts)
        case ["most" | "least" as order, of, *steps]:
            return _nth(1, order, run(of, facts), steps, facts)
        case ["nth", place, order, of, *steps]:
            return _nth(place, order, run(of, facts), steps, facts)
        case ["count", of]:
            return frozenset((str(len(run(of, facts))),))
        case ["exists", of]:
            return frozenset(("yes" if run(of, facts) else "no",))
    raise ValueError(f"there is no such program: {program!r}")


def _follow(ids: Iterable[str], steps: Iterable[str], facts: Facts) -> frozenset[str]:
    ends = frozenset(ids)
    for step in steps:
        table = facts.backward if step.startswith("<") else facts.forward
        values = table.get(step.removeprefix("<"), {})
        ends = frozenset(end for id_ in ends for end in values.get(id_, ()))
    return ends


def _meets(ends: frozenset[str], comparison: str, value: str) -> bool:
    if comparison in ("=", "!="):
        return (value in ends) == (comparison == "=")
    compare = _ORDERED[comparison]
    return any(compare(_amount(end), _amount(value)) for end in ends)


def _nth(
    place: int, order: str, members: Iterable[str], steps: Sequence[str], facts: Facts
) -> frozenset[str]:
    """Returns the members at a rank, equal ones together; members without an end have none."""
    amounts = {
        id_: _amount(end) for id_ in members for end in sorted(_follow((id_,), steps, facts))
    }
    ranked = sorted(set(amounts.values()), reverse=order == "most")
    if place > len(ranked):
        return frozenset()
    return frozenset(id_ for id_, amount in amounts.items() if amount == ranked[place - 1])


def _amount(text: str) -> Decimal:
    date = _DATE.fullmatch(text)
    if date is not None:
        return Decimal(f"{date[1]}.{date[2]}{date[3]}")
    number = _NUMBER.match(text)
    if number is None:
        raise ValueError(f"expected a number or a date, got {text!r}")
    return Decimal(number[0])
