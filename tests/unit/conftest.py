"""Fixtures of the tests that need the slice: see ``demo_graph``."""

from demo_graph import demo_file, demo_service, demo_settings, kinds_service, own_service

__all__ = ["demo_file", "demo_service", "demo_settings", "kinds_service", "own_service"]
