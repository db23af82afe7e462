"""How values are shown that are not shown as they are stored; see ``contract``."""

from __future__ import annotations

from typing import Any

import orjson

from graph_service.model.browsing import Direction
from graph_service.model.contract import Conversion, computed
from graph_service.model.named_values import NamedValue, by_name, named_values
from graph_service.model.result import Prizes, StageTiming
from graph_service.model.serialise import to_plain
from graph_service.model.source_names import owner_name, source_name, with_source_names
from graph_service.model.stored_view import ViewCounts
from graph_service.model.view_spec import ViewSpec


def _as_stored(value: Any) -> Any:
    return value


SOURCE = Conversion(str, source_name, _as_stored)
OWNER = Conversion(str, owner_name, _as_stored)
JSON = Conversion(str, lambda value: orjson.dumps(to_plain(value)).decode(), orjson.loads)
VIEW_SPEC = Conversion(ViewSpec, ViewSpec.from_json, ViewSpec.to_json)
COUNTS = Conversion(
    ViewCounts | None, ViewCounts.of, lambda counts: counts.by_kind() if counts else {}
)
NAMED_VALUES = Conversion(
    tuple[NamedValue, ...], lambda values: named_values(with_source_names(values)), by_name
)
PARAMETERS = Conversion(
    tuple[NamedValue, ...],
    lambda parameters: named_values(to_plain(parameters), split=True),
    by_name,
)
NUMBERS = Conversion(
    tuple[float, ...],
    lambda prizes: (prizes.head, prizes.edge, prizes.tail),
    lambda numbers: Prizes(*numbers),
)
TIMINGS = Conversion(
    tuple[StageTiming, ...],
    lambda timings: tuple(StageTiming(stage, round(ms, 3)) for stage, ms in timings.items()),
    lambda timings: {each.stage: each.milliseconds for each in timings},
)
DIRECTION = Conversion(
    Direction,
    lambda outgoing: Direction.OUTGOING if outgoing else Direction.INCOMING,
    lambda direction: direction is Direction.OUTGOING,
)
CURSOR = computed("Where it stands, for the argument after.", kind=str)
