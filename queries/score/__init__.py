"""Scores of answers: what each measures is in its module."""
