"""The English names of the months."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
FOLDED_MONTHS = tuple(month.lower() for month in MONTHS)
"""The names as ``fold`` and ``normalise_name`` give them."""
