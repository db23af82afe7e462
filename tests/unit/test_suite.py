"""What the whole suite keeps to."""

from __future__ import annotations

from hypothesis import settings


def test_property_tests_have_no_deadline_and_draw_alike_everywhere() -> None:
    assert settings().deadline is None
    assert settings.get_profile("suite").derandomize
