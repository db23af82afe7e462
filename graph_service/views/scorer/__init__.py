"""Scorers of triples: by counting, and trained."""
