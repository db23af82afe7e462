"""Retrievers for LangChain, LlamaIndex and Haystack, a module each.

Each needs its framework's core package alone, which an extra of the same name installs: ``pip
install 'graph-service[langchain]'``. The graph is behind a server, or in this process.
"""
