"""Names and words: folding, tokens, sentences."""
