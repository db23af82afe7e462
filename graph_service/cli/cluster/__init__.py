"""The verb ``cluster``."""
