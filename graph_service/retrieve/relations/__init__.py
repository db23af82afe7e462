"""Retrieval by ranked relations, as LTGen has it."""
