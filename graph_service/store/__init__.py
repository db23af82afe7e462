"""Where graphs are kept: a local file or Neo4j, behind one set of protocols."""
