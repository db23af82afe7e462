"""Questions of two and three steps whose wrong candidates are the same steps in another order.

A graph seldom holds both a walk and its reverse, so that candidates of real walks do not teach that
*the mother of X's husband* is not *the husband of X's mother*. These questions are wordings of steps
that are drawn, whatever a graph holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random
from typing import Any

from queries.wordings import Step, Wordings

FAMILY = "orders"
_MOST_WRONG = 9
_NAMED_ENDS = 0.4
"""Share of lines that name an end."""


def order_questions(
    wordings: Wordings,
    relations: Sequence[str],
    entities: Sequence[str],
    /,
    *,
    count: int,
    random_seed: int,
) -> Iterator[dict[str, Any]]:
    """Yields questions as rows of a file for ``make train-scorer``.

    Args:
        wordings: Puts steps into words.
        relations: Labels of the relations, by number.
        entities: Names to ask about, and to write as ends.
        count: Of questions.
        random_seed: Of all draws.
    """
    random = Random(f"orders {random_seed}")
    for _ in range(count):
        length = random.choice((2, 2, 2, 3, 3))
        forward = random.random() < 0.6
        steps = [
            (relation, not forward and random.random() < 0.5)
            for relation in random.sample(range(len(relations)), length)
        ]
        start = random.choice(entities)
        text = wordings.question(start, steps)
        others = _others(steps, random, len(relations))
        candidates = [
            [_line(start, each, relations, entities, random), each == steps, 0.0]
            for each in [steps, *others]
        ]
        yield {
            "q": text if random.random() < 0.6 else text.lower(),
            "fam": FAMILY,
            "set": f"{FAMILY}{length}",
            "c": candidates,
        }


def _others(steps: list[Step], random: Random, relations: int) -> list[list[Step]]:
    """Returns what the same words could be mistaken for, the likeliest first."""
    orders = [list(each) for each in permutations(steps) if list(each) != steps]
    random.shuffle(orders)
    parts = [steps[:-1], steps[1:], [steps[0]], [steps[-1]]]
    flipped = [
        [(rel, not back) if i == j else (rel, back) for j, (rel, back) in enumerate(steps)]
        for i in range(len(steps))
    ]
    replaced = [
        [(random.randrange(relations), back) if i == j else (rel, back)
         for j, (rel, back) in enumerate(steps)]
        for i in range(len(steps))
    ]  # fmt: skip
    others: list[list[Step]] = []
    for each in (*orders[:3], *parts, *flipped, *replaced):
        if each != steps and each not in others:
            others.append(each)
    return others[:_MOST_WRONG]


def _line(
    start: str,
    steps: Sequence[Step],
    relations: Sequence[str],
    entities: Sequence[str],
    random: Random,
) -> str:
    path = " ".join(f"{'<-' if back else '->'} {relations[rel]}" for rel, back in steps)
    end = random.choice(entities) if random.random() < _NAMED_ENDS else "?"
    count = random.choice(("1", "1", "1", "2", "3", "5", "many"))
    return f"{start} {path} = {end} ({count})"
