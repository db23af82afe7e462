"""A rating read from a reply, and weighted by the probabilities of the numbers of its scale (K8, O9)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from queries.llm import TokenChoice
from queries.llm.reply import UnreadableReplyError

MOST_UNCLEAR = 0.05
"""By how much a rating may be unclear before more replies are asked for, and then refused."""


def read_rating(text: str, low: int, high: int, /) -> int:
    """Returns the whole number that a reply is.

    Raises:
        UnreadableReplyError: It is anything else, or outside the scale.

    >>> read_rating(" 4. ", 1, 5)
    4
    """
    match = re.fullmatch(
        r"[^\w+-]*(?:(?:score|rating)[^\w+-]*)?([+-]?\d+)(?:\s*/\s*(\d+))?\W*", text.strip(), re.I
    )
    if match is None or match.group(2) not in (None, str(high)):
        raise UnreadableReplyError(
            f"it has to be one whole number from {low} to {high} and no more"
        )
    value = int(match.group(1))
    if not low <= value <= high:
        raise UnreadableReplyError(f"{value} is outside the scale from {low} to {high}")
    return value


class SplitNumberError(UnreadableReplyError):
    """A token is a number of the scale and also the beginning of another, such as 1 of 10, and
    nothing tells how much of its probability is of which.
    """


NextDigits = Mapping[str, Mapping[str, float]]
"""Probabilities of the digit that follows a token, by that token and the digit."""


def weighted_rating(
    tokens: Sequence[TokenChoice],
    rating: int,
    low: int,
    high: int,
    /,
    *,
    next_digits: NextDigits | None = None,
) -> float:
    """Returns the mean of the scale's numbers by their probability where the rating was said.

    Of the likeliest tokens at that place those that are whole numbers of the scale count, in
    proportion to their probabilities. Where the model writes 10 as two tokens, the probability of
    1 is that of both: the token after it shares it out.

    Args:
        tokens: Of the reply, with the likeliest ones at each place.
        rating: What the reply says.
        low: Least number of the scale.
        high: Greatest number of the scale.
        next_digits: Of other replies to the same prompt (``digits_after``).

    Raises:
        SplitNumberError: A token may be two numbers, and the rating would differ by more than 0.05.
        UnreadableReplyError: There are no log-probabilities, or the rating is not in the tokens.

    >>> from queries.llm import TokenChance
    >>> top = (TokenChance("4", math.log(0.6)), TokenChance("5", math.log(0.2)))
    >>> round(weighted_rating([TokenChoice("4", math.log(0.6), top)], 4, 1, 5), 6)  # 3.4 / .8
    4.25
    >>> top = tuple(TokenChance(t, math.log(p)) for t, p in (("9", 0.5), ("1", 0.4), ("8", 0.1)))
    >>> nine = [TokenChoice("9", math.log(0.5), top)]
    >>> round(weighted_rating(nine, 9, 1, 10, next_digits={"1": {"0": 1.0}}), 6)
    9.3
    """
    if not tokens:
        raise UnreadableReplyError("the endpoint gives no log-probabilities (weigh by sampling)")
    position = _rating_position(tokens, rating)
    if position is None:
        raise UnreadableReplyError(
            f"the rating {rating} is not in the tokens of the reply (weigh by sampling)"
        )
    known = {**(next_digits or {}), **digits_after(tokens, rating, low, high)}
    choice = tokens[position]
    chances: dict[str, float] = {}
    for chance in choice.top or (choice,):
        token = chance.token.strip()
        if token.isascii() and token.isdigit():
            chances[token] = chances.get(token, 0.0) + math.exp(chance.logprob)
    shares: dict[int, float] = {}
    split: dict[int, float] = {}
    longest = high
    for token, probability in chances.items():
        longer = [value for value in range(low, high + 1)
                  if str(value).startswith(token) and str(value) != token]  # fmt: skip
        is_split = bool(longer) and not any(str(value) in chances for value in longer)
        value = int(token)
        if not is_split:
            if low <= value <= high:
                shares[value] = shares.get(value, 0.0) + probability
            continue
        if token not in known:
            split[value] = probability
            longest = longer[-1]
            continue
        rest = 1.0
        for digit, part in known[token].items():
            number = int(token + digit)
            if low <= number <= high:
                shares[number] = shares.get(number, 0.0) + probability * part
                rest -= part
        if low <= value <= high and rest > 0:
            shares[value] = shares.get(value, 0.0) + probability * rest
    total = sum(shares.values()) + sum(split.values())
    if total <= 0:
        raise UnreadableReplyError(f"no token at the rating {rating} is a number of the scale")
    above = sum(value * share for value, share in shares.items())
    lowest = (above + sum(max(value, low) * share for value, share in split.items())) / total
    highest = (above + longest * sum(split.values())) / total
    if highest - lowest > MOST_UNCLEAR:
        token = str(next(iter(split)))
        raise SplitNumberError(
            f"this model writes {longest} as several tokens, so that the token {token} may be {token} or "
            f"{longest}: the rating is {lowest:.1f} to {highest:.1f}; weigh by sampling "
            f"(--weighting sampling), or take a scale of single digits (--scale 1-9)"
        )
    return (lowest + highest) / 2


def digits_after(tokens: Sequence[TokenChoice], rating: int, low: int, high: int, /) -> NextDigits:
    """Returns the probabilities of the digits that follow the first token of a rating.

    Empty where that token begins no longer number of the scale, and where no token follows it.
    """
    position = _rating_position(tokens, rating)
    if position is None or position + 1 >= len(tokens):
        return {}
    first = tokens[position].token.strip()
    if not first.isdigit() or not begins_longer(int(first), low, high):
        return {}
    digits: dict[str, float] = {}
    after = tokens[position + 1]
    for chance in after.top or (after,):
        digit = chance.token
        if digit.isascii() and digit.isdigit() and low <= int(first + digit) <= high:
            digits[digit] = digits.get(digit, 0.0) + math.exp(chance.logprob)
    return {first: digits}


def begins_longer(number: int, low: int, high: int, /) -> bool:
    """Returns whether a number's digits begin a longer number of a scale.

    >>> begins_longer(1, 1, 10), begins_longer(2, 1, 10), begins_longer(1, 1, 9)
    (True, False, False)
    """
    text = str(number)
    return any(str(value).startswith(text) and str(value) != text for value in range(low, high + 1))


def _rating_position(tokens: Sequence[TokenChoice], rating: int) -> int | None:
    """Where the token is that a rating begins with; None where no tokens spell it."""
    text = str(rating)
    for position in range(len(tokens)):
        spelled = ""
        for choice in tokens[position:]:
            token = choice.token.strip() if not spelled else choice.token.rstrip()
            if not (token.isascii() and token.isdigit()):
                break
            spelled += token
            if choice.token != choice.token.rstrip():
                break
        if spelled == text:
            return position
    return None
