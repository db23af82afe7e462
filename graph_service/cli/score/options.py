"""The options of score: one dataclass for each family of scores, and what families share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graph_service.cli.answer.options import (
    SETTINGS,
    ChatModelOptions,
    EndpointOptions,
    OwnPromptOptions,
    ReplyCacheOptions,
    RunOptions,
)
from graph_service.cli.options import EmbedderOptions, GraphOptions, Subverb, VerbOptions, request
from graph_service.model.request import RetrieveRequest
from graph_service.options import option

_ANSWERS = "JSON lines that `answer --out` wrote, or another system's answers"
_TEXTS = f"{_ANSWERS}, or with id, question and text"
_TALEC = "JSON lines that `answer --out` wrote, or with id, question and text; human, split"
_JUDGES = ("overlap", "model", "cross-encoder")
_SPLITS = ("train", "eval", "test")


@dataclass(frozen=True, kw_only=True)
class JudgeModelOptions(OwnPromptOptions, ReplyCacheOptions, EndpointOptions, ChatModelOptions):
    """Which chat model judges, and how it is asked."""

    GROUP: ClassVar[str] = "model"

    temperature: float | None = option(0.0, help="of the model")
    random_seed: int | None = option(None, help="passed on to the model", metavar="S")


@dataclass(frozen=True, kw_only=True)
class GoldOptions:
    """What answers are scored against."""

    gold: str | None = option(
        None,
        help="questions with minimum sets and kinds; default: the 50 that ship with the package",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class CrossEncoderOptions:
    """Who says what is entailed, where no chat model does."""

    GROUP: ClassVar[str] = "entailment"

    cross_encoder: str | None = option(
        None, help="name or folder of the cross-encoder", metavar="NAME"
    )
    labels: str | None = option(
        None, help="its labels by order, where its configuration does not say them", metavar="A,B,C"
    )
    threshold: float | None = option(None, help="of word overlap (0.6)")
    calibrate: str | None = option(
        None,
        help="or chosen on this file of labelled pairs, as the one with the greatest balanced "
        "accuracy",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class EntailmentJudgeOptions(CrossEncoderOptions):
    """Who says what is entailed."""

    GROUP: ClassVar[str] = "entailment"

    judge: str = option("overlap", help="who says what is entailed", choices=_JUDGES)


@dataclass(frozen=True, kw_only=True)
class CriteriaOptions:
    """What texts are judged by."""

    criteria: str = option(
        "cited-answers",
        help="a file that ends in .yaml, or the name of criteria that ship with the package",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """Which splits of a labelled file are read."""

    splits: tuple[str, ...] = option((), help="only these", choices=_SPLITS)


@dataclass(frozen=True, kw_only=True)
class CitationsOptions(VerbOptions, GoldOptions):
    """Options of ``score citations``: answers, and what their citations are held against."""

    file: str = option(help=_ANSWERS, metavar="FILE", is_word=True)
    fold_case: bool = option(
        False, help="a citation in other upper and lower case than the triple is correct"
    )


@dataclass(frozen=True, kw_only=True)
class NotAvailableOptions(GraphOptions, JudgeModelOptions, EntailmentJudgeOptions, GoldOptions):
    """Options of ``score na``: answers, and where it says what was withheld from them."""

    file: str = option(help=_ANSWERS, metavar="FILE", is_word=True)
    absent: str | None = option(
        None,
        help="what was withheld: JSON lines with id and absent, a list of entity, relation, value; "
        "default: that field of FILE",
        metavar="FILE",
    )
    view: str | None = option(
        None,
        help="or the stored view that withheld it from the questions' minimum sets",
        metavar="V",
    )
    lenient: bool = option(
        False, help="ask the model too whether a sentence answers its question at all"
    )


@dataclass(frozen=True, kw_only=True)
class WithheldOptions(
    GraphOptions,
    EmbedderOptions,
    RunOptions,
    JudgeModelOptions,
    EntailmentJudgeOptions,
    GoldOptions,
):
    """Options of ``score withheld``: which graph is asked, how, and by whom it is judged."""

    rounds: int = option(3, help="statements withheld at most", least=1)
    view_seed: int = option(0, help="random seed of the order of withholding", metavar="S")
    request: RetrieveRequest = request(
        RetrieveRequest, only=("strategy", "preset", "limit"), question=""
    )
    setting: str = option(
        "kalma-numbered",
        help="how the model is asked, as of answer; one that takes facts alone",
        choices=SETTINGS,
    )
    templates: bool = option(False, help="answer by template sentences, also where a model is set")
    lenient: bool = option(
        False, help="ask the model too whether a sentence answers its question at all"
    )


@dataclass(frozen=True, kw_only=True)
class KnowledgeScoreOptions(VerbOptions, GoldOptions):
    """Options of ``score knowledge``: cases with answer entities and relations."""

    file: str = option(
        help="JSON lines with id, text, answers; found, oracle, reference",
        metavar="FILE",
        is_word=True,
    )
    k: tuple[int, ...] = option((1, 5), help="oracle recall at N", metavar="N")
    out: str | None = option(None, help="write the cases as JSON lines", metavar="FILE")
    gold: str | None = option(
        None,
        help="questions with answers, for cases that have none of their own",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class AnswerSetOptions(VerbOptions, GoldOptions):
    """Options of ``score answer-sets``: cases with sets of answers."""

    file: str = option(
        help="JSON lines with id, text, named, answers; hard, stale, targets, answerable, errors",
        metavar="FILE",
        is_word=True,
    )
    out: str | None = option(None, help="write the cases as JSON lines", metavar="FILE")
    gold: str | None = option(
        None,
        help="questions with answers, for cases that have none of their own",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class EntailmentOptions(
    VerbOptions, RunOptions, JudgeModelOptions, EntailmentJudgeOptions, GoldOptions
):
    """Options of ``score entailment``: pairs or answers, and who judges them."""

    file: str = option(
        help=f"{_ANSWERS}, or with premise and hypothesis, or generation and reference; WiCE; or "
        "FactBench's facts.tsv",
        metavar="FILE",
        is_word=True,
    )


@dataclass(frozen=True, kw_only=True)
class FactScoreOptions(
    VerbOptions, RunOptions, JudgeModelOptions, CrossEncoderOptions, GoldOptions
):
    """Options of ``score factscore``: texts, what their facts are checked against, and by whom."""

    files: tuple[str, ...] = option(
        help=f"{_TEXTS}; what this score's --out wrote; or FActScore's labelled biographies; "
        "several are compared by one K",
        metavar="FILE",
        is_word=True,
    )
    passages: str | None = option(
        None,
        help="what facts are checked against: JSON lines with id and passages; default: the "
        "answer's triples",
        metavar="FILE",
    )
    verifier: str = option("model", help="who checks a fact", choices=_JUDGES)
    texts: int = option(5, help="texts of evidence a search", least=1)
    k: int | None = option(
        None,
        help="of F1@K; default: the median number of relevant facts in all the files",
        least=1,
    )


@dataclass(frozen=True, kw_only=True)
class SafeOptions(FactScoreOptions):
    """Options of ``score safe``: as of ``score factscore``, and how often evidence is searched."""

    searches: int = option(3, help="searches a fact", least=1)


@dataclass(frozen=True, kw_only=True)
class GEvalOptions(VerbOptions, RunOptions, JudgeModelOptions, GoldOptions):
    """Options of ``score geval``: texts, and the qualities that a model rates."""

    file: str = option(help=_TEXTS, metavar="FILE", is_word=True)
    preset: str = option(
        "kalma",
        help="kalma: coherence, consistency, fluency, relevance, 1 to 5, raw, three runs; okgqa: "
        "context relevance, comprehensiveness, correctness, empowerment, 1 to 10, by "
        "log-probabilities",
        choices=("kalma", "okgqa"),
    )
    qualities: tuple[str, ...] = option(
        (), help="only these, or your own: a file that ends in .txt", metavar="NAME"
    )
    weighting: str | None = option(
        None,
        help="how a rating is made of replies",
        choices=("raw", "logprobs", "sampling"),
    )
    scale: str | None = option(None, help="such as 1-5", metavar="LOW-HIGH")
    runs: int | None = option(None, help="how often all is rated", least=1)
    samples: int | None = option(None, help="of sampling (20)", least=1)
    context: str | None = option(
        None,
        help="evaluation contexts: JSON lines with id and context; the same for every setting",
        metavar="FILE",
    )
    temperature: float | None = option(None, help="of the model (the preset's)")


@dataclass(frozen=True, kw_only=True)
class SideBySideOptions(VerbOptions):
    """Options of ``score side-by-side``: reports, and the groups that are its columns."""

    reports: tuple[str, ...] = option(
        help="what `score ... --json` printed, one file a family of scores",
        metavar="REPORT",
        is_word=True,
    )
    by: str = option("kind", help="what the columns are", choices=("kind", "level", "references"))


@dataclass(frozen=True, kw_only=True)
class TalecOptions(
    VerbOptions, RunOptions, JudgeModelOptions, GoldOptions, SplitOptions, CriteriaOptions
):
    """Options of ``score talec``: texts, criteria, and how a model judges by them."""

    file: str = option(help=_TALEC, metavar="FILE", is_word=True)
    by: str = option(
        "label",
        help="one label a judgement, all at once, or the score directly",
        choices=("label", "labels", "score"),
    )
    method: str = option(
        "joint",
        help="joint: a third judgement that sees the other two",
        choices=("zero-shot", "few-shot", "joint"),
    )
    split_shares: str | None = option(
        None,
        help="draw cases without a split into train, eval and test, such as 20,40,40",
        metavar="A,B,C",
    )
    split_seed: int = option(0, help="random seed of that draw", metavar="S")


@dataclass(frozen=True, kw_only=True)
class CompareRunsOptions(VerbOptions, CriteriaOptions):
    """Options of ``score compare``: two runs of ``score talec``."""

    first: str = option(help="what `score talec --out` wrote", metavar="RUN", is_word=True)
    second: str = option(help="the run after shots were adjusted", metavar="RUN", is_word=True)


@dataclass(frozen=True, kw_only=True)
class LintOptions(VerbOptions):
    """Options of ``score lint``: the criteria that are checked."""

    criteria: str = option(
        "cited-answers",
        help="a file that ends in .yaml, or the name of criteria that ship with the package",
        metavar="CRITERIA",
        is_word=True,
    )


@dataclass(frozen=True, kw_only=True)
class ExportTuningOptions(VerbOptions, SplitOptions, CriteriaOptions):
    """Options of ``score export``: labelled texts, criteria, and the file of records."""

    file: str = option(help=_TALEC, metavar="FILE", is_word=True)
    out: str = option(help="chat records as JSON lines", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(VerbOptions):
    """Options of ``score agreement``: ratings or runs, measures and groups."""

    files: tuple[str, ...] = option(
        help="JSON lines with id and ratings, an object by rater; or what `score ... --out` wrote, "
        "one file a judge",
        metavar="FILE",
        is_word=True,
    )
    measures: tuple[str, ...] = option(
        (),
        help="equal, kappa, kappa-linear, kappa-quadratic, pearson, spearman, tau-b; default: "
        "those that suit the ratings",
        metavar="M",
    )
    groups: str = option(
        "",
        help="each measure by this field too; intervals over all cases draw whole groups. Of rows "
        "of a score: kind, level or references (group)",
        metavar="FIELD",
    )


@dataclass(frozen=True, kw_only=True)
class JudgesOptions(VerbOptions):
    """Options of ``score judges``: runs of judges, and what people say of some cases."""

    files: tuple[str, ...] = option(
        help="what `score ... --out` wrote, one file a judge; or JSON lines with id and ratings, an "
        "object by rater",
        metavar="FILE",
        is_word=True,
    )
    labels: str | None = option(
        None,
        help="what people say of some cases, drawn at random: JSON lines with id and human",
        metavar="FILE",
    )
    texts: str | None = option(
        None, help="the texts that were judged: their length, and who wrote them", metavar="FILE"
    )
    draw: int | None = option(
        None, help="draw so many cases for people to label, into --out, and stop", least=1
    )
    draw_seed: int = option(0, help="random seed of that draw", metavar="S")
    out: str | None = option(None, help="file of the cases that --draw draws", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class NuggetsOptions(
    GraphOptions, RunOptions, JudgeModelOptions, EntailmentJudgeOptions, GoldOptions
):
    """Options of ``score nuggets``: answers, their questions, and who says what a text entails."""

    file: str = option(help=_ANSWERS, metavar="FILE", is_word=True)


SCORES = (
    Subverb(
        "citations",
        "score.scoring:citations",
        "citations against minimum sets (KaLMA)",
        CitationsOptions,
    ),
    Subverb(
        "na", "score.scoring:na", "[NA] against what was withheld (KaLMA)", NotAvailableOptions
    ),
    Subverb(
        "withheld",
        "score.scoring:withheld",
        "ask on views that withhold 1, 2, 3 statements of each minimum set, and score citations "
        "and [NA]",
        WithheldOptions,
    ),
    Subverb(
        "nuggets",
        "score.nugget_scoring:nuggets",
        "statements that an answer must say (vital) or may say (okay), as TREC counts them",
        NuggetsOptions,
    ),
    Subverb(
        "judges",
        "score.judge_figures:judges",
        "judges against a few labels of people: calibrated means, length, retests, a panel",
        JudgesOptions,
    ),
    Subverb(
        "knowledge",
        "score.scoring:knowledge",
        "answer entities named, relations found (LTGen)",
        KnowledgeScoreOptions,
    ),
    Subverb(
        "answer-sets",
        "score.scoring:answer_sets",
        "Hits@1, Any and Hard, answer-set F1, refusals, attacks and errors told",
        AnswerSetOptions,
    ),
    Subverb(
        "entailment",
        "score.scoring:entailment",
        "pairs that are entailed; of answers, their citations' alignment",
        EntailmentOptions,
    ),
    Subverb(
        "factscore",
        "score.scoring:factscore",
        "atomic facts supported by passages or triples (FActScore)",
        FactScoreOptions,
    ),
    Subverb(
        "safe", "score.scoring:safe", "atomic facts, relevance and searches (SAFE)", SafeOptions
    ),
    Subverb(
        "geval",
        "score.judging:geval",
        "qualities of texts, rated by a model (G-Eval)",
        GEvalOptions,
    ),
    Subverb(
        "side-by-side",
        "score.judging:side_by_side",
        "the scores of each kind of question beside one another",
        SideBySideOptions,
    ),
    Subverb(
        "talec",
        "score.judging:talec",
        "texts judged by criteria of your own (TALEC)",
        TalecOptions,
    ),
    Subverb(
        "compare",
        "score.judging:compare",
        "two runs of talec side by side, and what changed",
        CompareRunsOptions,
    ),
    Subverb(
        "lint",
        "score.judging:lint",
        "criteria: are they well formed, and do shots keep the rules",
        LintOptions,
    ),
    Subverb(
        "export",
        "score.judging:export",
        "labelled texts as records for fine-tuning",
        ExportTuningOptions,
    ),
    Subverb(
        "agreement",
        "score.scoring:agreement",
        "raters against one another: kappa and correlations",
        AgreementOptions,
    ),
)
"""The words of ``score``, one for each family of scores."""
