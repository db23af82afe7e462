"""What a store keeps beside its graphs: views and the jobs that make them, scorers, rankers."""
