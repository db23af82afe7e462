"""Wikidata and other Wikibases in JSON: documents, dumps and the network."""
