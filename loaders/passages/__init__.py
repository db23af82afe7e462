"""Text to passages: reading documents, cutting them at sentence ends, loading them.

``cut``      sentences packed into at most 100 words
``reader``   documents of text files, JSON lines and Wikipedia extracts
``load``     the pipeline: batches, checkpoints, rejects, a report
"""
