"""Words of headers and file names: what a column says of a thing, and what the thing is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from graph_service.text.nouns import singular as singular_of_ending
from loaders.tables.number_cells import is_currency, is_unit

_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNIT = re.compile(
    r"^(?P<name>.*?\w\??)\s*(?:\((?:in )?(?P<unit>[^()]{1,20})\)|\[(?:in )?(?P<unit_2>[^\[\]]{1,20})\])\s*$"
)
_IN_UNIT = re.compile(r"^(?P<name>.*?\w)[\s_]in[\s_](?P<unit>\S(?:.{0,18}\S)?)$", re.I)
_LAST_UNIT = re.compile(
    r"^(?P<name>.*?\w)[\s_]*(?:(?<=[\s_])(?P<word>[^\W\d]+[23\u00b2\u00b3]?)|(?P<sign>[%\u20ac$\u00a3]))$"
)
_LAST_UNITS = frozenset(
    {
        "kg",
        "km",
        "cm",
        "mm",
        "ml",
        "kw",
        "kwh",
        "gb",
        "mb",
        "tb",
        "ha",
        "m2",
        "m\u00b2",
        "km2",
        "km\u00b2",
        "m3",
        "m\u00b3",
    }
)
"""Units that stand at the end of a header without a word or brackets, and mean nothing else there."""
_ID_ENDINGS = ("nr", "nr.", "nummer")
"""Of words that German and its neighbours write as one."""
_SAYS_NOTHING = re.compile(r"[\W\d_]+")
_COUNTED = re.compile(r"\s*\((\d+)\)$")
_ID_WORDS = frozenset({"id", "ids", "key", "no", "no.", "nr", "nr.", "number", "num", "code", "#"})
_NAME_WORDS = frozenset({"name", "names", "title", "label", "bezeichnung", "nom", "nombre"})
_NAME_HEADERS = frozenset(
    {
        *("bezeichnung", "benennung", "nom", "nombre", "nome", "naam", "navn", "namn", "nimi"),
        *("nazwa", "název", "názov", "naziv", "nume", "név", "isim", "libellé", "désignation"),
        *(
            "denominación",
            "denominazione",
            "имя",
            "название",
            "наименование",
            "名称",
            "名前",
            "이름",
        ),
    }
)
"""Headers of what a row is called, in other languages than English."""
_DESIGNATIONS = ("bezeichnung", "benennung", "betegnelse", "ben\u00e4mning")
_COMPOUND_NAMES = (*_DESIGNATIONS, "name", "navn", "namn", "naam", "titel")
"""Last parts of words that German and its neighbours write as one."""
_NO_NOUNS = frozenset(
    {"sku", "ean", "gtin", "isbn", "issn", "uuid", "guid", "iban", "vin", "url", "uri", "iri"}
    | {"full", "first", "last", "short", "display", "column", "row", "index", "pos", "position"}
)
"""Last words of headers that do not say what a row is."""
_YEARS = frozenset({"year", "yr", "jahr", "année", "año", "anno", "vintage", "jahrgang"})
"""Words that call a number a year by themselves."""
_NO_YEARS = frozenset(
    {"per", "a", "each", "every", "this", "last", "previous", "pro", "par", "por"}
)
"""Words before those that make it a count: visitors per year."""
_EVENTS = frozenset(
    {
        *("founded", "founding", "foundation", "established", "inception", "formed"),
        *("created", "built", "constructed", "erected", "completed", "commissioned", "opened"),
        *("opening", "inaugurated", "closed", "abandoned", "demolished", "dissolved", "abolished"),
        *("renovated", "restored", "rebuilt", "published", "released", "issued", "printed"),
        *("premiered", "premiere", "debut", "aired", "launched", "introduced", "discontinued"),
        *("discovered", "invented", "patented", "painted", "written", "composed", "recorded"),
        *("born", "birth", "died", "death", "married", "graduated", "hired", "joined", "retired"),
        *("elected", "appointed", "acquired", "merged", "since", "until", "updated", "revised"),
        *("gegründet", "erbaut", "gebaut", "eröffnet", "geschlossen", "geboren", "gestorben"),
        *("erschienen", "seit", "fondé", "fondée", "naissance", "depuis", "fundado", "fundada"),
    }
)
"""Words for what happened in a year."""
_BOUNDS = frozenset({"start", "started", "begin", "began", "beginning", "end", "ended"})
"""Words that mean a time where no noun is beside: a start, but no start mileage."""
_TIME_FILLERS = frozenset({"in", "on", "at", "of", "the", "date", "was", "first", "last"})
_FULL_NAMES = (
    ("first name", "last name"),
    ("firstname", "lastname"),
    ("first name", "surname"),
    ("forename", "surname"),
    ("given name", "family name"),
    ("vorname", "nachname"),
)
_PACKED_SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst"})
_TABLE_SUFFIXES = _PACKED_SUFFIXES | frozenset(
    {".csv", ".tsv", ".tab", ".txt", ".xlsx", ".xlsm", ".parquet", ".json", ".jsonl", ".ndjson"}
    | {".geojson"}
)


def header_words(name: str, /) -> list[str]:
    """Returns the words of a header, small but for acronyms; of a question what it asks for.

    >>> header_words("unitPrice"), header_words("Part_No"), header_words("RoHS")
    (['unit', 'price'], ['part', 'no'], ['RoHS'])
    >>> header_words("Which tools do you use? (select all)"), header_words("What is your name?")
    (['tools'], ['name'])
    >>> header_words("Do you work remotely?"), header_words("How many children do you have?")
    (['work', 'remotely'], ['children'])
    """
    name = _question_topic(name)
    words = re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", name.strip()).split()
    split: list[str] = []
    for word in words:
        humps = _HUMPS.split(word)
        split.extend(humps if len(humps[0]) > 2 or humps[-1].upper() in ("ID", "NO") else [word])
    return [word if _is_acronym(word) else word.lower() for word in split]


def is_question(name: str, /) -> bool:
    """Returns whether a header is a question of a form, whose topic alone is its relation.

    >>> is_question("Which tools do you use?"), is_question("Sure?")
    (True, False)
    """
    return name.partition("?")[0].strip() != _question_topic(name)


def _question_topic(name: str) -> str:
    """Returns what the question of a form asks for, where a header is one; any other header."""
    if "?" not in name:
        return name
    text = name.partition("?")[0].strip()
    match = next((match for form in _QUESTIONS if (match := form.fullmatch(text))), None)
    return text if match is None else match["topic"]


def _is_acronym(word: str) -> bool:
    return len(word) > 1 and any(map(str.isupper, word[1:])) and word.lower() not in _ID_WORDS


_VERB = r"(?:is|are|was|were|do|does|did|has|have|would|will|can|could|should)"
_SUBJECT = r"(?:you|your|we|they|it|he|she|this|the)"
_QUESTIONS = tuple(
    re.compile(form, re.I)
    for form in (
        rf"(?:what|which|who|when|where|how) {_VERB} (?:your|the|this) (?P<topic>.+)",
        rf"(?:what|which|how many|how much|how) (?P<topic>\S.*?) {_VERB} {_SUBJECT}\b.*",
        rf"(?:(?:when|where|how|why) )?{_VERB} {_SUBJECT} (?P<topic>.+)",
    )
)
"""Questions of a form, which ask one person each."""


def split_unit(name: str, /) -> tuple[str, str]:
    """Returns a header without the unit in it, and the unit; "" for none.

    >>> split_unit("Weight (kg)"), split_unit("Price in EUR"), split_unit("Name (short)")
    (('Weight', 'kg'), ('Price', 'EUR'), ('Name (short)', ''))
    >>> split_unit("Umsatz in Mio. \u20ac"), split_unit("Growth %"), split_unit("price_usd")
    (('Umsatz', 'Mio. EUR'), ('Growth', '%'), ('price', 'USD'))
    """
    match = _UNIT.match(name) or _IN_UNIT.match(name)
    if match:
        groups = match.groupdict()
        unit = is_unit((groups["unit"] or groups.get("unit_2") or "").strip())
        if unit is not None:
            return match["name"], unit
    last = _LAST_UNIT.match(name)
    if last:
        word = last["word"] or ""
        # As data have it: price_eur; but no Pro of "Per Pro".
        code = word.upper() if "_" in name or word.isupper() else word
        if last["sign"] or is_currency(code):
            return last["name"], is_unit(last["sign"] or code) or ""
        if word.lower() in _LAST_UNITS:
            return last["name"], _UNIT_SPELLINGS.get(word.lower(), word.lower())
    return name, ""


_UNIT_SPELLINGS = {"kw": "kW", "kwh": "kWh", "gb": "GB", "mb": "MB", "tb": "TB"}


def relation_name(name: str, /) -> str:
    """Returns the name of the relation that a column states.

    A number in brackets is part of it: readers of names take other brackets for a remark.

    >>> relation_name("Unit Price"), relation_name("Weight (kg)"), relation_name("Phone (2)")
    ('unit price', 'weight', 'phone 2')
    """
    return " ".join(header_words(_COUNTED.sub(r" \1", split_unit(name)[0])))


def row_noun(name: str, /) -> str:
    """Returns what a row is by the header of the column that names the rows; "" if it does not say.

    >>> [row_noun(name) for name in ("Project", "Branches", "Order No", "City name", "Full Name")]
    ['project', 'branch', 'order', 'city', '']
    >>> [row_noun(name) for name in ("SKU", "Kundennr", "Title", "Project (short)", "column 1")]
    ['', '', '', '', '']
    """
    words = [word.lower() for word in header_words(split_unit(name)[0])]
    while words and words[-1] in _ID_WORDS | _NAME_WORDS:
        words.pop()
    if not words or not all(word.isalpha() for word in words):
        return ""
    *before, last = words
    if last in _NO_NOUNS or is_id_name(last):
        return ""
    return " ".join([*before, singular(last)])


def referred_name(name: str, /) -> str:
    """Returns what a column of keys refers to; "" for one that is no such column by its name.

    >>> referred_name("supplierID"), referred_name("Part No"), referred_name("colour")
    ('supplier', 'part', '')
    """
    words = header_words(name)
    if len(words) > 1 and words[-1].lower() in _ID_WORDS:
        return " ".join(words[:-1])
    return ""


def is_id_name(name: str, /) -> bool:
    """Returns whether a header names an id: by its last word, or by its first alone.

    >>> [is_id_name(name) for name in ("Part No", "Kundennr.", "Artikelnummer", "Zentner")]
    [True, True, True, False]
    """
    words = header_words(name)
    return bool(words) and (
        words[-1].lower() in _ID_WORDS or words[-1].lower().endswith(_ID_ENDINGS)
    )


def is_name_header(name: str, /) -> bool:
    """Returns whether a header of one word is what rows are called, in any of many languages.

    >>> [is_name_header(name) for name in ("Nom", "Navn", "Bezeichnung", "Prénom", "Nom du client")]
    [True, True, True, False, False]
    """
    return name.strip().casefold() in _NAME_HEADERS


def compound_name(name: str, /) -> str:
    """Returns what a header of one word calls a name of; "" for any other header.

    >>> [compound_name(name) for name in ("Kundenname", "Produktbezeichnung", "Name", "Surname")]
    ['kunden', 'produkt', '', 'sur']
    """
    word = name.strip().casefold()
    ending = next((end for end in _COMPOUND_NAMES if word.endswith(end)), "")
    return word.removesuffix(ending) if ending and word.isalpha() else ""


def is_designation(name: str, /) -> bool:
    """Returns whether a header is a compound that calls things of a catalogue by a name.

    >>> is_designation("Produktbezeichnung"), is_designation("Lieferantenname")
    (True, False)
    """
    word = name.strip().casefold()
    return word.isalpha() and word.endswith(_DESIGNATIONS) and word not in _DESIGNATIONS


def key_noun(name: str, /) -> str:
    """Returns what the header of a key in one word numbers; "" for any other.

    >>> key_noun("Kundennr."), key_noun("Artikelnummer"), key_noun("Part No")
    ('kunden', 'artikel', '')
    """
    word = name.strip().casefold()
    ending = next((end for end in _ID_ENDINGS if word.endswith(end)), "")
    return word.removesuffix(ending) if ending and " " not in word else ""


def same_stem(word: str, other: str, /) -> bool:
    """Returns whether two words are one but for the letters that join it to the next.

    >>> same_stem("kunden", "kunde"), same_stem("artikel", "artikels"), same_stem("ort", "orte")
    (True, True, True)
    """
    return word.casefold().rstrip("nse") == other.casefold().rstrip("nse")


def full_name_columns(relations: Sequence[str], /) -> tuple[int, ...]:
    """Returns the indexes of first name and last name among the relations of columns; or none.

    >>> full_name_columns(["id", "last name", "First name"]), full_name_columns(["name"])
    ((2, 1), ())
    """
    names = [relation.lower() for relation in relations]
    for first, last in _FULL_NAMES:
        if first in names and last in names:
            return names.index(first), names.index(last)
    return ()


def is_year_name(name: str, /) -> bool:
    """Returns whether numbers of four digits under a header are years.

    >>> [is_year_name(name) for name in ("Year built", "opened", "First published", "Baujahr", "End")]
    [True, True, True, True, True]
    >>> [is_year_name(name) for name in ("visitors per year", "Houses built", "end mileage", "Stock")]
    [False, False, False, False]
    """
    words = [word.lower() for word in header_words(name)]
    for before, word in zip(["", *words], words, strict=False):
        if word in _YEARS or word.endswith("jahr"):
            return before not in _NO_YEARS or words[0] == before == "last"
    terms = {word for word in words if word not in _TIME_FILLERS}
    # "Houses built" are so many.
    if terms & _EVENTS:
        return all(singular(word) == word for word in terms)
    return bool(terms) and terms <= _BOUNDS


def class_name(path: str, /) -> str:
    """Returns what a row of a file is, by the file's name.

    The date of an export, and its number, are no part of it.

    >>> class_name("data/order-details.csv"), class_name("Parts.xlsx"), class_name("stock_2024-03.csv")
    ('order detail', 'part', 'stock')
    """
    words = file_words(path).split() or ["row"]
    first = next(
        (at for at, word in enumerate(words) if _SAYS_NOTHING.fullmatch(word) is None), None
    )
    if first is not None:
        words = words[first:]
        while _SAYS_NOTHING.fullmatch(words[-1]):
            words.pop()
    *before, last = words
    return " ".join([*before, singular(last)])


def suffix_of(path: str, /) -> str:
    """Returns the suffix of a file's name in lower case, not that of its packing.

    >>> suffix_of("a/parts.CSV.gz"), suffix_of("README")
    ('.csv', '')
    """
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _PACKED_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def file_words(path: str, /) -> str:
    """Returns the words of a file's name, or a sheet's.

    >>> file_words("data/order-details.csv"), file_words("Bestellungen")
    ('order details', 'bestellungen')
    """
    pure = PurePath(path)
    while pure.suffix.lower() in _TABLE_SUFFIXES:
        pure = pure.with_suffix("")
    return " ".join(header_words(pure.name))


def is_kind_name(name: str, kind: str, /) -> bool:
    """Returns whether a header is what rows of a kind are called, where German has it as a plural.

    >>> [is_kind_name(*each) for each in (("Klasse", "klassen"), ("Wein", "weine"), ("Ward", "ward"))]
    [True, True, True]
    >>> is_kind_name("Weingut", "weine"), is_kind_name("", "en")
    (False, False)
    """
    word = relation_name(name).lower()
    return bool(word) and any(word + ending == kind.lower() for ending in ("", "e", "n", "en"))


def singular(word: str, /) -> str:
    """Returns an English noun in the singular, as far as its ending tells; a German one on -ung too.

    >>> [singular(word) for word in ("categories", "boxes", "parts", "status", "children")]
    ['category', 'box', 'part', 'status', 'child']
    >>> singular("bestellungen")
    'bestellung'
    """
    return word[:-2] if word.endswith("ungen") else singular_of_ending(word)
