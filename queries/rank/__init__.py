"""Ranking relations by a question: by embedding, by a prompt, by a trained ranker (L4, L5)."""
