"""experiment: robustness experiments as files."""
