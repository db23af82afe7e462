"""Which mutants there are, and which of them a random seed draws.

The faults are those of mutmut (``mutmut.mutation.mutators``) and two of our own: a statement
dropped, a condition turned round. mutmut's own runner leaves out every decorated function, all code
of classes and modules outside of functions, and starts from trampolines that generators and typed
GraphQL fields do not survive; here a mutant is the file with one node replaced.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_swap_op

AREAS = {
    "retrieve": "graph_service/retrieve",
    "views": "graph_service/views",
    "store": "graph_service/store",
    "score": "queries/score",
    "api": "graph_service/api",
    "server": "graph_service/server",
}

# Calls that are no behaviour: mutmut's two, casts of types, what goes to the log.
_NO_CALLS = {"len", "isinstance", "cast", "TypeVar", "ParamSpec", "NewType"}
# Arguments whose change nothing can show: the text of the GraphQL schema, a check of what always
# holds, the encoding that is the machine's own.
_NO_ARGUMENTS = {"description", "strict", "encoding"}
_NO_NAMES = {"__all__", "__slots__", "log"}
_OF_ARGUMENTS = {"operator_arg_removal", "operator_dict_arguments"}
# A text of three words is for people, or a query of which any change is a syntax error.
_PROSE = re.compile(r"\w+\W+\w+\W+\w+")
_ALIAS = re.compile(r"_?[A-Z][a-z]\w*")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: a file with one node replaced.

    Attributes:
        function: The innermost function or class around the node.
        outer: The outermost function whose body the node is in; empty outside of bodies.
        was: The text of the node.
        nth: Which of the replacements that the operator has for this node.
        number: Which of the nodes that are equal in all of the above, so that ``key`` names the
            mutant across changes elsewhere in the file.
        first, last: The lines (from 1) that a test runs if it can notice the fault.
        place: The number of the node in the file.
        choice: The number of the mutant in the file.
    """

    area: str
    path: str
    function: str
    outer: str
    operator: str
    was: str
    nth: int
    number: int
    first: int
    last: int
    place: int
    choice: int

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits."""
        named = (self.path, self.function, self.operator, self.was, self.nth, self.number)
        return _digest(map(str, named)).hex()


@dataclass(frozen=True, slots=True)
class _Found:
    place: int
    statement: cst.CSTNode
    node: cst.CSTNode
    mutated: cst.CSTNode
    operator: str
    nth: int
    function: str
    outer: str
    span: CodeRange
    lines: tuple[int, int]


def _digest(parts: Iterable[str], key: str = "") -> bytes:
    joined = "\x00".join(parts).encode()
    return hashlib.blake2b(joined, digest_size=8, key=key.encode()).digest()


def _drop_statement(node: cst.SimpleStatementLine) -> Iterator[cst.SimpleStatementLine]:
    if len(node.body) != 1:
        return
    only = node.body[0]
    value = only.value if isinstance(only, cst.Expr) else None
    if isinstance(value, cst.Await):
        value = value.expression
    if isinstance(value, cst.Call) or isinstance(only, (cst.AugAssign, cst.Raise, cst.Del)):
        yield node.with_changes(body=[cst.Pass()])


def _negate_condition(node: cst.If | cst.While) -> Iterator[cst.If | cst.While]:
    if isinstance(node.test, (cst.Name, cst.Attribute, cst.Call, cst.NamedExpr)):
        test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))


_Operator = Callable[[cst.CSTNode], Iterable[cst.CSTNode]]
_OPERATORS: list[tuple[type | tuple[type, ...], _Operator]] = [
    *mutation_operators,
    (cst.SimpleStatementLine, _drop_statement),  # type: ignore[list-item]
    ((cst.If, cst.While), _negate_condition),  # type: ignore[list-item]
]


def _name(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _targets(node: cst.CSTNode) -> set[str]:
    if isinstance(node, cst.Assign):
        return {_name(each.target) for each in node.targets}
    return {_name(node.target)} if isinstance(node, cst.AnnAssign) else set()


class _Finder(cst.CSTVisitor):
    """Collects the mutants of a file."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[_Found] = []
        self._scopes: list[cst.FunctionDef | cst.ClassDef] = []
        self._bodies: list[cst.CSTNode] = []
        self._outer = ""
        self._statements: list[cst.CSTNode] = []
        self._raises = 0
        self._places = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if self._means_nothing(node):
            return False
        if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            self._statements.append(node)
        self._mutate(node)
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            self._scopes.append(node)
        elif isinstance(node, cst.BaseSuite) and self._scopes and self._scopes[-1].body is node:
            self._bodies.append(node)
            if not self._outer and isinstance(self._scopes[-1], cst.FunctionDef):
                self._outer = self._function()
        self._raises += isinstance(node, cst.Raise)
        return True

    def on_leave(self, node: cst.CSTNode) -> None:
        if self._statements and self._statements[-1] is node:
            self._statements.pop()
        if self._scopes and self._scopes[-1] is node:
            self._scopes.pop()
        elif self._bodies and self._bodies[-1] is node:
            if self._outer == self._function():
                self._outer = ""
            self._bodies.pop()
        self._raises -= isinstance(node, cst.Raise)

    def _function(self) -> str:
        return ".".join(_name(scope.name) for scope in self._scopes)

    def _means_nothing(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom)):
            return True
        if isinstance(node, cst.Expr) and isinstance(node.value, (cst.BaseString, cst.Ellipsis)):
            return True
        if isinstance(node, cst.If):
            return _name(node.test) == "TYPE_CHECKING"
        if isinstance(node, cst.Arg):
            return _name(node.keyword) in _NO_ARGUMENTS
        if isinstance(node, cst.Call):
            return _name(node.func) in _NO_CALLS or self._logs(node)
        if isinstance(node, cst.SimpleStatementLine):
            only = node.body[0]
            return isinstance(only, cst.Expr) and self._logs(only.value)
        names = _targets(node)
        if names & _NO_NAMES:
            return True
        # A type alias, which nothing reads at run time.
        return not self._scopes and any(_ALIAS.fullmatch(name) for name in names)

    def _logs(self, node: cst.CSTNode) -> bool:
        return (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and _name(node.func.value) == "log"
        )

    def _mutate(self, node: cst.CSTNode) -> None:
        self._places += 1
        for kind, operator in _OPERATORS:
            if not isinstance(node, kind) or (operator is operator_swap_op and not _operates(node)):
                continue
            for nth, mutated in enumerate(operator(node)):
                if self._leaves_out(node, operator, mutated):
                    continue
                span = self.get_metadata(PositionProvider, node, None)
                name = operator.__name__.removeprefix("operator_").lstrip("_")
                lines = self._lines(node)
                if span is None:
                    # The keyword of a statement that ends a loop has no position of its own.
                    span = self.get_metadata(PositionProvider, self._statements[-1])
                self.found.append(
                    _Found(
                        self._places,
                        self._statements[0],
                        node,
                        mutated,
                        name,
                        nth,
                        self._function(),
                        self._outer,
                        span,
                        lines,
                    )
                )

    def _leaves_out(self, node: cst.CSTNode, operator: _Operator, mutated: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call) and operator.__name__ in _OF_ARGUMENTS:
            if self._raises:
                return True
            kept = {id(arg) for arg in mutated.args}  # type: ignore[attr-defined]
            return any(
                _name(arg.keyword) in _NO_ARGUMENTS and id(arg) not in kept for arg in node.args
            )
        if isinstance(node, cst.SimpleString):
            return self._raises > 0 or _PROSE.search(node.value) is not None
        return False

    def _lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """The lines of the simple statement around a node, or the node's own in a header."""
        around = self._statements[-1] if self._statements else node
        simple = isinstance(around, cst.SimpleStatementLine)
        position: CodeRange | None = self.get_metadata(
            PositionProvider, around if simple else _header(node), None
        )
        if position is None:
            position = self.get_metadata(PositionProvider, around)
            return position.start.line, position.start.line
        return position.start.line, position.end.line


