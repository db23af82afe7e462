"""Asking servers on the network politely, with every known fault told apart.

``address``    which addresses are asked, and how we introduce ourselves
``faults``     why a request failed, and what that means for the next one
``polite``     pauses, retries, and when to give up
``connection`` every read bounded by time and bytes; where redirects may lead
``transfer``   bodies: limits on size and time, cuts, gzip; plain requests
``cache``      answers kept on disk
"""
