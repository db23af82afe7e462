"""Retrieval as pure functions over arrays: region, PageRank, prizes, triplets, paths, subgraph."""
