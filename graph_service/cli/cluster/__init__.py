"""The verb ``cluster``: views drawn by an engine of Spark Connect."""
