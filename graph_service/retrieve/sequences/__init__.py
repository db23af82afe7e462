"""Retrieval by relation sequences: the default presets."""
