"""The HTTP server: its queue, keys, rates, logs, metrics and pages."""
