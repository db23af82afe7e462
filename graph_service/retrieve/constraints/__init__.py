"""What a question asks beside its relations: constraints, and the form of its answer."""
