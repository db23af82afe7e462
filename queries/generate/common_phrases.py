"""How people say the commonest relations of Wikidata and DBpedia.

All other relations are said by the rules of ``queries.generate.phrases``. Where an entity may have
several values, a phrase is right for each of them: "Bea is a child of Ada".
"""

from __future__ import annotations

from collections.abc import Mapping

from graph_service.text.fold import relation_words

_UNDATED: Mapping[str, str] = {
    "{head} was born in {value}": "place of birth; birth place",
    "{head} died in {value}": "place of death; death place",
    "{head} is buried in {value}": "place of burial; resting place; place of interment",
    "{head} died of {value}": "cause of death; death cause",
    "{head} is a citizen of {value}": "country of citizenship; citizenship; state of citizenship",
    "{head} received the award {value}": "award; awards",
    "{head} has lived in {value}": "residence; place of residence",
    "{head} has worked in {value}": "work location",
    "{head} has worked for {value}": "employer",
    "{head} was educated at {value}": "alma mater",
    "{head} speaks, writes or signs {value}": "languages spoken, written or signed",
    "{head} speaks {value}": "languages spoken; language spoken",
    "{head} plays the {value}": "instrument; musical instrument",
    "{head} took part in {value}": "participant in; conflict; battle",
    "{head} served in {value}": "military branch; military unit",
    "{value} is a child of {head}": "child; children",
    "{value} is a sibling of {head}": "sibling; siblings",
    "{value} is a parent of {head}": "parent; parents",
    "{value} is a relative of {head}": "relative; relatives",
    "{value} is a student of {head}": "student; students; notable student",
    "{value} is a doctoral student of {head}": "doctoral student; doctoral students",
    "{value} was a doctoral advisor of {head}": "doctoral advisor",
    "{value} is a notable work of {head}": "notable work; notable works",
    "{value} influenced {head}": "influenced by",
    "{value} directed {head}": "director; directed by",
    "{value} produced {head}": "producer; produced by",
    "{value} was an executive producer of {head}": "executive producer",
    "{value} wrote {head}": "author; written by; writer",
    "{value} wrote the screenplay of {head}": "screenwriter; screenplay by",
    "{value} wrote the lyrics of {head}": "lyrics by; lyricist",
    "{value} composed {head}": "composer",
    "{value} composed the music of {head}": "music composer; music by",
    "{value} performs {head}": "performer",
    "{value} is in the cast of {head}": "cast member; starring; starred actors; cast",
    "{value} edited {head}": "editor; film editor; editing",
    "{value} filmed {head}": "director of photography; cinematography",
    "{value} illustrated {head}": "illustrator",
    "{value} translated {head}": "translator",
    "{value} presents {head}": "presenter; host",
    "{value} created {head}": "creator; created by",
    "{value} developed {head}": "developer; developed by",
    "{value} designed {head}": "designer; designed by; architect",
    "{value} makes {head}": "manufacturer; manufactured by",
    "{value} published {head}": "publisher; published by",
    "{value} distributed {head}": "distributor; distributed by",
    "{value} discovered or invented {head}": "discoverer or inventor; discoverer; inventor",
    "{value} founded {head}": "founded by; founder; founders",
    "{value} owns {head}": "owned by; owner; owning company",
    "{head} owns {value}": "owner of",
    "{value} operates {head}": "operator",
    "{value} is a subsidiary of {head}": "subsidiary; subsidiaries; has subsidiary",
    "{head} belongs to {value}": "parent organization; parent company",
    "{head} works in the industry {value}": "industry",
    "{head} makes {value}": "product or material produced; product; products",
    "{head} has its headquarters in {value}": "headquarters location; headquarter; headquarters",
    "{head} is in {value}": (
        "located in the administrative territorial entity; location; located in; location city; "
        "location country; located in/on physical feature"
    ),
    "{head} contains {value}": "contains the administrative territorial entity",
    "{head} borders {value}": "shares border with",
    "{head} is on {value}": "located in or next to body of water",
    "{value} is the capital of {head}": "capital",
    "{value} is the largest city of {head}": "largest city",
    "{value} is an official language of {head}": "official language; official languages",
    "{value} is a currency of {head}": "currency",
    "{value} is a language of {head}": "language used",
    "{value} is a public holiday in {head}": "public holiday",
    "{value} is a head of state of {head}": "head of state",
    "{value} is a head of government of {head}": "head of government",
    "{value} is a mayor of {head}": "mayor",
    "{head} has {value} inhabitants": "population; population total",
    "{head} flows into {value}": "mouth of the watercourse; river mouth",
    "{value} is a tributary of {head}": "tributary; tributaries",
    "{head} was filmed in {value}": "filming location",
    "{head} takes place in {value}": "narrative location",
    "{head} is about {value}": "main subject",
    "{value} is a character of {head}": "characters; character",
    "{head} comes from {value}": "country of origin; state of origin",
    "{head} is based on {value}": "based on; after a work by",
    "{head} has the genre {value}": "genre; literary genre; music genre",
    "{head} is in the language {value}": (
        "language of work or name; original language of film or tv show; original language"
    ),
    "{head} appeared on the label {value}": "record label",
    "{head} runs on {value}": "platform; computing platform",
    "{head} is written in {value}": "programming language",
    "{head} consists of {value}": "has part(s); has parts of the class",
    "{value} takes part in {head}": "participant; participants",
    "{head} has {value} pages": "number of pages",
    "{head} has {value} episodes": "number of episodes",
    "{head} has {value} children": "number of children",
    "{head} has {value} employees": "number of employees",
    "{head} has {value} students": "number of students",
    "{head} belongs to the taxon {value}": "parent taxon",
    "{head} is named after {value}": "named after",
    "{head} has played for {value}": "debut team; former team",
    "{head} plays in the league {value}": "league; league or competition",
    "{head} has the office {value}": "office",
    "{head} belongs to the party {value}": "member of political party; party; political party",
    "{head} has the religion {value}": "religion or worldview; religion",
    "{head} belongs to the movement {value}": "movement",
    "{head} is practiced by {value}": "practiced by; practised by",
    "{head} has diplomatic relations with {value}": "diplomatic relation; diplomatic relations",
    "{head} was assembled in {value}": "assembly",
    "{value} is the voice of {head}": "voice",
    "{value} is a guest in {head}": "guest",
    "{head} is on the album {value}": "album",
    "{head} belongs to the series {value}": "series; part of the series",
    "{head} serves {value}": "region served; area served",
    "{value} is a part of {head}": "part; parts",
    "{head} is twinned with {value}": "twinned administrative body; twin town; sister city",
    "{head} is described in {value}": "described by source",
    "{head} is indigenous to {value}": "indigenous to",
    "{head} appears in {value}": "present in work",
    "{head} applies to {value}": "applies to jurisdiction",
    "{head} makes or provides {value}": "product, material, or service produced or provided",
    "{head} is in what is now {value}": (
        "located in the present-day administrative territorial entity"
    ),
    "{head} is associated with {value}": "associated musical artist; associated band",
    "{head} is related to {value}": "related",
    "{head} is next to {value}": "neighboring municipality",
    "{head} is by {value}": "musical artist; musical band; artist",
    "{head} has managed {value}": "manager club",
    "{head} broadcasts to {value}": "broadcast area",
    "{value} won {head}": "winner",
    "{value} succeeded {head}": "successor",
    "{value} preceded {head}": "predecessor",
    "{value} commanded {head}": "commander",
    "{value} is a leader of {head}": "leader; leader name",
    "{value} is a key person of {head}": "key person",
    "{value} is a voice actor of {head}": "voice actor",
    "{value} is a significant event of {head}": "significant event",
    "{value} is a member of {head}": "band member",
    "{value} is a current member of {head}": "current member",
    "{value} is a former member of {head}": "former band member",
    "{value} is a sister station of {head}": "sister station",
    "{value} is the work after {head}": "subsequent work",
    "{value} is the work before {head}": "previous work",
    "{value} is home to {head}": "population place",
}
"""Phrases, and the relations that are said so, by the words of their names."""
_DATED: Mapping[str, str] = {
    "{head} was born {on} {value}": "date of birth; birth date; birth year",
    "{head} died {on} {value}": "date of death; death date; death year",
    "{head} came into being {on} {value}": "inception",
    "{head} was founded {on} {value}": "founding date; founding year",
    "{head} was published {on} {value}": "publication date",
    "{head} was released {on} {value}": "release date",
    "{head} began {on} {value}": "start time; start date",
    "{head} ended {on} {value}": "end time; end date",
    "{head} took place {on} {value}": "point in time",
    "{head} was discovered or invented {on} {value}": "time of discovery or invention",
    "{head} was dissolved {on} {value}": "dissolved, abolished or demolished date",
}
"""The same of relations to dates: ``{on}`` is the preposition of the date."""


def _by_name(phrases: Mapping[str, str]) -> dict[str, str]:
    return {name: phrase for phrase, names in phrases.items() for name in names.split("; ")}


PHRASES: Mapping[str, str] = _by_name(_UNDATED)
DATED_PHRASES: Mapping[str, str] = _by_name(_DATED)


def common_phrase(label: str, /, *, dated: str = "") -> str | None:
    """Returns a pattern of ``{head}`` and ``{value}`` that says a common relation; None for others.

    Args:
        label: The relation's name; camel case, underscores and IRIs are split into words.
        dated: ``on`` or ``in`` where the value is a date.

    >>> common_phrase("place of birth"), common_phrase("birthPlace")
    ('{head} was born in {value}', '{head} was born in {value}')
    >>> common_phrase("date of birth", dated="on")
    '{head} was born on {value}'
    >>> common_phrase("date of birth"), common_phrase("mother")
    (None, None)
    """
    name = relation_words(label).lower()
    if dated:
        phrase = DATED_PHRASES.get(name)
        return None if phrase is None else phrase.replace("{on}", dated)
    return PHRASES.get(name)
