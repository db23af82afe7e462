"""Wordings of made questions, written by hand before any code was measured with them.

None is copied from a published set. A change here makes another set: figures from before it can't
be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Films that have a person in common with a film: three steps with what is asked of them.

SHARED_FILMS: Mapping[str, Sequence[str]] = {
    "actor": (
        "other films starring someone from the cast of {film}",
        "the films that the actors of {film} also played in",
        "movies whose cast includes a performer seen in {film}",
        "the other movies that {film}'s stars appeared in",
        "pictures featuring anybody who acted in {film}",
    ),
    "director": (
        "other films made by the director of {film}",
        "the movies that whoever directed {film} also directed",
        "further work by the filmmaker behind {film}",
        "the other pictures {film}'s director shot",
        "films directed by the same person as {film}",
    ),
    "writer": (
        "other films written by the screenwriter of {film}",
        "the movies that the author of {film} also scripted",
        "films penned by the same writer as {film}",
        "the other screenplays by whoever wrote {film}",
        "pictures whose script is by {film}'s writer",
    ),
}
"""By what the films have in common."""
ASKED_OF_FILMS: Mapping[str, Sequence[str]] = {
    "actor": (
        "who plays in {films}",
        "which actors can be seen in {films}",
        "name the people who star in {films}",
        "tell me the cast of {films}",
    ),
    "director": (
        "who directed {films}",
        "which filmmakers are behind {films}",
        "name the directors of {films}",
        "by whom were {films} directed",
    ),
    "writer": (
        "who wrote {films}",
        "which screenwriters worked on {films}",
        "name the authors of {films}",
        "whose scripts did {films} use",
    ),
    "year": (
        "when did {films} come out",
        "in what years were {films} released",
        "which years saw the release of {films}",
        "how old are {films}, by year of release",
    ),
    "language": (
        "what languages are {films} in",
        "which language is spoken in {films}",
        "in which tongues were {films} shot",
        "name the languages of {films}",
    ),
    "genre": (
        "what genres do {films} belong to",
        "what kind of movies are {films}",
        "under which genres do {films} fall",
        "name the genres of {films}",
    ),
}
"""By what is asked of the films."""

# Football, two steps: a player's club or country, and what is known of that.

FOOTBALL: Mapping[str, tuple[str, Sequence[tuple[str, bool]]]] = {
    "league": (
        "In the league of which nation is {name} employed?",
        (("plays_in_club", False), ("is_in_country", False)),
    ),
    "based": (
        "Where is the team that {name} turns out for based?",
        (("plays_in_club", False), ("is_in_country", False)),
    ),
    "sides": (
        "Which national sides do the men of {name} represent?",
        (("plays_in_club", True), ("plays_for_country", False)),
    ),
    "picked": (
        "what countries have picked players from {name}",
        (("plays_in_club", True), ("plays_for_country", False)),
    ),
    "internationals": (
        "At which clubs do the internationals of {name} earn their living?",
        (("plays_for_country", True), ("plays_in_club", False)),
    ),
    "squad": (
        "which clubs have a member of {name}'s national squad under contract?",
        (("plays_for_country", True), ("plays_in_club", False)),
    ),
    "abroad": (
        "Who plays club football in {name}?",
        (("is_in_country", True), ("plays_in_club", True)),
    ),
    "located": (
        "name footballers who are with a club located in {name}",
        (("is_in_country", True), ("plays_in_club", True)),
    ),
    "mates": (
        "Who are {name}'s team mates at club level?",
        (("plays_in_club", False), ("plays_in_club", True)),
    ),
    "countrymen": (
        "Which footballers are picked by the same country as {name}?",
        (("plays_for_country", False), ("plays_for_country", True)),
    ),
}
"""By name: the wording, and the relations it asks for."""

# Kin, one step more before a question of PathQuestion: whose spouse, child or parent it is about.

KIN: Mapping[str, Sequence[str]] = {
    "spouse": ("{name} 's spouse", "the partner of {name}", "{name} 's better half"),
    "children": ("{name} 's child", "the offspring of {name}", "{name} 's kid"),
    "parents": ("{name} 's parent", "the parent of {name}"),
}
"""By relation."""

# Constraints, counts, superlatives and yes or no; ``benchmarks.constraints`` says what each asks.

CONSTRAINTS: Mapping[str, str] = {
    "film-year": "Which films with {person} came out in {year}?",
    "film-genre": "Name the {genre} films that {person} directed.",
    "film-language": "what {language} language movies has {person} acted in?",
    "film-after": "Which movies did {person} direct after {year}?",
    "film-before": "what had {person} starred in before {year}?",
    "film-between": "films {person} appeared in between {first} and {last}",
    "film-decade": "Which films written by {person} are from the {decade}s?",
    "film-nineties": "what did {person} direct in the {decade}s?",
    "film-both": "In which films do both {person} and {other} appear?",
    "film-with": "Which {person} films have {other} in the cast?",
    "film-count": "How many films did {person} direct?",
    "film-latest": "What is the most recent film starring {person}?",
    "film-did": "Did {person} direct {film}?",
    "child-job": "Which of {person}'s children became {job}?",
    "child-year": "Which child of {person} was born in {year}?",
    "child-gender": "Who are the {children} of {person}?",
    "child-both": "Which children did {person} and {other} have together?",
    "child-oldest": "Who is the oldest child of {person}?",
    "sibling-count": "How many siblings does {person} have?",
    "child-is": "Is {other} a child of {person}?",
}
"""By name: twenty wordings, the films of MetaQA's graph, the children of the demo's."""
