"""Perturbed views: drawing the edges that change, the methods, and laying a delta over a base."""
