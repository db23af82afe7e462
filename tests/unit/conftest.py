"""Fixtures of the tests that need the slice (``demo_graph``) or run the command line."""

from cli_runs import cli, demo_cli
from demo_graph import demo_file, demo_service, demo_settings, kinds_service, own_service

__all__ = [
    "cli",
    "demo_cli",
    "demo_file",
    "demo_service",
    "demo_settings",
    "kinds_service",
    "own_service",
]
