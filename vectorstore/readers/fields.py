"""One record in JSON, as any of the usual services spells it -> Paper or Skip.

`FIELDS` is the table: for each field of a Paper the names under which exports carry it, best first.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from vectorstore.clean import clean, clean_abstract, why_no_abstract
from vectorstore.merge import arxiv_id, doi
from vectorstore.paper import Paper, Skip

Record = Mapping[str, object]

FIELDS = {
    "paper_id": "id _id paper_id paperId pmid PMID key citekey citation_key bibtex_key corpusid corpus_id openalex "
    "forum number",
    "abstract": "abstract Abstract abstractNote abstract_note summary description text abstract_inverted_index",
    "title": "title Title display_name name primary_title",
    "authors": "authors author Authors Author creators authorships author_names contributors",
    "year": "year Year publication_year publicationYear pubYear published_year published issued date Date "
    "publicationDate publication_date published-print published-online created update_date cdate",
    "venue": "venue Venue journal Journal container-title container_title booktitle publicationTitle publication_title "
    "source_title conference Conference journal_name journal-ref journal_ref primary_location host_venue "
    "publicationVenue",
    "url": "url URL link landing_page_url html_url pdf_url pdf",
    "doi": "doi DOI externalIds ids",
    "arxiv_id": "arxiv_id arxivId arxiv arXiv eprint externalIds ids",
    "retracted": "retracted is_retracted isRetracted",
}
_NAMES = {field: tuple(names.split()) for field, names in FIELDS.items()}
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d|2100)(?!\d)")
_MARKUP = re.compile(
    r"</?(?:jats:|mml:)?(?:p|i|b|em|strong|sub|sup|title|sec|italic|bold|sc|br|abstract)\b[^<>]*>", re.IGNORECASE
)
_WRAPPERS = ("citingPaper", "citedPaper", "paper", "work", "content", "attributes")


def paper_from_record(record: Record, label: str) -> Paper | Skip:
    """A Paper, or a Skip with its reason. `label` says which record it is ("record 7")."""
    record = _unwrapped(record)
    title = _text(_first(record, "title"))
    label = f"{label} ({title[:80]})" if title else label
    abstract = clean_abstract(_MARKUP.sub(" ", _abstract(record)) if "<" in _abstract(record) else _abstract(record))
    if reason := why_no_abstract(abstract):
        return Skip(label, reason)
    return Paper(
        paper_id=_text(_first(record, "paper_id")),
        abstract=abstract,
        title=title or None,
        authors=tuple(_authors(_first(record, "authors"))),
        year=_year(record),
        venue=_venue(_first(record, "venue")) or None,
        url=_text(_first(record, "url")) or None,
        doi=doi(_identifier(record, "doi", "DOI")),
        arxiv_id=arxiv_id(_identifier(record, "arxiv_id", "ArXiv")),
        retracted=_first(record, "retracted") in {True, "true", "True", "1", "yes"},
    )


def _unwrapped(record: Record) -> Record:
    """The record itself, out of the envelopes of OpenReview ({"value": …}), Semantic Scholar and JSON:API."""
    for wrapper in _WRAPPERS:
        inner = record.get(wrapper)
        if isinstance(inner, Mapping) and not any(name in record for name in ("title", "abstract")):
            record = {**{key: value for key, value in record.items() if key != wrapper}, **inner}
    return {
        key: value["value"] if isinstance(value, Mapping) and set(value) == {"value"} else value
        for key, value in record.items()
    }


def _first(record: Record, field: str) -> object:
    """The value under the first of the field's names that holds something."""
    return next((record[name] for name in _NAMES[field] if record.get(name) not in (None, "", [], {})), None)


def _text(value: object) -> str:
    """One clean line of a value; the first of a list."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(clean(_MARKUP.sub("", str(value))).split())


def _abstract(record: Record) -> str:
    for name in _NAMES["abstract"]:
        value = record.get(name)
        if isinstance(value, Mapping):
            value = _from_inverted_index(value)
        if isinstance(value, list):
            value = "\n".join(part for part in value if isinstance(part, str))
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _from_inverted_index(index: Mapping[str, object]) -> str:
    """OpenAlex: word -> its positions. Positions may have gaps."""
    places = [
        (place, word) for word, at in index.items() if isinstance(at, list) for place in at if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(places))


def _authors(value: object) -> Iterable[str]:
    if isinstance(value, str):
        value = (
            re.split(r"\s*;\s*|\s+and\s+|\s*\|\s*", value) if re.search(r";|\sand\s|\|", value) else _by_comma(value)
        )
    if isinstance(value, Mapping):
        value = [value]
    names = (_author(each) for each in value) if isinstance(value, list) else ()
    return dict.fromkeys(name for name in names if name)


def _by_comma(names: str) -> list[str]:
    """Ada Lovelace, Alan Turing are two people; Lovelace, Ada is one."""
    parts = [part.strip() for part in names.split(",")]
    return parts if len(parts) > 2 or all(" " in part for part in parts) else [names]


def _author(value: object) -> str:
    if isinstance(value, Mapping):
        inner = value.get("author")
        if isinstance(inner, Mapping):
            value = inner
        given, family = (
            _text(value.get("given") or value.get("firstName")),
            _text(value.get("family") or value.get("lastName")),
        )
        named = next((value[key] for key in ("name", "display_name", "fullname", "literal") if value.get(key)), "")
        return f"{given} {family}".strip() or _text(named)
    return _text(value)


def _year(record: Record) -> int | None:
    for name in _NAMES["year"]:
        found = _YEAR.search(_flat(record.get(name)))
        if found:
            return int(found.group(1))
    return None


def _flat(value: object) -> str:
    """A date in any shape as text: 2024, "2024-05-01", {"date-parts": [[2024, 5]]}, milliseconds."""
    if isinstance(value, Mapping):
        return _flat(value.get("date-parts") or value.get("raw") or value.get("value"))
    if isinstance(value, list):
        return _flat(value[0]) if value else ""
    if isinstance(value, int) and not isinstance(value, bool) and value > 10**11:
        return str(datetime.fromtimestamp(min(value, 4_102_444_800_000) / 1000, UTC).year)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _venue(value: object) -> str:
    if isinstance(value, Mapping):
        inner = value.get("source")
        return _venue(
            inner
            if isinstance(inner, Mapping)
            else value.get("name") or value.get("display_name") or value.get("title")
        )
    return _text(value)


def _identifier(record: Record, field: str, inside: str) -> str:
    """An identifier given by itself or in a table of identifiers."""
    for name in _NAMES[field]:
        value = record.get(name)
        if isinstance(value, Mapping):
            value = next((value[key] for key in value if key.casefold() == inside.casefold()), "")
        if isinstance(value, str) and value.strip():
            return value
    url = _text(_first(record, "url"))
    return url if ("arxiv.org" in url if field == "arxiv_id" else "doi.org" in url) else ""
