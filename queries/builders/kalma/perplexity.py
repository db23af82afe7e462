"""How unlikely a text is: by n-grams of a corpus, or by an endpoint that echoes log-probabilities.

Perplexity is ``exp`` of the mean negative natural logarithm of the probabilities of a text's tokens.
What a token is, each implementation says in its name; figures of two of them can't be compared.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.text.fold import words
from queries.builders.stages import NO_REPLY, RefusedError
from queries.datasets.records import open_plain
from queries.llm import ChatModel, Message, Rendered, ReplyError

ORDER = 3
_BEGIN, _END = "<s>", "</s>"


class Perplexity(Protocol):
    """Tells how unlikely texts are. Implementations: n-grams of a corpus, an endpoint with echo."""

    @property
    def name(self) -> str:
        """What tells it; written down with every score."""

    def of(self, texts: Sequence[str], /) -> tuple[float, ...]:
        """Returns the perplexity of each text, more than 0.

        Raises:
            RefusedError: One of them has none.
        """


class NGrams:
    """An n-gram model of folded words, smoothed as Witten and Bell (1991) have it.

    With ``c`` the count of a history before a word, ``n`` of the history and ``t`` of the distinct
    words that follow it, ``P(w|h) = (c + t P(w|h')) / (n + t)``, where ``h'`` lacks the first word
    of ``h``. Below single words all words that were seen and one for all others are equally likely.

    Args:
        texts: The corpus; a text begins and ends by itself.
        order: Words of an n-gram.
        source: Name of the corpus.

    >>> NGrams(["a b"], order=1).probability("a", ())  # 1 of 3 tokens, 3 kinds: (1 + 3/4) / (3 + 3)
    0.2916666666666667
    """

    def __init__(self, texts: Iterable[str], /, *, order: int = ORDER, source: str = "") -> None:
        self._order = order
        self._counts: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(order)]
        seen = 0
        for text in texts:
            tokens = self._tokens(text)
            seen += len(tokens) > order
            for position in range(order - 1, len(tokens)):
                for length in range(order):
                    self._counts[length][tuple(tokens[position - length : position + 1])] += 1
        if not seen:
            raise InputError(f"the corpus {source} holds no words", argument="corpus")
        self._totals: Counter[tuple[str, ...]] = Counter()
        kinds: defaultdict[tuple[str, ...], int] = defaultdict(int)
        for counted in self._counts:
            for gram, count in counted.items():
                self._totals[gram[:-1]] += count
                kinds[gram[:-1]] += 1
        self._kinds = dict(kinds)
        print_ = (f"{' '.join(gram)} {n}" for part in self._counts for gram, n in part.items())
        self.name = (
            f"{order}-grams of {source or 'a corpus'} "
            f"{digest(sorted(print_), size=8, person=b'ngrams').hex()}"
        )

    def _tokens(self, text: str) -> list[str]:
        return [*[_BEGIN] * (self._order - 1), *words(text), _END]

    def probability(self, word: str, history: tuple[str, ...], /) -> float:
        """Returns the probability of a word after others, at most ``order - 1`` of them."""
        below = self.probability(word, history[1:]) if history else 1.0 / (self._kinds[()] + 1)
        total = self._totals.get(history, 0)
        if not total:
            return below
        kinds = self._kinds[history]
        return (self._counts[len(history)][(*history, word)] + kinds * below) / (total + kinds)

    def of(self, texts: Sequence[str], /) -> tuple[float, ...]:
        """Returns the perplexity of each text, its end counted as a token."""
        return tuple(self._of(text) for text in texts)

    def _of(self, text: str) -> float:
        tokens = self._tokens(text)
        first = self._order - 1
        logs = [
            math.log(self.probability(tokens[i], tuple(tokens[i - first : i])))
            for i in range(first, len(tokens))
        ]
        return math.exp(-math.fsum(logs) / len(logs))


def read_corpus(path: str | Path, /) -> NGrams:
    """Returns the n-grams of a text file, a text a line (``.xz``, ``.gz`` and ``.bz2`` too).

    Raises:
        InputError: It can't be read, or a line is no UTF-8; names the line. Or it holds no words.
    """
    file = Path(path)

    def lines() -> Iterable[str]:
        with open_plain(file) as opened:
            for index, raw in enumerate(opened, 1):
                try:
                    yield raw.decode("utf-8-sig" if index == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(
                        f"{file.name}, line {index}: text in UTF-8 was expected",
                        argument="corpus",
                    ) from error

    return NGrams((line for line in lines() if line.strip()), source=file.name)


class EchoedPerplexity:
    """By a model that repeats a prompt with the log-probability of each token (``EchoedPrompt``).

    The first token has none, and does not count.

    Args:
        model: Its replies hold the log-probabilities of the prompt.
    """

    def __init__(self, model: ChatModel, /) -> None:
        self._model = model
        self.name = f"{model.name}, echoed"

    def of(self, texts: Sequence[str], /) -> tuple[float, ...]:
        """Returns the perplexity of each text; see ``Perplexity``."""
        return tuple(self._of(text) for text in texts)

    def _of(self, text: str) -> float:
        try:
            reply = self._model.complete(
                Rendered((Message("user", text),), label="echo"), max_tokens=0, top_logprobs=0
            )
        except ReplyError as error:
            raise RefusedError(NO_REPLY, f"{error.fault.value}: {error.message}") from error
        logs = [choice.logprob for choice in reply.logprobs]
        if not logs or not all(math.isfinite(chance) for chance in logs):
            raise RefusedError(
                "no perplexity", "log-probabilities of the prompt were expected, for two tokens up"
            )
        return math.exp(-math.fsum(logs) / len(logs))
