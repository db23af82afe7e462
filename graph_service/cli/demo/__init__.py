"""The verb ``demo``: the first minute, its sweep over perturbed views, and its page."""
