"""Prompts, settings and citation parsing."""
