"""What all HTTP clients of the project share."""
