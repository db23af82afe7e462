"""Which texts pass with a client's request, so that no file keeps their vectors for good."""

from __future__ import annotations

from graph_service.text.fold import fold, words


class TextsOfAClient:
    """The texts that are made of the words of a question: itself, parts of it, its words.

    Args:
        question: As the client asks it.

    >>> passing = TextsOfAClient("Who is Ada's mother?")
    >>> "Who is 's mother?" in passing, "mother" in passing, "place of birth" in passing
    (True, True, False)
    """

    def __init__(self, question: str, /) -> None:
        self._folded = fold(question)

    def __contains__(self, text: object, /) -> bool:
        return isinstance(text, str) and all(word in self._folded for word in words(text))


class _EveryText:
    def __contains__(self, text: object, /) -> bool:
        return True


EVERY_TEXT = _EveryText()
"""Of a view that the client makes up for one request, all texts may be its own."""
