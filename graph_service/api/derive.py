"""GraphQL output types that are made of the contract; see ``model.contract``.

The object of a derived type is the model's own, and each field reads an attribute of it. Only two
kinds of types are wrapped, and hold the model's object as ``model``: those with a class of their
own (``output``), whose methods give the fields with logic, and those that name items or statements.
These are shown in a frame, so ``build`` makes their items and statements at once: their terms are
then read together (``loading``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, get_type_hints

import strawberry
from strawberry.types import Info

from graph_service.api.global_ids import Frame
from graph_service.api.loading import OperationContext
from graph_service.model.contract import Field, Id, Part, Shape, Statement, split_hint
from graph_service.model.shapes import SHAPES, parts_of

PATH = "path"
"""Under this name the metadata of a field has the attribute that it reads, if it only reads it."""

T = TypeVar("T")
Converter = Callable[[OperationContext, Frame, Any], Any]

_TYPES: dict[Any, Any] = {Id: strawberry.ID}
_CONVERTERS: dict[Any, Converter] = {}
_FRAMED: dict[type, tuple[Part, ...]] = {}


def show_as(kind: Any, output: Any, convert: Converter, /) -> None:
    """Shows values of a kind as a type of ``api`` that is made in a frame."""
    _TYPES[kind] = output
    _CONVERTERS[kind] = convert


@dataclass_transform(kw_only_default=True, field_specifiers=(strawberry.field,))
def output(
    model: Any, /, *, decorate: Callable[..., Any] = strawberry.type
) -> Callable[[type[T]], type[T]]:
    """Returns a decorator that gives a class the fields of a dataclass's shape.

    A method or an attribute of the class takes the place of the attribute that a field shows. The
    class holds the dataclass's object as ``model``; one that has ``_frame`` shows items and
    statements when they are asked for, any other is made by ``build``.
    """

    def give_fields(cls: type[T]) -> type[T]:
        made: type[T] = _finished(cls, model, decorate)
        _TYPES[model] = made
        _CONVERTERS[model] = build
        return made

    return give_fields


def described(function: Callable[..., Any] | None = None, /, *, graphql_type: Any = None) -> Any:
    """Returns the field that a method resolves; its description is the method's docstring.

    Args:
        function: The method; without one the decorator is returned.
        graphql_type: Its type; None for the one that the method is annotated with.
    """
    if function is None:
        return partial(described, graphql_type=graphql_type)
    words = " ".join((function.__doc__ or "").split())
    return strawberry.field(resolver=function, description=words, graphql_type=graphql_type)


def output_type(hint: Any, /) -> Any:
    """Returns the GraphQL type of a type of the model, of a tuple of it, or of it and None."""
    kind, is_list, is_optional = split_hint(hint)
    return _wrapped(_type_of(kind), is_list, is_optional)


def member_type(model: Any, /) -> Any:
    """Returns the type of a member of a union, whose objects ``build`` makes: it tells them apart."""
    made = _TYPES[model] = _derived(model, is_wrapped=True)
    return made


def build(context: OperationContext, frame: Frame, value: Any, /, **private: Any) -> Any:
    """Returns an object of the model for output, with what it names shown in a frame."""
    cls = _type_of(type(value))
    parts = {part.name: _shown(part, context, frame, value) for part in _FRAMED[cls]}
    if "frame" in cls.__dataclass_fields__:
        private["frame"] = frame
    return cls(model=value, **parts, **private)


def _wrapped(kind: Any, is_list: bool, is_optional: bool) -> Any:
    shown = list[kind] if is_list else kind
    return shown | None if is_optional else shown


def _type_of(kind: Any) -> Any:
    made = _TYPES.get(kind)
    if made is None:
        if kind not in SHAPES:
            return kind
        made = _TYPES[kind] = _derived(kind)
    return made


def _derived(model: type, *, is_wrapped: bool = False) -> Any:
    shape = SHAPES[model]
    body: dict[str, Any] = {"__module__": __name__, "__doc__": shape.words, "__annotations__": {}}
    has_passed = any(_is_passed(field) for field in shape.fields.values())
    if is_wrapped or has_passed or any(_is_framed(part) for part in parts_of(model)):
        body["__annotations__"]["model"] = strawberry.Private[object]
        _CONVERTERS[model] = build
    return _finished(type(shape.name, (), body), model, strawberry.type)


def _is_passed(field: Field) -> bool:
    """Returns whether ``build`` is passed what a field shows."""
    return field.path is None and field.kind is not None


def _is_framed(part: Part) -> bool:
    _type_of(part.kind)
    return part.kind in _CONVERTERS


def _finished(cls: Any, model: Any, decorate: Callable[..., Any]) -> Any:
    shape: Shape = SHAPES[model]
    parts = {part.name: part for part in parts_of(model)}
    own = dict(cls.__dict__)
    annotations: Mapping[str, Any] = own.get("__annotations__", {})
    shown: dict[str, Any] = {}
    framed: list[Part] = []
    prefix = "model." if any("model" in _annotations(each) for each in cls.__mro__) else ""
    for name, field in shape.fields.items():
        if name in annotations:
            shown[name] = annotations[name]
            setattr(cls, name, strawberry.field(description=field.words))
        elif _is_passed(field):
            shown[name] = _type_of(field.kind)
            setattr(cls, name, strawberry.field(description=field.words))
        elif name in own:
            made = _method(own[name], field)
            # With an annotation it stands where the shape has it, and not after all others.
            shown[name] = made.type_annotation or made.base_resolver.type_annotation
            setattr(cls, name, made)
        else:
            part = parts[name]
            shown[name] = _wrapped(_type_of(part.kind), part.is_list, part.is_optional)
            if not _is_framed(part):
                made = _reading(part, prefix, shown[name])
            elif hasattr(cls, "_frame"):
                made = _showing(part, shown[name])
            else:
                framed.append(part)
                made = strawberry.field(description=field.words)
            setattr(cls, name, made)
    private = {name: kind for name, kind in annotations.items() if name not in shown}
    cls.__annotations__ = {**private, **shown}
    finished = decorate(cls, name=shape.name, description=shape.words)
    _FRAMED[finished] = tuple(framed)
    return finished


def _annotations(cls: type) -> Mapping[str, Any]:
    annotations: Mapping[str, Any] = cls.__dict__.get("__annotations__", {})
    return annotations


def _method(function: Callable[..., Any], field: Field) -> Any:
    """Returns a field that a method resolves; what it returns of the model is shown as derived."""
    try:
        kind, is_list, is_optional = split_hint(get_type_hints(function)["return"])
    except NameError:  # A type that stands further down in its module.
        kind = None
    made = _wrapped(_type_of(kind), is_list, is_optional) if kind in SHAPES else None
    return strawberry.field(resolver=function, description=field.words, graphql_type=made)


def _reading(part: Part, prefix: str, shown: Any) -> Any:
    """Returns a field that reads an attribute."""
    path = prefix + part.path
    read = attrgetter(path)
    conversion = part.conversion

    def resolve(self: Any) -> Any:
        value = read(self)
        return value if conversion is None or value is None else conversion.show(value)

    return strawberry.field(
        resolver=resolve,
        description=part.words,
        graphql_type=shown,
        metadata={PATH: path} if conversion is None else {},
    )


def _showing(part: Part, shown: Any) -> Any:
    """Returns a field that shows what an attribute names."""

    def resolve(self: Any, info: Info[OperationContext, None]) -> Any:
        return _shown(part, info.context, self._frame, self.model)

    return strawberry.field(resolver=resolve, description=part.words, graphql_type=shown)


def _shown(part: Part, context: OperationContext, frame: Frame, source: Any) -> Any:
    convert = _CONVERTERS[part.kind]
    if part.kind is Statement:
        return convert(context, frame, source)
    value = part.value_of(source)
    if value is None:
        return None
    if part.is_list:
        return [convert(context, frame, each) for each in value]
    return convert(context, frame, value)
