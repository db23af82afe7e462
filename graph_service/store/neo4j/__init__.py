"""The store in Neo4j."""
