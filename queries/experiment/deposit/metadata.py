"""What a deposit says of itself: RO-Crate 1.3 and Croissant 1.0, with the RAI vocabulary 1.0 (B18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from graph_service import __version__
from graph_service.options import option
from queries.experiment.plan import AnswererKind, Plan

CRATE_NAME = "ro-crate-metadata.json"
CROISSANT_NAME = "croissant.json"
_CRATE = "https://w3id.org/ro/crate/1.3"
_CROISSANT = "http://mlcommons.org/croissant/1.0"
_RAI = "http://mlcommons.org/croissant/RAI/1.0"
_TYPES = {
    ".csv": "text/csv",
    ".db": "application/vnd.sqlite3",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".tex": "application/x-tex",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


@dataclass(frozen=True, slots=True)
class Responsible:
    """What conferences ask of a data set beside its files; a field of the RAI vocabulary each.

    Attributes:
        biases, social_impact, sensitive_information, maintenance: Only its authors know them; None
            leaves them out.
        use_cases, limitations: None says what every experiment has in common.
    """

    biases: str | None = option(None, help="biases of graph, questions and answers")
    social_impact: str | None = option(None, help="what good or harm its use may do")
    sensitive_information: str | None = option(None, help="what it holds about persons")
    maintenance: str | None = option(None, help="who releases new versions, and when")
    use_cases: str | None = option(None, help="what it is for, and what not")
    limitations: str | None = option(None, help="what may not be concluded from it")

    def missing(self) -> tuple[str, ...]:
        """Returns the names of the fields that only authors know and that are not there."""
        return tuple(
            field.name
            for field in fields(self)
            if field.name not in ("use_cases", "limitations") and getattr(self, field.name) is None
        )


@dataclass(frozen=True, slots=True)
class Description:
    """What a deposit cannot learn from the run.

    Attributes:
        licence: Its address.
        creators: Names of persons or groups.
        published: Date, ``2026-11-27``.
    """

    licence: str
    creators: tuple[str, ...]
    published: str
    responsible: Responsible = Responsible()


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of a deposit.

    Attributes:
        name: In the archive.
        path: Where it lies now.
        about: What it holds, in a sentence.
        sha256: Of its bytes, hexadecimal.
    """

    name: str
    path: Path
    about: str
    sha256: str
    size: int

    @property
    def media_type(self) -> str:
        """Returns the media type of the file's ending."""
        return _TYPES.get(Path(self.name).suffix, "text/plain")


def crate_metadata(
    plan: Plan, plan_name: str, files: Sequence[PackedFile], description: Description, /
) -> dict[str, Any]:
    """Returns the RO-Crate's ``ro-crate-metadata.json``: each file with its SHA-256."""
    people = [
        {"@id": f"#creator-{index}", "@type": "Person", "name": name}
        for index, name in enumerate(description.creators, 1)
    ]
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"graph-service experiment run {plan.source}",
        # A SoftwareApplication must name a page of its own, and the project has no public address.
        "description": f"Made with graph-service {__version__}.",
        "object": [{"@id": file.name} for file in files if file.name.startswith("plan/")],
        "result": [{"@id": file.name} for file in files if file.name.startswith("run/")],
    }
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": plan.name,
        "description": _about(plan),
        "datePublished": description.published,
        "license": {"@id": description.licence},
        "hasPart": [{"@id": file.name} for file in files],
        "mainEntity": {"@id": plan_name},
        "mentions": {"@id": run["@id"]},
    }
    if people:
        root["creator"] = _one_or_list([{"@id": person["@id"]} for person in people])
    return {
        "@context": f"{_CRATE}/context",
        "@graph": [
            {
                "@id": CRATE_NAME,
                "@type": "CreativeWork",
                "conformsTo": {"@id": _CRATE},
                "about": {"@id": root["@id"]},
            },
            root,
            {
                "@id": description.licence,
                "@type": "CreativeWork",
                "name": "Licence of the deposit",
                "description": "What others may do with the files that its authors made.",
            },
            *people,
            run,
            *(
                {
                    "@id": file.name,
                    "@type": "File",
                    "name": file.name,
                    "description": file.about,
                    "encodingFormat": file.media_type,
                    "contentSize": str(file.size),
                    "sha256": file.sha256,
                }
                for file in files
            ),
        ],
    }


