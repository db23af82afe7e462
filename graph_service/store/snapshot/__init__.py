"""A published graph as arrays: built, kept in files, and memory-mapped."""
