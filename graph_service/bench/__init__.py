"""Speed and quality measurements, each beside its reference."""
