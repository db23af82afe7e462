"""Open-ended questions of ten sub-types, and the loop that tunes their instruction (O1, O2)."""