def croissant_metadata(
    plan: Plan, files: Sequence[PackedFile], description: Description, /
) -> dict[str, Any]:
    """Returns ``croissant.json``: files, the records of answers, scores and views, and RAI fields."""
    made: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [_CROISSANT, _RAI],
        "name": plan.name,
        "description": _about(plan),
        "license": description.licence,
        "version": "1.0.0",
        "datePublished": description.published,
        "creator": [{"@type": "sc:Person", "name": name} for name in description.creators],
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "description": file.about,
                "contentUrl": file.name,
                "contentSize": f"{file.size} B",
                "encodingFormat": file.media_type,
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [
            _records("answers", "run/answers.jsonl", "One an answer.", _ANSWER_FIELDS),
            _records("scores", "run/scores.jsonl", "One a score of an answer.", _SCORE_FIELDS),
        ],
        **_responsible(plan, description.responsible),
    }
    return made


_ANSWER_FIELDS = {
    "cell": ("sc:Text", "Graph, view, strategy, preset and answerer."),
    "question": ("sc:Text", "Id of the question."),
}
_SCORE_FIELDS = {
    "cell": ("sc:Text", "Of the answer."),
    "question": ("sc:Text", "Of the answer."),
    "score": ("sc:Text", "Name of the score."),
    "value": ("sc:Float", "Null where the answer has no such score."),
}


def _records(
    name: str, file: str, about: str, columns: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": about,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": data_type,
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }
            for column, (data_type, meaning) in columns.items()
        ],
    }


def _one_or_list(values: Sequence[Any]) -> Any:
    """One value by itself, as RO-Crate writes it."""
    return values[0] if len(values) == 1 else list(values)


def _about(plan: Plan) -> str:
    return (
        f"Answers to the same questions on {_listed(plan.graphs)} and on perturbed views, with the "
        "score of each answer. Packed by graph-service; `graph-service experiment unpack` runs it "
        "again and says what is equal."
    )


def _responsible(plan: Plan, authors: Responsible) -> dict[str, Any]:
    """The fields of the RAI vocabulary; those that only authors know where they gave them."""
    models = [each.name for each in plan.answerers if each.kind is AnswererKind.MODEL]
    rules = [each.name for each in plan.answerers if each.kind is not AnswererKind.MODEL]
    who = [*(["templates and rules: " + _listed(rules)] if rules else []), *models]
    methods = [family.name for family in plan.views] + list(plan.stored_views)
    known: dict[str, Any] = {
        "rai:dataCollection": (
            f"The questions of {_listed([file.name for file in plan.questions])} were answered from "
            f"what was retrieved by {_listed([each.value for each in plan.strategies])}. "
            f"Who answered: {_listed(who)}."
        ),
        "rai:dataCollectionType": ["Software Collection"],
        "rai:dataCollectionMissingData": "An answer that lacks what a score needs has none; the "
        "line of the score says why. Failed answers are there with their failure.",
        "rai:dataPreprocessingProtocol": [
            "Gold triples of a question were looked up in the graph by head, relation and value."
        ],
        "rai:dataManipulationProtocol": (
            f"Perturbed views by {_listed(methods)}. views/deltas.jsonl has each statement that "
            "goes, changes or comes."
            if methods
            else "No view was perturbed."
        ),
        "rai:machineAnnotationTools": [
            f"graph-service {__version__}",
            *(f"{judge.kind.value} judged by {judge.model}" for judge in plan.judges),
        ],
        "rai:dataUseCases": [
            authors.use_cases
            or "Measures how answers from a knowledge graph hold where the graph has errors or gaps."
        ],
        "rai:dataLimitations": [
            authors.limitations
            or "Figures hold for these graphs, questions and views. Replies of models are recorded "
            "and not asked again."
        ],
    }
    by_authors = {
        "rai:dataBiases": authors.biases,
        "rai:dataSocialImpact": authors.social_impact,
        "rai:personalSensitiveInformation": authors.sensitive_information,
        "rai:dataReleaseMaintenancePlan": authors.maintenance,
    }
    many = ("rai:dataBiases", "rai:personalSensitiveInformation")
    for name, text in by_authors.items():
        if text is not None:
            known[name] = [text] if name in many else text
    return known


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
