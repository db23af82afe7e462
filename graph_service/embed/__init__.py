"""Texts to vectors: the embedders and the file that keeps what they computed."""
