"""The verb retriever."""
