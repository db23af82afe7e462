"""Citations in an answer's text: printed, and read against the knowledge that was given.

A citation names triples of one entity, ``[Q212657, place of birth: Rome, occupation: painter]``
(K1), or triples by their numbers in the prompt, ``[1]``, ``[2, 5]``, ``[Fact 3]`` (``numbers``);
``[NA]`` marks a claim that needs knowledge the graph lacks. Values hold commas, colons and brackets
of their own, so no pattern can tell where one ends: what is read is the longest triple that was
given (K4). What tries to cite and matches none is a citation all the same, and an incorrect one.
Labels of what was given are words (``spoken``), and so is a link ``[text](address)``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from graph_service.model.result import Triple
from graph_service.text.sentences import sentence_spans
from queries.generate.citations import Citation, Sentence, one_line, print_citation
from queries.generate.numbers import NA, Numbers, cites_in_words, read_numbers
from queries.generate.references import Mark, references_start
from queries.generate.spoken import BRACKETS, LabelsInText, labels_of, skip
from queries.generate.unbracketed import unbracketed_numbers

_SEPARATOR = re.compile(r"\s*[,;]\s*")
_CLOSE = re.compile(r"\s*\]")
_ID = re.compile(r"\s*(?:[QPL]\d+|[A-Za-z][A-Za-z0-9+.-]*://[^\s,;\]]+)\s*(?=[,;:\]]|$)")
_NEXT_PIECE = re.compile(r"\s*[,;]\s*(?=[^,;:\[\]]+:\s)")
_NA_LAST = re.compile(r"\s*[,;]\s*(?=N\.?/?A\.?\s*(?:[,;]|$))", re.IGNORECASE)
_PAIR = re.compile(r"[^,;:\[\]]{1,80}[,;]\s*[^,;:\[\]]{1,80}:\s*\S")
_OPENING = re.compile(r"[\[(]")
_PARENTHESES = re.compile(r"\(([^()\[\]\n]{1,60})\)")
_INITIAL = re.compile(r"[a-z][-_]?\d+")
_SPACE_BEFORE_MARK = re.compile(r"\s+([.,;:!?])")
_NUMBER_FIRST = re.compile(r"[\s*_^#]*([^\W\d_]+)?[\s:#]*(\d{1,6})\s*[:.|,–—-]+\s*(?=\S)")
_LINK = re.compile(r"\((?:[a-z]+://|www\.|mailto:|[#/.])[^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)", re.I)
_BETWEEN = re.compile(r"[ \t]*(?:[,;&/]|and|und|et)?[ \t]*")
_DASH = re.compile(r"[ \t]*[-–—][ \t]*")
# What holds a citation and nothing beside it; the words before it belong to it.
_AROUND = tuple(
    (re.compile(before, re.I), re.compile(after, re.I))
    for before, after in (
        (r"\*\*$", r"\*\*"),
        (r"__$", r"__"),
        (r"(?<!\*)\*$", r"\*(?!\*)"),
        (r"`$", r"`"),
        (r"<(?:sup|cite)>\s*$", r"\s*</(?:sup|cite)>"),
        (r"[(（]\s*(?:(?:see|cf\.?|sources?|facts?|references?|citations?):?\s*)?$", r"\s*[)）]"),
        (r"[\[［【]\s*$", r"\s*[\]］】]"),
    )
)


def render_citations(
    triples: Sequence[Triple],
    knowledge: Sequence[Triple],
    /,
    *,
    reader: CitationReader | None = None,
) -> str:
    """Returns a citation text that is read back as these statements.

    Neighbouring triples of one entity share a bracket where that is unambiguous. Where
    commas and colons inside the names make it read as something else, each triple has a bracket
    of its own; where even that prints like another statement, its number stands there.

    Args:
        triples: What to cite, in order; each is one of ``knowledge``.
        knowledge: All triples that were given, in the order of their numbers.
        reader: Of that knowledge, where there is one.
    """
    reader = reader or CitationReader(knowledge)
    numbers = {triple.statement_id: i for i, triple in enumerate(knowledge, 1)}
    groups: list[list[Triple]] = []
    for triple in triples:
        if groups and groups[-1][0].head.id == triple.head.id:
            groups[-1].append(triple)
        else:
            groups.append([triple])
    shown: list[str] = []
    for group in groups:
        if reader.reads_as(print_citation(group), group):
            shown.append(print_citation(group))
            continue
        for triple in group:
            alone = print_citation([triple])
            exact = reader.reads_as(alone, [triple])
            shown.append(alone if exact else f"[{numbers[triple.statement_id]}]")
    return "".join(shown)


@dataclass(frozen=True, slots=True)
class _Known:
    """A printed form ``relation: value`` of one head, and the statements that print so."""

    printed: str
    pattern: re.Pattern[str]
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class _Bracket:
    """One bracket of a text that is a citation or a marker."""

    start: int
    end: int
    citations: tuple[Citation, ...]
    not_available: bool
    by_number: bool = False

    @property
    def statement_ids(self) -> frozenset[str]:
        """All statements that it can mean."""
        return frozenset(id_ for citation in self.citations for id_ in citation.statement_ids)


class CitationReader:
    """Reads citations against the triples that were given.

    Args:
        knowledge: The triples, in the order of their numbers in the prompt.
        labels: Further labels that texts may speak, such as of linked entities.
    """

    def __init__(self, knowledge: Sequence[Triple], /, *, labels: Iterable[str] = ()) -> None:
        self._knowledge = tuple(knowledge)
        self._label_spans = LabelsInText((*labels_of(self._knowledge), *labels))
        printed: dict[str, dict[str, list[Triple]]] = {}
        by_content: dict[str, list[Triple]] = {}
        for triple in self._knowledge:
            head = one_line(triple.head.id)
            pair = f"{one_line(triple.relation.label)}: {one_line(triple.value_label)}"
            printed.setdefault(head, {}).setdefault(pair, []).append(triple)
            by_content.setdefault(f"{head}, {pair}", []).append(triple)
        self._known_ids = [
            _Known(text, _pattern(text), tuple(triples))
            for text, triples in sorted(by_content.items(), key=_longest_first)
        ]
        self._heads: list[tuple[str, re.Pattern[str], list[_Known]]] = [
            (
                head,
                _pattern(head),
                [
                    _Known(pair, _pattern(pair), tuple(triples))
                    for pair, triples in sorted(pairs.items(), key=_longest_first)
                ],
            )
            for head, pairs in sorted(printed.items(), key=_longest_first)
        ]
        self._names = {one_line(triple.head.label).casefold() for triple in self._knowledge}

    def reads_as(self, text: str, triples: Sequence[Triple], /) -> bool:
        """Returns whether a text holds citations of exactly these statements, and of no other."""
        read = [citation for bracket in self.brackets(text) for citation in bracket.citations]
        return all(citation.matched for citation in read) and [
            citation.statement_ids for citation in read
        ] == [(triple.statement_id,) for triple in triples]

    def brackets(self, text: str, /) -> list[_Bracket]:
        """Returns the citations and markers of a text in NFC, left to right."""
        shadow = text.translate(BRACKETS)
        spans = self._label_spans.spans(
            text, lambda label, end: self._cites(text, shadow, label, end)
        )
        result: list[_Bracket] = []
        position = 0
        while (opening := _OPENING.search(shadow, position)) is not None:
            start = opening.start()
            position = start + 1
            label_end = skip(spans, start)
            if shadow[start] == "(":
                bracket = None if label_end > start else self._in_parentheses(text, shadow, start)
            else:
                bracket = self._bracket(text, shadow, start)
                # A label may begin as a citation does, which then goes on behind the label's end.
                if label_end > start and bracket is not None:
                    cites = bracket.by_number or bracket.statement_ids or bracket.not_available
                    bracket = bracket if cites and bracket.end > label_end else None
            if bracket is not None:
                result.append(bracket)
                position = bracket.end
            elif label_end > start:
                position = label_end
        if not any(bracket.citations for bracket in result):
            matches = unbracketed_numbers(shadow, spans, len(self._knowledge))
            citing = [
                _Bracket(start, end, self._numbered(numbers, text[start:end]), False, True)
                for start, end, numbers in matches
            ]
            result = sorted([*result, *citing], key=lambda bracket: bracket.start)
        return _joined(text, result, self._numbered)

    def _cites(self, text: str, shadow: str, label: str, end: int) -> bool:
        """Whether a citation stands right behind a label and cites a statement that has it."""
        after = end + len(text[end:]) - len(text[end:].lstrip())
        bracket = self._bracket(text, shadow, after) if shadow[after : after + 1] == "[" else None
        return bracket is not None and any(
            label in map(str.casefold, labels_of([triple]))
            for triple in self._knowledge
            if triple.statement_id in bracket.statement_ids
        )

    def _bracket(self, text: str, shadow: str, start: int) -> _Bracket | None:
        return self._known(text, shadow, start) or self._other(text, shadow, start)

    def _known(self, text: str, shadow: str, start: int) -> _Bracket | None:
        """A bracket that names an entity that was given."""
        for option in _options(self._known_ids, shadow, start + 1):
            if close := _CLOSE.match(shadow, option.end):
                citation = _of_known(option, text[start : close.end()])
                return _Bracket(start, close.end(), (citation,), False)
        for head, exact, after, pairs in self._heads_at(shadow, start + 1):
            if separator := _SEPARATOR.match(shadow, after):
                listed = _read_list(text, shadow, separator.end(), pairs, exact)
                if listed is not None:
                    return _Bracket(start, listed[1], listed[0], False)
                return _read_pieces(text, shadow, start, head, separator.end(), pairs, exact)
        return None

    def _heads_at(self, shadow: str, at: int) -> list[tuple[str, bool, int, list[_Known]]]:
        """The heads that stand at a position, whether in their own case, and where each ends.

        Longest first, and of those that differ in case alone the one that is written so.
        """
        heads = [
            (head, _is_exact(shadow, at, match.end(), head), match.end(), pairs)
            for head, pattern, pairs in self._heads
            if (match := pattern.match(shadow, at))
        ]
        return sorted(heads, key=lambda item: (-item[2], not item[1]))

    def _other(self, text: str, shadow: str, start: int) -> _Bracket | None:
        """A bracket that names no entity that was given, or nothing else of it."""
        end = _closing(shadow, start)
        inner = shadow[start + 1 : end - 1] if shadow[end - 1] == "]" else shadow[start + 1 : end]
        most = len(self._knowledge)
        stated = self._stated(inner)
        folded = inner.strip().casefold()
        is_name = folded in self._names or any(
            head.casefold() == folded for head, _, _ in self._heads
        )
        if stated:
            numbers: Numbers | None = Numbers((stated,), False)
        else:
            # [T1] is the entity T1 where there is one.
            is_entity = is_name and _INITIAL.fullmatch(folded) is not None
            numbers = None if is_entity else read_numbers(inner, most)
        link = _LINK.match(shadow, end)
        if link is not None and (numbers is None or None in numbers.numbers):
            return None
        if numbers is not None:
            raw = text[start:end]
            citations = self._numbered(numbers.numbers, raw)
            return _Bracket(start, end, citations, numbers.not_available, bool(citations))
        if _PAIR.search(inner) or _ID.match(inner):
            id_match = _ID.match(inner)
            head = id_match.group().strip() if id_match else re.split(r"[,;]", inner)[0].strip()
            after = id_match.end() if id_match else len(re.split(r"[,;]", inner)[0])
            separator = re.compile(r"\s*[,;:]\s*").match(shadow, start + 1 + after)
            if separator and separator.end() < end:
                return _read_pieces(text, shadow, start, head, separator.end(), (), True)
            return _Bracket(start, end, (_unmatched(head, text[start:end]),), False)
        if shadow[end : end + 1] == "[" and self._cites_at(text, shadow, end):
            # A link by reference: [Ada][1].
            return None
        if inner.count("|") > 1:
            return _Bracket(start, end, (_unmatched("", text[start:end]),), False)
        if is_name:
            return _Bracket(start, end, (_unmatched(inner.strip(), text[start:end]),), False)
        return None

    def _cites_at(self, text: str, shadow: str, start: int) -> bool:
        """Whether a bracket cites an entity that was given, or by number."""
        if self._known(text, shadow, start) is not None:
            return True
        inner = shadow[start + 1 : _closing(shadow, start) - 1]
        return read_numbers(inner, len(self._knowledge)) is not None

    def _in_parentheses(self, _text: str, shadow: str, start: int) -> _Bracket | None:
        """``(Fact 1)``: parentheses cite where they say so and every number was offered."""
        match = _PARENTHESES.match(shadow, start)
        if match is None or not cites_in_words(match[1]):
            return None
        numbers = read_numbers(match[1], len(self._knowledge))
        citations = () if numbers is None else self._numbered(numbers.numbers, match[0])
        if numbers is None or not all(citation.matched for citation in citations):
            return None
        return _Bracket(start, match.end(), citations, numbers.not_available, bool(citations))

    def _stated(self, inner: str) -> int:
        """The number that a bracket begins with, where its words state that triple; else 0."""
        match = _NUMBER_FIRST.match(inner)
        if match is None or not 1 <= (number := int(match[2])) <= len(self._knowledge):
            return 0
        triple = self._knowledge[number - 1]
        return number if states(triple, inner[match.end() :], with_head=False) else 0

    def _numbered(self, numbers: Sequence[int | None], raw: str) -> tuple[Citation, ...]:
        return tuple(
            _of_triple(self._knowledge[position - 1], raw)
            if position is not None and 1 <= position <= len(self._knowledge)
            else _unmatched("", raw)
            for position in numbers
        )


def states(triple: Triple, words: str, /, *, with_head: bool = True) -> bool:
    """Returns whether words name the value of a triple and its relation or, if asked, its head."""
    folded = one_line(words).casefold()
    parts = [triple.value_label, triple.head.label if with_head else triple.relation.label]
    return all(one_line(part).casefold() in folded for part in parts)


def _joined(
    text: str,
    brackets: Sequence[_Bracket],
    numbered: Callable[[Sequence[int | None], str], tuple[Citation, ...]],
) -> list[_Bracket]:
    """Citations with what is theirs around them: commas between, brackets and stress around a run.

    ``[1]-[3]`` cites all three.
    """
    runs: list[list[_Bracket]] = []
    for bracket in brackets:
        last = runs[-1][-1] if runs else None
        gap = "\n" if last is None else text[last.end : bracket.start]
        if last is None or not (_BETWEEN.fullmatch(gap) or _DASH.fullmatch(gap)):
            runs.append([bracket])
            continue
        between: tuple[Citation, ...] = ()
        if _DASH.fullmatch(gap):
            numbers = [
                re.fullmatch(r"\W*(\d{1,3})\W*", text[x.start : x.end]) for x in (last, bracket)
            ]
            low, high = (int(match[1]) if match else 0 for match in numbers)
            if last.by_number and bracket.by_number and 0 < low < high < low + 50:
                between = numbered(range(low + 1, high), text[bracket.start : bracket.end])
        runs[-1][-1] = replace(last, end=bracket.start, citations=(*last.citations, *between))
        runs[-1].append(bracket)
    joined: list[_Bracket] = []
    for run in runs:
        start, end = run[0].start, run[-1].end
        if text[start - 1 : start] == "\\":
            start -= 1
        link = _LINK.match(text, end)
        end = link.end() if link else end
        while True:
            window = text[max(0, start - 24) : start]
            pair = next(
                (
                    (left.start(), right.end())
                    for before, after in _AROUND
                    if (left := before.search(window)) and (right := after.match(text, end))
                ),
                None,
            )
            if pair is None:
                break
            start, end = start - len(window) + pair[0], pair[1]
            link = _LINK.match(text, end)
            end = link.end() if link else end
        run[0] = replace(run[0], start=start)
        run[-1] = replace(run[-1], end=end)
        joined.extend(run)
    return joined


def parse_answer(
    text: str, knowledge: Sequence[Triple], /, *, labels: Sequence[str] = ()
) -> tuple[Sentence, ...]:
    """Returns the sentences of an answer with what each cites (K1, K4).

    A citation belongs to the sentence it stands in; one that follows a full stop belongs to the
    sentence before it, and one that begins a line to the sentence after it. A list of references at
    the end is left out.

    Args:
        text: A model's words.
        knowledge: The triples that were given, in the order of their numbers.
        labels: Further labels that the text may speak.
    """
    text = unicodedata.normalize("NFC", text)
    reader = CitationReader(knowledge, labels=labels)
    cited = reader.brackets(text)
    marks = [Mark(bracket.start, bracket.end, bracket.statement_ids) for bracket in cited]
    by_id = {triple.statement_id: triple for triple in knowledge}
    references = references_start(text, marks, lambda id_, words: states(by_id[id_], words))
    if references is not None:
        text = text[:references]
        cited = [bracket for bracket in cited if bracket.start < references]
    texts: list[str] = []
    offsets: list[int] = []
    length = end = 0
    for bracket in cited:
        part = text[end : bracket.start]
        texts.append(part)
        length += len(part)
        offsets.append(length)
        end = bracket.end
    texts.append(text[end:])
    plain = "".join(texts)
    spans = sentence_spans(plain, names=(*labels_of(knowledge), *labels))
    if not spans:
        if not cited:
            return ()
        citations = tuple(citation for bracket in cited for citation in bracket.citations)
        return (Sentence("", citations, any(bracket.not_available for bracket in cited)),)
    held: list[list[_Bracket]] = [[] for _ in spans]
    for bracket, offset in zip(cited, offsets, strict=True):
        held[_owner(plain, spans, offset)].append(bracket)
    return tuple(
        Sentence(
            _SPACE_BEFORE_MARK.sub(r"\1", " ".join(plain[start:stop].split())),
            tuple(citation for bracket in brackets for citation in bracket.citations),
            any(bracket.not_available for bracket in brackets),
        )
        for (start, stop), brackets in zip(spans, held, strict=True)
    )


def _owner(plain: str, spans: Sequence[tuple[int, int]], offset: int) -> int:
    line_start = plain.rfind("\n", 0, offset) + 1
    begins_line = not plain[line_start:offset].strip()
    before = -1
    for i, (start, end) in enumerate(spans):
        if start < offset <= end:
            return i
        if end < offset:
            before = i
        if offset <= start:
            line_end = plain.find("\n", offset)
            same_line = line_end < 0 or start < line_end
            return i if before < 0 or (begins_line and same_line) else before
    return before


def _longest_first(item: tuple[str, object]) -> tuple[int, str]:
    return -len(item[0]), item[0]


def _pattern(printed: str) -> re.Pattern[str]:
    """Matches a printed form whatever its case and white space."""
    words = [re.escape(word) for word in printed.translate(BRACKETS).split()]
    return re.compile(r"\s*" + r"\s+".join(words), re.IGNORECASE)


def _of_triple(
    triple: Triple, raw: str, also: tuple[str, ...] = (), *, exact: bool = True
) -> Citation:
    return Citation(
        triple.head.id,
        triple.relation.label,
        triple.value_label,
        triple.statement_id,
        raw,
        exact,
        also,
    )


@dataclass(frozen=True, slots=True)
class _Option:
    """A printed form that stands at a position, where it ends, and whether in its own case."""

    known: _Known
    end: int
    exact: bool


def _of_known(option: _Option, raw: str, *, exact_head: bool = True) -> Citation:
    first, *others = option.known.triples
    also = tuple(triple.statement_id for triple in others)
    return _of_triple(first, raw, also, exact=option.exact and exact_head)


def _is_exact(shadow: str, start: int, end: int, printed: str) -> bool:
    return " ".join(shadow[start:end].split()) == " ".join(printed.translate(BRACKETS).split())


def _options(knowns: Sequence[_Known], shadow: str, at: int) -> list[_Option]:
    """The printed forms that stand at a position and where each ends: longest first, and of
    those that differ in case alone the one that is written so.
    """
    options = [
        _Option(known, match.end(), _is_exact(shadow, at, match.end(), known.printed))
        for known in knowns
        if (match := known.pattern.match(shadow, at))
    ]
    return sorted(options, key=lambda option: (-option.end, not option.exact))


def _unmatched(head: str, raw: str, relation: str = "", value: str = "") -> Citation:
    return Citation(head, relation, value, None, raw, False)


def _read_list(
    text: str, shadow: str, start: int, pairs: Sequence[_Known], exact_head: bool
) -> tuple[tuple[Citation, ...], int] | None:
    """Reads ``relation: value, relation: value]`` of known pairs alone, longest first.

    Positions from which no reading reaches the bracket are remembered, so that the time is
    the length times the pairs however the names repeat.
    """
    dead: set[int] = set()
    stack = [(start, _options(pairs, shadow, start))]
    chosen: list[Citation] = []
    while stack:
        at, left = stack[-1]
        if not left:
            dead.add(at)
            stack.pop()
            if chosen:
                chosen.pop()
            continue
        option = left.pop(0)
        citation = _of_known(option, text[at : option.end].strip(), exact_head=exact_head)
        if close := _CLOSE.match(shadow, option.end):
            return (*chosen, citation), close.end()
        separator = _SEPARATOR.match(shadow, option.end)
        if separator and separator.end() not in dead:
            chosen.append(citation)
            stack.append((separator.end(), _options(pairs, shadow, separator.end())))
    return None


def _read_pieces(
    text: str,
    shadow: str,
    start: int,
    head: str,
    at: int,
    pairs: Sequence[_Known],
    exact_head: bool,
) -> _Bracket:
    """Reads a list in which something is unknown: known pairs where they stand, the rest as
    pieces that match nothing.
    """
    end = _closing(shadow, start)
    stop = end - 1 if shadow[end - 1] == "]" else end
    citations: list[Citation] = []
    missing = False
    while at < stop:
        options = [
            option
            for option in _options(pairs, shadow, at)
            if option.end == stop
            or _SEPARATOR.match(shadow, option.end)
            or _CLOSE.match(shadow, option.end)
        ]
        if options:
            after = options[0].end
            citations.append(_of_known(options[0], text[at:after].strip(), exact_head=exact_head))
            if after > stop:
                # The value holds the bracket that seemed to close the citation.
                end = _closing(shadow, after, depth=1)
                stop = end - 1 if shadow[end - 1] == "]" else end
        else:
            cut = _NEXT_PIECE.search(shadow, at, stop) or _NA_LAST.search(shadow, at, stop)
            after = cut.start() if cut else stop
            piece = text[at:after].strip()
            if NA.fullmatch(piece):
                missing = True
            elif piece:
                relation, colon, value = piece.partition(":")
                citations.append(
                    _unmatched(head, piece, relation.strip() if colon else "", value.strip())
                )
        separator = _SEPARATOR.match(shadow, after, stop)
        at = separator.end() if separator else stop
    if not citations and not missing:
        citations.append(_unmatched(head, text[start:end]))
    return _Bracket(start, end, tuple(citations), missing)


def _closing(shadow: str, start: int, *, depth: int = 0) -> int:
    """The position after the bracket that closes the one at ``start``; where none does, the end
    of its line (a reply that was cut).
    """
    line_end = shadow.find("\n", start)
    limit = len(shadow) if line_end < 0 else line_end
    first = -1
    for position in range(start, limit):
        if shadow[position] == "[":
            depth += 1
        elif shadow[position] == "]":
            if first < 0:
                first = position + 1
            depth -= 1
            if not depth:
                return position + 1
    return first if first >= 0 else limit
