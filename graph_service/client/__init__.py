"""The typed client, in process or over HTTP."""
