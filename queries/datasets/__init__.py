"""Question sets and their readers."""
