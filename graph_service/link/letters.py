"""Texts as arrays of letters: signatures that many texts are compared by at once, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Int32, Int64
from graph_service.text.fold import fold

Uint32 = npt.NDArray[np.uint32]
Uint64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Words, and how many times labels have each.

    Attributes:
        keys: Hash of each word, uint64 [n], ascending.
        times: int64 [n].
    """

    keys: Uint64
    times: Int64

    @classmethod
    def of_words(cls, keys: Uint64, /) -> Vocabulary:
        """Returns the vocabulary of some words by their hashes."""
        distinct, times = np.unique(keys, return_counts=True)
        return cls(distinct, times.astype(np.int64))

    @classmethod
    def merged(cls, parts: Sequence[Vocabulary], /) -> Vocabulary:
        """Returns several vocabularies as one."""
        keys, index = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        times = np.bincount(
            index, weights=np.concatenate([part.times for part in parts]), minlength=len(keys)
        )
        return cls(keys, times.astype(np.int64))

    @classmethod
    def of_counts(cls, times: Mapping[str, int], /) -> Vocabulary:
        """Returns the vocabulary of some folded words that are no two words each."""
        words = [word for word in times if len(signatures([word]).words) == 1]
        if not words:
            return cls.of_words(np.zeros(0, dtype=np.uint64))
        keys, first = np.unique(signatures(words).words, return_index=True)
        return cls(keys, np.array([times[words[at]] for at in first.tolist()], dtype=np.int64))

    def counts(self, words: Sequence[str], /) -> list[int]:
        """Returns how many times labels have each of some folded words."""
        hashes = signatures(words).words
        if not len(self.keys) or len(hashes) != len(words):
            return [0] * len(words)
        positions = np.minimum(np.searchsorted(self.keys, hashes), len(self.keys) - 1)
        times = np.where(self.keys[positions] == hashes, self.times[positions], 0)
        counts: list[int] = times.tolist()
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """What texts are compared by before they are compared letter by letter.

    Attributes:
        letters: Hashed set of the letters of each text, uint64 [n].
        pairs: Hashed set of its pairs of neighbouring letters, uint64 [n].
        order: Hash of its first letter, then its number of letters: int32 [n].
        words: Hashes of all words, one text's after the other's, uint64.
    """

    letters: Uint64
    pairs: Uint64
    order: Int32
    words: Uint64


def signatures(texts: Sequence[str], /) -> Signatures:
    """Returns the signatures of some texts, folded on the way."""
    codes = _folded_codes(texts)
    stops = np.flatnonzero(codes == _NEWLINE)
    begins = np.concatenate([np.zeros(1, dtype=np.int64), stops[:-1] + 1])
    letter = _is_letter(codes)
    hashed = ((codes * np.uint32(2654435761)) >> np.uint32(26)).astype(np.int32)
    bits = np.left_shift(np.uint64(1), hashed.astype(np.uint64))
    bits[~letter] = 0
    sets: Uint64 = np.bitwise_or.reduceat(bits, begins)
    lengths = np.add.reduceat(letter.astype(np.int32), begins)
    letters = np.flatnonzero(letter)
    # Pairs look past spaces and signs, for those are no letters, but not past the end of a text.
    here, after = letters[:-1], letters[1:]
    both = (codes[here] * np.uint32(2246822519)) ^ (codes[after] * np.uint32(3266489917))
    paired = np.left_shift(np.uint64(1), (both >> np.uint32(26)).astype(np.uint64))
    text_of = np.cumsum(codes == _NEWLINE)
    paired[text_of[here] != text_of[after]] = 0
    bits[:] = 0
    bits[here] = paired
    pairs: Uint64 = np.bitwise_or.reduceat(bits, begins)
    words = _word_keys(codes, letter, _word_begins(letter))
    letters = np.append(letters, len(codes) - 1)
    first = letters[np.searchsorted(letters, begins)]
    # Room between the letters, so that a length past its range reaches no other letter's.
    order: Int32 = hashed[first] * 1024 + np.minimum(lengths, 1000).astype(np.int32)
    return Signatures(sets, pairs, order, words)


def hash_words(texts: Sequence[str], /) -> tuple[Uint64, Int64]:
    """Returns the hashes of the words of some texts, one text's after the other's, uint64, and
    how many words each text has, int64 [n]. The texts are folded on the way.
    """
    if not texts:
        return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    codes = _folded_codes(texts)
    letter = _is_letter(codes)
    begins = _word_begins(letter)
    text_of = np.searchsorted(np.flatnonzero(codes == _NEWLINE), begins)
    counts = np.bincount(text_of, minlength=len(texts)).astype(np.int64)
    return _word_keys(codes, letter, begins), counts


def _folded_codes(texts: Sequence[str]) -> Uint32:
    """Returns the letters of some texts, folded, with one line break behind each text."""
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:
        joined = "\n".join(text.replace("\n", " ") for text in texts)
    return np.frombuffer((fold(joined) + "\n").encode("utf-32-le"), dtype="<u4")


def _word_begins(letter: npt.NDArray[np.bool_]) -> Int64:
    return np.flatnonzero(letter & ~np.concatenate([[False], letter[:-1]]))


def _word_keys(codes: Uint32, letter: npt.NDArray[np.bool_], begins: Int64) -> Uint64:
    """Returns the hash of each run of letters: a polynomial of the codes, modulo 2**64."""
    if not len(begins):
        return np.zeros(0, dtype=np.uint64)
    after = codes[begins[0] :]
    within = np.arange(len(after)) - np.repeat(
        begins - begins[0], np.diff(begins, append=len(codes))
    )
    powers = _POWERS[np.minimum(within, len(_POWERS) - 1)]
    terms = np.where(letter[begins[0] :], after.astype(np.uint64) * powers, np.uint64(0))
    keys: Uint64 = np.add.reduceat(terms, begins - begins[0])
    return keys


def _is_letter(codes: Uint32) -> npt.NDArray[np.bool_]:
    digit = (codes >= 48) & (codes <= 57)
    latin = (codes >= 97) & (codes <= 122)
    # Beyond ASCII only spaces and general punctuation matter: a name that differs in another
    # sign is merely counted as one letter further off.
    beyond = ((codes >= 0xC0) | np.isin(codes, (0xAA, 0xB5, 0xBA))) & ~(
        (codes >= 0x2000) & (codes <= 0x206F)
    )
    beyond &= ~((codes >= 0x3000) & (codes <= 0x303F))
    is_letter: npt.NDArray[np.bool_] = digit | latin | beyond
    return is_letter


def bit_count(words: Uint64, /) -> Int64:
    """Returns how many bits of each word are set, by adding neighbours within the word."""
    counts = words - ((words >> np.uint64(1)) & _ODD)
    counts = (counts & _TWOS) + ((counts >> np.uint64(2)) & _TWOS)
    counts = (counts + (counts >> np.uint64(4))) & _FOURS
    summed: Int64 = ((counts * _BYTES) >> np.uint64(56)).view(np.int64)
    return summed


_ODD, _TWOS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_FOURS, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_NEWLINE = 10
_POWERS = np.cumprod(np.full(256, 0x9E3779B97F4A7C15, dtype=np.uint64))
