"""Words that say nothing by themselves, of several languages; the list is kept short on purpose."""

from __future__ import annotations

from collections.abc import Iterable

from graph_service.text.fold import fold, is_unspaced, words

_ENGLISH = """
    a about after again all also am among an and any are as at be because been before being between
    both but by can could did do does doing done during each either else every few for from give
    given had has have having he her hers him his how i if in into is it its itself just let list
    many may me might mine more most much must my name named of on one only or other our ours out
    over own please said same says shall she should since so some such tell than that the their
    theirs them then there these they this those though through to too under until up upon us very
    was we were what whatever when where whether which while who whom whose why will with within without
    would you your yours s t d ll re ve describe explain called known
"""
_OTHER = """
    der die das den dem des ein eine einer eines einem einen und oder in im von vom zu zur zum mit
    auf ist sind war waren wer was wann wo warum welche welcher welches wie
    le la les un une des du de et ou dans sur est sont qui que quoi quand quel quelle quels quelles
    el los las una unos unas y o en es son quien quién que qué cual cuál donde dónde cuando como
    il lo gli i uno e di da dei della nel chi che dove quando quale
    os as um uma do dos da das no na em quem onde qual
    и в во на с со к по из у о об от за для не что кто где когда как какой какая какие каком
    чей чья это был была были
    什么 什麼 谁 誰 哪里 哪裡 哪个 哪個 哪些 何时 何時 多少 怎么 怎麼 为什么 為什麼 は が の を に 何 いつ どこ だれ
    ใคร อะไร ที่ไหน เมื่อไร คือ เป็น ของ
    من ما ماذا متى أين في هو هي على إلى
"""
_ENGLISH_WORDS = frozenset(fold(word) for word in _ENGLISH.split())
_OTHER_WORDS = frozenset(fold(word) for word in _OTHER.split())
_ONLY_ENGLISH = _ENGLISH_WORDS - _OTHER_WORDS
FUNCTION_WORDS = _ENGLISH_WORDS | _OTHER_WORDS
"""Articles, pronouns, prepositions, auxiliaries and question words, folded; of several languages."""
EMPTY_IN_ENGLISH = FUNCTION_WORDS - {"den", "die", "son", "war"}
"""Those that mean nothing in English: some words of other languages do."""
_ONLY_OTHER = EMPTY_IN_ENGLISH - _ENGLISH_WORDS
ARTICLES = frozenset({"a", "an", "the"})
"""Those of English."""
# Not ``an``, ``all``, ``a``, ``me``: they are words of other languages too.
_PLAINLY = """
    the of who whom whose what which when where why how did does were are been they this that these
    those with from
"""
_PLAINLY_ENGLISH = frozenset(_PLAINLY.split())


def function_words_in(tokens: Iterable[str], /) -> frozenset[str]:
    """Returns the function words of the language that some folded words are of.

    >>> "die" in function_words_in(["where", "did", "x", "die"])
    False
    >>> "die" in function_words_in(["wer", "sind", "die", "eltern", "von", "x"])
    True
    """
    return EMPTY_IN_ENGLISH if is_english(tokens) else FUNCTION_WORDS


def is_english(tokens: Iterable[str], /) -> bool:
    """Returns whether some folded words have a function word that only English has here."""
    return not _ONLY_ENGLISH.isdisjoint(tokens)


def is_plainly_english(text: str, /) -> bool:
    """Returns whether a text has function words of English and of no other language known here.

    >>> is_plainly_english("Where did she die?"), is_plainly_english("Wer ging an Bord?")
    (True, False)
    >>> is_plainly_english("spouse"), is_plainly_english("The Terminator 的导演是谁？")
    (False, False)
    """
    tokens = words(text)
    return (
        not _PLAINLY_ENGLISH.isdisjoint(tokens)
        and _ONLY_OTHER.isdisjoint(tokens)
        and not any(map(is_unspaced, tokens))
    )


def is_plainly_foreign(text: str, /) -> bool:
    """Returns whether a text is surely no English: by its script, or by words of other languages.

    >>> is_plainly_foreign("Wer ist die Mutter von Maria Shriver?"), is_plainly_foreign("Кто это?")
    (True, True)
    >>> is_plainly_foreign("Who directed La La Land?"), is_plainly_foreign("Charles de Gaulle?")
    (False, False)
    """
    tokens = words(text)
    if not tokens or not _PLAINLY_ENGLISH.isdisjoint(tokens):
        return False
    is_other = sum(token in _ONLY_OTHER for token in tokens) > 1
    return is_other or not any(map(str.isascii, tokens))


def content_words(text: str, /) -> list[str] | None:
    """Returns the folded words of a text that are no function words, repeats among them.

    None where words cannot be told apart: in scripts that are written without spaces.

    >>> content_words("Who is the director of the films that she wrote?")
    ['director', 'films', 'wrote']
    """
    tokens = words(text)
    if any(map(is_unspaced, tokens)):
        return None
    empty = function_words_in(tokens)
    return [word for word in tokens if len(word) > 1 and word not in empty]
