"""The verbs doctor, verify, model and bench."""
