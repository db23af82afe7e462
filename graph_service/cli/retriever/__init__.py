"""The verb ``retriever`` of the command line."""
