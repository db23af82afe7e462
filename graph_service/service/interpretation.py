"""The query that a question was read as, in words and in code."""

from __future__ import annotations

from graph_service.model.answer import Interpretation, RankedReading
from graph_service.model.result import AnswerSet, ReadingOfSet
from graph_service.query.cypher import render_cypher
from graph_service.query.english import Names, render_english
from graph_service.query.sparql import render_sparql
from graph_service.retrieve.context import ReadQuery, SelectedSet
from graph_service.service.triples import TripleRenderer


def make_interpretation(
    read: ReadQuery, renderer: TripleRenderer, /, *, graph: str
) -> Interpretation:
    """Returns the query in words with labels, in Cypher, and in SPARQL where its ids allow it."""
    names = Names(renderer.label_of, renderer.label_of_relation)
    return Interpretation(
        render_english(read.query, names),
        render_cypher(read.query, graph=graph, joins_equal=renderer.joins_equal),
        render_sparql(read.query, joins_equal=renderer.joins_equal),
        read.unread,
        tuple(RankedReading(render_english(each.query, names), each.score) for each in read.ranked),
    )


def make_answer_set(selected: SelectedSet, renderer: TripleRenderer, /) -> AnswerSet:
    """Returns the readings of a set in words, with the labels of what they answer."""
    names = Names(renderer.label_of, renderer.label_of_relation)
    return AnswerSet(
        selected.coverage,
        selected.is_attained,
        tuple(
            ReadingOfSet(
                render_english(each.query, names),
                each.gap,
                tuple(map(renderer.node_value, each.nodes)),
                tuple(map(renderer.node_label, each.nodes)),
                each.count,
            )
            for each in selected.readings
        ),
    )
