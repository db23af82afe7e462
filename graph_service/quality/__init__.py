"""How much of what a question asks for retrieval finds, on questions whose answer is known."""
