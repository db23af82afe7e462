"""The tables of the four papers, made with a model of one's own."""
