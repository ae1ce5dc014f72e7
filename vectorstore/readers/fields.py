"""One record with named fields, as any of the usual services names them -> Paper or Skip.

`FIELDS` is the table: for each field of a Paper the names under which exports carry it, best first. Names are compared
without case, spaces and punctuation, so "Abstract Note", "abstract_note" and "abstractNote" are one.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

from vectorstore.clean import LONGEST, clean, why_no_abstract
from vectorstore.merge import arxiv_id, doi
from vectorstore.paper import Paper, Skip
from vectorstore.readers import values

Record = Mapping[str, object]
Folded = dict[str, list[object]]
Value = TypeVar("Value")

FIELDS = {
    "paper_id": "id paperid pmid key citekey citationkey bibtexkey corpusid forum docid docno recordid articleid uid"
    " eid utuniquewosid accessionnumber",
    "abstract": "abstract abstractnote abstracttext abstracts paperabstract dcdescription summary description"
    " descriptions text abstractinvertedindex ab",
    "title": "title displayname articletitle documenttitle papertitle primarytitle titles dctitle name ti",
    "authors": "authorsparsed authors author authornames authorfullnames authorlist authorstring creators creator"
    " authorships contributors dccreator au",
    "year": "year publicationyear pubyear publishedyear published issued publicationdate pubdate date coverdate"
    " prismcoverdate publishedprint publishedonline versions created updatedate cdate py",
    "venue": "venue journal containertitle booktitle publicationtitle journaltitle sourcetitle conference"
    " conferencename conferencetitle fulljournalname journalname journalref publicationname prismpublicationname"
    " journalinfo primarylocation hostvenue publicationvenue secondarytitle",
    "url": "url urls link links landingpageurl htmlurl articlelink pdfurl pdflink pdf openaccesspdf entryid"
    " primarylocation id",
    "doi": "doi prismdoi externalids ids articleids identifiers url id",
    "arxiv_id": "arxivid arxiv eprint externalids ids identifiers url entryid id doi",
    "retracted": "retracted isretracted",
    "kinds": "publicationtypes pubtypes pubtype publicationtype type types",
}
_NAMES = {field: tuple(names.split()) for field, names in FIELDS.items()}
_WRAPPERS = ("citingPaper", "citedPaper", "paper", "work", "content", "attributes", "data", "_source")
_OWN = ("title", "abstract", "abstractNote", "abstract_inverted_index")
# No mark-up makes an abstract this much longer; it is refused as it stands, before minutes go into cleaning it.
_HOPELESS = 4 * LONGEST
LONGEST_TITLE = 1_000
_YES = {"true", "1", "yes", "y", "retracted"}
_RETRACTED = re.compile(
    r"\W*(?:retracted|withdrawn)\b(?: article| paper| publication)?\s*[:\]\u2013\u2014-]", re.IGNORECASE
)
_NOTICE = re.compile(
    r"\W*(?:(?:publisher |author )?correction(?: to)?\s*:"
    r"|(?:erratum|corrigendum)(?: to\b| for\b|\s*[:\u2013\u2014-]|\s*\Z)"
    r"|retract(?:ion|ed) (?:note|notice)\b|retraction\s*[:\u2013\u2014]|notice of retraction\b"
    r"|expression of concern\b)",
    re.IGNORECASE,
)
_BARE_ARXIV = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
_CORRECTS = re.compile(r"\W*this (?:corrects|retracts|erratum|corrigendum)\b", re.IGNORECASE)


def paper_from_record(record: Record, label: str) -> Paper | Skip:
    """A Paper, or a Skip with its reason. `label` says which record it is ("record 7"). Any value is survived."""
    try:
        return _paper(record, label)
    except RecursionError:
        return Skip(label, "nested too deeply")


def _paper(record: Record, label: str) -> Paper | Skip:
    fields = _folded(_unwrapped(record))
    title = (_first(fields, "title", values.text) or "")[:LONGEST_TITLE].rstrip() or None
    label = f"{label} ({title[:80]})" if title else label
    abstract = _abstract(fields)
    if reason := why_no_abstract(abstract):
        return Skip(label, reason)
    if _NOTICE.match(title or "") or _CORRECTS.match(abstract):
        return Skip(label, "a notice of a correction or retraction, without findings of its own")
    return Paper(
        paper_id=_first(fields, "paper_id", _own_id) or "",
        abstract=abstract,
        title=title,
        authors=_first(fields, "authors", values.authors) or (),
        year=_first(fields, "year", values.year),
        venue=_first(fields, "venue", values.venue),
        url=_first(fields, "url", values.url),
        doi=_first(fields, "doi", _doi),
        arxiv_id=_first(fields, "arxiv_id", _arxiv_id),
        retracted=_is_retracted(fields, title or ""),
    )


@lru_cache(maxsize=4_096)
def _fold(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _folded(record: Record) -> Folded:
    fields: Folded = {}
    for name, value in record.items():
        if value not in (None, "", [], {}):
            fields.setdefault(_fold(name), []).append(value)
    return fields


def _unwrapped(record: Record) -> Record:
    """The record itself, out of the envelopes of OpenReview ({"value": …}), Semantic Scholar, Zotero and JSON:API."""
    for wrapper in _WRAPPERS:
        inner = record.get(wrapper)
        if isinstance(inner, Mapping) and not any(name in record for name in _OWN):
            record = {**{name: value for name, value in record.items() if name != wrapper}, **inner}
    return {name: _bare(value) for name, value in record.items()}


def _bare(value: object) -> object:
    """OpenReview's {"value": …} and MongoDB's {"$numberLong": …} are what they hold; {"$oid": …} names no paper."""
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1 and (name := next(iter(value))).startswith("$"):
        return None if name == "$oid" else value[name]
    return value.get("value", value)


def _first(fields: Folded, field: str, read: Callable[[object], Value | None]) -> Value | None:
    """What `read` makes of the first of the field's names that says something; None where none does."""
    for name in _NAMES[field]:
        for value in fields.get(name, ()):
            if found := read(value):
                return found
    return None


def _abstract(fields: Folded) -> str:
    """The first that is an abstract: "N/A" in one field must not hide the text in another."""
    best = ""
    for name in _NAMES["abstract"]:
        for value in fields.get(name, ()):
            found = values.abstract(value)
            if len(found) <= _HOPELESS:
                found = values.tidy_abstract(found)
            if why_no_abstract(found) is None:
                return found
            best = best or found
    return best


def _own_id(value: object) -> str:
    """An id as it is spelled, cleaned only."""
    if isinstance(value, str):
        return " ".join(clean(value).split())
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _doi(value: object) -> str | None:
    return doi(values.identifier(value, "doi"))


def _arxiv_id(value: object) -> str | None:
    """From a field of that name, a table of identifiers, or an address, DOI or id that can be nothing else."""
    named = values.identifier(value, "arxiv")
    found = arxiv_id(named)
    return found if found and ("arxiv" in named.casefold() or _BARE_ARXIV.fullmatch(named)) else None


def _is_retracted(fields: Folded, title: str) -> bool:
    flags = [str(value).strip().casefold() for name in _NAMES["retracted"] for value in fields.get(name, ())]
    kinds = " ".join(str(value) for name in _NAMES["kinds"] for value in fields.get(name, ())).casefold()
    return not _YES.isdisjoint(flags) or "retracted publication" in kinds or bool(_RETRACTED.match(title))
