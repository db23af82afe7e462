"""Wikibase JSON documents to entities and statements, with nothing lost.

One document is what ``Special:EntityData``, ``wbgetentities`` or a dump hold for one entity.
Source of the shapes: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import (
    WIKIDATA_ID,
    check_text,
    content_statement_id,
    normalise_entity_id,
    normalise_statement_guid,
)
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Rank,
    Statement,
)
from graph_service.model.values import encode_fields
from graph_service.store.encoded import StatementRow
from loaders.terms import LANGUAGE_REASON
from loaders.wikibase.values import MalformedError, encode_entity, read_snak, read_snaks

_RANKS = {rank.value: rank for rank in Rank}
_NORMAL = Rank.NORMAL
LEXEME_REASON = "lexemes"
MEDIA_REASON = "media info"
MISSING_REASON = "missing entities"


@dataclass(frozen=True, slots=True)
class Languages:
    """Which terms are kept.

    Attributes:
        selected: Languages; empty for all.
        fallback: Where an entity has a label (a description, aliases) in none of those, that in
            the first of these that it has one in is kept, under its own language.
    """

    selected: frozenset[str] = frozenset()
    fallback: tuple[str, ...] = ()

    def of(self, terms: Mapping[str, Any], /) -> frozenset[str]:
        """Returns the languages to keep of an entity's labels, descriptions or aliases."""
        if not self.selected or not self.fallback:
            return self.selected
        if any(
            language in terms and not _is_borrowed(terms[language]) for language in self.selected
        ):
            return self.selected
        for language in self.fallback:
            if language in terms and not _is_borrowed(terms[language]):
                return frozenset((language,))
        return self.selected


def _is_borrowed(term: object) -> bool:
    # The API's fallback repeats another language's term; it is no term of this one.
    return type(term) is dict and "for-language" in term


@dataclass(slots=True)
class EntityDocument:
    """What one document came to.

    Attributes:
        entities: The entity with its terms, and redirects that the document names.
        rows: The statements, encoded.
        complete_id: The entity's id if the document has all its statements.
        problems: What could not be read, one text each.
        skipped: What was left out on purpose or kept as it came, by reason.
    """

    entities: list[Entity] = field(default_factory=list)
    rows: list[StatementRow] = field(default_factory=list)
    complete_id: str | None = None
    problems: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def statements(self) -> list[Statement]:
        """The statements of the document, decoded."""
        return [row.statement() for row in self.rows]


def expand(value: object, /) -> Iterator[Mapping[str, Any]]:
    """Yields the entity documents in a JSON value: one, a list, an answer, or a mapping by id.

    Raises:
        MalformedError: It holds no Wikibase entity; says what it looks like.
    """
    if isinstance(value, list):
        for item in value:
            if isinstance(item, Mapping) and "mainsnak" in item and "id" not in item:
                raise MalformedError("claims that name neither their entity nor their property")
            yield from expand(item)
        return
    if not isinstance(value, Mapping):
        raise MalformedError(f"expected a JSON object, got {type(value).__name__}")
    if "entities" in value:
        entities = value["entities"]
        if isinstance(entities, Mapping):
            for id_, document in entities.items():
                yield _with_id(id_, document)
        elif isinstance(entities, list):
            yield from expand(entities)
        else:
            raise MalformedError(f'"entities" is {type(entities).__name__}, not an object')
        return
    if "mainsnak" in value or _DOCUMENT_KEYS & value.keys():
        yield value
        return
    if value and all(WIKIDATA_ID.fullmatch(id_) for id_ in value):
        for id_, document in value.items():
            yield _with_id(id_, document)
        return
    if "error" in value:
        error = value["error"]
        info = error.get("info") if isinstance(error, Mapping) else error
        raise MalformedError(f"the answer of an API that failed: {info}")
    if "head" in value and "results" in value:
        raise MalformedError("the answer to a SPARQL query, not a Wikibase entity")
    keys = ", ".join(sorted(map(str, value))[:8]) or "none"
    raise MalformedError(f"no Wikibase entity, and no list of objects as rows; its keys are {keys}")


_DOCUMENT_KEYS = frozenset(
    ("claims", "statements", "labels", "descriptions", "aliases", "redirect", "redirects")
) | {"missing", "lemmas", "representations", "glosses", "datatype", "type"}


def _with_id(id_: str, document: object) -> Mapping[str, Any]:
    if not isinstance(document, Mapping):
        raise MalformedError(f"the document of {id_} is {type(document).__name__}, not an object")
    return document if "id" in document or "entity" in document else {**document, "id": id_}


ALL_LANGUAGES = Languages()


def document_id(document: Mapping[str, Any], /) -> str | None:
    """Returns the normal id of a document's entity; None for claims alone, and for what
    ``read_document`` refuses.
    """
    id_ = document.get("id", document.get("entity"))
    if not isinstance(id_, str) or not id_ or "mainsnak" in document:
        return None
    return id_ if WIKIDATA_ID.fullmatch(id_) else _entity_id(id_)


