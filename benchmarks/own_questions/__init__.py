"""A hundred questions over two invented graphs: written before retrieval was changed, half unread."""
