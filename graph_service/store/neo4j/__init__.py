"""The store that keeps its graphs in Neo4j."""
