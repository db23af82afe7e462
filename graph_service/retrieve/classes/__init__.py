"""Questions that name no entity but a class: which of its instances are so, how many, whether any."""