def read_document(
    document: Mapping[str, Any],
    /,
    *,
    languages: Languages = ALL_LANGUAGES,
    suspect_text: bool = False,
) -> EntityDocument:
    """Returns the entity and statements of a document.

    A statement that cannot be read is a problem of its own; the others are kept.

    Args:
        document: One that ``expand`` yielded.
        languages: Which terms to keep. Statements keep every language.
        suspect_text: Whether the text may hold what no store can (NUL, lone surrogates), so
            that each statement is looked at.

    Raises:
        MalformedError: Nothing of it can be read.
    """
    result = EntityDocument()
    if "mainsnak" in document:
        _read_claims({"": [document]}, None, result, suspect_text)
        return result
    if "entity" in document and "redirect" in document:
        result.entities.append(_redirect(document["entity"], document["redirect"]))
        return result
    id_ = document.get("id")
    if id_ is not None and (not isinstance(id_, str) or not id_):
        raise MalformedError(f"an entity id is expected to be text, got {id_!r}")
    if "missing" in document:
        result.skipped[MISSING_REASON] += 1
        return result
    type_ = document.get("type")
    reason = _kind_left_out(id_, type_, document)
    if reason:
        result.skipped[reason] += 1
        return result
    redirects = document.get("redirects")
    if isinstance(redirects, Mapping) and "from" in redirects and "to" in redirects:
        result.entities.append(_redirect(redirects["from"], redirects["to"]))
    if isinstance(id_, str):
        id_ = _entity_id(id_)
        _read_entity(id_, type_, document, languages, result, suspect_text)
    claims = document.get("claims", document.get("statements"))
    if claims is None:
        if not result.entities:
            raise MalformedError("an entity without terms or claims")
        return result
    if isinstance(claims, list) and claims:
        claims = {"": claims}
    if not isinstance(claims, (Mapping, list)):
        raise MalformedError(f'"claims" is {type(claims).__name__}, not an object')
    if id_ is not None:
        result.complete_id = id_
    if claims:
        _read_claims(claims, id_, result, suspect_text)
    return result


def _kind_left_out(id_: object, type_: object, document: Mapping[str, Any]) -> str | None:
    initial = id_[0] if isinstance(id_, str) else ""
    if (
        initial == "L"
        or type_ in ("lexeme", "form", "sense")
        or "lemmas" in document
        or "representations" in document
        or "glosses" in document
    ):
        return LEXEME_REASON
    if initial == "M" or type_ == "mediainfo":
        return MEDIA_REASON
    return None


def _redirect(from_: object, to: object) -> Entity:
    if not isinstance(from_, str) or not isinstance(to, str):
        raise MalformedError(f"a redirect from {from_!r} to {to!r}")
    source = _entity_id(from_)
    return Entity(
        source,
        EntityKind.PROPERTY if source.startswith("P") else EntityKind.ITEM,
        redirect=_entity_id(to),
    )


def _entity_id(raw: str) -> str:
    try:
        return normalise_entity_id(raw)
    except InputError as error:
        raise MalformedError(error.message) from error


def _read_entity(
    id_: str,
    type_: object,
    document: Mapping[str, Any],
    languages: Languages,
    result: EntityDocument,
    suspect_text: bool,
) -> None:
    skipped = result.skipped
    for name in ("labels", "descriptions", "aliases"):
        # The old format writes an empty list where there is none.
        if document.get(name) and not isinstance(document[name], Mapping):
            raise MalformedError(f'"{name}" is {type(document[name]).__name__}, not an object')
    labels = _terms(document.get("labels"), languages, skipped)
    descriptions = _terms(document.get("descriptions"), languages, skipped)
    aliases = _aliases(document.get("aliases"), languages, skipped)
    kind = EntityKind.PROPERTY if type_ == "property" or id_[0] == "P" else EntityKind.ITEM
    revision = document.get("lastrevid")
    datatype = document.get("datatype")
    if suspect_text:
        labels = _clean_terms(labels, "label", result)
        descriptions = _clean_terms(descriptions, "description", result)
        aliases = {
            language: tuple(
                name for name in names if _is_clean(name, f"alias in {language}", result)
            )
            for language, names in aliases.items()
            if _is_clean(language, "a language of aliases", result)
        }
        if isinstance(datatype, str) and not _is_clean(datatype, "a data type", result):
            datatype = None
    entity = Entity(
        id=id_,
        kind=kind,
        labels=labels,
        descriptions=descriptions,
        aliases=aliases,
        datatype=datatype if isinstance(datatype, str) else None,
        revision=revision if isinstance(revision, int) else None,
    )
    has_terms = any(key in document for key in ("labels", "descriptions", "aliases", "lastrevid"))
    if has_terms or entity.datatype:
        result.entities.append(entity)


def _is_clean(text: str, what: str, result: EntityDocument) -> bool:
    try:
        check_text(text, what=what)
    except InputError as error:
        result.problems.append(error.message)
        return False
    return True


def _clean_terms(terms: dict[str, str], what: str, result: EntityDocument) -> dict[str, str]:
    return {
        language: text
        for language, text in terms.items()
        if _is_clean(language, f"a language of {what}s", result)
        and _is_clean(text, f"{what} in {language}", result)
    }


