"""What tables of things become, without a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from graph_service.model.statement import Statement
from graph_service.model.values import display_value
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import open_source
from loaders.tables.look import look_lines
from loaders.tables.mapping import TablesPlan
from loaders.tables.plan import plan_tables, request_of
from loaders.tables.things import read_things

PARTS = "Part No,Supplier,Maker,Amount\nP1,2,Bolt Co,5\nP2,1,bolt co,6\nP3,9,Nut Inc,7\n"
SUPPLIERS = "id,name,manager\n1,Kestrel,2\n2,Pola,\n"
MAKERS = "Code,Name\nB,Bolt Co\nN,Nut Inc\n"


class Things:
    """Statements, names and counts of the tables of a folder."""

    def __init__(self, folder: Path, tables: Mapping[str, str | bytes], **options: Any) -> None:
        for name, text in tables.items():
            (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        source = folder if len(tables) > 1 else folder / next(iter(tables))
        said = LoadOptions(**({"row": "auto"} | options))
        request = request_of(said)
        assert request is not None
        self.plan: TablesPlan = plan_tables(source, request, said)
        self.options = replace(said, tables=self.plan)
        self.parsed = Parsed()
        for path in dict.fromkeys(table.path for table in self.plan.tables):
            with open_source(path) as opened:
                for parsed in read_things(opened, self.options, {}):
                    self.parsed.add(parsed)

    def values(self, relation: str) -> dict[str, Any]:
        """Values of a relation by their head; several as a sorted list, in words."""
        values: dict[str, list[str]] = {}
        for statement in self.parsed.statements:
            if statement.relation == relation:
                values.setdefault(statement.head, []).append(display_value(statement.value))
        return {head: each[0] if len(each) == 1 else sorted(each) for head, each in values.items()}

    def types(self, relation: str) -> set[type]:
        return {type(s.value) for s in self.parsed.statements if s.relation == relation}

    def labels(self) -> dict[str, str]:
        return {entity.id: entity.labels["en"] for entity in self.parsed.entities if entity.labels}

    def notes(self) -> str:
        return "\n".join(look_lines(self.plan))


def statements_of(blocks: Iterable[Parsed], /) -> list[Statement]:
    """Returns the statements of some blocks in their order."""
    return [statement for parsed in blocks for statement in parsed.statements]
