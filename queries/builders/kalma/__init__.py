"""Questions that evolve round by round, with their minimum knowledge sets (K9)."""
