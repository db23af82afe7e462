"""The verb ``rank`` of the command line."""
