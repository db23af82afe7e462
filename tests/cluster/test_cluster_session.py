"""Sessions that cannot be had are errors that say what to do; faults of our own are not (B19)."""

from __future__ import annotations

import pytest

from graph_service.cluster import session as session_module
from graph_service.cluster.session import open_session
from graph_service.errors import SetupError


@pytest.mark.parametrize("remote", ["sc://", "sc://127.0.0.1:port", "sc://127.0.0.1:1/;x"])
def test_an_address_of_no_server_is_an_error_of_the_set_up(remote: str) -> None:
    with pytest.raises(SetupError, match="no session with"), open_session(remote):
        pytest.fail("no server has that address")


def test_faults_of_our_own_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(session_module, "_start_sail", fail)
    with pytest.raises(KeyError), open_session("sail"):
        pytest.fail("it did not start")
