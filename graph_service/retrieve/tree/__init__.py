"""Prize-collecting Steiner trees: the solver and its proof, which know nothing of retrieval."""
