"""Small queries over a graph: their form, their answers, and how they read in words and in code."""
