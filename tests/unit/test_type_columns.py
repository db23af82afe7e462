"""A column that says of what type the rows are, beside the class of the rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from table_service import retrieve, service_of, sure_answers
from things_of_tables import Things

from graph_service import Service
from graph_service.model.classes import RDF_TYPE
from graph_service.model.result import Status
from loaders.options import LoadOptions
from loaders.source import open_source
from loaders.tables.reader import read_csv

ROWS = (
    'AX1,Laptop,R1,"EUR 900,00"\nAX2,Printer,R2,"EUR 300,00"\nAX3,Laptop,R2,"EUR 950,00"\n'
    'AX4,Scanner,R3,"EUR 120,00"\nAX5,Printer,R1,"EUR 310,00"\n'
)
COLUMNS = ("Type", "type", "Kind", "Class", "Category")

VANS = (
    "Van,Kind,Garage,Fuel\nV1,Minibus,North,Diesel\nV2,Pickup,North,Petrol\n"
    "V3,Minibus,South,Diesel\nV4,Box van,South,Electric\nV5,Pickup,North,Petrol\n"
)

service = service_of({"devices": f"Serial,Type,Room,Price\n{ROWS}", "vans": VANS})


@pytest.mark.parametrize("column", COLUMNS)
def test_the_class_of_the_rows_has_a_name_of_its_own(tmp_path: Path, column: str) -> None:
    things = Things(tmp_path, {"devices.csv": f"Serial,{column},Room,Price\n{ROWS}"}, row="Serial")
    labels = things.labels()
    assert labels[RDF_TYPE] == "instance of"
    assert labels[column.lower()] == column.lower()


def test_other_tables_do_not_name_it(tmp_path: Path) -> None:
    things = Things(tmp_path, {"devices.csv": f"Serial,Model,Room,Price\n{ROWS}"}, row="Serial")
    assert RDF_TYPE not in things.labels()


@pytest.mark.parametrize(("column", "is_named"), [("type", True), ("model", False)])
def test_nodes_of_neo4j_admin(tmp_path: Path, column: str, is_named: bool) -> None:
    path = tmp_path / "devices.csv"
    path.write_text(f":ID,{column},:LABEL\n1,Laptop,Device\n")
    with open_source(path) as opened:
        names = {
            each.id for parsed in read_csv(opened, LoadOptions(), {}) for each in parsed.entities
        }
    assert (RDF_TYPE in names) is is_named


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What type is AX1?", "Laptop"),
        ("What type of device is AX4?", "Scanner"),
        ("What kind is V1?", "Minibus"),
        ("What kind of van is V4?", "Box van"),
    ],
)
def test_a_question_of_a_type_is_answered_by_the_column(
    service: Service, question: str, value: str
) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    step = result.items[0].steps[-1]
    assert step.triple.value_label == value


def test_kinds_of_things_are_not_the_things(service: Service) -> None:
    kinds = {"Laptop", "Printer", "Scanner"}
    assert sure_answers(service, "Which kinds of device are there?") == kinds
    result = retrieve(service, "How many kinds of garages are there?")
    assert result.status is not Status.OK
