"""Sources of statements: Wikidata, RDF and tables, streamed into a store."""
