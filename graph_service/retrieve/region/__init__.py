"""The region of a question: cut out of a graph, ranked by PageRank, filtered and measured."""
