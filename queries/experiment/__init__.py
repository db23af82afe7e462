"""Robustness experiments as files: planned, run and resumed, scored, reported."""
