"""The verbs view and scorer."""
