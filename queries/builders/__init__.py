"""Data sets made of a graph and a chat model: KaLMA's (K9), OKGQA's (O1, O2) and LTGen's (L3)."""
