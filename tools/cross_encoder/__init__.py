"""Training of the cross-encoder that ranks what a question may ask, with torch."""
