"""Draws faults into the code at random and counts how many of them the tests find."""
