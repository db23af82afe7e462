"""Preset ``default-6``: candidates from every entity the question may name, ranked by learning.

Linking and retrieval decide together: the walks begin at all entities that words of the question
may mean, and how well an entity's relations fit the question tells whether it is meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.link.joint import JointMention, joint_linking
from graph_service.link.spans import Certainty
from graph_service.link.starts import NameForm, StartCandidate
from graph_service.model.graph import Bool, Float64
from graph_service.model.limits import Cut, CutReason
from graph_service.model.result import MOST_OF_READING, Strategy
from graph_service.retrieve.constraints.choosing import choose
from graph_service.retrieve.constraints.chosen import Chosen
from graph_service.retrieve.constraints.interpreting import interpret, plain_query
from graph_service.retrieve.constraints.judging import RankedCandidate
from graph_service.retrieve.constraints.naming import Mention
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import RetrievalContext, SelectedReading, SelectedSet, Selection
from graph_service.retrieve.learned.answer_judge import AnswerJudge
from graph_service.retrieve.learned.asked_nouns import requested_bonus
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.learned.chosen_walks import chosen_walks, plain_answer, with_met
from graph_service.retrieve.learned.confidence import AnswerConfidence
from graph_service.retrieve.learned.nested_nouns import nested_bonus
from graph_service.retrieve.learned.network import SCORE_DIGITS
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import CalibratedRanker, CandidateRanker
from graph_service.retrieve.learned.relation_names import NameRelations
from graph_service.retrieve.learned.wrong_targets import WrongTargets
from graph_service.retrieve.preset import LearnedPreset
from graph_service.retrieve.sequences.picking import most_walks, pick_walks

_EQUAL = 1.0
"""By how much less two namesakes differ in the learned score if neither is surely meant."""


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """What learned ranking needs of a request beside the region.

    Attributes:
        start_entities: What is known of the start entities; by global node.
        by_caller: Whether the caller gave them.
        ranker: Orders the candidates.
        name_relations: Gives the names of relations.
        coverage: Share of questions in which a set of readings holds the right answer; None for no
            set.
        is_word: Whether the embedder's vocabulary has a word whole, so that it is no slip of the
            pen.
    """

    start_entities: Sequence[StartCandidate]
    by_caller: bool
    ranker: CandidateRanker
    name_relations: NameRelations
    coverage: float | None = None
    is_word: Callable[[str], bool] = lambda _: False

    def of_region(self, nodes: Sequence[int], /) -> list[StartCandidate]:
        """Returns what is known of a region's start entities.

        One that no words of the question name is the same thing as one that they do name, in
        another edition of the graph: it is told what is known of the first.
        """
        known = {start.node: start for start in self.start_entities}
        first = self.start_entities[0]
        return [known.get(node) or replace(first, node=node) for node in nodes]

    def mentions(self, used: Iterable[int], /) -> tuple[JointMention, ...]:
        """Returns what the question is taken to name, by the start entities of the walks chosen.

        Walks of other entities than the best one's are further answers, not further topics.
        """
        known = {start.node for start in self.start_entities}
        best = [node for node in used if node in known][:1]
        return tuple(joint_linking(self.start_entities, best))


def by_learning(
    call: RetrievalContext[LearnedPreset], question: str, asking: Asking, /
) -> Selection:
    """Returns the walks of the candidates that the ranker puts first."""
    region, preset = call.region, call.preset
    start_entities = asking.of_region(region.nodes[region.start_entities].tolist())
    reader = QuestionReader(
        call, question, start_entities, asking.name_relations, by_caller=asking.by_caller
    )
    candidates = reader.candidates
    if not len(candidates):
        return replace(pick_walks(call, (), reader.cuts, more=False), confident=False)
    most = min(preset.max_refined, preset.max_embedded)
    finalists, score = asking.ranker.rank(reader, most)
    wrong_targets = WrongTargets(call, reader)
    empty = wrong_targets.answers_nothing(finalists.numbers)
    finalists, score, stops_short = _carried_onward(wrong_targets, finalists, score)
    is_wrong_end = empty | wrong_targets.leads_to_no_location(finalists.numbers) | stops_short
    is_wrong_end |= wrong_targets.takes_words_twice(finalists.numbers)
    is_wrong_end |= wrong_targets.walk_against_their_verbs(finalists.numbers)
    score = score - CONSTRAINT_RULES.wrong_end_cost * is_wrong_end.astype(np.float64)
    labelled = reader.labelled(finalists.numbers)
    spans = [start_entities[each].span for each in candidates.start[finalists.numbers].tolist()]
    score += requested_bonus(question, labelled) + nested_bonus(question, spans, labelled)
    order = np.lexsort((finalists.numbers, -score))
    cuts = reader.cuts
    if len(candidates) > len(order):
        cut = Cut("sequences", CutReason.LIMIT, most, len(order), len(candidates))
        cuts = (*cuts, cut)
    ranking = [
        RankedCandidate(int(finalists.numbers[row]), float(score[row] - score[order[0]]))
        for row in order.tolist()
    ]
    calibration = _calibration(asking.ranker, preset)
    judge = AnswerJudge(
        reader, wrong_targets, finalists, empty, int(order[0]), calibration, is_word=asking.is_word
    )
    chosen = choose(
        call,
        question,
        _mentions(start_entities),
        candidates,
        ranking,
        texts=reader.texts,
        confident=judge.is_confident(ranking),
    )
    call.clock.stage("constraints")
    call.deadline.check("judging the best answer")
    verdict = judge.verdict(call, chosen, by_caller=asking.by_caller)
    answer_set = None
    if asking.coverage and calibration is not None and chosen.lists_entities:
        answer_set = _answer_set(call, candidates, chosen, asking.coverage, calibration)
    relevance = judge.relevance
    # A tree joins what is best, be it of one reading.
    in_order = verdict.confident or call.strategy is Strategy.SUBGRAPH
    walks, more = chosen_walks(
        call, reader, chosen, relevance, openly=judge.openly, in_order=in_order
    )
    answer = chosen.answer
    is_plain = verdict.confident and judge.asks_for_values and chosen.is_plain
    is_plain = is_plain and not _is_of_two_namesakes(candidates, chosen, start_entities)
    if answer is None and is_plain and chosen.reading is not None:
        total = int(candidates.walks[chosen.ranked[0].number])
        is_cut = total > most_walks(preset) or chosen.reading.is_cut
        answer = plain_answer(region, walks, is_cut=is_cut)
    used = dict.fromkeys(int(region.nodes[walk.nodes[0]]) for walk in walks)
    return replace(
        with_met(pick_walks(call, walks, cuts, more=more), region, walks),
        relevance=relevance,
        confidence=verdict.confidence,
        confident=verdict.confident,
        unstated=verdict.unstated,
        used_starts=tuple(used),
        constraints=chosen.constraints,
        answer=answer,
        read=interpret(call, candidates, chosen, relevance=relevance),
        answer_set=answer_set,
    )


def _carried_onward(
    wrong_targets: WrongTargets, finalists: Finalists, score: Float64
) -> tuple[Finalists, Float64, Bool]:
    """Returns the finalists and their scores, and which of them stop short of the country that the
    question asks for: a candidate that goes on from one of these fits the question as well.
    """
    score = score.copy()
    read = None if finalists.read_scores is None else finalists.read_scores.copy()
    stops_short = np.zeros(len(score), dtype=np.bool_)
    for shorter, longer in wrong_targets.steps_onward(finalists.numbers):
        stops_short[shorter] = True
        for fit in (score, read):
            if fit is not None:
                fit[longer] = max(fit[longer], fit[shorter])
    return replace(finalists, read_scores=read), score, stops_short


def _is_of_two_namesakes(
    candidates: Candidates, chosen: Chosen, start_entities: Sequence[StartCandidate]
) -> bool:
    """Returns whether the next candidate is the same of another that the same words name, and fits
    nearly as well: neither is the answer without the other.
    """
    best, *others = chosen.ranked[:2]
    start = start_entities[int(candidates.start[best.number])]
    return any(
        candidates.sequence(each.number) == candidates.sequence(best.number)
        and start_entities[int(candidates.start[each.number])].span == start.span
        and candidates.start[each.number] != candidates.start[best.number]
        and each.score >= best.score - _EQUAL
        for each in others
    )


def _answer_set(
    call: RetrievalContext[LearnedPreset],
    candidates: Candidates,
    chosen: Chosen,
    coverage: float,
    calibration: AnswerConfidence,
) -> SelectedSet:
    """Returns the candidates that are close enough to the best, with what they lead to; but for
    those that lead to nothing new.
    """
    best, most = chosen.ranked[0].score, calibration.gap(coverage)
    readings: list[SelectedReading] = []
    answers: set[int] = set()
    for ranked_candidate in chosen.ranked:
        gap = ranked_candidate.score - best
        if -gap > most:
            break
        number = ranked_candidate.number
        first, last = np.searchsorted(candidates.end_owner, (number, number + 1))
        nodes = call.region.nodes[candidates.end_node[first:last]].tolist()
        if answers.issuperset(nodes):
            continue
        answers.update(nodes)
        query = plain_query(call, candidates, chosen, number)
        listed = tuple(nodes[:MOST_OF_READING])
        readings.append(SelectedReading(query, round(gap, SCORE_DIGITS), listed, len(nodes)))
    return SelectedSet(coverage, bool(np.isfinite(most)), tuple(readings))


def _calibration(ranker: CandidateRanker, preset: LearnedPreset) -> AnswerConfidence | None:
    """Returns what tells how probably an answer is right, where the preset goes by that."""
    if preset.min_confidence and isinstance(ranker, CalibratedRanker):
        return ranker.calibration
    return None


def _mentions(start_entities: Sequence[StartCandidate]) -> list[Mention]:
    """Returns the mentions of the start entities; several may share the same words."""
    exact = Counter(
        (start.start, start.end)
        for start in start_entities
        if start.start >= 0 and start.form is NameForm.EXACT
    )
    return [
        Mention(
            start.node,
            start.start,
            start.end,
            start.linked,
            is_name=start.linked and start.certainty > Certainty.COMMON,
            is_distinguished=start.neighbour_matches > 0 and exact[start.start, start.end] > 1,
            has_namesakes=exact[start.start, start.end] > 1,
        )
        for start in start_entities
    ]
