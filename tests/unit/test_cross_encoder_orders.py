"""Questions of steps in an order, beside the same steps in other orders."""

from __future__ import annotations

from random import Random

from queries.wordings import Wordings
from tools.cross_encoder.orders import order_questions

RELATIONS = ["mother", "spouse", "employer", "place of birth", "genre"]


def test_the_right_line_is_the_walk_and_its_other_orders_are_wrong() -> None:
    wordings = Wordings(Random(1), RELATIONS, RELATIONS, [()] * len(RELATIONS))
    rows = list(order_questions(wordings, RELATIONS, ["Ada", "Bo"], count=60, random_seed=2))
    assert len(rows) == 60
    for row in rows:
        lines = [line.split(" = ")[0] for line, *_ in row["c"]]
        right = [line for line, (_, is_right, _) in zip(lines, row["c"], strict=True) if is_right]
        assert len(right) == 1
        assert len(set(lines)) == len(lines)
        steps = right[0].count("->") + right[0].count("<-")
        assert row["set"] == f"orders{steps}"
        # The same relations in another order are there, and are wrong.
        relations = sorted(name for name in RELATIONS if name in right[0])
        assert any(
            line != right[0] and sorted(name for name in RELATIONS if name in line) == relations
            for line in lines
        )
