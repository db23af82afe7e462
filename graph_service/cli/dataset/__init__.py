"""dataset: question sets made of a graph and a chat model."""
