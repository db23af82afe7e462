"""The verb score."""
