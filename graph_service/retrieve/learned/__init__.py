"""Preset ``default-6``: a learned scorer of (question, start entity, relation sequence)."""
