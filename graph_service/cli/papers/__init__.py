"""papers: the tables of the four papers with a model of one's own."""
