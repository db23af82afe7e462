"""K-hop subgraphs from SPARQL endpoints.

``options``    what such a load can be told, and which sources mean one
``terms``      terms and rows of answers; writing IRIs into queries
``endpoint``   one endpoint, asked through SPARQLWrapper
``paging``     all rows of a pattern, checked for duplicates and gaps
``dialects``   what Wikidata and DBpedia each need
``walk``       the walk itself, resumable, over truthy statements
``documents``  the walk over whole documents of Wikidata's entities
``reader``     which of them reads a source
"""
