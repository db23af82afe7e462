"""What consumes the API: answers with citations, and their scores."""
