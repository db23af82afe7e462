"""What an operation costs its client, and when it is refused for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from graph_service.errors import ThrottledError
from graph_service.server.rates import Rates
from graph_service.server.refusals import refusal

LOOKUP_COST = 0.5
"""What costs no more runs among the look-ups; the cheapest retrieval does not."""


class CostlyError(BaseException):
    """Ends an operation before it begins, to be run among the retrievals."""


class OverspentError(BaseException):
    """Ends an operation before it begins: its client has asked for too much.

    Attributes:
        cost: Of the operation.
        wait_s: Seconds until it may be asked again.
    """

    def __init__(self, cost: float, wait_s: float) -> None:
        super().__init__(cost, wait_s)
        self.cost = cost
        self.wait_s = wait_s


@dataclass(slots=True)
class Bill:
    """What a client pays for one operation."""

    client: str
    rates: Rates | None
    _taken: float = 0.0

    def admit(self, cost: float) -> None:
        """Takes the cost of an operation; ends it where it is not to be run, or elsewhere."""
        self.take(cost)
        if cost > LOOKUP_COST:
            raise CostlyError

    def take(self, cost: float) -> None:
        """Takes a cost out of what the client has left; ends the operation where that is less."""
        if self.rates is None:
            return
        wait_s = self.rates.take(self.client, cost)
        if wait_s:
            raise OverspentError(cost, wait_s)
        self._taken = cost

    def settle(self, used: float) -> None:
        """Takes what was used, in place of what was taken before."""
        taken, self._taken = self._taken, used
        if self.rates is not None:
            self.rates.settle(self.client, taken, used)

    def left(self) -> dict[str, float] | None:
        """Returns what the client has left; None where nobody counts."""
        return None if self.rates is None else self.rates.status(self.client)

    def add_left(self, cost: dict[str, Any]) -> dict[str, Any]:
        """Returns what ``extensions.cost`` of an answer says to this client."""
        left = self.left()
        return cost if left is None else {**cost, "throttleStatus": left}


def throttled(error: OverspentError, max_cost: float, bill: Bill) -> Response:
    """Returns the refusal of an operation that costs more than its client has left."""
    wait_s = math.ceil(error.wait_s)
    cost = {"requested": error.cost, "actual": 0.0, "limit": max_cost}
    return refusal(
        429,
        ThrottledError.code,
        f"the operation costs {error.cost:.10g}, more than this client has left; "
        f"try again in {wait_s} s",
        {"retry-after": str(wait_s)},
        extensions={"cost": bill.add_left(cost)},
    )
