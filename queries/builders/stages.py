"""Stages of a data set: one file of JSON lines each, a function of the stage before and of kept replies.

A stage makes one line of each item of the stage before, in its order. What it cannot make is a line
too, which says why. Each line holds a hash of what it was made of. So a build that was killed goes
on where it was, with the same bytes, and a line whose item has changed since is made again with all
that follow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.serialise import from_plain, to_plain
from queries.line_file import LineFile
from queries.run import Progress, run_items

STAGES = "stages"
"""The folder of a data set that holds the files of its stages."""
NO_REPLY = "no reply"
"""Why an item was refused whose request failed; the only reason that another run may take back."""


class Item(Protocol):
    """What stages pass on: frozen data with an id that stays the same through all stages."""

    @property
    def id(self) -> str:
        """Names the item; no other item of its stage has it."""


Earlier = TypeVar("Earlier", bound=Item)
Made = TypeVar("Made", bound=Item)


class RefusedError(Exception):
    """An item can't become what a stage makes.

    Args:
        why: In a few words that are the same for all items of one kind: they are counted.
        detail: What was expected and what came, of this item.
    """

    def __init__(self, why: str, detail: str = "", /) -> None:
        super().__init__(f"{why}: {detail}" if detail else why)
        self.why = why
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Stage(Generic[Earlier, Made]):
    """One step of a build.

    Attributes:
        name: Name of its file, without the ending.
        kind: What it makes.
        make: Makes it of one item; raises ``RefusedError``.
    """

    name: str
    kind: type[Made]
    make: Callable[[Earlier], Made]


@dataclass(frozen=True, slots=True)
class StageCounts:
    """What became of the items of a stage.

    Attributes:
        inputs: Items of the stage before.
        made: Of these, what it made.
        refused: The others, by reason.
    """

    name: str
    inputs: int
    made: int
    refused: Mapping[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """Returns ``round-1: 45 of 50 made; refused: 3 unreadable, 2 no reply``."""
        counted = f"{self.name}: {self.made:,} of {self.inputs:,} made"
        if self.refused:
            counted += "; refused: " + ", ".join(f"{n:,} {why}" for why, n in self.refused.items())
        return counted


@dataclass(frozen=True, slots=True)
class Line(Generic[Made]):
    """A line of a stage's file.

    Attributes:
        of: Hash of the item that it was made of.
        made: What was made; None where it was refused.
        refused, detail: Why not.
    """

    id: str
    of: str
    made: Made | None
    refused: str = ""
    detail: str = ""


Tell = Callable[[Progress], None]


def hash_of(item: Item, /) -> str:
    """Returns 16 hexadecimal digits of an item."""
    encoded = orjson.dumps(to_plain(item), option=orjson.OPT_SORT_KEYS).decode()
    return digest((encoded,), size=8, person=b"stage").hex()


class Stages:
    """The stages of one build, run one after another in a folder.

    Args:
        folder: Of the data set.
        workers: Items at once; the bytes do not depend on it.
        retry_failed: Whether items without a reply, and what comes after them, are made again:
            replies that were kept are not asked for again.
        tell: Is told each line.
    """

    def __init__(
        self,
        folder: Path,
        /,
        *,
        workers: int = 1,
        retry_failed: bool = False,
        tell: Tell | None = None,
    ) -> None:
        self._folder = folder / STAGES
        self._workers = workers
        self._retry_failed = retry_failed
        self._tell = tell
        self.counts: list[StageCounts] = []
        self.fresh = 0

    def run(self, stage: Stage[Earlier, Made], items: Sequence[Earlier], /) -> tuple[Made, ...]:
        """Returns what a stage makes of some items, those that it refused left out.

        Raises:
            InputError: Two items have one id, or the stage's file holds a line that is none.
            SetupError, LimitError, StoreError: What was made is written.
        """
        require_distinct(items, stage.name)
        self._folder.mkdir(parents=True, exist_ok=True)
        file = LineFile(self._folder / f"{stage.name}.jsonl")
        # The file of a stage is there, even if it has no items.
        file.append()
        hashes = [hash_of(item) for item in items]
        lines = self._resumed(file, stage, items, hashes)
        rest = range(len(lines), len(items))

        def make(index: int) -> Line[Made]:
            item = items[index]
            try:
                return Line(item.id, hashes[index], stage.make(item))
            except RefusedError as error:
                return Line(item.id, hashes[index], None, error.why, error.detail)

        def write(line: Line[Made]) -> None:
            lines.append(line)
            # What a killed machine loses is made again of cached replies.
            file.append(line, is_synced=len(lines) == len(items))

        start = Progress(
            len(lines),
            len(items),
            failed=sum(line.made is None for line in lines),
            label=stage.name,
            failed_as="refused",
        )
        for _, progress in run_items(
            rest,
            make,
            write,
            start=start,
            workers=self._workers,
            has_failed=lambda line: line.made is None,
        ):
            self.fresh += 1
            if self._tell is not None:
                self._tell(progress)
        self.counts.append(counts_of(stage.name, lines))
        return tuple(line.made for line in lines if line.made is not None)

    def _resumed(
        self,
        file: LineFile,
        stage: Stage[Earlier, Made],
        items: Sequence[Earlier],
        hashes: Sequence[str],
    ) -> list[Line[Made]]:
        """The lines that stay; what is torn, stale or to be made again is cut off."""
        lines: list[Line[Made]] = []

        def is_valid(raw: bytes, where: str) -> bool:
            index = len(lines)
            if index == len(items):
                return False
            line = read_line(raw, stage.kind, where)
            if (line.id, line.of) != (items[index].id, hashes[index]) or (
                self._retry_failed and line.refused == NO_REPLY
            ):
                return False
            lines.append(line)
            return True

        file.resume(is_valid)
        return lines


def require_distinct(items: Sequence[Item], name: str, /) -> None:
    """Raises ``InputError`` where two items have one id."""
    twice = [id_ for id_, count in Counter(item.id for item in items).items() if count > 1]
    if twice:
        raise InputError(f"stage {name}: two items have the id {twice[0]!r}; each needs its own")


def counts_of(name: str, lines: Sequence[Line[Any]], /) -> StageCounts:
    """Returns what became of the items of a stage; reasons by how often, then by name."""
    refused = Counter(line.refused for line in lines if line.made is None)
    ordered = sorted(refused.items(), key=lambda pair: (-pair[1], pair[0]))
    return StageCounts(name, len(lines), len(lines) - refused.total(), dict(ordered))


def read_line(raw: bytes, kind: type[Made], where: str, /) -> Line[Made]:
    """Returns a line of a stage's file.

    Raises:
        InputError: It is none; names the file and the line.
    """
    try:
        plain = orjson.loads(raw)
        made = plain["made"]
        texts = [plain[name] for name in ("id", "of", "refused", "detail")]
        if not all(isinstance(text, str) for text in texts) or (made is None) != bool(texts[2]):
            raise ValueError("its fields are not those of a stage")
        return Line(
            texts[0], texts[1], None if made is None else from_plain(kind, made), *texts[2:]
        )
    except (KeyError, TypeError, ValueError, InputError) as error:
        message = error.message if isinstance(error, InputError) else error
        raise InputError(
            f"{where}: a line of a stage was expected; {message}",
            argument="out",
            hint="Take the file away; what it held is made again of kept replies.",
        ) from error


def read_stage(folder: Path, name: str, kind: type[Made], /) -> Iterator[Line[Made]]:
    """Yields the lines of a stage's file.

    Raises:
        InputError: There is no such file, or a line is none; names it.
    """
    path = folder / STAGES / f"{name}.jsonl"
    if not path.is_file():
        raise InputError(
            f"there is no file {path}", argument="out", hint="Build the data set first."
        )
    with path.open("rb") as file:
        for index, raw in enumerate(file, 1):
            yield read_line(raw, kind, f"{path.name}, line {index}")
