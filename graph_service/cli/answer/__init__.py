"""The verbs answer, prompt and questions."""
