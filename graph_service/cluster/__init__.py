"""Whole-graph work by an engine that speaks Spark Connect: DataFrames alone, over a graph's Parquet files.

Everything is drawn by keyed hashes and ordered by keys, so an engine gives the bits that one
machine gives.
"""
