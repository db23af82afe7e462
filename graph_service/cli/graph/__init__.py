"""The verbs load, graphs, export, backup, passages, pageviews and sample."""
