"""The verb ``score`` of the command line."""
