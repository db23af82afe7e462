"""Frozen sets: questions and perturbed views that stay the same, made of a user's own download."""
