"""RDF: N-Triples, N-Quads, Turtle and RDF/XML, DBpedia's and Wikidata's."""
