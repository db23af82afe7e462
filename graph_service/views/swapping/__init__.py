"""Relation swapping, and the pairing of edges that it needs."""
