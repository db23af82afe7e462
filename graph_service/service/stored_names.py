"""The entities that a question may name, read from a store whose graph is not in memory.

Whole names, and what is close to them: labels that hold words of the question in a row and more
(``obama``), names of places that people and things are called by (``hungarian``), and labels of
several words of which one is misspelt. Every one is found by the store's own search. How many
searches and statements that takes is bounded, however large the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graph_service.link import LINKING_RULES
from graph_service.link.demonyms import origins_of
from graph_service.link.forms import other_forms
from graph_service.link.function_words import COMMON_NOUNS
from graph_service.link.lexicon import Lexicon
from graph_service.link.misspelt import allowed_distance, edit_distance
from graph_service.link.partial_names import MOST_WORDS, is_code, without_initials
from graph_service.link.question import (
    Atom,
    find_runs,
    is_content,
    may_be_name,
    read_atoms,
    writes_capitals,
)
from graph_service.link.spelled import code_spellings, may_bound_part
from graph_service.link.starts import START_RULES
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.result import SearchHit
from graph_service.store.protocol import Store
from graph_service.text.fold import normalise_name
from graph_service.text.nouns import singular

_NAME_WORDS = 16
_SAME_NAME = 50
"""Entities of one name that are told apart; of part of a name, those of the shortest names."""
_ARTICLE = "the "
_CLASS_WORDS = 4
"""Words of the name of a class."""
_MOST_DEMONYMS = 40
"""Names of places that are looked up for one question."""
_MOST_RESPELT = 8
"""Runs of words that are looked for as misspelt names."""
_NAMES_OF_A_WORD = 500
"""Names with one word right that a misspelt name is compared with."""
_PART_EDGES = 5_000
"""Statements that all entities of partial names may have together: they are read."""


@dataclass(slots=True)
class StoredNames:
    """What a question may name.

    Attributes:
        exact: Ids of entities that bear a run of the question's words as a name, in any form, or
            nearly; in the order found.
        parts: Ids of entities of whose label words of the question are a part.
        singular: Ids of entities that bear a run of its words as a name once the last is put into
            the singular, as a class bears it.
        times: How many entities have each word in a name, as far as was counted.
        cuts: Partial names that were left out.
    """

    exact: dict[str, None] = field(default_factory=dict)
    parts: dict[str, None] = field(default_factory=dict)
    singular: dict[str, None] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    cuts: tuple[Cut, ...] = ()


class StoredNameReader:
    """Looks up the names of one question.

    Args:
        store: Where the graph is.
        info: The graph.
        question: The question.
        lexicon: Of the graph.
        deadline: Raises ``DeadlineError`` when past.
    """

    def __init__(
        self, store: Store, info: GraphInfo, question: str, lexicon: Lexicon, deadline: Deadline, /
    ) -> None:
        self._store = store
        self._info = info
        self._lexicon = lexicon
        self._deadline = deadline
        self._atoms = read_atoms(question)
        self._hits: dict[str, list[SearchHit]] = {}
        self._names = StoredNames()
        self._names_of_runs = {
            run: name for name, runs in find_runs(self._atoms, _NAME_WORDS).items() for run in runs
        }
        self._named: list[tuple[int, int]] = []
        self._meant: list[tuple[int, int]] = []

    def read(self, *, parts: bool) -> StoredNames:
        """Returns what the question may name.

        Args:
            parts: Whether parts of names and demonyms count, which retrieval then decides about.
        """
        self._read_complete()
        self._read_misspelt()
        if parts:
            self._read_demonyms()
            self._read_parts()
            self._read_singular()
        return self._names

    def _read_complete(self) -> None:
        atoms = self._atoms
        hopeless = [len(atoms) + 1] * len(atoms)
        for left, right in sorted(self._names_of_runs):
            run = atoms[left:right]
            # What no name holds the words of, no name holds the words of with another word.
            if right > hopeless[left] or not may_be_name(run):
                continue
            has_hits, exact = self._look_up(self._names_of_runs[left, right])
            if exact:
                self._named.append((left, right))
                if not self._is_plain(left, right):
                    self._meant.append((left, right))
            if not has_hits and not any(atom.unspaced for atom in run):
                hopeless[left] = right
        for form in other_forms(
            atoms,
            self._lexicon,
            capitals=writes_capitals(atoms),
            max_words=LINKING_RULES.form_words,
        ):
            self._look_up(form.name)

    def _read_singular(self) -> None:
        for left, right in self._content_runs(1, _CLASS_WORDS):
            texts = [atom.text for atom in self._atoms[left:right]]
            name = " ".join((*texts[:-1], singular(texts[-1])))
            if name == " ".join(texts):
                continue
            for hit in self._search(name):
                if normalise_name(hit.matched) == name:
                    self._names.singular[hit.entity.id] = None

    def _search(self, name: str, *, limit: int = _SAME_NAME) -> list[SearchHit]:
        hits = self._hits.get(name)
        if hits is None or len(hits) == _SAME_NAME < limit:
            self._deadline.check("looking up names")
            hits = self._hits[name] = self._store.search(
                self._info.edition, name, limit=limit, deadline=self._deadline
            )
        return hits

    def _look_up(self, name: str) -> tuple[bool, bool]:
        """Notes the entities of a name; returns whether a name has all its words, or is it."""
        hits, exact = self._search(name), False
        for hit in hits:
            if normalise_name(hit.matched).removeprefix(_ARTICLE) == name.removeprefix(_ARTICLE):
                self._names.exact[hit.entity.id] = None
                exact = True
        return bool(hits), exact

    def _content_runs(self, least: int, most: int) -> list[tuple[int, int]]:
        """Returns the runs of words that begin and end with one that can carry a name."""
        return [
            (left, right)
            for left, right in sorted(self._names_of_runs)
            if least <= right - left <= most
            and not any(atom.unspaced for atom in self._atoms[left:right])
            and is_content(self._atoms[left])
            and is_content(self._atoms[right - 1])
        ]

    def _is_plain(self, left: int, right: int) -> bool:
        """Returns whether a name may be plain nouns that questions ask with; see ``link.naming``."""
        content = [atom for atom in self._atoms[left:right] if is_content(atom)]
        if writes_capitals(self._atoms) and any(
            atom.capital and not atom.first for atom in content
        ):
            return False
        name = self._names_of_runs[left, right]
        return self._lexicon.is_plain_name(name, (atom.text for atom in content))

    def _is_in_name(self, left: int, right: int) -> bool:
        """Returns whether words stand in a longer name of the graph that is no row of plain nouns.

        Parts of names are looked for in such a row, as they are by the arrays.
        """
        return any(
            start <= left and right <= end and end - start > max(right - left, 1)
            for start, end in self._meant
        )

    def _read_misspelt(self) -> None:
        tried = 0
        for left, right in self._content_runs(2, LINKING_RULES.window_words):
            name = self._names_of_runs[left, right]
            run = self._atoms[left:right]
            letters = sum(len(atom.text) for atom in run)
            typos = allowed_distance(name.replace(" ", ""), LINKING_RULES)
            if not typos or letters < LINKING_RULES.window_letters:
                continue
            if any(left < end and start < right for start, end in self._named if end - start > 1):
                continue
            if tried == _MOST_RESPELT:
                break
            tried += 1
            self._respell(name, run, typos)
        if tried:
            words = {name: len(hits) for name, hits in self._hits.items() if " " not in name}
            self._names.times = {**words, **self._names.times}

    def _respell(self, name: str, run: Sequence[Atom], typos: int) -> None:
        for atom in run:
            if not is_content(atom):
                continue
            hits = self._search(atom.text, limit=_NAMES_OF_A_WORD)
            self._names.times[atom.text] = len(hits)
            for hit in hits:
                other = normalise_name(hit.matched)
                near = other[:1] == name[:1] and edit_distance(name, other, typos) is not None
                if near and not hit.is_alias:
                    self._names.exact[hit.entity.id] = None

    def _read_demonyms(self) -> None:
        left_over = _MOST_DEMONYMS
        runs = self._content_runs(1, START_RULES.demonym_words)
        # One in a longer name counts too, but what stands alone is looked up first.
        for left, right in sorted(runs, key=lambda run: self._is_in_name(*run)):
            name = self._names_of_runs[left, right]
            if self._atoms[right - 1].text in COMMON_NOUNS:
                continue
            for name_of_origin in origins_of(name)[:left_over]:
                left_over -= 1
                self._look_up(name_of_origin)

    def _read_parts(self) -> None:
        """Notes the entities of the highest degree of each part of a name, within the bound."""
        of_run: list[list[str]] = []
        for left, right in sorted(self._names_of_runs):
            atoms = self._atoms[left:right]
            if right - left > START_RULES.part_words or not may_bound_part(
                self._atoms, left, right
            ):
                continue
            for run in ([atom.text for atom in atoms], *code_spellings(atoms)):
                words = run if is_code(run) else without_initials(run)
                letters = "".join(words)
                short = letters.isalpha() and len(letters) < START_RULES.part_letters
                if short or self._is_in_name(left, right):
                    continue
                hits = self._hits.get(" ".join(run), ())
                of_run.append([hit.entity.id for hit in hits if _is_part(words, hit)])
        ids = list(dict.fromkeys(id_ for some in of_run for id_ in some))
        if not ids:
            return
        degrees = self._store.neighbourhood(
            self._info.edition, ids, hops=0, deadline=self._deadline
        ).degrees
        room, left_out = _PART_EDGES, 0
        for some in of_run:
            best = sorted(
                (id_ for id_ in some if degrees.get(id_)),
                key=lambda id_: (-degrees[id_], key64(id_)),
            )
            for id_ in best[: START_RULES.of_part]:
                if id_ in self._names.parts or id_ in self._names.exact:
                    continue
                if degrees[id_] > room:
                    left_out += 1
                    continue
                room -= degrees[id_]
                self._names.parts[id_] = None
        if left_out:
            count = len(self._names.parts)
            self._names.cuts = (
                Cut("entities", CutReason.WORK_BUDGET, _PART_EDGES, count, count + left_out),
            )


def _is_part(words: Sequence[str], hit: SearchHit) -> bool:
    """Returns whether a label holds some words in a row and more; see ``link.partial_names``."""
    label = normalise_name(hit.matched).split()
    if hit.is_alias or not words or not len(words) < len(label) <= MOST_WORDS:
        return False
    some = label if is_code(words) else without_initials(label)
    return any(some[at : at + len(words)] == list(words) for at in range(len(some)))
