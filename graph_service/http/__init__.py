"""Requests over HTTP: polite, bounded, and with every known fault told apart.

``retry``       when to ask again, and what ``Retry-After`` says
``address``     which addresses are asked, and how we introduce ourselves
``faults``      why a request failed, and what that means for the next one
``host_client`` pauses, retries, and when to give up
``connection``  the one client: exchanges bounded by time and bytes; where redirects may lead
``transfer``    one request, and its whole reply or its fault
``cache``       answers kept on disk
``openai_client`` the OpenAI package on that client, for embedders and chat models
"""
