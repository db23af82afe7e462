"""Preset ``default-5``: a learned scorer of (question, start entity, relation sequence)."""