def _terms(terms: object, languages: Languages, skipped: Counter[str]) -> dict[str, str]:
    if not isinstance(terms, Mapping):
        return {}
    texts: dict[str, str] = {}
    selected = languages.of(terms)
    for language, term in terms.items():
        if _is_borrowed(term):
            continue
        if selected and language not in selected:
            skipped[LANGUAGE_REASON] += 1
            continue
        text = _term_text(term)
        if text:
            texts[language] = text
    return texts


def _term_text(term: object) -> str | None:
    if isinstance(term, Mapping):
        value = term.get("value")
        if isinstance(value, str):
            return value
        # KGTK writes an alias as {"en": {"value": ...}}.
        if len(term) == 1:
            return _term_text(next(iter(term.values())))
        return None
    return term if isinstance(term, str) else None


def _aliases(
    terms: object, languages: Languages, skipped: Counter[str]
) -> dict[str, tuple[str, ...]]:
    if not isinstance(terms, Mapping):
        return {}
    aliases: dict[str, tuple[str, ...]] = {}
    selected = languages.of(terms)
    for language, names in terms.items():
        if isinstance(names, Mapping):
            names = list(names.values())
        elif isinstance(names, str):
            names = [names]
        if not isinstance(names, list):
            continue
        if selected and language not in selected:
            skipped[LANGUAGE_REASON] += len(names)
            continue
        texts = dict.fromkeys(text for name in names if (text := _term_text(name)))
        if texts:
            aliases[language] = tuple(texts)
    return aliases


def _read_claims(
    claims: Mapping[str, Any] | list[Any],
    head: str | None,
    result: EntityDocument,
    suspect_text: bool,
) -> None:
    groups = claims.items() if isinstance(claims, Mapping) else [("", claims)]
    rows, skipped = result.rows, result.skipped
    for property_, group in groups:
        if not isinstance(group, list):
            result.problems.append(f"the claims of {property_} are {type(group).__name__}")
            continue
        for claim in group:
            try:
                row = _read_claim(claim, head, property_, skipped)
                if suspect_text:
                    _check_row(row)
            except MalformedError as error:
                where = f"{head or 'claim'} {property_}".strip()
                result.problems.append(f"{where}: {error}")
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                where = f"{head or 'claim'} {property_}".strip()
                result.problems.append(f"{where}: {_claim_problem(claim, error)}")
            else:
                rows.append(row)


def _claim_problem(claim: object, error: Exception) -> str:
    """Returns why a claim can't be read, by the error that reading it ended in."""
    if not isinstance(claim, Mapping):
        return f"expected a statement, got {'null' if claim is None else type(claim).__name__}"
    # orjson's own error is TypeError, which a claim of another shape ends in too.
    if isinstance(error, TypeError) and "surrogates" in str(error):
        return _SURROGATE
    return f"not shaped like a statement ({type(error).__name__}: {error})"


_SURROGATE = "text with a lone surrogate, which no store can hold"


def _check_row(row: StatementRow) -> None:
    # The encodings cannot be made of lone surrogates, and write NUL as \\u0000.
    own = orjson.dumps([row.id, row.head, row.relation]).decode()
    encoded = (own, row.value, row.qualifiers or "", row.references or "")
    if any(re.search(r"(?<!\\)(?:\\\\)*\\u0000", text) for text in encoded):
        raise MalformedError("text with a NUL character, which no store can hold")


def _read_claim(
    claim: Mapping[str, Any], head: str | None, property_: str, skipped: Counter[str]
) -> StatementRow:
    mainsnak = claim["mainsnak"]
    relation = mainsnak.get("property") or property_
    if not relation:
        raise MalformedError("a claim without a property")
    fields = read_snak(mainsnak, skipped)
    tail = fields[1] if fields[0] == "e" else None
    value = encode_fields(fields) if tail is None else encode_entity(tail)
    rank_name = claim.get("rank")
    if rank_name is None:
        rank = _NORMAL
    else:
        rank = _RANKS.get(rank_name)  # type: ignore[assignment]
        if rank is None:
            raise MalformedError(f"rank {rank_name!r}; expected preferred, normal or deprecated")
    raw_id = claim.get("id")
    guid = normalise_statement_guid(raw_id) if raw_id else None
    if head is None:
        if guid is None:
            raise MalformedError("a claim that does not name its entity")
        head = guid.partition("$")[0]
    raw_qualifiers = claim.get("qualifiers")
    qualifiers = (
        read_snaks(raw_qualifiers, claim.get("qualifiers-order"), skipped) if raw_qualifiers else []
    )
    raw_references = claim.get("references")
    references = (
        [
            read_snaks(reference["snaks"], reference.get("snaks-order"), skipped)
            for reference in raw_references
        ]
        if raw_references
        else []
    )
    return StatementRow(
        guid or content_statement_id(head, relation, value, qualifiers=qualifiers),
        head,
        relation,
        tail,
        value,
        rank,
        orjson.dumps(qualifiers).decode() if qualifiers else None,
        orjson.dumps(references).decode() if references else None,
        None,
    )
