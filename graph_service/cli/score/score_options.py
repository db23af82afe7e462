"""The options of score: one verb with a word for each family of scores."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from graph_service.cli.answer.answer_options import SETTINGS, add_limits, add_own_prompts

Verb = Callable[[str], Callable[..., int]]


def add_score(
    score: argparse.ArgumentParser, verb: Verb, common: argparse.ArgumentParser, /
) -> None:
    """Adds the families of scores.

    Args:
        score: The parser of ``score``.
        verb: From ``module:function`` to a function that imports its module when it is called.
        common: The options that every verb has.
    """
    families = score.add_subparsers(title="scores", metavar="WHAT", required=True)

    def add(name: str, text: str, file: str, run: str = "scoring") -> argparse.ArgumentParser:
        family: argparse.ArgumentParser = families.add_parser(
            name, help=text, description=text, parents=[common]
        )
        family.set_defaults(run=verb(f"score.{run}:{name.replace('-', '_')}"))
        if file:
            family.add_argument("file", metavar="FILE", help=file)
        return family

    answers = "JSON lines that `answer --out` wrote, or another system's answers"
    texts = f"{answers}, or with id, question and text"

    citations = add("citations", "citations against minimum sets (KaLMA)", answers)
    citations.add_argument("--fold-case", action="store_true", help="a citation in other upper and "
                           "lower case than the triple is correct")  # fmt: skip
    _add_gold(citations)

    na = add("na", "[NA] against what was withheld (KaLMA)", answers)
    na.add_argument("--absent", metavar="FILE", help="what was withheld: JSON lines with id and "
                    "absent, a list of entity, relation, value; default: that field of FILE")  # fmt: skip
    na.add_argument("--view", metavar="V", help="or the stored view that withheld it from the "
                    "questions' minimum sets")  # fmt: skip
    na.add_argument("--store", metavar="URL", help="the view's store")
    na.add_argument("--graph", metavar="NAME", help="the view's graph")
    na.add_argument("--lenient", action="store_true", help="ask the model too whether a sentence "
                    "answers its question at all")  # fmt: skip
    _add_gold(na)
    _add_entailment(na)
    _add_model(na)

    withheld = add("withheld", "ask on views that withhold 1, 2, 3 statements of each minimum set, and "
                   "score citations and [NA]", "")  # fmt: skip
    withheld.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="statements at most (3)"
    )
    withheld.add_argument("--strategy", choices=["triplets", "paths", "subgraph"],
                          default="triplets")  # fmt: skip
    withheld.add_argument("--limit", type=int, metavar="N", help="triplets, paths or "
                          "statements of a retrieval at most")  # fmt: skip
    withheld.add_argument("--preset", default="default", metavar="P", help="of the retrieval: "
                          "default, okgqa or ltgen")  # fmt: skip
    withheld.add_argument("--setting", choices=SETTINGS, default="kalma-numbered", metavar="S",
                          help="how the model is asked, as of answer; one that takes facts alone "
                          "(kalma-numbered)")  # fmt: skip
    withheld.add_argument("--view-seed", type=int, default=0, metavar="S", help="random seed of the "
                          "order of withholding (0)")  # fmt: skip
    withheld.add_argument("--store", metavar="URL", help="the graph's store")
    withheld.add_argument("--graph", metavar="NAME", help="the graph")
    withheld.add_argument("--templates", action="store_true", help="answer by template sentences, "
                          "also where a model is set")  # fmt: skip
    withheld.add_argument("--lenient", action="store_true", help="ask the model too whether a "
                          "sentence answers its question at all")  # fmt: skip
    _add_gold(withheld)
    _add_entailment(withheld)
    _add_model(withheld)
    _add_run(withheld)

    knowledge = add("knowledge", "answer entities named, relations found (LTGen)",
                    "JSON lines with id, text, answers; found, oracle, reference")  # fmt: skip
    knowledge.add_argument("--k", type=int, action="append", default=[], metavar="N",
                           help="oracle recall at N; may be repeated (1 and 5)")  # fmt: skip
    knowledge.add_argument("--out", metavar="FILE", help="write the cases as JSON lines")
    knowledge.add_argument("--gold", metavar="FILE", help="questions with answers, for cases that "
                           "have none of their own")  # fmt: skip

    entailment = add("entailment", "pairs that are entailed; of answers, their citations' alignment",
                     f"{answers}, or with premise and hypothesis, or generation and "
                     "reference; WiCE; or FactBench's facts.tsv")  # fmt: skip
    _add_entailment(entailment)
    _add_model(entailment)
    _add_gold(entailment)
    _add_run(entailment)

    for name, text in (
        ("factscore", "atomic facts supported by passages or triples (FActScore)"),
        ("safe", "atomic facts, relevance and searches (SAFE)"),
    ):
        facts = add(name, text, "")
        facts.add_argument("file", nargs="+", metavar="FILE", help=f"{texts}; what this score's "
                           "--out wrote; or FActScore's labelled biographies; several are compared "
                           "by one K")  # fmt: skip
        facts.add_argument("--passages", metavar="FILE", help="what facts are checked against: JSON "
                           "lines with id and passages; default: the answer's triples")  # fmt: skip
        facts.add_argument("--verifier", choices=["model", "overlap", "cross-encoder"],
                           default="model", help="who checks a fact (the model)")  # fmt: skip
        facts.add_argument("--cross-encoder", metavar="NAME", help="its name or folder")
        facts.add_argument("--labels", metavar="A,B,C", help="its labels by order, where its "
                           "configuration does not say")  # fmt: skip
        _add_threshold(facts)
        facts.add_argument("--texts", type=int, default=5, metavar="N",
                           help="texts of evidence a search (5)")  # fmt: skip
        facts.add_argument("--k", type=int, metavar="N", help="of F1@K; default: the median number "
                           "of relevant facts in all the files")  # fmt: skip
        if name == "safe":
            facts.add_argument("--searches", type=int, default=3, metavar="N",
                               help="searches a fact (3)")  # fmt: skip
        _add_model(facts)
        _add_gold(facts)
        _add_run(facts)

    geval = add("geval", "qualities of texts, rated by a model (G-Eval)", texts, "judging")
    geval.add_argument("--preset", choices=["kalma", "okgqa"], default="kalma", help="kalma: "
                       "coherence, consistency, fluency, relevance, 1 to 5, raw, three runs; okgqa: "
                       "context relevance, comprehensiveness, correctness, empowerment, 1 to 10, by "
                       "log-probabilities (kalma)")  # fmt: skip
    geval.add_argument("--quality", action="append", default=[], metavar="NAME", help="only these, "
                       "or your own: a file that ends in .txt")  # fmt: skip
    geval.add_argument("--weighting", choices=["raw", "logprobs", "sampling"],
                       help="how a rating is made of replies")  # fmt: skip
    geval.add_argument("--scale", metavar="LOW-HIGH", help="such as 1-5")
    geval.add_argument("--runs", type=int, metavar="N", help="how often all is rated")
    geval.add_argument("--samples", type=int, metavar="N", help="of sampling (20)")
    geval.add_argument("--context", metavar="FILE", help="evaluation contexts: JSON lines with id "
                       "and context; the same for every setting")  # fmt: skip
    _add_model(geval, temperature=None)
    _add_gold(geval)
    _add_run(geval)

    spread = add("spread", "mean and deviation of every score over several runs", "", "judging")
    spread.add_argument("reports", nargs="+", metavar="REPORT", help="what `score ... --json` "
                        "printed, one file a run")  # fmt: skip

    beside = add("side-by-side", "the scores of each kind of question beside one another", "",
                 "judging")  # fmt: skip
    beside.add_argument("reports", nargs="+", metavar="REPORT", help="what `score ... --json` "
                        "printed, one file a family of scores")  # fmt: skip
    beside.add_argument("--by", choices=["kind", "level", "references"], default="kind",
                        help="what the columns are (kind)")  # fmt: skip

    _add_talec(add)

    agreement = add("agreement", "raters against one another: kappa and correlations", "")
    agreement.add_argument("file", nargs="+", metavar="FILE", help="JSON lines with id and ratings, "
                           "an object by rater; or what `score ... --out` wrote, one file a "
                           "judge")  # fmt: skip
    agreement.add_argument("--measure", action="append", default=[], metavar="M",
                           help="equal, kappa, kappa-linear, kappa-quadratic, pearson, spearman, "
                           "tau-b; default: those that suit the ratings")  # fmt: skip
    agreement.add_argument("--groups", default="", metavar="FIELD", help="each measure by this field "
                           "too; intervals over all cases draw whole groups. Of rows of a score: "
                           "kind, level or references (group)")  # fmt: skip


def _add_talec(add: Callable[..., argparse.ArgumentParser]) -> None:
    texts = "JSON lines that `answer --out` wrote, or with id, question and text; human, split"
    talec = add("talec", "texts judged by criteria of your own (TALEC)", texts, "judging")
    _add_criteria(talec)
    talec.add_argument("--by", choices=["label", "labels", "score"], default="label",
                       help="one label a judgement, all at once, or the score directly (label)")  # fmt: skip
    talec.add_argument("--method", choices=["zero-shot", "few-shot", "joint"], default="joint",
                       help="joint: a third judgement that sees the other two (joint)")  # fmt: skip
    talec.add_argument("--split", choices=["train", "eval", "test"], action="append", default=[],
                       help="only these; may be repeated")  # fmt: skip
    talec.add_argument("--split-shares", metavar="A,B,C", help="draw cases without a split into "
                       "train, eval and test, such as 20,40,40")  # fmt: skip
    talec.add_argument("--split-seed", type=int, default=0, metavar="S", help="of that draw (0)")
    _add_model(talec)
    _add_gold(talec)
    _add_run(talec)

    compare = add("compare", "two runs of talec side by side, and what changed", "", "judging")
    compare.add_argument("first", metavar="RUN", help="what `score talec --out` wrote")
    compare.add_argument("second", metavar="RUN", help="the run after shots were adjusted")
    _add_criteria(compare)

    lint = add("lint", "criteria: are they well formed, and do shots keep the rules", "", "judging")
    lint.add_argument("criteria", nargs="?", default="cited-answers", metavar="CRITERIA",
                      help="a file that ends in .yaml, or cited-answers")  # fmt: skip

    export = add("export", "labelled texts as records for fine-tuning", texts, "judging")
    _add_criteria(export)
    export.add_argument("--split", choices=["train", "eval", "test"], action="append", default=[],
                        help="only these; may be repeated")  # fmt: skip
    export.add_argument("--out", required=True, metavar="FILE", help="chat records as JSON lines")


def _add_criteria(family: argparse.ArgumentParser) -> None:
    family.add_argument("--criteria", default="cited-answers", metavar="FILE",
                        help="a file that ends in .yaml (cited-answers, which ships with the "
                        "package)")  # fmt: skip


def _add_gold(family: argparse.ArgumentParser) -> None:
    family.add_argument("--gold", metavar="FILE", help="questions with minimum sets and kinds; "
                        "default: the 50 that ship with the package")  # fmt: skip


def _add_entailment(family: argparse.ArgumentParser) -> None:
    family.add_argument("--judge", choices=["overlap", "model", "cross-encoder"],
                        default="overlap", help="who says what is entailed (word overlap)")  # fmt: skip
    family.add_argument("--cross-encoder", metavar="NAME", help="its name or folder")
    family.add_argument("--labels", metavar="A,B,C", help="its labels by order, where its "
                        "configuration does not say")  # fmt: skip
    _add_threshold(family)


def _add_threshold(family: argparse.ArgumentParser) -> None:
    family.add_argument("--threshold", type=float, metavar="X", help="of word overlap (0.6)")
    family.add_argument("--calibrate", metavar="FILE", help="or chosen on this file of labelled "
                        "pairs, as the one with the greatest balanced accuracy")  # fmt: skip


def _add_model(family: argparse.ArgumentParser, temperature: float | None = 0.0) -> None:
    family.add_argument("--model", metavar="NAME", help="the chat model that judges")
    family.add_argument("--model-url", metavar="URL", help="an OpenAI-compatible endpoint")
    shown = "the preset's" if temperature is None else f"{temperature:g}"
    family.add_argument("--temperature", type=float, default=temperature, metavar="X",
                        help=f"({shown})")  # fmt: skip
    family.add_argument("--random-seed", type=int, metavar="S", help="passed on to the model")
    family.add_argument("--cache", metavar="FILE", help="keep replies here; default: beside --out")
    family.add_argument("--replay", metavar="FILE", help="judge by kept replies, with no endpoint")
    add_limits(family)
    add_own_prompts(family)


def _add_run(family: argparse.ArgumentParser) -> None:
    family.add_argument("--out", metavar="FILE", help="write the cases as JSON lines; goes on by "
                        "id, nothing is asked twice")  # fmt: skip
    family.add_argument("--retry-failed", action="store_true", help="score again the cases of "
                        "which anything failed before")  # fmt: skip
    family.add_argument("--concurrency", type=int, default=1, metavar="N",
                        help="cases at once (1)")  # fmt: skip
