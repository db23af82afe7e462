"""What ``python -m benchmarks`` runs."""