def _operates(node: cst.CSTNode) -> bool:
    return hasattr(node, "operator")


def _header(node: cst.CSTNode) -> cst.CSTNode:
    if isinstance(node, (cst.If, cst.While)):
        return node.test
    return node.subject if isinstance(node, cst.Match) else node


@dataclass(frozen=True)
class SourceFile:
    """A file of an area with all its mutants."""

    area: str
    path: str
    text: str
    mutants: tuple[Mutant, ...]

    @property
    def digest(self) -> str:
        """A hash of the text."""
        return _digest([self.text]).hex()

    def mutate(self, mutants: Iterable[Mutant]) -> list[str]:
        """Returns the file's text with one mutant's node replaced, for each mutant."""
        module, found = _find(self.text)
        texts = []
        for mutant in mutants:
            this = found[mutant.choice]
            changed = this.statement.deep_replace(this.node, this.mutated)
            body = [changed if each is this.statement else each for each in module.body]
            texts.append(module.with_changes(body=body).code)
        return texts


def _find(text: str) -> tuple[cst.Module, list[_Found]]:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    finder = _Finder()
    wrapper.visit(finder)
    return wrapper.module, finder.found


def read_sources(root: Path, areas: Iterable[str], cache: Path) -> dict[str, SourceFile]:
    """Returns every file of some areas by its path, with its mutants.

    ``cache`` is a folder that keeps what was found in a file of the same text.
    """
    cache.mkdir(parents=True, exist_ok=True)
    files = {}
    own = Path(__file__).read_text(encoding="utf-8")
    for area in areas:
        for file in sorted((root / AREAS[area]).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            text = file.read_text(encoding="utf-8")
            kept = cache / f"{_digest([own, path, text]).hex()}.pickle"
            if kept.is_file():
                mutants = pickle.loads(kept.read_bytes())
            else:
                mutants = tuple(_mutants(area, path, text))
                kept.write_bytes(pickle.dumps(mutants))
            files[path] = SourceFile(area, path, text, mutants)
    return files


def _mutants(area: str, path: str, text: str) -> Iterator[Mutant]:
    lines = text.splitlines(keepends=True)
    numbers: Counter[tuple[str, str, str, int]] = Counter()
    for choice, found in enumerate(_find(text)[1]):
        was = _slice(lines, found.span)
        equal = (found.function, found.operator, was, found.nth)
        yield Mutant(
            area,
            path,
            found.function,
            found.outer,
            found.operator,
            was,
            found.nth,
            numbers[equal],
            *found.lines,
            found.place,
            choice,
        )
        numbers[equal] += 1


def _slice(lines: list[str], span: CodeRange) -> str:
    start, end = span.start, span.end
    if start.line == end.line:
        return lines[start.line - 1][start.column : end.column]
    middle = lines[start.line : end.line - 1]
    return "".join(
        [lines[start.line - 1][start.column :], *middle, lines[end.line - 1][: end.column]]
    )


def draw(files: Mapping[str, SourceFile], *, seed: int, count: int) -> list[Mutant]:
    """Draws as many mutants from each area, at places that differ.

    A place (a node of the syntax tree) is drawn first and one of its mutants then, so that a call
    with many arguments weighs no more than a comparison. The draw is by a keyed hash of what the
    mutant is: a change elsewhere in the file leaves it drawn. A mutant that does not compile is
    left out of the count.
    """
    drawn = []
    for number, area in enumerate(AREAS):
        share = count * (number + 1) // len(AREAS) - count * number // len(AREAS)
        chosen: dict[tuple[str, int], tuple[bytes, Mutant]] = {}
        for file in files.values():
            for mutant in file.mutants if file.area == area else ():
                rank = _digest([mutant.key], f"{seed}")
                place = (mutant.path, mutant.place)
                if place not in chosen or rank < chosen[place][0]:
                    chosen[place] = (rank, mutant)
        ranked = sorted(
            (mutant for _, mutant in chosen.values()),
            key=lambda mutant: _digest([mutant.key, "place"], f"{seed}"),
        )
        drawn += ranked[:share]
    return drawn
