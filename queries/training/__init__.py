"""Training of the scorer of relation sequences: its examples, its networks, and those of one graph."""
