"""Samples of long-tail entities with their triples, as LTGen draws them (L1, L2).

1. Entities whose mean monthly page views are in a level.
2. In the order of a keyed hash of random seed and id.
3. Their triples, as head or as value: best rank, each once, without non-informative relations.
4. Those with too few or too many triples left are passed over, until each level has as many as asked.
"""

from graph_service.sampling.draw import LevelCounts, SampledEntity, SampleSpec, draw_entities
from graph_service.sampling.relations import DEFAULT_RELATIONS, NonInformative, read_relations

__all__ = [
    "DEFAULT_RELATIONS",
    "LevelCounts",
    "NonInformative",
    "SampleSpec",
    "SampledEntity",
    "draw_entities",
    "read_relations",
]
