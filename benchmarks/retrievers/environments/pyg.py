"""PyTorch Geometric's retrieval of G-Retriever: ``retrieval_via_pcst``, with its own settings.

Edges of one relation share a prize there. It ranks no statement: those of its subgraph are given in
the order of the cosine of their relation with the question (ours).
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas
import torch
from torch_geometric.data import Data
from torch_geometric.llm.utils.backend_utils import retrieval_via_pcst
from worker import Embed, Request, serve


def rank(request: Request, embed: Embed) -> Sequence[int]:
    """Returns the statements of the subgraph."""
    if not request.sentences:
        return []
    [question] = torch.from_numpy(embed([request.question]))
    nodes = torch.from_numpy(embed(request.nodes))
    edges = torch.from_numpy(embed(request.relations))[list(request.relation)]
    data = Data(
        x=nodes,
        edge_index=torch.tensor([request.head, request.tail]),
        edge_attr=edges,
        node_idx=range(len(nodes)),
        edge_idx=range(len(edges)),
    )
    names = pandas.DataFrame({"node_id": range(len(nodes)), "node_attr": request.nodes})
    texts = [request.relations[code] for code in request.relation]
    triples = pandas.DataFrame({"src": request.head, "edge_attr": texts, "dst": request.tail})
    part, _ = retrieval_via_pcst(data, question, names, triples, topk=3, topk_e=5, cost_e=0.5)
    scores = torch.nn.functional.cosine_similarity(question[None], edges)
    chosen = {int(index) for index in part.edge_idx}
    return sorted(chosen, key=lambda index: (-round(float(scores[index]), 6), index))


torch.set_num_threads(2)
serve(rank)
