"""What of a source is loaded: filters, hops around entities, and the passes that they take."""
