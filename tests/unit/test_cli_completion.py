"""Completion in a user's shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cli_runs import Cli
from error_texts import check_line

_ASK = """
. "$1"
COMP_WORDS=($2)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_shtab_graph_service
echo "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("graph-service verif", "verify"),
        ("graph-service view cr", "create"),
        ("graph-service view create --around", "--around-entity"),
        ("graph-service retrieve --strategy p", "paths"),
        ("graph-service load rom", "rome.nt"),
    ],
)
def test_bash_completes_verbs_options_choices_and_files(
    cli: Cli, tmp_path: Path, typed: str, completed: str
) -> None:
    done = cli("completion", "bash")
    assert done.code == 0
    script = tmp_path / "completion.bash"
    script.write_text(done.out)
    (tmp_path / "rome.nt").touch()
    shell = subprocess.run(
        ["bash", "-c", _ASK, "bash", str(script), typed],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
        check=False,
    )
    assert (shell.stdout.strip(), shell.stderr) == (completed, "")


@pytest.mark.parametrize(
    ("shell", "word"), [("zsh", "#compdef graph-service"), ("tcsh", "complete graph-service")]
)
def test_other_shells_get_their_script(cli: Cli, shell: str, word: str) -> None:
    done = cli("completion", shell)
    assert done.code == 0
    assert word in done.out
    assert "--around-entity" in done.out or "around-entity" in done.out


def test_an_unknown_shell_is_refused_with_what_may_be_meant(cli: Cli) -> None:
    done = cli("completion", "bsh")
    assert done.code == 2
    check_line(done.err, "bash?")
