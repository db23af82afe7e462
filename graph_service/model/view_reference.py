"""A view as people and models name it, in one word."""

from __future__ import annotations

from graph_service.model.request import ViewRef
from graph_service.model.view_spec import Scope, ViewSpec, parse_method

QUESTION_SCOPE = "question"
PRUNED_SCOPE = "pruned"


def parse_view(text: str, /) -> ViewRef:
    """Returns the view of ``METHOD:LEVEL[:SEED[:question]]``, or a stored view's name or id.

    With ``question`` at the end only the region of the question's own entities is changed; with
    ``pruned`` what PageRank keeps of it, as in OKGQA-P.

    Raises:
        InputError: There is no such method, or the level is out of its bounds.

    >>> parse_view("rr:0.3:1").spec.level, parse_view("my-view").id
    (0.3, 'my-view')
    """
    parts = text.split(":")
    of_question = len(parts) == 4 and parts[3] in (QUESTION_SCOPE, PRUNED_SCOPE)
    if len(parts) in (2, 3) or of_question:
        try:
            level = float(parts[1])
            random_seed = int(parts[2]) if len(parts) > 2 else 0
        except ValueError:
            return ViewRef(id=text)
        spec = ViewSpec(
            method=parse_method(parts[0]),
            level=level,
            random_seed=random_seed,
            scope=Scope(of_question=of_question, pruned=parts[-1] == PRUNED_SCOPE),
        )
        spec.validate()
        return ViewRef(spec=spec)
    return ViewRef(id=text)
