"""The verbs search, item, retrieve and compare."""
