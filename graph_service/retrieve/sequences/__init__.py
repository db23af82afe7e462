"""Retrieval by relation sequences: preset ``default``."""
