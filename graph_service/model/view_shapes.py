"""The shapes of views and their specifications; see ``contract``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_service.model.contract import BigInt, Shape, at, computed, shape
from graph_service.model.conversions import COUNTS
from graph_service.model.stored_view import Deviation, StoredView, ViewCounts, ViewReport
from graph_service.model.view_spec import Change, LiteralChange, Scope, ViewSpec

VIEW_SHAPES: Mapping[Any, Shape] = {
    Scope: shape(
        "ViewScope",
        "Which statements a view may change.",
        statement_ids="These only, if any.",
        property_ids=at("Of these properties only.", path="relation_ids"),
        around_item_ids=at("Around these items only.", path="around_entity_ids"),
        hops="Steps around such an item.",
        of_question="Around the items of the question that is asked only.",
        pruned="Only what PageRank keeps of that.",
    ),
    LiteralChange: shape(
        "LiteralChange",
        "A literal that a change sets.",
        type="What the content is.",
        content="The text, number, time or address.",
        language_code="Language of a monolingual text.",
        unit_id="Item of the unit of a quantity.",
        precision="Of a time.",
    ),
    Change: shape(
        "SpecifiedChange",
        "A change that a caller has listed.",
        statement_id="The statement to change; null where one is added.",
        remove="Whether the statement goes.",
        subject_id=at("The itemId of the subject of an added statement.", path="head"),
        property_id=at("The property that it gets.", path="relation"),
        item_id="The itemId of its value, where that is an item.",
        literal="Its value, where that is a literal that the API can set; json has all others.",
    ),
    ViewSpec: shape(
        "ViewSpec",
        "What a view is asked to be.",
        method="How it changes its base.",
        level="Share of the edges in scope that change.",
        count="Number of edges that change.",
        random_seed=at("Random seed by which edges are drawn.", kind=BigInt),
        sampling="How edges are drawn.",
        scope="What the view may change.",
        statement_ids="Withholding: the statements, in the order they go.",
        changes="Custom: the changes.",
        scorer="By which replacement finds a property least likely.",
        replacement="Which property takes another's place in a replacement.",
        nth="Replacement: which of the least likely it is.",
        item_ids=at(
            "Of path deletion and insertion: the items that the question names.", path="entity_ids"
        ),
        answer_ids="Of path deletion and insertion: the items that answer it.",
        target_ids="Insertion: the items that chains lead to, in this order.",
        control="Path deletion: whether matching statements on no path go instead.",
        control_by="Path deletion: what these match.",
        cardinality="Contradiction: how many values the properties have that it takes.",
        rule_atoms="Rule deletion: statements of a body, at most.",
        rule_support="Rule deletion: support of a rule, at least.",
        rule_confidence="Rule deletion: PCA confidence of a rule, at least.",
        naming="What becomes of names.",
        algorithm="Version of the rules by which it is drawn.",
        json="The whole specification, as files hold it.",
    ),
    ViewCounts: shape(
        "ViewCounts",
        "How many statements a view changes.",
        removed="Those that it lacks.",
        relation_changed="Those with another property.",
        value_changed="Those with another value.",
        added="Those that only it has.",
        head_changed="Those with another subject.",
        rank_changed="Those with another rank.",
        names_changed="Items with other names.",
    ),
    ViewReport: shape(
        "ViewReport",
        "What making a view came to.",
        scope_edges="Edges that could be changed; of names the items.",
        level_asked="The share that was asked for.",
        level_reached="The share that was changed.",
        counts=at("How many statements changed; null until it is done.", kind=COUNTS),
        unavoidable="Changes that repeat a statement, because no other choice was left.",
        notes="Why a level was not reached.",
    ),
    Deviation: shape(
        "Deviation",
        "How far a view is from its base. 1 is the base itself, 0 the farthest.",
        ats="Mean plausibility of the view's edges (ATS).",
        ats_base="The same of the base.",
        ats_edges="How many edges ats is the mean of.",
        unscored="Edges of which no plausibility is known.",
        scorer="What tells plausibility.",
        sc2d="Likeness of clustering coefficients (SC2D).",
        sd2="Likeness of degrees (SD2).",
        scorer_accuracy="Share of edges held out, and of as many wrong ones, that the scorer tells right.",
        scorer_calibration_error="Mean distance there between its score and the share of right edges.",
    ),
    StoredView: shape(
        "View",
        "A perturbed view of a graph, stored.",
        view_id=at(
            "The view's id: a hash of what its base says and of its specification.", path="id"
        ),
        name="The name that a person gave it.",
        graph="The name of its graph.",
        method=at("How it changes its base.", path="spec.method", read=False),
        edges_fingerprint=at(
            "Fingerprint of the statements of the base it was made for.", path="edges"
        ),
        spec="What it was asked to be.",
        state="How far the making of it has come.",
        progress="Share of that work which is done, 0 to 1.",
        report="What making it came to.",
        deviation="How far it is from its base; null until it is done.",
        error="Why making it has failed; empty where it has not.",
        note="What its maker wanted to remember.",
        created_at="When it was made.",
        stale="Whether the statements of its base have changed since.",
        diff=computed(
            "What the view changes: statements removed, changed, then added; then names."
        ),
    ),
}
