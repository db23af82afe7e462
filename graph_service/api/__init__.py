"""The GraphQL API over HTTP."""
