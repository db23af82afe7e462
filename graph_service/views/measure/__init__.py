"""What a view did to its graph, and to the questions asked of it."""
