"""What all cells of a column are, counted in one pass over the table.

Distinct cells are held until there are many; then they are counted into sums, so that memory stays
flat however long the table is.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from graph_service.model.identity import WIKIDATA_ID, key64, normalise_entity_id
from loaders.tables.cells import (
    BLANK_WORDS,
    DOUBTFUL_WORDS,
    TICK_LETTERS,
    clean,
    folded,
    is_address,
    read_yes_no,
)
from loaders.tables.date_cells import Order, read_date_cell, read_year
from loaders.tables.number_cells import Mark, NumberCell, read_number

Keys = npt.NDArray[np.int64]
BRACKETS = "[]"
"""What separates the values of a list that is written as JSON or as Python writes one."""
LIST_SEPARATORS = (BRACKETS, ";", "|", "\n", ",")
MAX_DISTINCT = 50_000
"""Distinct cells of a column that are held at once."""
_NAME_CHARACTERS = 60
_EXAMPLES = 3
_BRACKETED_CHARACTERS = 100_000
_PARTICLES = frozenset(
    [
        "al",
        "da",
        "das",
        "de",
        "del",
        "della",
        "der",
        "di",
        "dos",
        "du",
        "el",
        "la",
        "le",
        "of",
        "van",
        "von",
        "y",
        "zu",
        "&",
    ]
)
_CLOCK = re.compile(r"\d{1,3}:\d{1,2}(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?|\d{1,3}/\d{1,3}")
_WORDS = {None: "", True: "true", False: "false"}


def _is_proper(cell: str) -> bool:
    """Returns whether a short cell is written as a name of two words and more.

    >>> [_is_proper(cell) for cell in ("Li Wei", "Maria de la Cruz", "Leaking tap", "Wei", "Lot 5")]
    [True, True, False, False, False]
    """
    words = cell.split()
    return (
        len(words) > 1
        and not any(letter.isdigit() for letter in cell)
        and all(word[0].isupper() or word in _PARTICLES for word in words)
        and words[-1][0].isupper()
        and not cell.isupper()
    )


class CellCounts:
    """What the cells of a column, or the parts of its lists, may be; in cells.

    Attributes:
        cells: All that are counted.
        numbers, integers, coded: Numbers; those of digits alone; digits that begin with a zero.
        accounting: Numbers as books write them, such as (5) for -5.
        long_integers: Integers of four digits and more.
        either, either_zero, either_long: Numbers that may be two; those of them whose last digit is
            a zero; those with two digits and more before the mark.
        either_example: The digits of the first of them.
        marks: Decimal marks that numbers prove.
        units: Units of numbers that have a known one or none (""); ``unknown_units``: others.
        years: Integers that may be years.
        dates: Dates; ``orders`` what they prove, by separator.
        clocks: Times of day, scores and fractions, which stay text: 08:30, 2:1, 3/4.
        codes: Single words of digits and signs that are nothing else: 978-3-16-148410-0.
        yes, no: Words and ticks for yes and for no; ``ticks``: an x.
        addresses: Web addresses; ``wikidata``: those of them of entities of Wikidata.
        binary: Bytes as hexadecimal digits.
        short: Names of at most five words that begin with a letter.
        proper: Those of two words and more with capitals, as people and firms have them.
        characters: Of all cells.
        repeated: Cells that are there more than once.
    """

    def __init__(self) -> None:
        self.cells = self.repeated = self.characters = self.short = self.proper = 0
        self.accounting = self.ticks = self.clocks = self.codes = 0
        self.numbers = self.integers = self.long_integers = self.coded = self.years = 0
        self.either = self.either_zero = self.either_long = 0
        self.either_example = ""
        self.dates = self.yes = self.no = self.addresses = self.wikidata = self.binary = 0
        self.marks: Counter[Mark] = Counter()
        self.either_marks: Counter[str] = Counter()
        self.units: Counter[str] = Counter()
        self.unknown_units: Counter[str] = Counter()
        self.orders: Counter[tuple[str, Order]] = Counter()

    def add(self, cell: str, count: int, /) -> None:
        """Counts a cell that is there so many times."""
        self.cells += count
        self.characters += len(cell) * count
        if count > 1:
            self.repeated += count
        if cell[0].isalpha() and len(cell) <= _NAME_CHARACTERS and len(cell.split()) <= 5:
            self.short += count
            self.proper += count if _is_proper(cell) else 0
        if (number := read_number(cell)) is not None:
            self._add_number(cell, number, count)
        elif cell.isdecimal():
            self.coded += count
        elif (date := read_date_cell(cell)) is not None:
            self.dates += count
            self.orders[date.separator, date.order] += count
        elif _CLOCK.fullmatch(cell):
            self.clocks += count
        elif (answer := read_yes_no(cell)) is not None:
            if answer:
                self.yes += count
            else:
                self.no += count
        elif cell in TICK_LETTERS:
            self.ticks += count
        elif is_address(cell):
            self.addresses += count
            self.wikidata += count if WIKIDATA_ID.fullmatch(normalise_entity_id(cell)) else 0
        elif cell[:2] in ("0x", "0X") and len(cell) > 18:
            self.binary += count
        elif cell[0].isdecimal() and " " not in cell:
            self.codes += count

    def _add_number(self, cell: str, number: NumberCell, count: int) -> None:
        self.numbers += count
        (self.units if number.is_known_unit else self.unknown_units)[number.unit] += count
        self.marks[number.mark] += count
        self.accounting += count if number.is_accounting else 0
        if number.mark is Mark.EITHER:
            self.either += count
            self.either_example = self.either_example or number.digits
            self.either_marks["." if "." in number.digits else ","] += count
            self.either_zero += count if number.digits.endswith("0") else 0
            self.either_long += count if len(number.digits.lstrip("+-")) > len("1,200") else 0
        if number.is_integer:
            self.integers += count
            self.long_integers += count if len(number.digits) > 3 else 0
        if read_year(cell) is not None:
            self.years += count


class ColumnProfile:
    """What the cells of a column are.

    Args:
        name: The column's header.

    Attributes:
        cells: Counts of all cells that say something; ``parts`` of the parts of lists, by what
            separates them.
        lists: Cells with more than one part, by what separates them; of ``BRACKETS`` all cells
            that are lists.
        blank: Cells that say nothing, by their word; ``doubtful`` those that may say so.
        examples: The first three that differ.
    """

    def __init__(self, name: str, /) -> None:
        self.name = name
        self.cells = CellCounts()
        self.parts: dict[str, CellCounts] = {}
        self.lists: Counter[str] = Counter()
        self.blank: Counter[str] = Counter()
        self.doubtful: Counter[str] = Counter()
        self.examples: list[str] = []
        self.distinct: Counter[str] = Counter()
        self.is_complete = True
        self._batches: list[Keys] = []
        self._folded_batches: list[Keys] = []

    def add(self, raw: str, /) -> None:
        """Counts a cell of the column."""
        cell = clean(raw) if "\n" not in raw else raw.strip()
        word = cell.lower()
        if word in BLANK_WORDS:
            self.blank[cell] += 1
            return
        if word in DOUBTFUL_WORDS:
            self.doubtful[cell] += 1
        self.distinct[cell] += 1
        if len(self.examples) < _EXAMPLES and cell not in self.examples:
            self.examples.append(cell)
        if len(self.distinct) > MAX_DISTINCT:
            self.is_complete = False
            self._count()
            self.distinct.clear()

    def is_measured(self) -> bool:
        """Returns whether most cells so far are numbers or dates."""
        cells = [cell for cell in self.distinct if cell.lower() not in DOUBTFUL_WORDS]
        measured = sum(
            read_number(cell) is not None or read_date_cell(cell) is not None for cell in cells
        )
        return 0 < len(cells) <= measured * 1.25

    def has_letters(self) -> bool:
        """Returns whether half of the cells held have a letter, as names do."""
        lettered = sum(any(map(str.isalpha, cell)) for cell in self.distinct)
        return 2 * lettered >= len(self.distinct)

    def finish(self) -> None:
        """Counts what is held; ``distinct`` stays where it holds all that there is."""
        self._count()
        if not self.is_complete:
            self.distinct.clear()

    @property
    def filled(self) -> int:
        """Cells that say something, doubtful words among them."""
        return self.cells.cells + self.doubtful.total()

    def keys(self) -> Keys:
        """Returns the hashes of the distinct cells, sorted."""
        if not self._batches:
            return np.zeros(0, np.int64)
        return np.unique(np.concatenate(self._batches))

    def folded_keys(self) -> Keys:
        """Returns the hashes of what is the same in cells that differ in case, sorted."""
        if not self._folded_batches:
            return np.zeros(0, np.int64)
        return np.unique(np.concatenate(self._folded_batches))

    @property
    def is_unique(self) -> bool:
        """Whether no cell is there twice."""
        return self.filled > 0 and len(self.keys()) == self.filled

    def share_alone(self, separator: str, /) -> float:
        """Returns which share of the parts of lists stand alone in another cell."""
        alone = {folded(cell) for cell in self.distinct if not _is_list(cell, separator)}
        parts = {
            folded(part)
            for cell in self.distinct
            if _is_list(cell, separator)
            for part in split_list(cell, separator)
        }
        return len(parts & alone) / len(parts) if parts else 0.0

    def spellings(self, separator: str, /) -> dict[str, Counter[str]]:
        """Returns the spellings of each name, by what is the same in them; parts of lists apart."""
        names: dict[str, Counter[str]] = {}
        for cell, count in self.distinct.items():
            for part in split_list(cell, separator):
                names.setdefault(folded(part), Counter())[part] += count
        return names

    def _count(self) -> None:
        separators = [
            mark for mark in LIST_SEPARATORS if any(_is_list(cell, mark) for cell in self.distinct)
        ]
        for separator in separators:
            # What came before had no lists: its parts are its cells.
            self.parts.setdefault(separator, _copy(self.cells))
        parts: dict[str, Counter[str]] = {separator: Counter() for separator in self.parts}
        for cell, count in self.distinct.items():
            if cell.lower() in DOUBTFUL_WORDS:
                continue
            self.cells.add(cell, count)
            for separator in parts:
                split = split_list(cell, separator)
                is_list = separator == BRACKETS and _is_list(cell, separator)
                self.lists[separator] += count if is_list or len(split) > 1 else 0
                for part in split:
                    parts[separator][part] += count
        for separator, counted in parts.items():
            for part, count in counted.items():
                if part.lower() not in BLANK_WORDS | DOUBTFUL_WORDS:
                    self.parts[separator].add(part, count)
        count = len(self.distinct)
        same = map(folded, self.distinct)
        self._batches.append(np.fromiter(map(key64, self.distinct), np.int64, count))
        self._folded_batches.append(np.fromiter(map(key64, same), np.int64, count))


def split_list(cell: str, separator: str, /) -> list[str]:
    """Returns the parts of a cell that is a list; the cell where nothing separates.

    >>> split_list("red; blue;", ";"), split_list("red", "")
    (['red', 'blue'], ['red'])
    >>> split_list('["red; dark", null, 7]', BRACKETS)
    ['red; dark', '7']
    """
    if separator == BRACKETS:
        parts = bracketed_parts(cell)
        return [clean(cell)] if parts is None else parts
    if not separator or separator not in cell:
        return [clean(cell)]
    return [part for each in cell.split(separator) if (part := clean(each))]


def bracketed_parts(cell: str, /) -> list[str] | None:
    r"""Returns the values of a cell that is a list of JSON or of Python; None for any other cell.

    Values that are missing are left out. A list that holds lists or objects is no list of values.

    >>> bracketed_parts('["a", 1.50, true, null]'), bracketed_parts("['it', \"it's\"]")
    (['a', '1.50', 'true'], ['it', "it's"])
    >>> bracketed_parts("[see above]"), bracketed_parts("[[1]]"), bracketed_parts("[]")
    (None, None, [])
    """
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _BRACKETED_CHARACTERS:
        return None
    try:
        # Numbers stay as they are written: 1.50 is no 1.5, and NaN is no value.
        values = json.loads(text, parse_float=str, parse_int=str, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        try:
            values = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    if not isinstance(values, list) or not all(
        value is None or isinstance(value, str | int | float) for value in values
    ):
        return None
    texts = (value if isinstance(value, str) else _word_of(value) for value in values)
    return [part for text in texts if (part := clean(text))]


def _word_of(value: float | None) -> str:
    return _WORDS[value] if value is None or isinstance(value, bool) else str(value)


def _is_list(cell: str, separator: str) -> bool:
    """Returns whether a cell has parts, by what separates them."""
    return bracketed_parts(cell) is not None if separator == BRACKETS else separator in cell


def _copy(counts: CellCounts) -> CellCounts:
    copied = CellCounts()
    for name, value in vars(counts).items():
        setattr(copied, name, value.copy() if isinstance(value, Counter) else value)
    return copied


def profiles_of(header: Iterable[str], /) -> list[ColumnProfile]:
    """Returns a profile for each column, with nothing counted."""
    return [ColumnProfile(name) for name in header]
