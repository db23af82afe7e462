"""Published retrievers, and ours, asked the questions of frozen sets on the same statements."""
