"""Scores of answers."""
