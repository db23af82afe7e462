"""Whether an installation works, and whether a store still holds what it claims."""
