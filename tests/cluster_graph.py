"""A graph on one machine and as Parquet files, with what views have trouble with."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

from graph_service import Service
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Rank, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_spec import Cardinality, Method, ViewSpec


def statements() -> list[Statement]:
    """Classes, a crowd of parallel and inverse edges, literals, deprecated ones, twins."""
    chance = random.Random(5)
    made = [make_statement(f"Q{n}", "P31", EntityValue(f"Q{900 + n % 7}")) for n in range(1, 120)]
    for _ in range(700):
        head, tail = chance.randrange(1, 160), chance.randrange(1, 160)
        relation = f"P{chance.choice((1, 1, 1, 2, 3, 4, 5))}"
        rank = Rank.DEPRECATED if chance.random() < 0.1 else Rank.NORMAL
        made.append(make_statement(f"Q{head}", relation, EntityValue(f"Q{tail}"), rank=rank))
        if chance.random() < 0.1:
            made.append(make_statement(f"Q{tail}", relation, EntityValue(f"Q{head}")))
        if chance.random() < 0.1:
            # The same triple under another id.
            value = EntityValue(f"Q{tail}")
            made.append(make_statement(f"Q{head}", relation, value, id=f"twin-{len(made)}"))
    # A pool of two members, in which little is left to choose, and for some nothing.
    made += [make_statement(f"Q{n}", "P6", EntityValue(f"Q{n % 2 + 300}")) for n in range(1, 12)]
    made += [make_statement(f"Q{n}", "P6", EntityValue(f"Q{(n + 1) % 2 + 300}")) for n in (1, 2, 3)]
    made += [make_statement(f"Q{n}", "P9", StringValue(f"text {n}")) for n in range(1, 40)]
    return list({item.id: item for item in made}.values())


@dataclass(frozen=True)
class Both:
    """A graph on one machine, and its Parquet files."""

    service: Service
    arrays: KnowledgeGraph
    folder: Path


def spec_of(method: Method, level: float, random_seed: int) -> ViewSpec:
    spec = ViewSpec(method, level=level, random_seed=random_seed)
    return replace(spec, cardinality=Cardinality.ANY) if method is Method.CONTRADICTION else spec
