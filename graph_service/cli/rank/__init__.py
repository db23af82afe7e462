"""The verb rank."""
