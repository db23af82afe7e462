"""Slips of the keyboard: one wrong, lost, doubled or exchanged letter in a name.

The four kinds of single error of Damerau (1964, CACM 7(3), 171-176): substitution, here by a letter
beside it on the keyboard, deletion, insertion, here of the same letter again, and transposition.
"""

from __future__ import annotations

from graph_service.text.fold import normalise_name

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    row[index]: (row[max(index - 1, 0)] + row[min(index + 1, len(row) - 1)]).replace(row[index], "")
    for row in _ROWS
    for index in range(len(row))
}
"""The letters to the left and to the right of each on a keyboard of US layout."""
_KINDS = 4


def slip(name: str, number: int, /) -> str | None:
    """Returns a name with one slip in a letter, or None where no slip makes it another name.

    Digits stay: another year is another thing, and no slip.

    Args:
        name: The name.
        number: Says which letter and which kind of slip; where that does not make it another
            name once both are normalised, the next one is taken.

    >>> [slip("Vienna", number) for number in range(4)]
    ['iVenna', 'ienna', 'Cienna', 'VVienna']
    >>> slip("1984", 5) is None
    True
    """
    letters = [index for index, letter in enumerate(name) if letter.isalpha()]
    normal = normalise_name(name)
    for step in range(_KINDS * len(letters)):
        index, kind = divmod((number + step) % (_KINDS * len(letters)), _KINDS)
        slipped = _slipped(name, letters[index], kind, number)
        if slipped is not None and normalise_name(slipped) not in ("", normal):
            return slipped
    return None


def _slipped(name: str, at: int, kind: int, number: int) -> str | None:
    letter, rest = name[at], name[at + 1 :]
    if kind == 0:
        return name[:at] + rest[0] + letter + rest[1:] if rest[:1].isalpha() else None
    if kind == 1:
        return name[:at] + rest
    if kind == 2:
        neighbours = _NEIGHBOURS.get(letter.lower(), "")
        if not neighbours:
            return None
        other = neighbours[number % len(neighbours)]
        return name[:at] + (other.upper() if letter.isupper() else other) + rest
    return name[:at] + letter + letter + rest
