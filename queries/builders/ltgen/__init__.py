"""Questions and conversations about long-tail entities, with gold triples (L3)."""
