"""A property graph that is already in a Neo4j, as a source: read by a mapping, never written to."""
