"""A knowledge-graph service for language models."""

__version__ = "0.1.0"
