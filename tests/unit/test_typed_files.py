"""Dataclasses from files of users: by type and bounds, from YAML and JSON, with line and field of errors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import pytest
from error_texts import check_text, raises

from graph_service.errors import InputError
from graph_service.options import option
from queries.datasets.records import JsonNode
from queries.datasets.typed import FileNode, read_typed
from queries.datasets.yaml_file import read_yaml


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Part:
    name: str
    is_new: bool = False


@dataclass(frozen=True)
class Whole:
    id: str
    colour: Colour
    count: int = option(1, help="how many", least=1, most=9)
    share: float | None = option(None, help="of all", least=0, most=1)
    level: str = option("low", help="how high", choices=("low", "high"))
    pairs: tuple[tuple[str, str], ...] = ()
    parts: tuple[Part, ...] = ()
    file: Path | None = None
    note: str = ""
    extra: tuple[int, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if self.id == "bad":
            raise InputError("this id is taken", argument="id")


def in_yaml(fields: object) -> FileNode:
    # Each field of the document stands in a line of its own; JSON is YAML.
    lines = json.dumps(fields, indent=0).replace('{\n"id"', '{"id"', 1)
    return read_yaml(lines, "f.yaml", expected="fields")


def in_json(fields: object) -> FileNode:
    return JsonNode("f.jsonl, line 7", "", fields)


FORMS = pytest.mark.parametrize("form", [in_yaml, in_json], ids=["yaml", "json"])


@FORMS
def test_every_type_is_read(form: object, tmp_path: Path) -> None:
    assert callable(form)
    (tmp_path / "x.txt").touch()
    node = form(
        {"id": 7, "hue": "blue", "count": 9, "share": 0.5, "level": "high", "note": " ",
         "pairs": [["a", "b"], ["c", "d"]], "parts": [{"name": "p", "is_new": True}, {"name": "q"}],
         "file": "x.txt", "extra": [0, 5]}
    )  # fmt: skip
    whole = read_typed(Whole, node, names={"colour": "hue"}, folder=tmp_path)
    assert whole.id == "7"
    assert (whole.colour, whole.count, whole.share, whole.level) == (Colour.BLUE, 9, 0.5, "high")
    assert whole.pairs == (("a", "b"), ("c", "d"))
    assert whole.parts == (Part("p", True), Part("q"))
    assert (whole.file, whole.note.strip(), whole.extra) == (tmp_path / "x.txt", "", (0, 5))
    assert read_typed(Whole, form({"id": "x", "colour": "red"})) == Whole("x", Colour.RED)


@FORMS
@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"count": 0}, "count"),
        ({"count": 10}, "count"),
        ({"count": -1}, "count"),
        ({"count": "x"}, "count"),
        ({"share": 1.5}, "share"),
        ({"share": "x"}, "share"),
        ({"level": "mid"}, "level"),
        ({"colour": "green"}, "colour"),
        ({"pairs": "a"}, "pairs"),
        ({"pairs": [["a"]]}, "pair"),
        ({"parts": [{"name": "p", "is_new": "maybe"}]}, "is_new"),
        ({"parts": [{"nam": "p"}]}, "nam"),
        ({"file": "none.txt"}, "file"),
        ({"id": ""}, "id"),
        ({"id": "bad"}, "id"),
        ({"colors": "red"}, "colors"),
    ],
)
def test_errors_name_the_line_and_the_field(
    form: object, change: dict[str, object], name: str
) -> None:
    assert callable(form)
    fields = {"id": "x", "colour": "red", **change}
    with pytest.raises(InputError) as caught:
        read_typed(Whole, form(fields))
    message = caught.value.message
    line = 1 + list(fields).index(next(iter(change)))
    assert message.startswith(("f.yaml, line ", "f.jsonl, line 7"))
    if message.startswith("f.yaml"):
        assert int(message.split(",")[1].removeprefix(" line ").split(":")[0]) >= line
    assert name in message
    check_text(message)


@FORMS
def test_a_missing_field_is_named(form: object) -> None:
    assert callable(form)
    with pytest.raises(InputError, match=r"line (1|7).*colour"):
        read_typed(Whole, form({"id": "x"}))
    with pytest.raises(InputError, match=r"line (1|7).*share"):
        read_typed(Whole, form({"id": "x", "colour": "red"}), required=("share",))
    with pytest.raises(InputError, match="'count'|field count"):
        read_typed(Whole, form({"id": "x", "colour": "red", "count": 1}), only=("id", "colour"))


@pytest.mark.parametrize("fields", [[], "x", None, 5])
def test_what_has_no_fields_is_refused(fields: object) -> None:
    for form in (in_yaml, in_json):
        with pytest.raises(InputError, match=r"line (1|7)"):
            read_typed(Whole, form(fields))


def test_json_has_types_that_yaml_has_not() -> None:
    for value in (True, 1.0, "1"):
        with raises(InputError):
            read_typed(Whole, in_json({"id": "x", "colour": "red", "count": value}))
    with raises(InputError):
        read_typed(Whole, in_json({"id": True, "colour": "red"}))
    with raises(InputError) as caught:
        read_typed(Whole, in_json({"id": "x", "colour": "red", "note": None}))
    assert caught.value.argument == "note"
    with pytest.raises(InputError, match=r"line 7, field parts\[1\]\.name: ") as caught:
        read_typed(Whole, in_json({"id": "x", "colour": "red", "parts": [{"name": "p"}, {}]}))
    assert caught.value.argument == "parts"
