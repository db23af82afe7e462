"""Retrieval by prizes, as OKGQA has it: triplets, paths and subgraphs."""
