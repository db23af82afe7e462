"""A deposit of an experiment passes the official validators of RO-Crate and Croissant, offline (B18).

The context of RO-Crate 1.3 is the one that ro-crate-py ships; no other address is asked for.
"""

from __future__ import annotations

import json
import zipfile
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli, cli, demo_cli
from experiment_runs import written
from mlcroissant import Dataset
from rocrate_validator.models import Severity
from rocrate_validator.services import ValidationSettings, validate
from rocrate_validator.utils.http import HttpRequester

__all__ = ["cli", "demo_cli"]
CONTEXT = "https://w3id.org/ro/crate/1.3/context"
RECOMMENDED = {
    # The deposit is published by whoever uploads it, and names are no ORCID.
    "ro-crate-1.2_56.1",
    "ro-crate-1.2_91.0",
}
ONLY_AUTHORS_KNOW = """biases: films of one language
social_impact: none known
sensitive_information: names of actors
maintenance: none
"""


@pytest.fixture
def deposit(demo_cli: Cli, tmp_path: Path) -> Path:
    plan = written(tmp_path)
    (tmp_path / "rai.yaml").write_text(ONLY_AUTHORS_KNOW)
    assert demo_cli("experiment", "run", str(plan), "--out", "run").code == 0
    words = ("experiment", "pack", str(plan), "--out", "run", "--to", "run.zip", "--creator", "Ada")
    licence = ("--licence", "https://creativecommons.org/licenses/by/4.0/")
    assert demo_cli(*words, *licence, "--responsible", "rai.yaml").code == 0
    with zipfile.ZipFile("run.zip") as archive:
        archive.extractall(tmp_path / "crate")
    return tmp_path / "crate"


class ContextReply:
    """What the address of the context answers."""

    status_code = 200
    ok = True
    url = CONTEXT
    encoding = "utf-8"
    headers = {"Content-Type": "application/ld+json"}
    text = (resources.files("rocrate") / "data" / "ro-crate.jsonld").read_text(encoding="utf-8")
    content = text.encode()

    def json(self) -> Any:
        return json.loads(self.text)

    def raise_for_status(self) -> None:
        """Nothing is wrong with it."""


def issues_of(crate: Path) -> dict[str, Severity]:
    result = validate(
        ValidationSettings(
            rocrate_uri=str(crate),
            profile_identifier="ro-crate-1.3",
            requirement_severity=Severity.RECOMMENDED,
        )
    )
    return {issue.check.identifier: issue.severity for issue in result.get_issues()}


def test_a_deposit_is_an_ro_crate(deposit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(requester: object, url: str, **options: object) -> ContextReply:
        assert url == CONTEXT
        return ContextReply()

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)
    assert issues_of(deposit).keys() <= RECOMMENDED
    metadata = deposit / "ro-crate-metadata.json"
    crate = json.loads(metadata.read_text())
    root = next(entity for entity in crate["@graph"] if entity["@id"] == "./")
    del root["datePublished"]
    metadata.write_text(json.dumps(crate))
    assert Severity.REQUIRED in issues_of(deposit).values()


def test_a_deposit_has_croissant_metadata_whose_records_can_be_read(deposit: Path) -> None:
    dataset = Dataset(str(deposit / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    (warning,) = dataset.metadata.ctx.issues.warnings
    assert "citeAs" in warning
    metadata = dataset.metadata
    assert metadata.data_biases == ["films of one language"]
    assert metadata.data_social_impact == "none known"
    assert metadata.personal_sensitive_information == ["names of actors"]
    assert metadata.data_release_maintenance_plan == "none"
    assert metadata.data_collection
    assert metadata.data_limitations
    assert metadata.data_use_cases
    lines = [json.loads(line) for line in (deposit / "run/scores.jsonl").read_text().splitlines()]
    records = list(dataset.records("scores"))
    assert [record["scores/score"].decode() for record in records] == [
        line["score"] for line in lines
    ]
    values = [record["scores/value"] for record in records]
    for value, line in zip(values, lines, strict=True):
        if line["value"] is None:
            assert value is None or value != value
        else:
            assert value == line["value"]
    answers = list(dataset.records("answers"))
    assert len(answers) == len((deposit / "run/answers.jsonl").read_text().splitlines())
