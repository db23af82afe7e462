"""Ten questions about each of twelve messy tables."""
