"""What the schema says of itself, in words that tools know.

graphql-core has a place of directives that only the draft of the GraphQL specification has, and
its ``@deprecated`` may stand there. graphql-js 16 does not know the place. Tools that are built on
it, such as graphql-codegen, can't read a schema whose directives name it.
"""

from __future__ import annotations

from graphql import GraphQLDirective, GraphQLSchema

UNKNOWN_LOCATIONS = ("DIRECTIVE_DEFINITION", "FRAGMENT_VARIABLE_DEFINITION")
"""Not in the edition of September 2025."""


def drop_unknown_locations(schema: GraphQLSchema, /) -> None:
    """Takes from a schema's directives the locations that tools do not know.

    A directive is copied: graphql-core's own are those of every schema of the process.
    """
    schema.directives = tuple(
        GraphQLDirective(
            directive.name,
            [
                location
                for location in directive.locations
                if location.name not in UNKNOWN_LOCATIONS
            ],
            args=directive.args,
            is_repeatable=directive.is_repeatable,
            description=directive.description,
        )
        if any(location.name in UNKNOWN_LOCATIONS for location in directive.locations)
        else directive
        for directive in schema.directives
    )
