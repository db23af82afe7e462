"""The decimal mark of columns whose numbers may be two, as the cells of other columns prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loaders.tables.mapping import ColumnMapping, ColumnType
from loaders.tables.number_cells import Mark, is_currency, read_number
from loaders.tables.profile import CellCounts
from loaders.tables.table_look import TableLook

_FEWEST_ROUND_SUMS = 3


@dataclass(frozen=True, slots=True)
class _Proof:
    """A column whose cells, or the mapping file, say what the decimal mark is."""

    mark: str
    column: str
    table: str


def settle_marks(looks: Sequence[TableLook], /) -> None:
    """Decides numbers that may be two by the other columns of their table, else of all tables.

    A column whose own cells contradict each other stays undecided, and so does one where the other
    columns do.
    """
    proofs = [proof for look in looks for proof in _proofs(look)]
    for look in looks:
        own = [proof for proof in proofs if proof.table == look.name]
        for column in look.mapping.columns:
            counts = _counts(look, column)
            if column.type is ColumnType.NUMBER and counts.either and not column.decimal:
                _settle(look, column, counts, own or proofs)


def _money_mark(counts: CellCounts) -> str:
    """Returns the decimal mark of sums of money that may be two numbers; "" if they do not tell.

    £41,200 is no sum with three decimals, and £1,200 none where it stands beside, or where all end in
    zeros. One digit before the mark is not enough: fuel costs 1,379 € a litre.
    """
    is_money = bool(counts.units) and all(map(is_currency, counts.units))
    end_in_zeros = counts.either_zero == counts.either >= _FEWEST_ROUND_SUMS
    if is_money and len(counts.either_marks) == 1 and (counts.either_long or end_in_zeros):
        [mark] = counts.either_marks
        return "." if mark == "," else ","
    return ""


def _settle(
    look: TableLook, column: ColumnMapping, counts: CellCounts, proofs: Sequence[_Proof]
) -> None:
    first = {proof.mark: proof for proof in reversed(proofs)}
    notes = look.notes[column.name]
    example = read_number(counts.either_example)
    if len(first) == 1 and not _marks(counts) and example is not None:
        [proof] = first.values()
        of = "" if proof.table == look.name else f" of {proof.table}"
        read = f"{example.digits} read as {example.amount(proof.mark)}, as in {proof.column}{of}"
        notes.append(f"cells that may be two numbers: {counts.either:,}; {read}")
        look.mapping = look.mapping.with_column(
            replace(column, decimal=proof.mark, decimal_reason=read)
        )
        return
    mark = "" if first or _marks(counts) else _money_mark(counts)
    if mark and example is not None:
        read = f"{example.digits} read as {example.amount(mark)}, as money has no three decimals"
        notes.append(f"cells that may be two numbers: {counts.either:,}; {read}")
        look.mapping = look.mapping.with_column(replace(column, decimal=mark, decimal_reason=read))
        return
    notes.append(
        f"{counts.either:,} cells may be two numbers, as 1,200 is 1200 or 1.2, and stay text: say "
        'decimal = "." or ","'
    )
    if len(first) > 1:
        shown = ", ".join(f'"{mark}" in {first[mark].column}' for mark in sorted(first))
        notes.append(f"other columns have different decimal marks: {shown}")


def _proofs(look: TableLook) -> list[_Proof]:
    proofs = []
    for column in look.mapping.columns:
        if column.type is ColumnType.NUMBER:
            marks = _marks(_counts(look, column))
            if "decimal" in look.requests.get(column.name, {}):
                marks = {column.decimal}
            proofs += [_Proof(mark, column.name, look.name) for mark in sorted(marks)]
    return proofs


def _marks(counts: CellCounts) -> set[str]:
    return {mark.value for mark in (Mark.DOT, Mark.COMMA) if counts.marks[mark]}


def _counts(look: TableLook, column: ColumnMapping) -> CellCounts:
    profile = look.profile(column.name)
    return profile.parts.get(column.separator, profile.cells)
